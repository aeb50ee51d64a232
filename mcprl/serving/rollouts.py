"""What was sampled, turn by turn, with exact token ids: the next turn of a conversation extends them, and a trajectory
that names a rollout is trained on them.
"""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from mcprl.types import Completion, Message, Tool

REMEMBERED = 8_192
"""Conversations, and rollouts, that are remembered; the oldest are forgotten."""
REMEMBERED_TOKENS = 2**24
"""Tokens of theirs, prompts included: 0.6 GB at most, at 8 bytes a place and 28 a number."""


@dataclass(frozen=True)
class SampledTurn:
    """A turn and how it was sampled."""

    messages: tuple[Message, ...]
    completion: Completion
    temperature: float
    top_p: float
    held_to_schema: bool = False


class _Newest:
    """The turns of the names that were last added to."""

    def __init__(self) -> None:
        self._turns: OrderedDict[str, list[SampledTurn]] = OrderedDict()
        self._tokens = 0

    def get(self, name: str) -> list[SampledTurn]:
        return self._turns.get(name, [])

    def put(self, name: str, turns: list[SampledTurn]) -> None:
        """Make these the turns of the name, and forget the oldest names beyond the limits."""
        self._tokens += _tokens(turns) - _tokens(self._turns.pop(name, []))
        self._turns[name] = turns
        while len(self._turns) > REMEMBERED or (self._tokens > REMEMBERED_TOKENS and len(self._turns) > 1):
            self._tokens -= _tokens(self._turns.popitem(last=False)[1])


class Rollouts:
    """The newest turns of every client, by conversation, and of those that name a rollout, by its id."""

    def __init__(self) -> None:
        self._spoken, self._rollouts = _Newest(), _Newest()

    def context(self, rollout: str, messages: Sequence[Message], tools: Sequence[Tool]) -> tuple[int, ...]:
        """The ids of the conversation up to its last assistant message, empty if they are not known."""
        answered = max((n for n, each in enumerate(messages) if each["role"] == "assistant"), default=-1) + 1
        turn = self.find(messages[:answered], tools, rollout) if answered else None
        return (*turn.completion.prompt_ids, *turn.completion.completion_ids) if turn else ()

    def find(self, messages: Sequence[Message], tools: Sequence[Tool], rollout: str = "") -> SampledTurn | None:
        """The turn whose message is the last of these: of that rollout, else the newest of any."""
        turns = self._spoken.get(_key(rollout, messages, tools)) or self._spoken.get(_key("", messages, tools))
        return turns[-1] if turns else None

    def record(self, rollout: str, turn: SampledTurn, tools: Sequence[Tool]) -> None:
        """Remember a turn, also as one of the rollout if that is named."""
        conversation = (*turn.messages, turn.completion.message)
        for name in {"", rollout}:
            self._spoken.put(_key(name, conversation, tools), [turn])
        if rollout:
            self._rollouts.put(rollout, [*self._rollouts.get(rollout), turn])

    def turns(self, rollout: str) -> list[SampledTurn]:
        """The turns of a rollout in the order in which they ended, none if it is not known."""
        return [*self._rollouts.get(rollout)]


def _tokens(turns: Sequence[SampledTurn]) -> int:
    return sum(len(turn.completion.prompt_ids) + len(turn.completion.completion_ids) for turn in turns)


def _key(rollout: str, messages: Sequence[Message], tools: Sequence[Tool]) -> str:
    """A fingerprint of a conversation: its messages, calls, results and tools."""
    parts = [
        [
            message["role"],
            message.get("content") or "",
            [[call["function"]["name"], call["function"]["arguments"]] for call in message.get("tool_calls") or ()],
        ]
        for message in messages
    ]
    functions = [tool.as_function() for tool in tools]
    return hashlib.sha256(json.dumps([rollout, parts, functions]).encode()).hexdigest()
