"""What the test shares with training: wordings with their values blanked, and values in results that training saw.

Pure functions of scenarios and of the conversations that were trained on. A wording that stands in training verbatim
tests another value in a known sentence; a fact beside its entity in a training result could be remembered.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mcprl.text import parse_json
from mcprl.types import CallMade, Fact, Json, Message, Scalar, Scenario, StateHolds, Suite

_BLANK: Final = "_"
_QUOTED = r"`[^`]*`|\"[^\"]*\"|\u201c[^\u201d]*\u201d|(?<!\w)'[^']*'(?!\w)|(?<!\w)\u2018[^\u2019]*\u2019(?!\w)"
_ADDRESS = r"\S*(?:://|[/\\@])\S*\w|\b\w+\.(?:[a-z]{1,4}|md|json)\b"  # URLs, paths, e-mail addresses, file names
_NUMBER = r"[$\u20ac\u00a3]?\s?(?:\w+[-.:,])*\w*\d\w*(?:[-.:,]\w+)*\s?[%\u20ac]?"  # codes, numbers, times, money
_VALUE = re.compile(f"{_QUOTED}|{_ADDRESS}|{_NUMBER}")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DATE = re.compile(
    rf"\b{_MONTH},?(?= {_BLANK})|(?<={_BLANK} )(?:of )?{_MONTH}(?!\w)|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
)
_SEVERAL = re.compile(rf"{_BLANK}(?:[\s,.:-]*{_BLANK})+")  # a date is several values
_LONGEST_BLOCK = 24  # lines of text without an empty one between: a longer block is a table, whose rows are its lines


@dataclass(frozen=True)
class SuiteOverlap:
    """What one suite of the test shares with training.

    Of `tasks`, `same_wording` have a request that stands in training verbatim once values are blanked. `with_entity`
    have entity values, and of those `entity_seen` have one in a result that training saw. `with_fact` ask for a fact
    that a result states, and of those `fact_seen` have it in such a result, in one record with their entity.
    """

    tasks: int
    same_wording: int
    with_entity: int
    entity_seen: int
    with_fact: int
    fact_seen: int


def overlap(
    test: Sequence[Scenario], train: Sequence[Scenario], seen: Iterable[Sequence[Message]]
) -> dict[Suite, SuiteOverlap]:
    """Each suite's overlap with training: with the requests of `train` and the results in the conversations `seen`."""
    same = wording_overlap(test, train)
    records = seen_records(seen)
    found: dict[Suite, SuiteOverlap] = {}
    for suite, (tasks, same_wording) in same.items():
        members = [scenario for scenario in test if scenario.suite == suite]
        facts = [(scenario, facts_of(scenario)) for scenario in members]
        found[suite] = SuiteOverlap(
            tasks=tasks,
            same_wording=same_wording,
            with_entity=sum(bool(scenario.values) for scenario in members),
            entity_seen=sum(bool(_holding(records, scenario.values)) for scenario in members),
            with_fact=sum(bool(values) for _, values in facts),
            fact_seen=sum(bool(_holding(_holding(records, scenario.values), values)) for scenario, values in facts),
        )
    return found


# --- wordings ---------------------------------------------------------------------------------------------------------


def wording_overlap(test: Iterable[Scenario], train: Iterable[Scenario]) -> dict[Suite, tuple[int, int]]:
    """For each suite of `test`: its number of tasks, and how many have a wording that stands in `train` verbatim, with
    values blanked.
    """
    known = {blanked(scenario) for scenario in train}
    counts: dict[Suite, tuple[int, int]] = {}
    for scenario in test:
        tasks, same = counts.get(scenario.suite, (0, 0))
        counts[scenario.suite] = tasks + 1, same + (blanked(scenario) in known)
    return counts


def blanked(scenario: Scenario) -> str:
    """The request in lower case with a placeholder for each value: entity values, values of facts, checks and calls,
    quoted strings, numbers, dates, codes, paths and addresses.
    """
    text = scenario.request.casefold()
    for value in sorted({str(value).casefold() for value in _values(scenario)}, key=len, reverse=True):
        if len(value) > 1:
            text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", _BLANK, text)
    text = " ".join(_VALUE.sub(f" {_BLANK} ", text).split())
    text = _DATE.sub(_BLANK, text)
    return re.sub(r" (?=[,.;:?!])", "", _SEVERAL.sub(_BLANK, text))


