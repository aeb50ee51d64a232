"""Requests for the thing with the most or the least of something."""

import random

from mcprl.scenarios.intents import Attribute, Extreme
from mcprl.scenarios.wording import grammar
from mcprl.scenarios.wording.lookups import about_options, be, label_slots
from mcprl.scenarios.wording.modifiers import in_full, noun_label
from mcprl.scenarios.wording.phrases import Phrase, definite, group, is_person, spoken
from mcprl.scenarios.wording.template import Option, data, options
from mcprl.text import singular


def extreme_options(intent: Extreme, rng: random.Random) -> list[Option]:
    """Requests for fields of the thing that has the most or least of something."""
    noun = grammar.one(spoken(intent.noun))
    one = group(intent.noun, intent.where, rng, more=False)
    top = superlative(intent.by, intent.most)
    if top:
        head = _with_superlative(one.text, noun, top)
        rank = f"the {top}"
        is_rank = f"is the {top}"
    else:
        height = "highest" if intent.most else "lowest"
        counted = intent.by.meaning == "count" and grammar.is_plural(in_full(intent.by))
        if counted:
            height = "most" if intent.most else "fewest"
        what = in_full(intent.by)
        head = f"{definite(one.text)} with the {height} {what}"
        rank = f"the one with the {height} {what}"
        is_rank = f"has the {height} {what}"
    thing = Phrase(head, f"the {noun}", person=is_person(noun), short=False)
    slots = {
        **thing.slots(),
        **label_slots(intent.asked[0], rng),
        "rank": rank,
        "is_rank": is_rank,
        "noun": noun,
        "one": one.text,
    }
    slots["group"] = group(intent.noun, intent.where, rng).text
    slots["the_labels"] = grammar.listed([f"the {noun_label(field)}" for field in intent.asked])
    slots["be"] = be(intent.asked)
    naming = len(intent.asked) == 1 and (
        intent.asked[0].meaning in ("name", "identifier") or intent.asked[0].label == noun.split()[-1]
    )
    found = options(data("groups")["extreme_named" if naming else "extreme"], "extreme", slots, weight=1.0)
    if naming:
        return found
    return found + [
        Option(option.form, option.patterns, option.slots, option.weight * 0.6)
        for option in about_options(thing, noun, intent.asked, rng)
    ]


def _with_superlative(text: str, noun: str, top: str) -> str:
    """`Ana's cheapest open order`, `the cheapest lamp from Lumina`."""
    owner, found, rest = text.partition("\x03's ")
    if found and " " not in owner.strip("\x02"):
        return f"{owner}\x03's {top} {rest}"
    return f"the {top} {text}"


def superlative(by: Attribute, most: bool) -> str:
    """`cheapest`, `newest`, empty if there is no word for it."""
    return degree(by, most)[1]


def degree(by: Attribute, most: bool) -> tuple[str, str]:
    """The comparative and the superlative for a field, empty if there are none."""
    table = data("thesaurus")["degrees"]
    ways = table.get(by.label)
    if ways is None:
        last = [singular(word) for word in by.label.split()]
        ways = next((table[word] for word in (*reversed(last), by.meaning) if word in table), None)
    if ways is None:
        return "", ""
    return (ways[0], ways[1]) if most else (ways[2], ways[3])
