"""A language model that solves a task blind: it sees the request and the tools, and calls the live server."""

import json
import random
from typing import Any

from mcprl.files import find_bundled
from mcprl.judges.verifier import Verifier
from mcprl.llm import LanguageModel
from mcprl.servers.effects import is_read, turn_on
from mcprl.text import fill_template, find_json, inert
from mcprl.types import CallRecord, Scenario, Session, StateHolds, ToolResult, ToolServer, Trajectory

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "calls": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"tool": {"type": "string"}, "arguments": {"type": "string"}},
                "required": ["tool", "arguments"],
                "additionalProperties": False,
            },
        },
        "answer": {"type": "string"},
    },
    "required": ["calls", "answer"],
    "additionalProperties": False,
}
_SPARE_TURNS = 3
"""Turns that the solver may take beyond the plan's calls: one for the answer, two for detours."""
_RESULT_CHARS = 4_000


class Solver:
    """Solves tasks of one server. It calls only the tools that the policy allows and, unless `writable`, of these only
    those that read: what it writes would stay."""

    def __init__(self, server: ToolServer, model: LanguageModel, seed: int, writable: bool) -> None:
        self.server, self.model, self._writable = server, model, writable
        self._verifier = Verifier(tuple(server.tools))
        offered = [tool for tool in server.tools if writable or is_read(tool)]
        self._tools = {tool.name for tool in offered}
        fence = f"tools-{random.Random(f'solver {seed}').getrandbits(48):012x}"
        rules = fill_template(find_bundled("scenarios", "solver.md").read_text(), fence=fence)
        tools = inert([tool.as_function()["function"] for tool in offered])
        self._system = f"{rules}\n<{fence}>{tools}</{fence}>"

    async def solves(self, scenario: Scenario) -> bool:
        """Whether the model's calls and answer pass the task's checks.

        Raises `LlmError` if the model gives no reply, `ServerError` if the connection breaks.
        """
        reads = [check for check in scenario.checks if isinstance(check, StateHolds)]
        async with turn_on(self.server, self._writable), self.server.session(scenario.setup) as session:
            before = await _read(session, reads)
            calls, answer = await self._converse(scenario, session)
            state = await _read(session, reads)
        messages = ({"role": "user", "content": scenario.request}, {"role": "assistant", "content": answer})
        trajectory = Trajectory(scenario.id, scenario.id, messages, (), tuple(calls), state, before=before)
        return self._verifier.verify(scenario, trajectory).success is True

    async def _converse(self, scenario: Scenario, session: Session) -> tuple[list[CallRecord], str]:
        """The model's calls with their results, and its answer; empty if it gave none in time."""
        chat = [{"role": "system", "content": self._system}, {"role": "user", "content": scenario.request}]
        made: list[CallRecord] = []
        for turn in range(len(scenario.plan) + _SPARE_TURNS):
            reply = await self.model.reply(chat, SCHEMA)
            calls, answer = _parsed(reply)
            if not calls:
                return made, answer
            new = [await self._call(session, turn, *call) for call in calls]
            made += new
            results = [{"tool": record.tool, "result": record.result.text[:_RESULT_CHARS]} for record in new]
            chat += [{"role": "assistant", "content": reply}, {"role": "user", "content": inert(results)}]
        return made, ""

    async def _call(self, session: Session, turn: int, tool: str, arguments: dict[str, Any] | None) -> CallRecord:
        if tool not in self._tools:
            return CallRecord(turn, tool, arguments, ToolResult(f"there is no tool {tool!r}", is_error=True))
        if arguments is None:
            return CallRecord(turn, tool, None, ToolResult("the arguments are not a JSON object", is_error=True))
        return CallRecord(turn, tool, arguments, await session.call(tool, arguments))


async def _read(session: Session, reads: list[StateHolds]) -> tuple[ToolResult, ...]:
    return tuple([await session.call(check.tool, check.arguments) for check in reads])


def _parsed(reply: str) -> tuple[list[tuple[str, dict[str, Any] | None]], str]:
    """The calls and the answer of a reply. A reply that is no JSON is an answer in plain words."""
    tree = find_json(reply)
    if not isinstance(tree, dict):
        return [], reply
    entries: Any = tree.get("calls") or []  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    calls = [
        (str(entry.get("tool")), _arguments(entry.get("arguments")))
        for entry in (entries if isinstance(entries, list) else [])  # pyright: ignore[reportUnknownVariableType]
        if isinstance(entry, dict)
    ]  # pyright: ignore
    return calls, str(tree.get("answer") or "")  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


def _arguments(given: Any) -> dict[str, Any] | None:
    """The arguments that a reply gives, as an object or as JSON in a string; `None` if they are neither."""
    try:
        value = json.loads(given or "{}") if isinstance(given, str | None) else given
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None  # pyright: ignore[reportUnknownVariableType]
