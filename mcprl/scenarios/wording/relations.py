"""Requests for fields of a thing that is reached through others: the e-mail address of whoever placed order O-17."""

import random
from dataclasses import replace

from mcprl.scenarios.intents import Attribute, Relation
from mcprl.scenarios.wording import grammar
from mcprl.scenarios.wording.fields import label_slots
from mcprl.scenarios.wording.keys import KEYS
from mcprl.scenarios.wording.lookups import about_options, filled, of_one_kind
from mcprl.scenarios.wording.modifiers import BUYERS, is_deal, noun_label
from mcprl.scenarios.wording.phrases import Phrase, is_person, phrase, spoken
from mcprl.scenarios.wording.suiting import indirect, is_verbal
from mcprl.scenarios.wording.template import BEGIN, Option, data, options


def relation_options(intent: Relation, rng: random.Random) -> list[Option]:
    """Requests for fields of a thing that is reached through others."""
    start = phrase(intent.start, rng)
    nouns = [_in_dealings(grammar.one(spoken(noun)), intent.start.noun) for noun in intent.via]
    before = [grammar.one(spoken(intent.start.noun)), *nouns]
    last = nouns[-1] if nouns else grammar.one(spoken(intent.start.noun))
    person = is_person(last)
    through = start.text
    for previous, noun in zip(before, nouns, strict=False):
        if noun == "owner" and through.startswith(BEGIN) and start.short:
            through = f"{through}'s owner"
        else:
            through = f"the {noun} {_joint(noun, previous, rng)} {through}"
    whole = Phrase(through, f"the {last}", person=person, short=False)
    if not nouns:
        whole = start
    found = [
        Option(option.form, option.patterns, option.slots, option.weight * 0.6)
        for option in about_options(whole, last, _unprefixed(intent.asked, last), rng)
    ]
    inner = Phrase(f"the {last}", f"the {last}", person=person)
    intent = replace(intent, asked=_unprefixed(intent.asked, last))
    asked = intent.asked[0]
    slots = {**inner.slots(), **label_slots(asked, rng), "start": start.text, "noun": last, "a_noun": grammar.a(last)}
    slots["the_labels"] = grammar.listed([f"the {noun_label(one)}" for one in intent.asked])
    clauses = [(one, indirect(one, inner)) for one in intent.asked]
    told = [
        filled(rng.choice(said), {**inner.slots(), **label_slots(one, rng), "noun": last}, rng)
        for one, said in clauses
        if said
    ]
    if of_one_kind(intent.asked, inner) == "two_moment":
        told = [f"what day and time the {last} is"] * bool(told)
    if len(intent.asked) > 1 and slots["label_word"]:
        slots["label_word"] = grammar.listed([noun_label(one) for one in intent.asked])
    slots["clause"] = grammar.listed(told) if len(told) in (1, len(clauses)) else ""
    slots["whole"] = whole.text
    slots["unknown"] = _unknown(whole.text, last) if person and nouns and asked.meaning != "name" else ""
    table = data("groups")["relation"]
    if is_person(before[0]) and not person:  # an order date is no field of Ana's
        table = {name: said for name, said in table.items() if name != "fragment"}
    if any(map(is_verbal, intent.asked)):
        slots |= {"the_labels": "", "label_word": ""}  # which country they live in, and not their country
    if asked.meaning == "identifier" and asked.label in KEYS:  # nobody asks for the number of the order so
        return found
    return found + options(table, "relation", slots, weight=0.5)


def _unknown(whole: str, noun: str) -> str:
    """Whom somebody does not know: `who the owner of Ulla is`, `who placed order O-17`."""
    placed = whole.removeprefix(f"the {noun} ")
    return placed if placed.startswith("who ") else f"who {whole} is"


_OF = ("owner", "author", "writer", "manager", "landlord", "tenant", "parent", "member")
"""People who are so by what is theirs: the owner of a cat, but the vet for an appointment."""


_PLACED = ("order", "purchase")
"""Dealings that are placed."""


def _joint(noun: str, previous: str, rng: random.Random) -> str:
    """What stands between a thing and what it is reached from: the customer on a booking, the lamp in an order, the
    order from a customer, the appointment for an invoice."""
    if is_person(noun) and is_deal(previous):
        placed = noun in BUYERS and previous.split()[-1] in _PLACED
        return rng.choice(("on", "who placed")) if placed else "on"
    if is_person(noun):
        return "of" if noun in _OF else "for"
    if is_person(previous):
        return "from" if is_deal(noun) else "of"
    return "in" if is_deal(previous) and noun in data("thesaurus")["goods"] else "for"


def _in_dealings(noun: str, start: str) -> str:
    """What a thing is called where it is reached from a dealing: the user of a reservation is a customer."""
    return "customer" if noun == "user" and is_deal(spoken(start)) else noun


def _unprefixed(asked: tuple[Attribute, ...], noun: str) -> tuple[Attribute, ...]:
    """The number of an order, and not its order number."""
    return tuple(replace(one, label=one.label.removeprefix(f"{noun} ")) for one in asked)
