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


@dataclass(frozen=True)
class SampledTurn:
    """A turn and how it was sampled."""

    messages: tuple[Message, ...]
    completion: Completion
    temperature: float
    top_p: float
    held_to_schema: bool = False


class Rollouts:
    """The newest turns of every client, by conversation, and of those that name a rollout, by its id."""

    def __init__(self) -> None:
        self._spoken: OrderedDict[str, SampledTurn] = OrderedDict()
        self._turns: OrderedDict[str, list[SampledTurn]] = OrderedDict()

    def context(self, rollout: str, messages: Sequence[Message], tools: Sequence[Tool]) -> tuple[int, ...]:
        """The ids of the conversation up to its last assistant message, empty if they are not known."""
        answered = max((n for n, each in enumerate(messages) if each["role"] == "assistant"), default=-1) + 1
        turn = self.find(messages[:answered], tools, rollout) if answered else None
        return (*turn.completion.prompt_ids, *turn.completion.completion_ids) if turn else ()

    def find(self, messages: Sequence[Message], tools: Sequence[Tool], rollout: str = "") -> SampledTurn | None:
        """The turn whose message is the last of these: of that rollout, else the newest of any."""
        return self._spoken.get(_key(rollout, messages, tools)) or self._spoken.get(_key("", messages, tools))

    def record(self, rollout: str, turn: SampledTurn, tools: Sequence[Tool]) -> None:
        """Remember a turn, also as one of the rollout if that is named."""
        conversation = (*turn.messages, turn.completion.message)
        for name in {"", rollout}:
            key = _key(name, conversation, tools)
            self._spoken[key] = turn
            self._spoken.move_to_end(key)
        if rollout:
            self._turns.setdefault(rollout, []).append(turn)
            self._turns.move_to_end(rollout)
        for kept in (self._spoken, self._turns):
            while len(kept) > REMEMBERED:
                kept.popitem(last=False)

    def turns(self, rollout: str) -> list[SampledTurn]:
        """The turns of a rollout in the order in which they ended, none if it is not known."""
        return list(self._turns.get(rollout, ()))


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
