"""A policy's conversation in a session: its turns with the ids that were sampled, and the results of its calls.

A bad tool call is not an error: the policy reads what went wrong and goes on.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcprl.chat.prompts import head_ids, system_messages
from mcprl.chat.tool_search import ToolSearch, searching
from mcprl.chat.written import write_calls
from mcprl.config import RolloutConfig
from mcprl.engines import Engine, Policy
from mcprl.errors import ConfigError, PromptTooLong
from mcprl.events import Emit, Note, ignore
from mcprl.models import context_limit
from mcprl.text import counted
from mcprl.types import (
    Call,
    CallRecord,
    Completion,
    CompletionRequest,
    Message,
    Session,
    StopReason,
    Tool,
    ToolResult,
    ToolServer,
)


def require_room(config: RolloutConfig, server: ToolServer, loaded: Policy, emit: Emit = ignore) -> None:
    """Emit what the server's tools and instructions take of every conversation, if that is more than half of it.
    Raises `ConfigError` if it is all of it: every rollout would end with its first turn."""
    search = searching(server.tools, config.tool_search)
    tools = (search.tool,) if search else server.tools
    taken = len(head_ids(loaded.tokenizer, system_messages(server.instructions), tools))
    context = context_limit(loaded.model.config)
    longest = min(config.max_total_tokens, context)
    if taken <= longest // 2:
        return
    instructions = " and the server's instructions" if server.instructions else ""
    what = f"the definitions of {counted(len(tools), 'tool')}{instructions}"
    text = f"{what} take {taken:,} of the {longest:,} tokens of a rollout (rollout.max_total_tokens)"
    ways = "fewer tools (--allow-tool, --deny-tool), tools that are found by search (--tool-search 1000)"
    if context > longest:
        ways += f", or --max-total-tokens {min(context, 4 * taken)}: the model reads {context:,}"
    if taken >= longest:
        raise ConfigError(f"{text}: nothing is left to answer in. Choose {ways}")
    emit(Note(f"{text}; what leaves more: {ways}"))


@dataclass
class Conversation:
    """The messages so far, the last one a user's, and what the policy did. It is sampled from `adapter`, or from the
    base model. Where the tools exceed the budget `tool_search`, the policy has one that finds them instead; its calls
    are answered here and are not in `calls`."""

    engine: Engine
    config: RolloutConfig
    tools: Sequence[Tool]
    messages: list[Message]
    seed: int
    adapter: str | None
    temperature: float
    turns: list[Completion] = field(default_factory=list[Completion])
    calls: list[CallRecord] = field(default_factory=list[CallRecord])
    on_turn: Callable[[], None] | None = None
    """Is called after each turn that was sampled."""
    search: ToolSearch | None = field(init=False)
    _known: tuple[Tool, ...] = field(init=False, default=())
    _offered: int = field(init=False, default=0)  # turns before the tools changed: later prompts do not extend these

    def __post_init__(self) -> None:
        self.offer(self.tools)

    def offer(self, tools: Sequence[Tool]) -> None:
        """Give the policy further tools, from its next turn on."""
        self._known, self._offered = (*self._known, *tools), len(self.turns)
        self.search = searching(self._known, self.config.tool_search)
        self.tools = (self.search.tool,) if self.search else self._known

    async def give(self, session: Session, calls: Sequence[Call]) -> None:
        """Make calls for the policy, before its first turn. It reads them as its own; they are of no turn."""
        self.calls += await write_calls(self.messages, session, calls, self.search)

    async def answer(self, session: Session) -> StopReason:
        """Sample turns and make their calls in the session until the policy answers, or meets a limit.

        Raises `EngineError` and `SessionLost`.
        """
        for turn in range(self.config.max_turns):
            last = self.turns[-1] if len(self.turns) > self._offered else None
            context = (*last.prompt_ids, *last.completion_ids) if last else ()
            if len(context) >= self.config.max_total_tokens:
                return "max_tokens"
            request = CompletionRequest(
                tuple(self.messages),
                tuple(self.tools),
                context,
                min(self.config.max_tokens, self.config.max_total_tokens - len(context)),
                self.temperature,
                self.seed + turn,
                self.adapter,
                found=tuple(tool.name for tool in self._known) if self.search else (),
            )
            try:
                completion = await self.engine.complete(request)
            except PromptTooLong:
                if not self.calls:
                    raise  # the task itself is too long
                return "max_tokens"  # the policy has read more than it can hold
            self.turns.append(completion)
            self.messages.append(completion.message)
            if self.on_turn:
                self.on_turn()
            if completion.finish_reason == "length":
                return "max_tokens"
            if not await self._answer_calls(session, turn, completion):
                return "answered"
        return "max_turns"

    async def _answer_calls(self, session: Session, turn: int, completion: Completion) -> bool:
        """Make the calls of a turn and append their results; false if it made none and so is the answer."""
        requested: list[dict[str, Any]] = completion.message.get("tool_calls") or []
        for call in requested:
            name, arguments = call["function"]["name"], json.loads(call["function"]["arguments"])
            if self.search and name == self.search.tool.name:
                text = self.search.answer(arguments)
            else:
                result = await session.call(name, arguments)
                self.calls.append(CallRecord(turn, name, arguments, result))
                text = result.text
            self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
        for problem in completion.malformed:
            self.calls.append(CallRecord(turn, "", None, ToolResult(problem, is_error=True)))
        if completion.malformed:
            self.messages.append({"role": "user", "content": "Error: " + "; ".join(completion.malformed)})
        return bool(requested or completion.malformed)
