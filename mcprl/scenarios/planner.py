"""The steps that every kind of task is made of: fill a call with values of one split, execute it, choose fields, and
build the scenario.

The split is by value: each value belongs to train, val or test by a hash of it and the seed, the same in every task of
a pack.
"""

import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mcprl.scenarios import wording
from mcprl.scenarios.draws import fill_write
from mcprl.scenarios.fields import Field, record_of, result_fields, rows_of, usable
from mcprl.scenarios.knowledge import Knowledge, Source, State
from mcprl.scenarios.pack import split_of
from mcprl.scenarios.slots import Slot, build
from mcprl.scenarios.values import invent
from mcprl.types import Call, Check, Fact, Scalar, Scenario, Session, Split, Tool, ToolResult

Filled = list[tuple[Slot, Scalar]]
"""Slots of one tool, each with its value."""


def call_of(tool: Tool, filled: Filled) -> Call:
    """The call of a tool with its slots filled."""
    return Call(tool.name, build({slot.path: value for slot, value in filled}))


def free_values(filled: Filled) -> list[Scalar]:
    """The call's argument values, except those picked from a schema's enum."""
    return [value for slot, value in filled if not slot.choices]


@dataclass(frozen=True)
class Executed:
    """One executed call of a plan: its filled slots, its result, and the fields of the result that can be asked for."""

    tool: Tool
    filled: Filled
    call: Call
    result: ToolResult
    fields: list[Field]


class Planner:
    """Fills calls with values of one split, executes them, and builds scenarios of the results.

    `known` is only read. A method that finds no fitting value, tool or result returns `None`.
    """

    def __init__(self, known: Knowledge, split: Split, seed: int, max_calls: int) -> None:
        self.known = known
        self.seed = seed
        self.max_calls = max_calls
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
        """The required slots of a tool."""
        return [slot for slot in self.known.slots[tool.name] if slot.required]

    async def read(self, session: Session, state: State, tool: Tool | None = None) -> Executed | None:
        """Call a read-only tool, by default one at random, with values that belong to the split."""
        tool = tool or self.tool()
        filled = self._fill(tool, state) if tool else None
        if tool is None or filled is None:
            return None
        # If all its values are picked from enums, no value assigns the call to a split: a hash of the call does.
        if filled and not free_values(filled) and not self.allowed(f"{tool.name}({call_of(tool, filled).arguments})"):
            return None
        return await self.execute(session, tool, filled)

    def _fill(self, tool: Tool, state: State) -> Filled | None:
        """Values for the required slots, for some of the optional ones, and sometimes for a second item of a list."""
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
        return filled

    def fill_write(self, tool: Tool, state: State, references: bool = True) -> Filled | None:
        """Values of the split for a write. `None` if six attempts found none.

        References to existing things come from the state if `references` is true. All other values are invented.
        """
        for attempt in range(6):
            picked = fill_write(self.known, tool, state if references else State(), self.rng, attempt)
            if picked is None:
                return None
            filled: Filled = []
            for slot, (source, value) in picked.items():
                own = self._value_of_split(slot, source, value, state)
                if own is None:
                    break
                filled.append((slot, own))
            if len(filled) == len(picked):
                return filled
        return None

    def _value_of_split(self, slot: Slot, source: Source, value: Any, state: State) -> Scalar | None:
        """`value` if the slot lists it or it belongs to the split, else another that does; `None` if none was found."""
        if source[0] == "from":
            own = [value for value in state.pool.get(source, ()) if self.allowed(value)]
            return self.rng.choice(own) if own else None
        for _ in range(24):
            if slot.choices or self.allowed(value):
                return value
            value = invent(slot, self.rng)
        return value if self.allowed(value) else None

    async def execute(self, session: Session, tool: Tool, filled: Filled) -> Executed | None:
        """Make a call; `None` if its result is not usable."""
        call = call_of(tool, filled)
        result = await session.call(tool.name, call.arguments)
        if not usable(result):
            return None
        fields = result_fields(self.known.texts.get(tool.name, []), call, result)
        listed = rows_of(record_of(result))
        if listed is not None:  # a field of one row of many is no field of the whole result
            place, _ = listed
            fields = [entry for entry in fields if place and entry.path[: len(place)] != place]
        return Executed(tool, filled, call, result, fields)

    def choose_fields(self, step: Executed) -> list[Field]:
        """One or two fields to ask for, those seldom asked first. Truth values are rare, since they can be guessed."""

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
        """A task whose answer must state the values of `fields`.

        `more` are values that the request names besides the calls' arguments. All must belong to the split.
        """
        values = [value for step in steps for value in free_values(step.filled)] + list(more)
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
        """The scenario. Its id is a hash of its request and plan; `values` are the values that tie it to its split."""
        content = json.dumps([request, [[call.tool, call.arguments] for call in plan]], sort_keys=True)
        scenario_id = hashlib.sha256(content.encode()).hexdigest()[:12]
        texts = tuple(dict.fromkeys(str(value) for value in values))
        return Scenario(scenario_id, request, checks, plan, answer, state.setup, texts, self.split, kind)
