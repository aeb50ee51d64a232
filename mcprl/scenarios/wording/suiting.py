"""Which constructions are made for a field and a thing: people live in towns, documents hold what stands in them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from mcprl.scenarios.intents import Attribute
from mcprl.scenarios.wording.degrees import OWN_LABELS
from mcprl.scenarios.wording.fields import date_verbs, unit_in_full
from mcprl.scenarios.wording.modifiers import either_of, is_adjective, is_deal, is_technical, noun_label, what_was_done
from mcprl.scenarios.wording.nouns import EVENTS, is_person
from mcprl.scenarios.wording.phrases import Phrase
from mcprl.scenarios.wording.template import data, fits

DOCUMENTS = ("file", "document", "page", "report", "letter")
"""Things that have a date on them and take place at none."""
_WORKS = ("job", "task", "project", "ticket", "issue", "case", "repair", "assignment", "claim")
"""Things that somebody works on until they are done, besides dealings."""
COMMITTED = "commit date"
_SETTINGS = ("environment", "settings", "configuration")
_WHERE = ("cabin", "branch")
"""Categories that something is in or on, and has not: which cabin is she in, what branch is it on."""
PLACES = ("place", "location", "city", "town", "country", "region")
_OF_DOCUMENTS = frozenset("size permissions name path type author owner change access creation update modified".split())
"""Words of the fields that belong to a document itself; others stand in it."""
_OURS = re.compile(r"\bwe have\b|on file|down for|down as")
"""What people say of what they keep records of: no branch and no file is such."""
_OF_GOODS = re.compile(
    r"how much \{(?:is|does|it)\}|what \{(?:does|it)\}.* c|bought|placed|behind|till|back\b|go(?:es)? for"
)
"""What is said of things that are bought, and of no file in which a price stands."""
_NOT_OURS = ("flight", "airport", "city", "country", "station", "location", "place")
"""Things that nobody keeps in a shop."""
_IN_DOCUMENT = re.compile(r"the \{label|\{choice|\{verb|\bdue\b|is there \{")
"""What is asked of what stands in a document."""
_STRANDED = re.compile(r"\{it\} (?:\{(?:is|are)\}(?: due)?|on|from|for|due)$")
"""What a long noun phrase parts from the rest of its clause: who the owner registered under that address is."""
_OWN = ("name", "category", "status", "measure", "percent", "text")
"""Meanings of fields that a thing has by itself: the name of a product, but the price for it."""
_HAVING = re.compile(r"\{it\} (?:have|\{has\})(?!\w)|\{has\} \{it\} got")
_NOT_HAD = ("date", "datetime", "year", "status")
"""Meanings of fields that nothing is said to have: a job is in a stage."""


def of_commit(asked: Attribute, noun: str) -> Attribute:
    """The date of a commit as the day when it was made."""
    dated = noun.split()[-1] == "commit" and asked.label in OWN_LABELS and asked.meaning in ("date", "datetime")
    return replace(asked, label=COMMITTED) if dated else asked


def table_of(asked: Attribute, thing: Phrase) -> str:
    """The table of `lookups.toml` for a field."""
    if asked.label == "sort":
        return "sort"
    if what_was_done(asked):
        return "done"
    if is_variable(asked, thing):
        return "variable"
    if is_where(asked):
        return "category"
    if either_of(asked):
        return "either"
    return "date" if asked.meaning == "datetime" else asked.meaning


def direct(asked: Attribute, thing: Phrase) -> Iterator[tuple[str, list[str]]]:
    """The direct questions for a field, by id. What stands in a document or a place is nothing that it has."""
    inside = within(thing, asked) or asked.meaning in _NOT_HAD
    stands = stands_in(thing, asked) and asked.label not in OWN_LABELS
    for name, patterns in fitting(data("lookups").get(table_of(asked, thing), {}).get("direct", {}), asked, thing):
        kept = [p for p in patterns if not (inside and _HAVING.search(p)) and _is_said(p, thing)]
        kept = [p for p in kept if not stands or _IN_DOCUMENT.search(p)]
        kind = thing.bare.removeprefix("the ")
        kept = [p for p in kept if not ("{noun}" in p and kind in thing.text)]  # which lamp is lamp 7
        if kept:
            yield name, kept


def _is_said(pattern: str, thing: Phrase) -> bool:
    """Whether a pattern is not for other things: nobody keeps records of branches, and no file is bought."""
    if is_wide(thing) and _STRANDED.search(pattern):  # what number I can reach the owner registered under ... on
        return False
    kept = (is_technical(thing.bare) or thing.bare.split()[-1] in _NOT_OURS) and _OURS.search(pattern)
    return not kept and not (thing.bare.split()[-1] in DOCUMENTS and _OF_GOODS.search(pattern))


def within(thing: Phrase, asked: Attribute) -> str:
    """`in` if the field is one of a place, or stands in a document: the monthly rent in `lease.txt`. Else empty."""
    last = thing.bare.split()[-1]
    if what_was_done(asked) or last in PLACES:
        return "in"
    if stands_in(thing, asked):
        return "on" if asked.label in OWN_LABELS else "of" if asked.meaning == "status" else "in"
    return ""


def stands_in(thing: Phrase, asked: Attribute) -> bool:
    """Whether a field is one of what a document says: its landlord is not the file's."""
    in_document = thing.bare.split()[-1] in DOCUMENTS and not {*asked.label.split()} & _OF_DOCUMENTS
    return in_document and not what_was_done(asked)


