"""A line of a file as a scenario: the fields of `types.Scenario`, of which only `request` is required, and the short
forms of `lines.SHORT`, which become checks (`shorthand`). scenarios/README.md describes them for people.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, fields, replace
from typing import Any, TypeVar

from mcprl.judges.checks import leaves
from mcprl.scenarios.packs.lines import SHORT, Line, shown, unknown, validated
from mcprl.scenarios.packs.shorthand import fact, parts, read_calls, read_facts, read_states
from mcprl.text import stems
from mcprl.types import AsksBack, Call, CallMade, Check, Declines, Fact, RewardCheck, SaysMissing, Scenario, StateHolds

_CHECKS: dict[str, type[Any]] = {
    "fact": Fact,
    "call": CallMade,
    "state": StateHolds,
    "missing": SaysMissing,
    "asks": AsksBack,
    "declines": Declines,
    "reward": RewardCheck,
}
_FULL = tuple(field.name for field in fields(Scenario))
_YES = ("true", "yes", "y", "x", "1")
_NO = ("", "false", "no", "n", "0")
_T = TypeVar("_T")
_IDENTIFYING = frozenset(("id", "number", "key", "code", "sku"))


def scenario_of(line: Line) -> Scenario:
    """The task of a line. Raises `ScenarioError` with the field that is unknown, missing or of the wrong kind."""
    allowed = (*_FULL, *SHORT)
    for name in line.tree:
        if name not in allowed:
            raise line.error("", unknown("field", name, allowed))
    request = line.tree.get("request")
    if not isinstance(request, str) or not request.strip():
        value = "missing" if request is None else shown(request)
        raise line.error("request", f'{value}; expected what a person asks for, such as "Where is order O-17?"')
    calls = _calls(line, "calls")
    plan = _calls(line, "plan") or calls
    checks = (*_full_checks(line), *_short_checks(line, calls))
    rest = {name: value for name, value in line.tree.items() if name in _FULL and name not in ("checks", "plan")}
    rest["setup"] = [asdict(call) for call in _calls(line, "setup")]
    scenario: Scenario = validated(line, "", Scenario, {"id": "", "checks": (), **rest})
    scenario = replace(scenario, request=request.strip(), checks=checks, plan=plan)
    if "values" not in line.tree:
        scenario = replace(scenario, values=_values(calls_of(scenario)))
    if "kind" not in line.tree:
        scenario = replace(scenario, kind=kind_of(scenario))
    return scenario if scenario.id else replace(scenario, id=task_id(scenario))


def task_id(scenario: Scenario) -> str:
    """An id made of what a task asks for and how it is checked."""
    told = f"{scenario.request}{scenario.plan}{scenario.checks}{scenario.setup or ''}"
    return hashlib.sha256(told.encode()).hexdigest()[:12]


def _calls(line: Line, field: str) -> tuple[Call, ...]:
    """The calls of a field, written in short form or as objects with `tool` and `arguments`."""
    written = line.tree.get(field) or ()
    listed: Sequence[Any] = [written] if isinstance(written, str | dict) else written  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(listed, list | tuple):
        raise line.error(field, f"{shown(listed)} is not a list of calls; expected get_order(order_id='O-17'); ...")
    calls: list[Call] = []
    for number, each in enumerate(listed):
        if isinstance(each, str):
            calls += _short(line, field, read_calls, each)
        else:
            calls.append(validated(line, f"{field}.{number}", Call, each))
    return tuple(calls)


def _full_checks(line: Line) -> Iterator[Check]:
    written = line.tree.get("checks", ())
    if not isinstance(written, list | tuple):
        raise line.error("checks", f"{shown(written)} is not a list of checks")
    for number, tree in enumerate(written):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        place = f"checks.{number}"
        if not isinstance(tree, dict):
            raise line.error(place, f'{shown(tree)} is not a check; expected an object such as {{"value": 35.45}}')
        kind = tree.get("kind", "fact")  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
        if kind not in _CHECKS:
            raise line.error(f"{place}.kind", f"{shown(kind)} is none of {', '.join(_CHECKS)}")
        check: Check = validated(line, place, _CHECKS[kind], tree)
        if isinstance(check, StateHolds) and not (check.values or check.gone):
            raise line.error(place, "a state needs values that must be there afterwards, or gone ones")
        if isinstance(check, RewardCheck) and not 0 < check.at_least <= 1:
            raise line.error(f"{place}.at_least", f"{shown(check.at_least)}; expected a number above 0, at most 1")
        if isinstance(check, AsksBack) and not check.words:
            raise line.error(f"{place}.words", "empty; expected words for what the answer must ask for")
        yield check


def _short_checks(line: Line, calls: Sequence[Call]) -> Iterator[Check]:
    """The checks of a line's short forms. The last call of a task about something missing must find nothing."""
    missing = _flag(line, "missing")
    for number, call in enumerate(calls, 1):
        yield CallMade(call.tool, call.arguments, failed=missing and number == len(calls))
    yield from _expected(line)
    states = line.tree.get("state", ())
    for each in [states] if isinstance(states, str) else states:
        yield from _short(line, "state", read_states, str(each))
    if missing:
        yield SaysMissing()
    if "asks" in line.tree:
        yield _asks(line)
    if _flag(line, "declines"):
        yield Declines()


