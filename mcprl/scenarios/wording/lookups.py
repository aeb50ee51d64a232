"""Questions for fields of things: one thing, several, the first or last of a group."""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mcprl.scenarios.intents import Attribute, Each, Lookup, Missing
from mcprl.scenarios.wording import grammar
from mcprl.scenarios.wording.clocks import clock_options
from mcprl.scenarios.wording.fields import date_verbs, label_slots, unit_in_full
from mcprl.scenarios.wording.modifiers import (
    is_adjective,
    is_deal,
    is_technical,
    noun_label,
    shortened,
    what_was_done,
)
from mcprl.scenarios.wording.phrases import ABSTRACT, Phrase, alike, is_person, phrase, spoken
from mcprl.scenarios.wording.since import apart, with_since
from mcprl.scenarios.wording.template import Option, agreeing, data, expand, fits, options

_DOCUMENTS = ("file", "document", "page", "report", "letter")
"""Things that have a date on them and take place at none."""
_WORKS = ("job", "task", "project", "ticket", "issue", "case", "repair", "assignment", "claim")
"""Things that somebody works on until they are done, besides dealings."""
_OWN_LABELS = ("date", "day", "time", "datetime", "timestamp")
_PLACES = ("place", "location", "city", "town", "country", "region")
_OF_DOCUMENTS = frozenset("size permissions name path type author owner change access creation update modified".split())
"""Words of the fields that belong to a document itself; others stand in it."""
_SORTS = ("type", "kind")
_TALKED = ("form-to-fill", "customer-asks")
"""Constructions for what people outside ask for: no permissions of a file."""
_OURS = re.compile(r"\bwe have\b|on file|down for|down as")
"""What people say of what they keep records of: no branch and no file is such."""
_OF_GOODS = re.compile(
    r"how much \{(?:is|does|it)\}|what \{(?:does|it)\}.* c|bought|placed|behind|till|back\b|go(?:es)? for"
)
"""What is said of things that are bought, and of no file in which a price stands."""
_BESIDE = "{it} {label_word}"
"""Only a short name is followed by a label without a mark."""
_EVENTS = (
    "appointment", "meeting", "event", "class", "course", "lesson", "concert", "session", "visit", "exam", "trip",
    "tour", "match", "game", "party", "wedding", "interview", "workshop", "conference", "show", "holiday", "booking",
)  # fmt: skip
"""Things that take place on their day: of others nobody asks when they are."""
_NOT_OURS = ("flight", "airport", "city", "country", "station", "location", "place")
"""Things that nobody keeps in a shop."""
_ASIDE = re.compile(r",|^(?:I|a customer|someone|somebody)\b")
"""What tells more than it asks: too much before a second question."""
_HAVING = re.compile(r"\{it\} (?:have|\{has\})(?!\w)|\{has\} \{it\} got")
_NOT_HAD = ("date", "datetime", "year", "status")
"""Meanings of fields that nothing is said to have: a job is in a stage."""


def lookup_options(intent: Lookup, rng: random.Random) -> list[Option]:
    """Requests for one or two fields of one thing."""
    named, since = apart(intent.thing, rng)
    thing = phrase(named, rng)
    noun = grammar.one(spoken(intent.thing.noun)).removeprefix("changed ")
    found = about_options(thing, noun, intent.asked, rng)
    return [with_since(option, since) for option in found] if since else found


def about_options(thing: Phrase, noun: str, asked: tuple[Attribute, ...], rng: random.Random) -> list[Option]:
    """Requests for fields of the thing that `thing` names."""
    asked = tuple(_of_commit(shortened(one, noun), noun) for one in asked)
    if len(asked) == 1:
        return _one_field(thing, noun, asked[0], rng)
    return _two_fields(thing, noun, asked, rng)


def missing_options(intent: Missing, rng: random.Random) -> list[Option]:
    """Requests for something that does not exist: worded as if it did."""
    thing = phrase(intent.thing, rng)
    noun = grammar.one(spoken(intent.thing.noun))
    if intent.asked is not None:
        return _one_field(thing, noun, intent.asked, rng)
    slots = {**thing.slots(), "noun": noun}
    name = "missing_document" if noun.split()[-1] in (*_DOCUMENTS, "folder") else "missing"
    return options(data("groups")[name], name.replace("_", "."), slots)


# --- one field --------------------------------------------------------------------------------------------------------


