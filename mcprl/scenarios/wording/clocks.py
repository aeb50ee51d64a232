"""Requests for the time in several places: now, or at a moment of another place."""

import random

from mcprl.scenarios.intents import Each
from mcprl.scenarios.wording import grammar
from mcprl.scenarios.wording.template import Option, data, mark, options
from mcprl.scenarios.wording.values import forms, is_zone, shown
from mcprl.text import words


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
        slots |= {"main": shown(moment, rng), "from": shown(place, rng)}
        return options(data("computes")["zones_each"], "compute.zones_each", slots)
    if not (weekday or clock):
        return []
    name = "weekday_each" if weekday else "clock_each"
    return options(data("computes")[name], f"compute.{name}", slots)
