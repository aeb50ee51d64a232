"""Gold answers: short sentences that state what the plan's results proved."""

import random
import re
from typing import Any

from mcprl.scenarios.intents import (
    Absent,
    Adjust,
    Attribute,
    Both,
    Change,
    Combine,
    Compare,
    Compute,
    Conditional,
    Connected,
    Count,
    Each,
    Extreme,
    Intent,
    Lacking,
    Likewise,
    Listing,
    Lookup,
    Missing,
    Outcome,
    Reference,
    Relation,
    Scaled,
    Total,
    Value,
)
from mcprl.scenarios.wording import grammar
from mcprl.scenarios.wording.clauses import clause, combined, computed, ended, stated, value_text
from mcprl.scenarios.wording.clocks import told_there
from mcprl.scenarios.wording.degrees import OWN_LABELS, degree, height, higher
from mcprl.scenarios.wording.keys import KEYS, is_code
from mcprl.scenarios.wording.modifiers import in_full, is_deal, is_technical, noun_label
from mcprl.scenarios.wording.nouns import ABSTRACT
from mcprl.scenarios.wording.phrases import definite, group, is_person, phrase, spoken
from mcprl.scenarios.wording.scaled import scaled_answer
from mcprl.scenarios.wording.suiting import of_commit
from mcprl.scenarios.wording.template import data, mark, unmark
from mcprl.scenarios.wording.values import called, forms, is_zone, plain
from mcprl.text import words
from mcprl.types import Scalar


class _First(random.Random):
    """Draws the first of every choice: answers spell values in their most usual form."""

    def random(self) -> float:
        return 0.0

    def choice(self, seq: Any) -> Any:
        return seq[0]


_FIRST = _First()
_NAMING = ("identifier", "name", "person", "place", "path", "email", "category", "text", "url", "number")
"""Meanings of values by which an answer can name a thing."""
_ALONE = ("identifier", "path", "email", "place")
"""Meanings of values that stand behind the noun: no job 17."""
_PAST = {"create": "created", "send": "sent", "book": "booked", "cancel": "cancelled", "delete": "deleted"}
DECLINED = (
    "I can't help with that using the tools I have.",
    "I'm afraid I can't help with that: I have no tool for it.",
    "Sorry, that's not something I can do with my tools.",
)
"""What fits whether something was to be done or to be found out."""


def answer(intent: Intent, outcome: Outcome, rng: random.Random) -> str:
    """The gold answer to an intent whose plan proved `outcome`."""
    text = _answer(intent, outcome, rng)
    return unmark(grammar.capitalised(text))


def _answer(intent: Intent, outcome: Outcome, rng: random.Random) -> str:
    if isinstance(intent, Lookup):
        return stated("They" if is_person(spoken(intent.thing.noun)) else "It", _asked(intent), outcome)
    if isinstance(intent, Relation):
        last = grammar.one(spoken(intent.via[-1] if intent.via else intent.start.noun))
        return stated(f"The {last}", intent.asked, outcome)
    if isinstance(intent, Extreme):
        own = {spoken(intent.noun).split()[-1], *KEYS, "name", "title"}  # of files the file, of orders the order number
        if len(intent.asked) == 1 and intent.asked[0].label.split()[-1] in own:
            text = value_text(intent.asked[0], outcome[0])
            return ended(f"It's {grammar.one(spoken(intent.noun))} {text}" if text.isdigit() else f"It's {text}")
        return stated("They" if is_person(spoken(intent.noun)) else "It", intent.asked, outcome)
    if isinstance(intent, Each | Compute) and (told := told_there(intent, outcome)):
        return told
    if isinstance(intent, Each):
        return _of_each(intent, outcome)
    if isinstance(intent, Compare):
        return _winner(intent, outcome[0])
    if isinstance(intent, Combine):
        return combined(intent.of, intent.how, outcome[0])
    if isinstance(intent, Scaled):
        return scaled_answer(intent, value_text(intent.of, outcome[0]))
    if isinstance(intent, Both):
        return " ".join(_part(part, own, rng) for part, own in zip(intent.parts, outcome, strict=True))
    if isinstance(intent, Likewise) or (isinstance(intent, Conditional) and intent.holds):
        return _done(intent.change)
    if isinstance(intent, Conditional):
        thing = intent.change.thing or Reference("item")
        return f"I didn't change anything: {clause(_name(thing), intent.condition.attribute, outcome[0])}."
    if isinstance(intent, Missing):
        return f"There is no {_absent(intent.thing)}."
    if isinstance(intent, Absent):
        return f"There is no {_absent(intent.change.thing or Reference('item'))}."
    if isinstance(intent, Count | Total | Listing):
        return _of_group(intent, outcome)
    if isinstance(intent, Connected):
        ends, verb = grammar.listed([called(plain(value)) for value in outcome]), " ".join(words(intent.verb))
        if intent.subject:
            return f"{called(intent.subject)} {verb} {ends}."
        head, _, rest = verb.partition(" ")
        plural_verb = f"{'are' if head == 'is' else grammar.infinitive(head)} {rest}".strip()
        return f"{ends} {verb if len(outcome) == 1 else plural_verb} {called(str(intent.object))}."
    if isinstance(intent, Compute):
        return _computed(intent, outcome)
    if isinstance(intent, Change | Adjust):
        return _done(intent)
    if isinstance(intent, Lacking):
        return _asking_back(intent)
    return rng.choice(DECLINED)