def _one_field(thing: Phrase, noun: str, asked: Attribute, rng: random.Random) -> list[Option]:
    table = data("lookups")
    if asked.meaning == "identifier" and asked.label in ("number", f"{noun} number"):
        said = noun in thing.text  # the number of the waiting job; else it would say how many there are
        asked = replace(asked, label="number" if said else f"{noun} number")
    inside = _stands_in(thing, asked)
    thing = replace(thing, text=thing.text.removeprefix(f"{thing.bare} "), short=False) if inside else thing
    slots = {**thing.slots(), **label_slots(asked, rng), "noun": noun}
    slots["of"] = _of(thing, asked, slots)
    slots["its"] = "" if "'s " in slots["label"] else slots["its"]  # no commit's author's address
    found: list[Option] = []
    sort = asked.label in _SORTS and noun in ABSTRACT  # the type of an entity is what it is
    asked = replace(asked, label="sort") if sort else asked
    direct = list(_direct(asked, thing))
    for name, patterns in direct:
        asked_so = tuple(f"{pattern}?" for pattern in patterns)
        found.append(Option(f"lookup.{_table(asked)}/{name}", asked_so, slots, 6 / max(len(direct), 3)))
    clauses = indirect(asked, thing)
    for name, frames in table["frame"].items() if clauses else ():
        patterns = tuple(frame.replace("{clause}", clause) for frame in frames for clause in clauses)
        found.append(Option(f"lookup.frame/{name}", patterns, slots, 0.2))
    verbal = sort or is_verbal(asked)
    if asked.meaning != "flag" and not verbal:
        beside = thing.short and not thing.text.startswith("the ")
        found += [
            Option(f"lookup.noun/{name}", tuple(f"{p}?" for p in patterns if beside or p != _BESIDE), slots, 0.35)
            for name, patterns in table["any"]["noun"].items()
        ]
        orders = table["any"]["order"].items()
        unsaid = (*(_TALKED if is_technical(noun) else ()), *(("have-here",) if thing.person else ()))
        orders = {name: say for name, say in orders if name not in unsaid}
        found += options(orders, "lookup.order", slots, weight=0.2)
    return found


def _table(asked: Attribute) -> str:
    """The table of `lookups.toml` for a field."""
    if asked.label == "sort":
        return "sort"
    if what_was_done(asked):
        return "done"
    return "date" if asked.meaning == "datetime" else asked.meaning


def _direct(asked: Attribute, thing: Phrase) -> Iterator[tuple[str, list[str]]]:
    """The direct questions for a field, by id. What stands in a document or a place is nothing that it has."""
    inside = within(thing, asked) or asked.meaning in _NOT_HAD
    stands = _stands_in(thing, asked)
    for name, patterns in fitting(data("lookups").get(_table(asked), {}).get("direct", {}), asked, thing):
        kept = [p for p in patterns if not (inside and _HAVING.search(p)) and _is_said(p, thing)]
        kept = [p for p in kept if not stands or re.search(r"\{label|\{choice|\{verb|due", p)]
        kind = thing.bare.removeprefix("the ")
        kept = [p for p in kept if not ("{noun}" in p and kind in thing.text)]  # which lamp is lamp 7
        if kept:
            yield name, kept


def _is_said(pattern: str, thing: Phrase) -> bool:
    """Whether a pattern is not for other things: nobody keeps records of branches, and no file is bought."""
    kept = (is_technical(thing.bare) or thing.bare.split()[-1] in _NOT_OURS) and _OURS.search(pattern)
    return not kept and not (thing.bare.split()[-1] in _DOCUMENTS and _OF_GOODS.search(pattern))


def within(thing: Phrase, asked: Attribute) -> str:
    """`in` if the field is one of a place, or stands in a document: the monthly rent in `lease.txt`. Else empty."""
    last = thing.bare.split()[-1]
    if what_was_done(asked) or last in _PLACES:
        return "in"
    if _stands_in(thing, asked):
        return "on" if asked.label in _OWN_LABELS else "in"
    return ""


def _stands_in(thing: Phrase, asked: Attribute) -> bool:
    """Whether a field is one of what a document says: its landlord is not the file's."""
    in_document = thing.bare.split()[-1] in _DOCUMENTS and not {*asked.label.split()} & _OF_DOCUMENTS
    return in_document and not what_was_done(asked)


