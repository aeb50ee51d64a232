"""The parts of a plan: executed calls, the things that they lead to, and the fields that can be asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any, NamedTuple

from mcprl.judges.checks import squash
from mcprl.scenarios.fields import Keys, tells_of_more
from mcprl.scenarios.intents import Attribute, Intent, Outcome, Reference, Value
from mcprl.scenarios.parameters import is_complete
from mcprl.scenarios.probing.knowledge import Knowledge, State
from mcprl.scenarios.probing.sources import ordered
from mcprl.scenarios.probing.writing import without_moments
from mcprl.scenarios.slots import Slot, build
from mcprl.types import Call, Check, Json, Scalar, Tool, ToolResult

Filled = list[tuple[Slot, Scalar]]
"""Slots of one tool, each with its value."""


@dataclass(frozen=True)
class Field:
    """A scalar of a record that can be asked for. `rivals` are what a wrong answer would give instead. `subject` is the
    thing that it is of, if a task asks for several things."""

    attribute: Attribute
    value: Scalar
    rivals: tuple[Scalar, ...] = ()
    derived: bool = False
    live: Keys = ()
    subject: str = ""


@dataclass(frozen=True)
class Step:
    """One executed call of a plan, its result as JSON, and the rows of the result if it is a list."""

    tool: Tool
    filled: Filled
    call: Call
    result: ToolResult
    record: Json
    keys: Keys = ()
    rows: tuple[dict[str, Any], ...] = ()

    @property
    def content(self) -> Json:
        """What can be asked of the result: its record, else its text."""
        return without_moments(self.result.text) if self.record is None else self.record


@dataclass(frozen=True)
class Found:
    """A thing that a request names by `reference`, the steps that lead to it, its fields, and its record.

    `entities` are the values that tie a task about it to its split.
    """

    reference: Reference
    steps: tuple[Step, ...]
    record: Mapping[str, Any]
    fields: tuple[Field, ...]
    entities: tuple[Scalar, ...] = ()

    @property
    def plan(self) -> list[Call]:
        """The calls that lead to the thing."""
        return [step.call for step in self.steps]

    @property
    def keys(self) -> Keys:
        """Where the record stands in the last result."""
        return self.steps[-1].keys if self.steps else ()

    @property
    def subject(self) -> str:
        """The value that the request names the thing by."""
        return str(self.reference.values[0].value) if self.reference.values else ""


class Listed(NamedTuple):
    """A list that was read: the steps that lead to it, what a request states for it, and the entities of the thing
    whose list it is, if one was looked up."""

    steps: tuple[Step, ...]
    where: tuple[Value, ...]
    of: tuple[Scalar, ...]


@dataclass(frozen=True)
class Grounded:
    """A task without words: an intent, the plan that was executed for it, what that proved, and the checks of it.

    `entities` are the values that tie it to its split, `state` is the server's state that it was executed in.
    """

    kind: str
    intent: Intent
    outcome: Outcome
    plan: tuple[Call, ...]
    checks: tuple[Check, ...]
    state: State
    entities: tuple[Scalar, ...]

    @property
    def by_wording(self) -> bool:
        """Whether it has nothing to hold out but its wording: no entity, and no result that anybody reads."""
        return not self.entities and (not self.plan or self.kind == "action")


def call_of(tool: Tool, filled: Filled) -> Call:
    """The call of a tool with its slots filled."""
    return Call(tool.name, build({slot.path: value for slot, value in filled}))


def in_order(filled: Filled) -> Filled:
    """The values, numbers and dates, with those of a begin and its end swapped where the end comes first."""
    values = dict(filled)
    for one, other in permutations(values, 2):
        low, high = values[one], values[other]
        alike = type(low) is type(high) and str(low)[:1].isdigit() and str(high)[:1].isdigit()
        if ordered(one, other) and alike and low > high:  # pyright: ignore[reportOperatorIssue]
            values[one], values[other] = high, low
    return [(slot, values[slot]) for slot, _ in filled]


def is_whole(known: Knowledge, step: Step) -> bool:
    """Whether the rows of a list are all there are."""
    if step.result.cut_bytes or tells_of_more(step.result.text, len(step.rows)):
        return False
    return is_complete(known.slots[step.tool.name], step.call.arguments, step.record, step.rows)


def same(a: Scalar, b: Scalar) -> bool:
    """Whether two values read the same."""
    return squash(str(a)) == squash(str(b))


def spelled(value: Scalar) -> str:
    """A value as text: truth values in lower case, whole floats without a fraction."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)
