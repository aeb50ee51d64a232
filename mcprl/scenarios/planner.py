"""Calls filled with the values of one split and executed: what every task is made of.

The split is by value: each value belongs to train, val or test by a hash of the seed, the same in every task of a pack.
"""

import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mcprl.judges.checks import Scalar
from mcprl.scenarios import wording
from mcprl.scenarios.fields import Field, record_of, result_fields, rows_of, usable
from mcprl.scenarios.knowledge import Knowledge, State
from mcprl.scenarios.pack import split_of
from mcprl.scenarios.slots import Slot, build
from mcprl.types import Call, Check, Fact, Scenario, Session, Split, Tool, ToolResult

Filled = list[tuple[Slot, Scalar]]
"""Slots of one tool, each with its value."""


def call_of(tool: Tool, filled: Filled) -> Call:
    return Call(tool.name, build({slot.path: value for slot, value in filled}))


def given(filled: Filled) -> list[Scalar]:
    """The values that a call is given, those aside that its schema lists."""
    return [value for slot, value in filled if not slot.choices]


@dataclass(frozen=True)
class Executed:
    """One executed call of a plan: how its slots were filled, what it gave, and what of that can be asked for."""

    tool: Tool
    filled: Filled
    call: Call
    result: ToolResult
    fields: list[Field]


class Planner:
    """Fills calls with values of one split, executes them, and makes tasks of what they gave.

    `known` is only read. A method that finds nothing that fits returns `None`.
    """

    def __init__(self, known: Knowledge, split: Split, seed: int, max_calls: int) -> None:
        self.known, self.seed, self.max_calls = known, seed, max_calls
        self.split: Split = split
        self.rng = random.Random(f"compose {seed} {split}")
        self._asked: Counter[str] = Counter()

    def allowed(self, value: Any) -> bool:
        """Whether a value belongs to the split."""
        return split_of(self.seed, value) == self.split

    def tool(self, fits: Callable[[Tool], bool] = lambda _: True) -> Tool | None:
        """A read-only tool, at random among those that fit."""
        tools = [tool for tool in self.known.reads() if fits(tool)]
        return self.rng.choice(tools) if tools else None

    def needs(self, tool: Tool) -> list[Slot]:
        return [slot for slot in self.known.slots[tool.name] if slot.required]

    async def read(self, session: Session, state: State, tool: Tool | None = None) -> Executed | None:
        """Call a read-only tool, the given one or one at random, with values that belong to the split."""
        tool = tool or self.tool()
        if tool is None:
            return None
        filled: Filled = []
        for slot in self.known.slots[tool.name]:
            if not slot.required and ((slot.tool, slot.path) not in self.known.sources or self.rng.random() < 0.65):
                continue
            options = self.known.options(slot, state, self.rng, self.allowed)
            if not options:
                if slot.required:
                    return None
                continue
            filled.append((slot, self.rng.choice(options)))
            if slot.path[-1] == 0 and len(options) > 2 and self.rng.random() < 0.15:
                filled.append((replace(slot, path=(*slot.path[:-1], 1)), self.rng.choice(options)))
        # Where the schema lists all that is given, no value says to which split the call belongs: the call itself does.
        if filled and not given(filled) and not self.allowed(f"{tool.name}({call_of(tool, filled).arguments})"):
            return None
        return await self.execute(session, tool, filled)

    async def execute(self, session: Session, tool: Tool, filled: Filled) -> Executed | None:
        """Make a call; `None` where it gives nothing."""
        call = call_of(tool, filled)
        result = await session.call(tool.name, call.arguments)
        if not usable(result):
            return None
        fields = result_fields(self.known.texts.get(tool.name, []), call, result)
        if (rows := rows_of(record_of(result))) is not None:  # what stands in one row of many is not the result's
            place, _ = rows
            fields = [entry for entry in fields if place and entry.path[: len(place)] != place]
        return Executed(tool, filled, call, result, fields)

    def choose_fields(self, step: Executed) -> list[Field]:
        """One or two fields to ask for; those seldom asked first, truth values rarely, since they can be guessed."""

        def name(entry: Field) -> str:
            return f"{step.tool.name}:{entry.label}"

        steady = [entry for entry in step.fields if (step.tool.name, entry.label) not in self.known.volatile]
        fields = [entry for entry in steady if not isinstance(entry.values[0], bool) or self.rng.random() < 0.15]
        if not step.filled:
            fields = [entry for entry in fields if self.allowed(name(entry))]
        if not fields:
            return []
        count = 2 if len(fields) > 1 and self.rng.random() < 0.22 else 1
        fields.sort(key=lambda entry: (self._asked[name(entry)] // 3, self.rng.random()))
        chosen = fields[:count]
        self._asked.update(map(name, chosen))
        return chosen

    def question(
        self,
        kind: str,
        request: str,
        steps: Sequence[Executed],
        fields: Sequence[Field],
        state: State,
        more: Sequence[Scalar] = (),
    ) -> Scenario | None:
        """A task whose answer must hold the values of `fields`; `more` are values it names besides those it gives."""
        values = [value for step in steps for value in given(step.filled)] + list(more)
        checks = tuple(Fact(value, entry.label) for entry in fields for value in entry.values)
        answer = wording.answer({entry.label: entry.values for entry in fields})
        if not all(self.allowed(value) for value in values):
            return None
        return self.task(kind, request, tuple(step.call for step in steps), checks, answer, state, values)

    def task(
        self,
        kind: str,
        request: str,
        plan: tuple[Call, ...],
        checks: tuple[Check, ...],
        answer: str,
        state: State,
        values: Sequence[Scalar],
    ) -> Scenario:
        """The task, named by a hash of its request and plan. `values` are those that tie it to its split."""
        told = json.dumps([request, [[call.tool, call.arguments] for call in plan]], sort_keys=True)
        name = hashlib.sha256(told.encode()).hexdigest()[:12]
        texts = tuple(dict.fromkeys(str(value) for value in values))
        return Scenario(name, request, checks, plan, answer, state.setup, texts, self.split, kind)