def _of(thing: Phrase, asked: Attribute, slots: Mapping[str, str]) -> str:
    """What stands between the label and the thing, if it is not what the construction says."""
    own = "of" if thing.bare.split()[-1] in _DOCUMENTS else ""
    return within(thing, asked) or slots["of"] or own


def _of_commit(asked: Attribute, noun: str) -> Attribute:
    """The date of a commit as the day when it was made."""
    dated = noun.split()[-1] == "commit" and asked.label in _OWN_LABELS and asked.meaning in ("date", "datetime")
    return replace(asked, label="commit date") if dated else asked


def is_verbal(asked: Attribute) -> bool:
    """Whether people ask for a field with a verb only: which town she lives in."""
    return asked.meaning != "status" and asked.label.partition(" in the ")[0] in data("thesaurus")["verbal"]


def fitting(table: Mapping[str, Any], asked: Attribute, thing: Phrase) -> Iterator[tuple[str, list[str]]]:
    """The constructions of a table that are made for the field and the thing, by id."""
    for name, entry in table.items():
        if isinstance(entry, list):
            yield name, entry
        elif suits(entry, asked, thing):
            yield name, entry["say"]


def indirect(asked: Attribute, thing: Phrase) -> list[str]:
    """The indirect clauses for a field: `what it costs`. Where it or the thing takes many words to name there may be
    none: nobody waits for the verb."""
    inside = within(thing, asked)
    for entry in data("lookups").get(_table(asked), {}).get("indirect", []):
        if suits(entry, asked, thing):
            had = not inside and asked.meaning not in _NOT_HAD
            kept = [c for c in entry["say"] if (had or not _HAVING.search(c)) and _is_said(c, thing)]
            if _stands_in(thing, asked):
                kept = [c for c in kept if re.search(r"\{label|\{verb|due", c)]
            word = "who" if asked.meaning == "person" else "what"
            kept = kept or [f"{word} the {{label}} {inside or 'of'} {{it}} {{are}}"]
            return [c for c in kept if not (_is_long(thing, asked) and c.startswith(("what the", "who the")))]
    return [] if _is_long(thing, asked) else ["what the {label} of {it} {are}"]


def _is_long(thing: Phrase, asked: Attribute) -> bool:
    """Whether so much stands between `what the` and its verb that it is lost."""
    wide = not thing.short and re.search(r" (?:of|for|on|with|behind) ", thing.text)
    return bool(wide) or "'s " in noun_label(asked) or len(asked.label.split()) > 2


def suits(entry: Mapping[str, Any], asked: Attribute, thing: Phrase) -> bool:
    """Whether a question is made for the field and the thing."""
    if "verbs" in entry and entry["verbs"] != bool(date_verbs(asked)):
        return False
    if "units" in entry and entry["units"] != (bool(asked.unit) and len(unit_in_full(asked.unit)) > 2):
        return False
    if "choices" in entry and not any(isinstance(choice, str) for choice in asked.choices):
        return False
    if "bare" in entry and entry["bare"] != (asked.label in _OWN_LABELS):
        return False
    if "documents" in entry and entry["documents"] != (thing.bare.split()[-1] in (*_DOCUMENTS, "commit")):
        return False
    if "deals" in entry and entry["deals"] != is_deal(thing.bare):
        return False
    if "works" in entry and entry["works"] != (is_deal(thing.bare) or thing.bare.split()[-1] in _WORKS):
        return False
    if "events" in entry and entry["events"] != (thing.bare.split()[-1] in _EVENTS):
        return False
    if asked.meaning == "place" and entry.get("inside", False) != (" in the " in asked.label):
        return False
    if "adjective" in entry and entry["adjective"] != is_adjective(asked.label):
        return False
    return fits(entry, asked.label, person=thing.person)


# --- more fields and more things --------------------------------------------------------------------------------------


