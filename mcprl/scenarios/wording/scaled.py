"""Requests whose answer or value must be worked out: what twelve of them cost, the same status as another order."""

import random
from dataclasses import replace

from mcprl.scenarios.intents import Likewise, Scaled, Value
from mcprl.scenarios.wording import grammar
from mcprl.scenarios.wording.fields import label_slots
from mcprl.scenarios.wording.modifiers import shortened
from mcprl.scenarios.wording.phrases import phrase, spoken
from mcprl.scenarios.wording.template import Option, data, mark, options
from mcprl.scenarios.wording.values import plain, shown


def scaled_options(intent: Scaled, rng: random.Random) -> list[Option]:
    """Requests for what a field comes to with a number."""
    number = mark(plain(intent.amount))
    if intent.how == "change":
        number = shown(Value(intent.of, intent.amount), rng)
    slots = {**phrase(intent.thing, rng).slots(), "n": number}
    return options(data("groups")[f"scaled_{intent.how}"], f"scaled.{intent.how}", slots)


def scaled_answer(intent: Scaled, said: str) -> str:
    """What the field comes to, as `said`."""
    return {
        "times": f"That makes {said}.",
        "off": f"With {plain(intent.amount)} % off it is {said}.",
        "change": f"What is left is {said}.",
        "less": f"That leaves {said}.",
        "short": f"You are {said} short.",
    }[intent.how]


def likewise_options(intent: Likewise, rng: random.Random) -> list[Option]:
    """Requests for a write of what another thing has."""
    thing = intent.change.thing
    if thing is None:
        return []
    seed = rng.random()
    one, other = (phrase(each, random.Random(seed)) for each in (thing, intent.other))
    value = intent.change.values[0]
    attribute = replace(shortened(value.attribute, grammar.one(spoken(thing.noun))))
    slots = {**one.slots(), **label_slots(attribute, rng), "other": other.text}
    return options(data("changes")["likewise"], "likewise", slots)