def _of_each(intent: Each, outcome: Outcome) -> str:
    pairs = list(zip(intent.things, outcome, strict=False))
    if intent.asked.meaning == "email":
        return ended(f"It's {grammar.listed([f'{plain(value)} for {_name(thing)}' for thing, value in pairs])}")
    return ended(grammar.listed([clause(_name(thing), intent.asked, value) for thing, value in pairs]))


def _asked(intent: Lookup) -> list[Attribute]:
    return [of_commit(one, spoken(intent.thing.noun)) for one in intent.asked]


def _part(intent: Intent, outcome: Outcome, rng: random.Random) -> str:
    """The answer to one of two requests, which names its thing."""
    if isinstance(intent, Lookup):
        return stated(_name(intent.thing), _asked(intent), outcome)
    if isinstance(intent, Listing) and len(outcome) == 1:
        things = group(intent.noun, intent.where, _FIRST, more=False).text
        return ended(f"The only {things} is {value_text(intent.asked, outcome[0])}")
    if isinstance(intent, Compute) and not intent.asked and isinstance(outcome[0], int | float):
        return f"The result is {plain(outcome[0])}."
    return grammar.capitalised(_answer(intent, outcome, rng))


def _winner(intent: Compare, value: Scalar) -> str:
    winner = next((thing for thing in intent.things if thing.values and thing.values[0].value == value), None)
    name = _name(winner) if winner is not None else mark(plain(value))
    more, most = degree(intent.by, intent.most)
    two = len(intent.things) == 2
    if two and "since" in intent.by.label.split() and is_person(spoken(intent.things[0].noun)):
        return f"{name} {'joined later' if intent.most else 'has been with us longer'}."
    costs = intent.by.meaning == "money" and is_technical(grammar.one(spoken(intent.things[0].noun)))
    dated = intent.by.meaning in ("date", "datetime") and intent.by.label in OWN_LABELS
    if dated and (is_deal(intent.things[0].noun) or grammar.one(spoken(intent.things[0].noun)) == "commit"):
        more, most = ("newer", "newest") if intent.most else ("older", "oldest")
    if not costs and (most or (two and more)):
        return f"{name} is {more if two else f'the {most}'}."
    label = in_full(intent.by)
    if label in ("stock", "quantity in stock") and two:
        return f"We have {'more' if intent.most else 'fewer'} of {name}."
    if label == "quantity" and two:
        return f"{name} has {'more' if intent.most else 'fewer'}."
    if intent.by.meaning == "count" and grammar.is_plural(label):
        words = ("more", "fewer") if two else ("the most", "the fewest")
        return f"{name} has {words[0] if intent.most else words[1]} {label}."
    return (
        f"{name} has the {higher(intent.by, intent.most)} {label}."
        if two
        else f"{name} has {height(intent.by, intent.most)}."
    )


def _name(thing: Reference) -> str:
    """A thing by the first of its values, a number behind its noun."""
    noun = grammar.one(spoken(thing.noun))
    if not thing.values:
        return f"the {noun}"
    found = (value for value in thing.values if value.attribute.meaning in _NAMING)
    naming = next((value for value in found if value.attribute.meaning != "person" or is_person(noun)), None)
    if naming is None and not is_zone(thing.values[0]):
        return f"the {noun}"  # it was described by a date or a state
    text = forms(thing.values[0])[0] if is_zone(thing.values[0]) else plain((naming or thing.values[0]).value)
    if noun in ("column", "table"):
        return f"the {mark(text)} {noun}"
    if noun == "commit" and " " in text:
        return f'the commit "{mark(text)}"'
    if (
        text[:1].islower()
        and "/" not in text
        and (" " in text or (noun in data("thesaurus")["goods"] and text.isalpha()))
    ):
        return f"the {mark(text)}"
    return f"{noun} {mark(text)}" if re.fullmatch(r"[\d.]+", text) else mark(text)