def _two_fields(thing: Phrase, noun: str, asked: tuple[Attribute, ...], rng: random.Random) -> list[Option]:
    """Two questions in one request, the second with a pronoun."""
    first, second = asked[0], asked[1]
    again = Phrase(thing.pronoun, thing.bare, plural=thing.person, person=thing.person, short=False)
    if any(_stands_in(thing, one) for one in asked):
        thing = replace(thing, text=thing.text.removeprefix(f"{thing.bare} "), short=False)
    slots = {**thing.slots(), "noun": noun}
    joints = {_of(thing, one, label_slots(one, rng)) for one in asked}
    slots["of"] = joints.pop() if len(joints) == 1 else ""
    slots["labels_both"] = grammar.listed([noun_label(one) for one in asked])
    slots["be"] = be(asked)
    slots["the_labels"] = grammar.listed([f"the {noun_label(one)}" for one in asked])
    if any(map(is_verbal, asked)):
        slots |= {"labels_both": "", "the_labels": ""}
    for letter, one, about in (("q", first, thing), ("p", second, again)):
        chosen = {**about.slots(), **label_slots(one, rng), "noun": noun}
        chosen["of"] = _of(about, one, chosen)
        if about is again:
            chosen |= {"it": thing.pronoun, "several": "them"}
            chosen["alone"] = "yes" if _stands_in(thing, one) or "'s " in chosen["label"] else ""
        unsaid = "?" if about.several == about.text else "{several}"  # how many of them, and what it costs
        questions = [p for _, patterns in _direct(one, about) for p in patterns if "?" not in p and unsaid not in p]
        questions = [p for p in questions if not _ASIDE.search(p)]
        slots[f"direct_{letter}"] = filled(rng.choice(questions), chosen, rng) if questions else ""
        clauses = [clause for clause in indirect(one, about) if unsaid not in clause]
        slots[f"indirect_{letter}"] = filled(rng.choice(clauses), chosen, rng) if clauses else ""
    return options(data("groups")["two"], "lookup.two", slots)


def be(asked: Sequence[Attribute]) -> str:
    """`are` for several fields or a plural one."""
    return "are" if len(asked) > 1 or grammar.is_plural(noun_label(asked[0])) else "is"


def filled(pattern: str, slots: Mapping[str, str], rng: random.Random) -> str:
    text = expand(pattern, rng)
    if slots.get("alone"):  # who the landlord is, of a document that was named before
        text = re.sub(r" (?:of|for|on|in) \{it\}", "", text)
    elif slots["it"] not in ("it", "they"):
        text = agreeing(text, slots)
    if " of {it}" in text and slots["it"] in ("it", "they"):
        text = re.sub(r"\bthe (\{label\}|\w+) of \{it\}", r"{own} \1", text).replace(" of {it}", " of {object}")
    for joint in (
        "for",
        "on",
        "to",
        "with",
        "in",
        "by",
        "reach",
        "find",
        "keep",
        "call",
        "have",
        "get",
        "take",
        "mail",
        "join",
    ):
        text = text.replace(f" {joint} {{it}}", f" {joint} {{object}}") if slots["it"] in ("it", "they") else text
    return text.format_map({**slots})


def each_options(intent: Each, rng: random.Random) -> list[Option]:
    """Requests for one field of several things."""
    if intent.given:
        return clock_options(intent, rng)
    if found := clock_options(intent, rng):
        return found
    named, since = apart(intent.things[0], rng)
    if since and named.values:  # said once, for all of them
        rest = tuple(apart(thing, rng)[0] for thing in intent.things)
        found = [with_since(option, since) for option in each_options(replace(intent, things=rest), rng)]
        return [option for option in found if option.patterns]
    things = alike(intent.things, rng)
    noun = grammar.one(spoken(intent.things[0].noun))
    names = grammar.listed([thing.text for thing in things])
    every = Phrase(names, "these", plural=True, person=is_person(noun), short=False)
    asked = shortened(intent.asked, noun)
    slots = {**every.slots(), **label_slots(asked, rng), "nouns": grammar.plural(noun)}
    slots["of"] = _of(Phrase("", noun), asked, slots)
    slots["noun"] = noun
    slots["rest"] = grammar.listed([thing.text for thing in things[1:]])
    slots["first"] = things[0].text
    slots["commas"] = ", ".join(thing.text for thing in things)
    if asked.label in _SORTS and noun in ABSTRACT:
        return options(data("groups")["each_sort"], "each.sort", slots)
    found = [] if is_verbal(asked) else options(data("groups")["each"], "each", slots, weight=0.7)
    if not grammar.is_mass(slots["label"]):
        slots = {**slots, "label": grammar.plural(slots["label"]), "are": "are"}
    for name, patterns in () if what_was_done(asked) else _direct(asked, replace(every, bare=noun)):
        asked_so = tuple(f"{pattern}?" for pattern in patterns if "?" not in pattern and "how many of" not in pattern)
        found.append(Option(f"lookup.{_table(asked)}/{name}", asked_so or ("",), slots, 0.6))
    return [option for option in found if any(option.patterns)]