def _expected(line: Line) -> Iterator[Fact]:
    """The facts of `expect`: in short form, a list of values, or an object of names and values."""
    written = line.tree.get("expect", [])
    if isinstance(written, dict):
        named = [(str(name), value) for name, value in written.items()]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    else:
        named = [("", value) for value in (written if isinstance(written, list) else [written])]  # pyright: ignore[reportUnknownVariableType]
    for name, value in named:
        if isinstance(value, str) and not name:
            yield from _short(line, "expect", read_facts, value)
        elif isinstance(value, str | int | float):
            yield fact(value, name)
        else:
            raise line.error("expect", f"{shown(value)} is not a value; expected 35.45 or status=shipped")


def _asks(line: Line) -> AsksBack:
    written = line.tree["asks"]
    listed = list(parts(written, ";")) if isinstance(written, str) else written
    if not isinstance(listed, list) or not listed or not all(isinstance(word, str) for word in listed):  # pyright: ignore[reportUnknownVariableType]
        raise line.error(
            "asks", f"{shown(written)}; expected words for what the answer must ask for, such as order; number"
        )
    return AsksBack(tuple(listed))  # pyright: ignore[reportUnknownArgumentType]


def _flag(line: Line, field: str) -> bool:
    written = str(line.tree.get(field, "")).strip().casefold()
    if written not in (*_YES, *_NO):
        raise line.error(field, f"{shown(line.tree[field])}; expected yes or no")
    return written in _YES


def _short(line: Line, field: str, read: Callable[[str], tuple[_T, ...]], text: str) -> tuple[_T, ...]:
    """What a function of `scenarios.packs.shorthand` reads, its `ValueError` as the line's error."""
    try:
        return read(text)
    except ValueError as error:
        raise line.error(field, str(error)) from None


def kind_of(scenario: Scenario, writes: bool = False) -> str:
    """The kind of a task, from its checks, its plan and whether that writes. `open`: nothing is expected."""
    kinds = {check.kind for check in scenario.checks}
    for kind in ("missing", "asks", "declines"):
        if kind in kinds:
            return kind
    if writes or "state" in kinds:
        return "write"
    if not kinds:
        return "open"
    return "chain" if len(scenario.plan) > 1 else "lookup"


def calls_of(scenario: Scenario) -> list[Call]:
    """The calls that a task is about: its plan's, and those that its checks make or require."""
    checked = [check for check in scenario.checks if isinstance(check, CallMade | StateHolds)]
    return [*scenario.plan, *(Call(check.tool, check.arguments) for check in checked)]


def _values(calls: Sequence[Call]) -> tuple[str, ...]:
    """The entity values that calls name: text, and numbers of arguments that are called an id or the like."""
    named: dict[str, None] = {}
    for call in calls:
        for path, value in leaves(call.arguments):
            name = next((part for part in reversed(path) if isinstance(part, str)), "")
            if isinstance(value, str) or (not isinstance(value, bool) and _IDENTIFYING & set(stems(name)[-1:])):
                named[str(value)] = None
    return tuple(named)
