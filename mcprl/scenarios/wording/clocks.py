"""Requests for the time in several places: now, or at a moment of another place."""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from mcprl.scenarios.intents import Each, Value
from mcprl.scenarios.wording import grammar
from mcprl.scenarios.wording.arguments import zone_times
from mcprl.scenarios.wording.template import END, Option, data, mark, options
from mcprl.scenarios.wording.values import forms, is_zone, shown
from mcprl.text import words

_SPANS = {
    15: "15 minutes", 30: "half an hour", 45: "45 minutes", 60: "an hour", 90: "an hour and a half", 120: "two hours",
    150: "two and a half hours", 180: "three hours",
}  # fmt: skip
"""Durations in minutes as people say them."""
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
    moment = next((value for value in arguments if re.fullmatch(r"[012]\d:[0-5]\d", str(value.value))), None)
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
