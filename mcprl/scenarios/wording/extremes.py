"""Requests for the thing with the most or the least of something."""

import random
from collections.abc import Sequence
from dataclasses import replace

from mcprl.scenarios.intents import Extreme, Reference, Top
from mcprl.scenarios.wording import grammar
from mcprl.scenarios.wording.degrees import height, standing, superlative
from mcprl.scenarios.wording.fields import label_slots
from mcprl.scenarios.wording.lookups import about_options, be
from mcprl.scenarios.wording.modifiers import BOOKINGS, is_deal, noun_label, shortened, since_when, what_was_done
from mcprl.scenarios.wording.nouns import LIVING, is_person, variant_of
from mcprl.scenarios.wording.phrases import group, phrase, spoken
from mcprl.scenarios.wording.suiting import is_verbal, stands_in
from mcprl.scenarios.wording.template import Option, data, options


def extreme_options(intent: Extreme, rng: random.Random) -> list[Option]:
    """Requests for fields of the thing that has the most or least of something."""
    noun = variant_of(grammar.one(spoken(intent.noun)), intent.where)
    intent = replace(intent, asked=tuple(shortened(one, noun) for one in intent.asked))
    named = intent.asked[0].label == noun.split()[-1] or intent.asked[0].meaning in ("name", "path")
    rest, since = since_when(intent.where, rng)
    if since and named:
        return [] if rest else _since(intent, noun, since)
    one = group(intent.noun, intent.where, rng, more=False)
    thing = phrase(Reference(intent.noun, intent.where, Top(intent.by, intent.most)), rng)
    slots = {**thing.slots(), **label_slots(intent.asked[0], rng), "noun": noun, "one": one.text}
    slots |= _rank(intent, noun)
    slots["group"] = group(intent.noun, intent.where, rng).text
    slots["the_labels"] = grammar.listed([f"the {noun_label(field)}" for field in intent.asked])
    slots["be"] = be(intent.asked)
    if any(is_verbal(one) and not stands_in(thing, one) for one in intent.asked):
        slots |= {"label": "", "label_word": "", "the_labels": ""}  # where the newest lamp is, and not its shelf
    naming = len(intent.asked) == 1 and (
        intent.asked[0].meaning in ("name", "identifier") or intent.asked[0].label == noun.split()[-1]
    )
    if intent.asked[0].label == noun.split()[-1]:
        slots["label_word"] = ""  # nobody asks for the file of a file
    found = options(data("groups")["extreme_named" if naming else "extreme"], "extreme", slots, weight=1.0)
    if naming and (is_person(noun) or noun.split()[-1] in LIVING):
        found = [replace(o, patterns=tuple(_of_ours(o.patterns))) for o in found if any(_of_ours(o.patterns))]
    if standing(intent.by, intent.most, noun):  # the appointment that is done that comes first
        found = [replace(o, patterns=tuple(p for p in o.patterns if "{is_rank}" in p)) for o in found]
        found = [option for option in found if option.patterns]
    if (
        naming
        and is_deal(noun)
        and noun.split()[-1] not in BOOKINGS
        and intent.by.label in ("order date", "date", "creation date")
    ):
        end = {**slots, "end": "last" if intent.most else "first"}
        found += options(data("groups")["extreme_came"], "extreme.came", end)
        found += [] if intent.most else options(data("groups")["extreme_waits"], "extreme.waits", slots)
    if naming:
        return found
    return found + [
        Option(option.form, option.patterns, option.slots, option.weight * 0.6)
        for option in about_options(thing, noun, intent.asked, rng)
    ]


def _rank(intent: Extreme, noun: str) -> dict[str, str]:
    """What the thing is among the others: the newest, the one with the highest rating, the one to come first."""
    if placed := standing(intent.by, intent.most, noun):
        return {"rank": f"the one to {placed.replace('comes', 'come')}", "is_rank": placed}
    if top := superlative(intent.by, intent.most, noun):
        return {"rank": f"the {top}", "is_rank": f"is the {top}"}
    highest = height(intent.by, intent.most)
    return {"rank": f"the one with {highest}", "is_rank": f"has {highest}"}


def _of_ours(patterns: Sequence[str]) -> list[str]:
    """The patterns that ask which of our people or animals it is: what the oldest cat is, is a riddle."""
    return [p.replace("of the {group}", "of our {group}") for p in patterns if "{is_rank}" in p or "{label_word}" in p]


def _since(intent: Extreme, noun: str, since: str) -> list[Option]:
    """Requests for the file with the most or least of something among what changed since a commit."""
    own = noun.removeprefix("changed ")
    slots = {"one": own, "things": grammar.plural(own), "height": height(intent.by, intent.most), "since": since}
    if done := what_was_done(intent.by):
        found = options(data("groups")["extreme_done"], "extreme.done", slots | done) if intent.most else []
    else:
        found = options(data("groups")["extreme_since"], "extreme.since", slots)
    return found