def _absent(thing: Reference) -> str:
    noun = grammar.one(spoken(thing.noun))
    if not thing.values:
        return noun
    own = thing.values[0].attribute
    alone = [each for each in thing.values if each.attribute.meaning in _ALONE or is_code(each.attribute, noun)]
    if len(thing.values) == len(alone) == 1:
        joint = " with the email address" if own.meaning == "email" else ""
        return f"{noun}{joint} {plain(thing.values[0].value)}"
    if len(thing.values) == 1 and own.meaning in ("name", "person") and own.label != "mention":
        return f"{noun} called {plain(thing.values[0].value)}"
    return group(thing.noun, thing.values, _FIRST, more=False).text


def _of_group(intent: Count | Total | Listing, outcome: Outcome) -> str:
    things = group(intent.noun, intent.where, _FIRST)
    if not outcome or (isinstance(intent, Count) and not outcome[0]):
        return f"There are no {things.text}."
    if isinstance(intent, Count):
        number, one = plain(outcome[0]), group(intent.noun, intent.where, _FIRST, more=False).text
        if event := re.fullmatch(r"(.+) ((?:changed|added|removed) since .+)", one if outcome[0] == 1 else things.text):
            return f"{number} {event[1]} {'has' if outcome[0] == 1 else 'have'} {event[2]}."
        there = "Yes, there" if intent.whether else "There"
        return f"{there} is 1 {one}." if outcome[0] == 1 else f"{there} are {number} {things.text}."
    if isinstance(intent, Total):
        how = "average" if intent.how == "average" else "total"
        label = noun_label(intent.of).removeprefix("total ")
        label = "amount" if label == "total" else label
        return f"The {how} {label} of {definite(things.text)} is {value_text(intent.of, outcome[0])}."
    shown = [value_text(intent.asked, value) for value in outcome]
    if intent.asked.meaning == "text" and any(len(text.split()) > 2 for text in shown):  # notes and no names
        shown = [f'"{text}"' for text in shown]
    if len(shown) == 1:
        return ended(f"Only {shown[0]}")
    return f"These are {definite(things.text)}: {grammar.listed(shown)}."


def _computed(intent: Compute, outcome: Outcome) -> str:
    if not intent.asked:
        return ended(plain(outcome[0])) if len(outcome) == 1 else plain(outcome[0])
    pairs = zip(intent.asked, outcome, strict=False)
    places = [plain(value.value) for value in intent.arguments if value.attribute.meaning == "place"]
    where = places[0] if len(places) == 1 == len(intent.arguments) else ""
    return " ".join(ended(computed(one, value, where)) for one, value in pairs)


def _done(intent: Change | Adjust) -> str:
    if isinstance(intent, Adjust):
        return f"Done. {_set_clause(Value(intent.attribute, intent.new), intent.thing)}"
    if intent.effect == "remove" and intent.thing is not None and not intent.values:
        return f"Done. I {_past(intent.tool, 'removed')} {_shown(intent.thing)}."
    if intent.effect == "tick":
        return "Done, it's ticked off."
    if intent.effect in ("create", "append"):
        return f"Done, I {_past(intent.tool, 'added')} it."
    if intent.effect in ("set", "edit") and intent.thing is not None and len(intent.values) == 1:
        done = "" if intent.values[0].value == "done" else "Done. "
        return f"{done}{_set_clause(intent.values[0], intent.thing)}"
    return "Done."


def _past(tool: str, usual: str) -> str:
    """What was done by a tool that is called after it: `cancelled` by `cancel_order`."""
    return next((_PAST[word] for word in words(tool) if word in _PAST), usual)


def _set_clause(value: Value, thing: Reference) -> str:
    label = noun_label(value.attribute)
    described = len(thing.values) > 1  # the paid order from C-1054, which is packed now
    name = f"the {grammar.one(spoken(thing.noun))}" if described else _shown(thing)
    return f"The {label} of {name} is now {value_text(value.attribute, value.value)}."


def _shown(thing: Reference) -> str:
    return unmark(phrase(thing, _FIRST).text)


def _key_of(noun: str, label: str) -> str:
    """What a thing is told by: the name of an entry, and not its entity name or its slug."""
    return "name" if label.endswith("slug") else label.split()[-1] if noun in ABSTRACT else label


def _asking_back(intent: Lacking) -> str:
    inner = intent.intent
    label = noun_label(intent.lacking)
    thing = None if isinstance(inner, Compute) else inner.thing
    which = thing is not None and intent.lacking.key in [value.attribute.key for value in thing.values]
    noun = grammar.one(spoken(thing.noun)) if thing and (which or isinstance(inner, Lookup)) else ""
    if intent.lacking.meaning in ("identifier", "name", "path", "email") and noun:
        return f"Which {noun} do you mean?" + (
            "" if label in (noun, "from", "to") else f" Please give me the {_key_of(noun, label)}."
        )
    if isinstance(inner, Change) or intent.lacking.meaning in ("text", "count", "money", "measure", "number"):
        return f"What should the {label} be?"
    return f"Which {label} do you mean?"
