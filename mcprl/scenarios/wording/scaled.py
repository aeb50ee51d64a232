"""Requests whose answer or value must be worked out: what twelve of them cost, the same status as another order."""

import random
import re
from dataclasses import replace

from mcprl.scenarios.intents import Likewise, Scaled, Value
from mcprl.scenarios.wording import grammar
from mcprl.scenarios.wording.fields import label_slots
from mcprl.scenarios.wording.modifiers import shortened
from mcprl.scenarios.wording.phrases import Phrase, phrase, spoken
from mcprl.scenarios.wording.template import BEGIN, END, Option, data, in_brackets, mark, options
from mcprl.scenarios.wording.values import plain, shown

_CODE = re.compile(r"\d\S*$|[A-Za-z]-\d")
"""A code, which has no plural: an M6 bolt has one."""


def scaled_options(intent: Scaled, rng: random.Random) -> list[Option]:
    """Requests for what a field comes to with a number."""
    number = mark(plain(intent.amount))
    if intent.how == "change":
        number = shown(Value(intent.of, intent.amount), rng)
    thing = phrase(intent.thing, rng)
    thing = replace(thing, text=in_brackets(thing.text))  # nobody buys a lamp in a category
    some = those(thing)
    slots = {**thing.slots(), "n": number, "those": some, "some": f"{number} {some}"}
    return options(data("groups")[f"scaled_{intent.how}"], f"scaled.{intent.how}", slots)


def those(thing: Phrase) -> str:
    """A thing behind a number: `window frames`, `Linen Kettles (kitchen)`, `of SKU-305`."""
    named = re.fullmatch(f"(?:(?:the|our) )?{BEGIN}([^{END}]*[a-z]){END}(.*)", thing.text)
    sort = re.fullmatch(rf" \({BEGIN}?[\w -]+{END}?\)", named[2]) if named else None
    if not named or (named[2] and not sort) or _CODE.search(named[1]) or thing.plural:
        return f"of {thing.several}"
    return mark(grammar.plural(named[1])) + (sort[0] if sort else "")


def scaled_answer(intent: Scaled, said: str) -> str:
    """What the field comes to, as `said`."""
    return {
        "times": f"That makes {said}.",
        "off": f"With {plain(intent.amount)} % off it is {said}.",
        "change": f"That leaves {said}.",
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
