"""The calls of a plan, made in a session and written down as if the policy had made them."""

import json
from collections.abc import Sequence

from mcprl.chat.tool_search import ToolSearch
from mcprl.types import Call, CallRecord, Message, Session


async def write_calls(
    messages: list[Message], session: Session, calls: Sequence[Call], search: ToolSearch | None = None
) -> list[CallRecord]:
    """Make calls and append a turn with each, and its result. With `search` each tool is found before its first call,
    by the words of the last request. Returns the records, which are of no sampled turn (-1)."""
    request = next(message["content"] for message in reversed(messages) if message["role"] == "user")
    records: list[CallRecord] = []
    found: set[str] = set()
    for call in calls:
        if search and call.tool not in found:
            query = search.query_for(request, call.tool)
            found |= {tool.name for tool in search.find(query)}
            _call_and_result(messages, Call(search.tool.name, {"query": query}), search.answer({"query": query}))
        result = await session.call(call.tool, call.arguments)
        records.append(CallRecord(-1, call.tool, call.arguments, result))
        _call_and_result(messages, call, result.text)
    return records


def _call_and_result(messages: list[Message], call: Call, text: str) -> None:
    """Append a turn with one call, and its result."""
    name = f"call{sum(message['role'] == 'assistant' for message in messages):05}"
    function = {"name": call.tool, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
    calls = [{"id": name, "type": "function", "function": function}]
    messages.append({"role": "assistant", "content": None, "tool_calls": calls})
    messages.append({"role": "tool", "tool_call_id": name, "content": text})