def _values(scenario: Scenario) -> Iterator[Scalar]:
    """The values that a task is about, as far as the scenario names them."""
    yield from scenario.values
    for call in (*scenario.plan, *scenario.setup):
        yield from scalars(call.arguments)
    for check in scenario.checks:
        if isinstance(check, Fact):
            yield check.value
        elif isinstance(check, CallMade):
            yield from scalars(check.arguments)
        elif isinstance(check, StateHolds):
            yield from (*scalars(check.arguments), *check.values, *check.gone)


# --- values in results ------------------------------------------------------------------------------------------------


def facts_of(scenario: Scenario) -> list[str]:
    """The values that the answer must state and that a result holds, numbers in several forms; a derived one stands in
    no result.
    """
    facts = [check.value for check in scenario.checks if isinstance(check, Fact) and not check.derived]
    numbers = [value for value in facts if isinstance(value, int | float) and not isinstance(value, bool)]
    forms = [form for value in numbers for form in (f"{value:.2f}", f"{value:,}", f"{value:,.2f}")]
    return [*map(str, facts), *forms]


def seen_records(conversations: Iterable[Sequence[Message]]) -> list[str]:
    """Every distinct record of the tool results in the conversations, as text in lower case, with the arguments of its
    call: a result need not repeat what was asked for.
    """
    results: dict[tuple[str, str], None] = {}
    for messages in conversations:
        calls = {
            call["id"]: str(call["function"]["arguments"])
            for message in messages
            for call in message.get("tool_calls") or ()
        }
        for message in messages:
            if message["role"] == "tool":
                results[calls.get(message.get("tool_call_id", ""), ""), str(message.get("content") or "")] = None
    records: dict[str, None] = {}
    for arguments, text in results:
        asked = " | ".join(str(value) for value in scalars(parse_json(arguments)))
        records |= {f"{record} | {asked}".casefold(): None for record in _records(text)}
    return list(records)


def _records(text: str) -> Iterator[str]:
    """The records of a result: JSON's objects, each with the plain values around it, else blocks or lines of text."""
    if (value := parse_json(text)) is not None:
        for record in _rows(value, ()):
            yield " | ".join(record)
        return
    for block in re.split(r"\n\s*\n", text):
        lines = block.splitlines()
        keyed = sum(bool(re.match(r"\W*[\w ]+\s*[:=]\s*\S", line)) for line in lines)
        is_record = 1 < len(lines) <= _LONGEST_BLOCK and keyed > len(lines) / 2
        yield from [block] if is_record else lines


def _rows(value: Json, around: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The plain values of each object in nested JSON, with those of the objects that hold it."""
    if isinstance(value, list):
        items: list[Any] = value
        plain = tuple(str(item) for item in items if not isinstance(item, dict | list))
        if plain:
            yield (*around, *plain)
        for item in items:
            if isinstance(item, dict | list):
                yield from _rows(item, around)
        return
    fields: Mapping[str, Any] = value
    own = tuple(str(item) for item in fields.values() if not isinstance(item, dict | list))
    keys = tuple(key for key in fields if re.search(r"\d", key))  # a mapping by id has its ids as keys
    yield (*around, *keys, *own)
    for key, item in fields.items():
        if isinstance(item, dict | list):
            yield from _rows(item, (*around, *own, *([key] if key in keys else [])))


def _holding(records: Iterable[str], values: Sequence[str]) -> list[str]:
    """The records that hold one of the values, as a whole word."""
    wanted = [value.casefold() for value in values if value]
    return [record for record in records if any(_stands_in(value, record) for value in wanted)]


def _stands_in(value: str, text: str) -> bool:
    return value in text and bool(re.search(rf"(?<![\w.]){re.escape(value)}(?![\w]|\.\d)", text))


def scalars(value: Json) -> Iterator[Scalar]:
    """The plain values in nested JSON; nulls are left out."""
    if isinstance(value, dict):
        fields: Mapping[str, Any] = value
        for item in fields.values():
            yield from scalars(item)
    elif isinstance(value, list | tuple):
        items: Sequence[Any] = value  # pyright: ignore[reportUnknownVariableType]
        for item in items:
            yield from scalars(item)
    elif isinstance(value, str | int | float):
        yield value
