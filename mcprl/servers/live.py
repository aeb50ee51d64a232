"""Facts that depend on the clock: what a trajectory's own call returned is what its answer must state."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from mcprl.servers.arguments import leaves, same_arguments
from mcprl.types import Call, CallRecord, Fact, Json, Scalar, Scenario

_TIME = re.compile(r"(?:^|T|\s)(\d\d:\d\d)(?::\d\d|$)")
_ZONE = re.compile(r"[A-Z][A-Za-z_]+(/[A-Za-z0-9_+-]+){1,2}")
_MINUTE = timedelta(minutes=1)


def current(
    fact: Fact, scenario: Scenario, calls: Sequence[CallRecord], schemas: Mapping[str, Any] | None = None
) -> list[Fact]:
    """A live fact as the trajectory's own last call of the plan, or of the plan's call about its subject, proved it.

    Empty if there is no such call. A time of day that is the time now may be told a minute later, so that there are
    two.
    """
    plan = [call for call in scenario.plan if _is_about(call, fact.subject)] or list(scenario.plan)
    made = [record for record in calls if plan and record.tool == plan[-1].tool and not record.result.is_error]
    same = [
        record
        for record in made
        if same_arguments(record.arguments, plan[-1].arguments, (schemas or {}).get(record.tool))
        or _told_alike(record.arguments or {}, plan[-1].arguments)
    ]
    if not same:
        return []
    siblings = _siblings(same[-1].result.structured, fact.live)
    value = siblings.pop(fact.live, None)
    if value is None:
        return []
    rivals = tuple(_spelled(other, fact) for other in siblings.values() if not isinstance(other, bool))
    shown = _spelled(value, fact)
    found = [replace(fact, value=shown, rivals=tuple(rival for rival in rivals if rival != shown), live=())]
    if fact.meaning == "time" and _TIME.fullmatch(str(shown)) and _is_now(value):
        later = datetime.strptime(str(shown), "%H:%M") + _MINUTE
        found.append(replace(found[0], value=later.strftime("%H:%M")))
    return found


def refreshed(scenario: Scenario, calls: Sequence[CallRecord]) -> str:
    """The scenario's own answer with what its live facts are in these calls' results."""
    answer, behind = scenario.answer, 0
    for fact in (check for check in scenario.checks if isinstance(check, Fact) and check.live):
        for now in current(fact, scenario, calls)[:1]:
            old, new = str(fact.value), str(now.value)
            at = answer.find(old, behind)
            if at >= 0:
                answer = answer[:at] + new + answer[at + len(old) :]
                behind = at + len(new)
    return answer


def _told_alike(made: Mapping[str, Any], planned: Mapping[str, Any]) -> bool:
    """Whether the arguments are the same but for time zones with the same clocks, as America/Rosario is another name of
    America/Argentina/Cordoba."""
    return made.keys() == planned.keys() and all(
        made[name] == value or (bool(clock := _clock(str(made[name]))) and clock == _clock(str(value)))
        for name, value in planned.items()
    )


@lru_cache(maxsize=1024)
def _clock(zone: str) -> tuple[timedelta | None, ...]:
    """How far a time zone is ahead of UTC in each month of three years; empty for what is none."""
    if not _ZONE.fullmatch(zone):
        return ()
    try:
        found = ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ()
    this = datetime.now(UTC).year
    months = [datetime(year, month, 15, tzinfo=found) for year in (this - 1, this, this + 1) for month in range(1, 13)]
    return tuple(moment.utcoffset() for moment in months)


def _is_about(call: Call, subject: str) -> bool:
    return bool(subject) and any(str(value) == subject for _, value in leaves(call.arguments))


def _siblings(result: Json, path: tuple[str, ...]) -> dict[tuple[str, ...], Scalar]:
    """The scalars of the record with a value at `path`, by their paths from there on. An envelope around the record is
    passed over."""
    values = {tuple(part for part in keys if isinstance(part, str)): value for keys, value in leaves(result)}
    front = next((keys[: len(keys) - len(path)] for keys in values if keys[len(keys) - len(path) :] == path), None)
    if front is None:
        return {}
    return {keys[len(front) :]: value for keys, value in values.items() if keys[: len(front)] == front}


def _spelled(value: Scalar, fact: Fact) -> Scalar:
    """The time of day of a moment if the fact is one."""
    match = _TIME.search(str(value)) if fact.meaning == "time" else None
    return match[1] if match else value


def _is_now(value: Scalar) -> bool:
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        return True
    return moment.tzinfo is None or abs(datetime.now(UTC) - moment) < timedelta(minutes=10)
