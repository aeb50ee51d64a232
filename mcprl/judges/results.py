"""What the results of a trajectory hold: the values that an answer could repeat, and the labels they stand under."""

import re
from collections.abc import Iterable, Sequence

from mcprl.judges.checks import holds, leaves
from mcprl.judges.mentions import normal
from mcprl.judges.values import same, tokens
from mcprl.types import CallRecord, Fact, Scalar, Scenario, ToolResult

_LONG = 80
"""Characters. A longer text of a result without structure is no value."""


class Evidence:
    """The successful results of a trajectory."""

    def __init__(self, calls: Sequence[CallRecord]) -> None:
        self.calls = [record for record in calls if not record.result.is_error]
        self.results = [record.result for record in self.calls]
        self._values = [list(_values(result)) for result in self.results]
        self._labels: dict[tuple[str, ...], set[str]] = {}
        for values in self._values:
            for words, _, label in values:
                self._labels.setdefault(words, set()).add(label)
        for labels in self._labels.values():
            labels.discard("")
        self.words = {word for words in self._labels for word in words}

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
        return frozenset(self._labels.get(tokens(str(value)), set()))

    def others(self, scenario: Scenario) -> dict[tuple[str, ...], Scalar]:
        """The results' values that the task does not ask for, by their words."""
        facts = [check for check in scenario.checks if isinstance(check, Fact)]
        given = f" {' '.join(tokens(scenario.request))} "
        known = [fact.value for fact in facts] + [fact.subject for fact in facts if fact.subject]
        known += [value for call in scenario.plan for _, value in leaves(call.arguments)]
        spelled = {tokens(str(value)) for value in known}
        numbers = {float(value) for value in known if isinstance(value, int | float)}
        others: dict[tuple[str, ...], Scalar] = {}
        for words, value, _ in (entry for values in self._values for entry in values):
            if words in others or words in spelled or f" {' '.join(words)} " in given:
                continue
            if not isinstance(value, int | float) or float(value) not in numbers:
                others[words] = value
        return others


def _values(result: ToolResult) -> Iterable[tuple[tuple[str, ...], Scalar, str]]:
    """The values of a result with their words and labels: leaves of JSON, or the pieces of a text."""
    entries: list[tuple[Scalar, str]] = []
    if isinstance(result.structured, dict | list):
        for path, value in leaves(result.structured):
            entries.append((value, next((part for part in reversed(path) if isinstance(part, str)), "")))
    else:
        pieces = [
            piece.strip().strip("\"'")
            for piece in re.split(
                r"[\n;|=]\s?|[,:]\s|(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMrs)(?<!\bNo)\.\s|\s{2,}", result.text
            )
        ]
        entries = [(piece, "") for piece in pieces if 0 < len(piece) <= _LONG]
    for value, label in entries:
        words = tokens(str(value))
        spelled = "".join(words)
        if not isinstance(value, bool) and (len(spelled) > 1 or spelled.isdigit()):
            yield words, value, label