def joint_of(thing: Phrase, asked: Attribute, slots: Mapping[str, str]) -> str:
    """What stands between the label and the thing, if it is not what the construction says."""
    own = "of" if is_technical(thing.bare) or asked.meaning in ("name", "measure") else ""  # the type of a column
    if asked.meaning == "identifier" and not thing.person and is_person(asked.label.split()[0]):
        own = "for"  # the user id for a booking is not the booking's
    own = "in" if is_deal(thing.bare) and asked.label.lower() in ("sku", "isbn") else own  # it is the goods'
    told = " for " in thing.text or asked.meaning in _OWN
    own = own or ("of" if told else "")  # the name of the animal for appointment 40
    return within(thing, asked) or slots["of"] or own


def is_verbal(asked: Attribute) -> bool:
    """Whether people ask for a field with a verb only: which town she lives in, when it was last changed."""
    if is_where(asked) or either_of(asked):
        return True
    if asked.label.startswith(("last ", "date ")) and date_verbs(asked):  # when it was last opened, not its last access
        return True
    return asked.meaning != "status" and asked.label.partition(" in the ")[0] in data("thesaurus")["verbal"]


def is_where(asked: Attribute) -> bool:
    """Whether a field is one that something is in or on: which cabin is she in."""
    return asked.label in _WHERE and asked.meaning in ("category", "text", "name", "identifier")


def is_variable(asked: Attribute, thing: Phrase) -> bool:
    """Whether a field is a variable of an environment, which is set to its value: `HOME`."""
    return thing.bare.split()[-1] in _SETTINGS and bool(re.fullmatch(r"[A-Z][A-Z\d_]{2,}", asked.label))


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
    for entry in data("lookups").get(table_of(asked, thing), {}).get("indirect", []):
        if suits(entry, asked, thing):
            had = not inside and asked.meaning not in _NOT_HAD
            kind = thing.bare.removeprefix("the ")
            said = [c for c in entry["say"] if not ("{noun}" in c and kind in thing.text)]
            kept = [c for c in said if (had or not _HAVING.search(c)) and _is_said(c, thing)]
            if stands_in(thing, asked) and asked.label not in OWN_LABELS:
                kept = [c for c in kept if _IN_DOCUMENT.search(c)]
            word = "who" if asked.meaning == "person" else "what"
            kept = kept or [f"{word} the {{label}} {inside or 'of'} {{it}} {{are}}"]
            return [c for c in kept if not (_is_long(thing, asked) and c.startswith(("what the", "who the")))]
    return [] if _is_long(thing, asked) else ["what the {label} of {it} {are}"]


def is_wide(thing: Phrase) -> bool:
    """Whether the thing takes more than its head to name."""
    return not thing.short and bool(re.search(r" (?:of|for|from|in|on|with|under|called|who|that|at) ", thing.text))


def _is_long(thing: Phrase, asked: Attribute) -> bool:
    """Whether so much stands between `what the` and its verb that it is lost."""
    return is_wide(thing) or "'s " in noun_label(asked) or len(asked.label.split()) > 2


def suits(entry: Mapping[str, Any], asked: Attribute, thing: Phrase) -> bool:
    """Whether a question is made for the field and the thing."""
    if "verbs" in entry and entry["verbs"] != bool(date_verbs(asked)):
        return False
    if "units" in entry and entry["units"] != (bool(asked.unit) and len(unit_in_full(asked.unit)) > 2):
        return False
    if "choices" in entry and not any(isinstance(choice, str) for choice in asked.choices):
        return False
    if "bare" in entry and entry["bare"] != (asked.label in OWN_LABELS):
        return False
    if "documents" in entry and entry["documents"] != (thing.bare.split()[-1] in (*DOCUMENTS, "commit")):
        return False
    if "deals" in entry and entry["deals"] != is_deal(thing.bare):
        return False
    if "works" in entry and entry["works"] != (is_deal(thing.bare) or thing.bare.split()[-1] in _WORKS):
        return False
    if "events" in entry and entry["events"] != (thing.bare.split()[-1] in EVENTS):
        return False
    if asked.meaning == "place" and entry.get("inside", False) != (" in the " in asked.label):
        return False
    if "adjective" in entry and entry["adjective"] != is_adjective(asked.label):
        return False
    return fits(entry, asked.label, person=thing.person)
