"""One rollout of a task as its checks see it: what was asked, what was called and read, and what the answer says."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from mcprl.judges.checks import holds, leaves, same_arguments
from mcprl.judges.mentions import Reading, normal, read
from mcprl.judges.values import same, tokens
from mcprl.servers.digest import as_read
from mcprl.servers.effects import is_read
from mcprl.types import (
    Call,
    CallMade,
    CallRecord,
    Fact,
    Scalar,
    Scenario,
    StateHolds,
    Tool,
    ToolResult,
    Trajectory,
)

_LONG = 80
"""Characters. A longer text of a result without structure is no value."""
_PIECES = re.compile(r"[\n;|=]\s?|[,:]\s|(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMrs)(?<!\bNo)\.\s|\s{2,}")


class Evidence:
    """`tools` are the server's, by name; `calls` are the rollout's successful ones."""

    def __init__(self, scenario: Scenario, trajectory: Trajectory, tools: Mapping[str, Tool] | None = None) -> None:
        self.scenario, self.trajectory, self.tools = scenario, trajectory, tools or {}
        self.request, self.answer = scenario.request, trajectory.answer
        worked = (record for record in trajectory.calls if not record.result.is_error)
        self.calls = [replace(record, result=as_read(record.result)) for record in worked]
        self.results = [record.result for record in self.calls]
        self.facts = tuple(check for check in scenario.checks if isinstance(check, Fact))

    @cached_property
    def reading(self) -> Reading:
        return read(self.answer)

    @property
    def writes(self) -> list[CallRecord]:
        """The calls of tools that may write, failed ones included."""
        return [record for record in self.trajectory.calls if self.may_write(record.tool)]

    def may_write(self, tool: str) -> bool:
        return tool in self.tools and not is_read(self.tools[tool])

    def is_call(self, record: CallRecord, wanted: CallMade | Call) -> bool:
        """Whether a call was made with these arguments."""
        schema = self.tools[wanted.tool].input_schema if wanted.tool in self.tools else None
        return record.tool == wanted.tool and same_arguments(record.arguments, wanted.arguments, schema)

    def look(self, check: StateHolds) -> tuple[ToolResult, ToolResult] | None:
        """The result of a read of the state before the first turn and after the last; `None` if it was not made."""
        looks = [each for each in self.scenario.checks if isinstance(each, StateHolds)]
        before, after = self.trajectory.before, self.trajectory.state
        complete = len(before) == len(after) == len(looks)
        return (before[looks.index(check)], after[looks.index(check)]) if complete else None

    def holds(self, value: Scalar) -> bool:
        """Whether a result has the value: also the time of a moment, and a number with its unit behind it."""
        inside = re.compile(rf"(?<![\d:.]){re.escape(str(value))}(?!\d|\.\d)")
        is_figure = not isinstance(value, bool) and re.fullmatch(r"[\d.:]+", str(value)) is not None
        return any(
            holds(result.text, value)
            or holds(normal(result.text), normal(value) if isinstance(value, str) else value)
            or any(same(leaf, value) for _, leaf in leaves(result.structured))
            or (is_figure and inside.search(result.text) is not None)
            for result in self.results
        )

    def labels(self, value: Scalar) -> frozenset[str]:
        """The fields in which the results have the value, empty if they have no structure."""
        return self._labels.get(tokens(str(value)), frozenset())

    @cached_property
    def _labels(self) -> Mapping[tuple[str, ...], frozenset[str]]:
        found: dict[tuple[str, ...], set[str]] = {}
        for words, _, label in values_in(self.results):
            found.setdefault(words, set()).add(label)
        return {words: frozenset(labels - {""}) for words, labels in found.items()}


def values_in(results: Sequence[ToolResult]) -> Iterator[tuple[tuple[str, ...], Scalar, str]]:
    """The values of results with their words and labels: leaves of JSON, or the pieces of a text."""
    for result in results:
        entries: list[tuple[Scalar, str]]
        if isinstance(result.structured, dict | list):
            entries = [(value, _label(path)) for path, value in leaves(result.structured)]
        else:
            pieces = (piece.strip().strip("\"'") for piece in _PIECES.split(result.text))
            entries = [(piece, "") for piece in pieces if 0 < len(piece) <= _LONG]
        for value, label in entries:
            words = tokens(str(value))
            spelled = "".join(words)
            if not isinstance(value, bool) and (len(spelled) > 1 or spelled.isdigit()):
                yield words, value, label


def _label(path: Sequence[str | int]) -> str:
    return next((part for part in reversed(path) if isinstance(part, str)), "")
