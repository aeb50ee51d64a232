"""From a seed to tokens: a server's tools, ideal conversations with it, and the groups that training computes together.

Worlds are discovered, probed, turned into scenarios and played by the very code that real servers go through.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import anyio
from practice import Talk
from tokenizer import START
from worlds import World, world

from mcprl.chat.prompts import render
from mcprl.config import ScenarioConfig
from mcprl.errors import ScenarioError
from mcprl.scenarios.generate import generate
from mcprl.scenarios.packs.pack import Pack
from mcprl.training.demonstrations import transcript
from mcprl.types import Tool

HELD_OUT = 1_000_000
"""Seeds from here on are never trained on."""
WHOLE = 16
"""Whole conversations of a world that are learnt; of the others only the first call."""
NAME = 3.0
"""The loss weight of a tool's name in a call: a few tokens that decide all that follows."""


async def pack_of(server: World, seed: int, times: int = 1) -> Pack:
    """About fourteen scenarios of a world, or so many times more."""
    counts: dict[str, Any] = {"train": 8 * times, "val": 2 * times, "test": 4 * times, "test_forms": 0}
    settings: dict[str, Any] = {"probe_calls": 150, "repeat_after_s": 0}
    # A world has no clock and a small store: nothing to wait for, and little to probe. Forms are held out by the seed:
    # over many worlds all of them are learnt.
    return await generate(server, ScenarioConfig(**counts, **settings), seed)


def lesson(seed: int, times: int = 1) -> tuple[Sequence[Tool], list[Talk]]:
    """One world's conversations, in random order; none where no task could be made for the world."""
    return anyio.run(_lesson, seed, times)


def first_calls(seed: int, times: int = 2) -> tuple[Sequence[Tool], list[Talk]]:
    """Twice as many conversations, each up to its first call: choosing the tool is learnt last, and this is much of it
    for few tokens."""
    tools, talks = lesson(seed, times)
    return tools, _cut(talks)


def parts(seed: int) -> tuple[Sequence[Tool], list[list[Talk]]]:
    """One world's conversations as two lists: whole ones, and others up to their first call. The world is probed once
    for both, which is most of the cost of either."""
    tools, talks = lesson(seed, 3)
    return tools, [talks[:WHOLE], _cut(talks[WHOLE:])]


def _cut(talks: Sequence[Talk]) -> list[Talk]:
    return [(f"first-{kind}", messages[:2]) for kind, messages in talks]


async def _lesson(seed: int, times: int) -> tuple[Sequence[Tool], list[Talk]]:
    server = world(seed)
    try:
        pack = await pack_of(server, seed, times)
    except ScenarioError:
        return server.tools, []
    talks = [(scenario.kind, await transcript(server, scenario)) for scenario in pack.scenarios]
    random.Random(seed).shuffle(talks)
    return server.tools, talks


@dataclass(frozen=True)
class Branch:
    """One conversation after the shared prefix; `weights` are 0 where the assistant does not speak."""

    kind: str
    ids: list[int]
    weights: list[float]


@dataclass(frozen=True)
class Group:
    """Conversations that begin alike: with the system turn that lists the tools. Shorter ones come first."""

    prefix: list[int]
    branches: list[Branch]

    def __len__(self) -> int:
        return len(self.prefix) + sum(len(branch.ids) for branch in self.branches)


def encode(tokenizer: Any, tools: Sequence[Tool], talks: Sequence[Talk], longest: int = 0) -> Group:
    """Tokens as real rollouts make them (a test compares). Of conversations above `longest` tokens one in four is
    kept, of those above three times that none."""
    opening, speaks = _ids(tokenizer, f"{START}user\n"), _ids(tokenizer, f"{START}assistant\n")
    head = _ids(tokenizer, render(tokenizer, [{"role": "user", "content": ""}], tools)) if tools else []
    system = head[: head.index(tokenizer.eos_token_id) + 2] if tools else []
    branches: list[Branch] = []
    for kind, messages in talks:
        ids = _ids(tokenizer, render(tokenizer, messages, generation_prompt=False))
        lucky = random.Random(str(ids[:60])).random() < 0.25
        if not longest or len(ids) <= longest or (lucky and len(ids) < 3 * longest):
            weights = _weights(tokenizer, ids, speaks)
            branches.append(Branch(kind, ids[len(opening) :], weights[len(opening) :]))
    return Group(system + opening, sorted(branches, key=lambda branch: len(branch.ids)))


def _ids(tokenizer: Any, text: str) -> list[int]:
    return tokenizer.encode(text, add_special_tokens=False)


def _weights(tokenizer: Any, ids: list[int], speaks: list[int]) -> list[float]:
    """1 where the assistant speaks, `NAME` on the names of tools it calls."""
    opens, quote = _ids(tokenizer, '<tool_call>{"name": "'), _ids(tokenizer, '", "')[0]
    weights = [0.0] * len(ids)
    for start in range(len(ids)):
        if ids[start : start + len(speaks)] == speaks:
            first = start + len(speaks)
            last = ids.index(tokenizer.eos_token_id, first)
            weights[first : last + 1] = [1.0] * (last + 1 - first)
            if ids[first : first + len(opens)] == opens:
                name = first + len(opens)
                end = ids.index(quote, name)
                weights[name:end] = [NAME] * (end - name)
    return weights
