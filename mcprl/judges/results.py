"""What the results of a trajectory hold: the values that an answer could repeat, and the labels they stand under."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from mcprl.judges.checks import holds, leaves, squash
from mcprl.judges.mentions import Reading, normal, read
from mcprl.judges.values import places, same, tokens
from mcprl.judges.workings import is_told_along, names_owner, welcome
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

    def repeated(self, answer: str, scenario: Scenario) -> str:
        """Why the answer is a dump of the results, empty if it is none.

        What counts is how many of the results' other values it states: those that are no fact of the task, stand
        neither in the request nor in the plan's arguments, and do not name a fact's subject.
        """
        others = self.others(scenario)
        reading = read(answer)
        joined = f" {' '.join(tokens(answer))} "
        numbers = {number.value for number in reading.numbers}
        stated = {words for words, value in others.items() if _stated(words, value, joined, numbers)}
        shown = self._shown(reading, scenario, {others[words] for words in stated})
        others = {words: value for words, value in others.items() if words not in stated or value not in shown}
        stated &= others.keys()
        parts = [others.keys() & {words for words, _, _ in values} for values in self._values]
        whole = {words for part in parts if part <= stated for words in part}
        facts = [check for check in scenario.checks if isinstance(check, Fact)]
        seen = Counter(words for values in self._values for words, _, _ in values)
        things = {words for words in stated if seen[words] == 1}  # not what kind of things they are
        if len(facts) == 1 and facts[0].meaning == "count" and facts[0].value in (len(stated), len(things)):
            return ""  # the counted things themselves
        for part in (others.keys(), *parts, whole):
            if _is_dump(len(part & stated), len(part)):
                return f"in an answer that states {len(part & stated)} of the {len(part)} other values of what was read"
        squashed = squash(answer)
        for result, part in zip(self.results, parts, strict=True):
            whole_text = isinstance(result.structured, dict | list) and squash(result.text) in squashed
            if len(part) >= 2 and whole_text:
                return "in an answer that repeats a whole result"
        return ""

    def _shown(self, reading: Reading, scenario: Scenario, stated: set[Scalar]) -> set[Scalar]:
        """The other values that may stand beside the facts (`workings`)."""
        facts = [check for check in scenario.checks if isinstance(check, Fact)]
        spots = {value: places(reading, value) for value in stated}
        found = {value: where for value, where in spots.items() if where}
        shown = {value for value in stated if names_owner(value, facts)}
        for fact in facts:
            own = places(reading, fact.value, fact.meaning, fact.unit)
            shown |= welcome(reading, fact, own, found, scenario.request)
            left = {value: where for value, where in found.items() if value not in shown}
            shown |= left.keys() if is_told_along(reading, own, left) else set()
        return shown

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


def _stated(words: tuple[str, ...], value: Scalar, joined: str, numbers: set[float]) -> bool:
    if isinstance(value, int | float):
        return float(value) in numbers
    return f" {' '.join(words)} " in joined


def _is_dump(stated: int, total: int) -> bool:
    """Both of two, most of three or more, a third of many, or more than anybody asked for."""
    share = stated / max(1, total)
    return (
        (stated == 2 and total == 2) or (stated >= 3 and share >= 0.6) or (stated >= 5 and share > 0.3) or stated >= 8
    )
