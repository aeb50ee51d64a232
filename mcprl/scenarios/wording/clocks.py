"""The time in a place and in several: requests for it, now or at a moment of another place, and what is answered."""

import random
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from mcprl.scenarios.intents import Attribute, Compute, Each, Outcome, Value
from mcprl.scenarios.wording import grammar
from mcprl.scenarios.wording.arguments import zone_times
from mcprl.scenarios.wording.template import END, Option, data, mark, options
from mcprl.scenarios.wording.values import forms, is_zone, plain, shown
from mcprl.servers.arguments import leaves
from mcprl.text import ahead_or_behind, words
from mcprl.types import Call

_SPANS = {
    15: "15 minutes", 30: "half an hour", 45: "45 minutes", 60: "an hour", 90: "an hour and a half", 120: "two hours",
    150: "two and a half hours", 180: "three hours",
}  # fmt: skip
"""Durations in minutes as people say them."""
_MOMENT = re.compile(r"([012]\d):([0-5]\d)")
_BEFORE_PLACE = re.compile(r"\{(?:main|start)\} (?:\{from_time\}|our time)")
_LEADS = (15, 30, 60, 120)
"""How many minutes before something people get ready for it."""


def clock_options(intent: Each, rng: random.Random) -> list[Option]:
    """Requests for the time or the weekday in several places; empty if something else is asked.

    The places are said by their cities, by which an answer tells whose time is whose.
    """
    named = [value for thing in intent.things for value in thing.values]
    if not all(map(is_zone, named)):
        return []
    slots = {"all": grammar.listed([mark(forms(value)[0]) for value in named])}
    weekday = {"day", "weekday"} & {*words(intent.asked.key)}
    clock = intent.asked.meaning == "time" and intent.asked.label == "time"  # and no time difference
    if intent.given:
        moment = next((value for value in intent.given if value.attribute.meaning in ("time", "datetime")), None)
        place = next((value for value in intent.given if is_zone(value)), None)
        if moment is None or place is None or len(intent.given) > 2 or not clock:
            return []
        slots |= {"main": shown(moment, rng), **zone_times({"from": shown(place, rng), "all": slots["all"]})}
        return with_moment(options(data("computes")["zones_each"], "compute.zones_each", slots))
    if not (weekday or clock):
        return []
    name = "weekday_each" if weekday else "clock_each"
    return options(data("computes")[name], f"compute.{name}", slots)


def spans(roles: Mapping[str, str], arguments: Sequence[Value], rng: random.Random) -> list[Option]:
    """Requests for a moment of one place in another that tell it by a duration: a meeting of two hours that starts at
    14:30, an hour before the shop closes at 18:00. Empty if no argument is a clock time."""
    moment = next((value for value in arguments if _MOMENT.fullmatch(str(value.value))), None)
    if moment is None:
        return []
    sign = rng.choice((1, 1, -1))
    minutes = rng.choice(list(_SPANS)[1:] if sign > 0 else _LEADS)
    hour, minute = map(int, str(moment.value).split(":"))
    start = (60 * hour + minute - sign * minutes) % 1440
    clock = replace(moment, value=f"{start // 60:02}:{start % 60:02}")
    slots = {**zone_times(roles), "start": shown(clock, rng), "span": mark(_SPANS[minutes])}
    name = "zones_after" if sign > 0 else "zones_before"
    return with_moment(options(data("computes")[name], f"compute.{name}", slots))


def with_moment(found: list[Option]) -> list[Option]:
    """Requests for a moment of a place, without one in words before a place's name."""
    kept: list[Option] = []
    for option in found:
        moment = option.slots.get("start", option.slots.get("main", ""))
        worded = re.search(rf" (?:in the [a-z]+|at night){END}$", moment)
        patterns = tuple(p for p in option.patterns if not (worded and _BEFORE_PLACE.search(p)))
        kept += [replace(option, patterns=patterns)] if patterns else []
    return kept


def told_there(intent: Compute | Each, outcome: Outcome) -> str:
    """The answer about clocks, which says whose they are: "That's 08:00 in Lima, the day before." Empty for others."""
    if isinstance(intent, Each):
        places = [value for thing in intent.things for value in thing.values]
        asked, given = (intent.asked,), intent.given
    else:
        places = [value for value in intent.arguments if is_zone(value)][-1:]
        asked, given = intent.asked[:1], [value for value in intent.arguments if value not in places]
    if not asked or not places or not all(map(is_zone, places)) or len(places) != len(outcome):
        return ""
    cities = [mark(forms(place)[0]) for place in places]
    offsets = [ahead_or_behind(value) for value in outcome]
    if all(offsets):
        said = [f"{city} is {offset}" for city, offset in zip(cities, offsets, strict=True)]
        return f"{grammar.listed(said)}."
    if not _is_clock(asked[0]):
        return ""
    days = [_other_day(place, given) for place in places]
    said = [f"{plain(value)} in {city}{day}" for value, city, day in zip(outcome, cities, days, strict=True)]
    moment = any(_MOMENT.fullmatch(str(value.value)) for value in given)
    return f"{'That' if moment else 'It'}'s {grammar.listed(said)}."


def _is_clock(asked: Attribute) -> bool:
    """Whether the time or the weekday is asked for, and no difference or zone."""
    return (asked.meaning == "time" and asked.label == "time") or bool({"day", "weekday"} & {*words(asked.key)})


def _other_day(place: Value, given: Sequence[Value]) -> str:
    """Which day a moment of another place is in `place`, if it is not the same one."""
    start = next((value for value in given if is_zone(value)), None)
    clock = next(filter(None, (_MOMENT.fullmatch(str(value.value)) for value in given)), None)
    if start is None or clock is None:
        return ""
    with suppress(ValueError):  # 29:00
        there = datetime.now(ZoneInfo(plain(start.value))).replace(hour=int(clock[1]), minute=int(clock[2]))
        days = (there.astimezone(ZoneInfo(plain(place.value))).date() - there.date()) / timedelta(days=1)
        return {-1.0: ", the day before", 1.0: ", the next day"}.get(days, "")
    return ""


def as_asked(answer: str, plan: Sequence[Call], request: str) -> str:
    """An answer about the clocks of places by the names that the request has for them: Graz, and not Vienna."""
    zone = Attribute("timezone", "timezone", "category")
    for _, text in (leaf for call in plan for leaf in leaves(call.arguments)):
        if isinstance(text, str) and is_zone(place := Value(zone, text)):
            usual, *others = forms(place)
            named = next((name for name in others if name.lower() in request.lower()), "")
            if named and usual.lower() not in request.lower():
                answer = re.sub(rf"\b{re.escape(usual)}\b", named, answer)
    return answer
