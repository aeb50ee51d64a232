"""Labels: a person's words for a field, from the words of its name (`../meaning.toml`), and what a label tells."""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from mcprl.scenarios.english.grammar import plural
from mcprl.scenarios.english.nouns import data
from mcprl.scenarios.intents import Attribute
from mcprl.text import singular, words
from mcprl.types import Meaning, Scalar

FLAGS = ("is", "has", "can", "should", "was", "allow", "allows", "use", "uses")
PREPOSITIONS = ("at", "on")
SET_ASIDE = frozenset("reserved booked ordered needed used required allocated expected taken sold".split())
"""Words of a label that counts what is promised, gone or not there yet."""
PARTICLES = ("up", "out", "in", "off", "back", "down", "by")
JOINTS = ("from", "to", "for", "by", "with", "in", "at", "on", "of", "per", "between", "until")
"""Labels that say how a value belongs to its thing, and cannot be asked for: `job 301 for Mara Lund`."""
_NAMING = ("source", "old", "current", "original", "name", "title", "label", "full", "display")
_HEADINGS = ("message", "subject", "headline", "summary")
_CODED = ("text", "category", "number", "count")
_ID_WORDS = ("id", "number", "code", "sku", "key", "no", "uuid", "reference", "identifier", "slug", "sha", "hash")
_ENDS = {"to": "destination", "from": "origin"}
_MEASURES = {"length": "km m mi ft cm mm", "weight": "kg g lb oz t", "volume": "l ml", "duration": "hours minutes mins"}
_WEEK = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
IRREGULAR = ("taken", "sent", "brought", "given", "lent", "put", "let", "sold", "seen", "held", "paid", "made", "built")
"""Participles of what is done to things that do not end in -ed."""


@cache
def tables() -> dict[str, Any]:
    """The tables of `meaning.toml`, `heads` by word."""
    tree = tomllib.loads((files("mcprl.scenarios") / "meaning.toml").read_text())
    heads: dict[str, list[Meaning]] = {}
    for meaning, listed in tree["heads"].items():
        for head in listed.split():
            heads.setdefault(head, []).append(meaning)
    return {**tree, "heads": heads}


def spelled_out(name: str) -> list[str]:
    """The words of a name, abbreviations as the words that they stand for."""
    table = tables()["abbreviations"]
    named = list(words(name))
    if len(named) > 1 and named[-1] in ("min", "m", "sec"):
        named[-1] = {"min": "minutes", "sec": "seconds"}.get(named[-1], named[-1])
    heads = tables()["heads"]
    named = [word[:-1] if word[-1:].isdigit() and word[:-1] in heads and len(word) > 4 else word for word in named]
    parts = [part for word in named for part in table.get(word, word).split()]
    if len(parts) == 2 and parts[0] in ("name", "title") and parts[1] in ("part", "fragment", "query", "substring"):
        parts.pop()
    if parts[-1:] == ["no"]:
        parts[-1] = "number"
    while len(parts) > 1 and parts[-1].isdigit():
        parts.pop()
    return parts or [name]


def label_of(parts: Sequence[str], meaning: Meaning, values: Sequence[Scalar] = ()) -> str:
    """A person's word for a field: `("placed", "on")` is `order date`, `("unit", "price")` is `price`."""
    table = tables()
    kept = " ".join(parts)
    for phrase, usual in table["phrases"].items():
        kept = re.sub(rf"\b{phrase}\b", usual, kept)
    kept = kept.split() or ["value"]
    if kept[-1] in _WEEK and values and not {*map(str, values)} & {*_WEEK}:
        kept = [*kept[:-1], "hours", "on", kept[-1].capitalize()]  # those of a shop
    if meaning in ("date", "datetime", "time") and (event := _event_label(kept, meaning)):
        return event
    if meaning == "year" and len(kept) == 1 and kept[0] in table["events"]:
        return table["events"][kept[0]].replace(" date", " year")
    if kept[0] in _ENDS and len(kept) > 1 and meaning in ("date", "datetime", "time", "year"):
        kept = ["start" if kept[0] == "from" else "end", *kept[1:]]
    if kept[0] in _ENDS and len(kept) > 1:
        kept = [_ENDS[kept[0]], *kept[1:]]
    if meaning in ("measure", "duration", "number") and kept == kept[:1] and (whole := _whole(kept[0])):
        return whole
    if meaning in ("money", "measure", "duration", "percent") and len(kept) > 1:
        if kept[-1] in table["units"] or singular(kept[-1]) in table["units"]:
            kept.pop()
        if kept[-1] == "in":
            kept.pop()
    if meaning == "count":
        kept = _counted(kept)
    if meaning == "money" and kept[0] in ("unit", "list", "item") and len(kept) > 1:
        kept = kept[1:]
    if meaning == "money" and len(kept) == 1 and is_done(kept[0]):
        kept = ["amount", *kept]  # the amount owed
    if meaning == "flag" and kept[0] in FLAGS and len(kept) > 1:
        kept = kept[1:]
    if meaning == "identifier" and len(kept) > 1 and kept[-1] in ("id", "identifier", "key", "ref", "reference"):
        kept[-1] = "number" if any(_is_number(str(value)) for value in values) else "id"
    return " ".join(kept)


def _whole(unit: str) -> str:
    """What a unit alone is a measure of: `km` of a length; empty if it is no unit."""
    return next((what for what, units in _MEASURES.items() if unit in units.split()), "")


def is_done(word: str) -> bool:
    """Whether a word is a participle of what was done to a thing."""
    return word in IRREGULAR or (word.endswith("ed") and len(word) > 4 and not word.endswith("eed"))


def _is_number(key: str) -> bool:
    """Whether a person would call a key a number: it is short, has digits and no words (`O-17`, not `ana_ruiz_17`)."""
    return len(key) <= 12 and bool(re.search(r"\d", key)) and not re.search(r"[a-z]{3}", key)


def _event_label(kept: list[str], meaning: Meaning) -> str:
    events = tables()["events"]
    if kept[-1] == "since" and kept[:-1]:
        return "joining date" if {*kept[:-1]} <= {*data()["people"], "joined"} else ""
    if kept[-1] in PARTICLES and kept[-2:-1] and is_done(kept[-2]):
        return f"date {' '.join(kept)}"
    core = kept[:-1] if kept[-1] in (*PREPOSITIONS, "date", "time", "timestamp", "datetime", "day") else kept
    if core and core[-1] in events:
        label = events[core[-1]]
        front = [word for word in core[:-1] if word not in ("date", "time", "was", "last", "order")]
        if kept[-1] == "time" or meaning == "time":
            label = label.replace(" date", " time")
        return " ".join([*front, label])
    if core and is_done(core[-1]):
        return f"date {' '.join(core)}"
    if meaning != "date" and kept[-1] == "at" and core:
        return " ".join((*core, "time"))  # of the pickup
    return ""


def _counted(kept: list[str]) -> list[str]:
    """A count's words without those that say that it is one: `followers_count` is `followers`."""
    if len(kept) == 2 and kept[1] in SET_ASIDE and plural(singular(kept[0])) == kept[0]:
        kept = kept[::-1]  # reserved units
    rest = [word for word in kept if word not in ("count", "number", "of", "num", "total", "n")]
    if not rest:
        return kept
    if rest[0] == "in" and len(rest) > 1:  # `in stock`
        return rest[1:]
    if len(rest) < len(kept) and rest[-1] not in ("stock", "quantity", "inventory") and not is_done(rest[-1]):
        rest[-1] = plural(rest[-1])
    return rest


def names(attribute: Attribute, noun: str) -> bool:
    """Whether a value of the attribute names a thing of this noun: `name`, `order number`, and not a supplier's."""
    front = " ".join(data()["nouns_in_full"].get(word, word) for word in front_of(attribute).split())
    if attribute.label in JOINTS:
        return False
    if attribute.label in _HEADINGS and attribute.meaning == "name":
        return True
    own = not front or singular(front.split()[-1]) in noun.split() or singular(front) == noun
    called = attribute.meaning in ("name", "identifier", "path", "email") or _is_code(attribute, noun)
    return own and called and attribute.label != "last name"


def _is_code(attribute: Attribute, noun: str) -> bool:
    """Whether a value is what a thing is called by, as its label says: the unit U7Q-228 of the field `unit`."""
    return attribute.meaning == "identifier" or (attribute.label == noun and attribute.meaning in _CODED)


def front_of(attribute: Attribute) -> str:
    """The thing in an attribute's label: `customer` for `customer number`."""
    kept = [word for word in attribute.label.split() if word not in (*_NAMING, *_ID_WORDS, "path", "email", "address")]
    return " ".join(kept)


_ADJECTIVE = ("ed", "able", "ible", "ive", "lic", "ate", "ent", "ant", "id", "al")
_ADJECTIVES = frozenset("open free new paid done valid hidden online offline full empty ready sold lost broken".split())


def is_adjective(label: str) -> bool:
    """Whether a flag's label stands after `is`: `active`, `in stock`; not `children`."""
    last = label.split()[-1]
    return last in _ADJECTIVES or label.startswith(("in ", "on ")) or last.endswith(_ADJECTIVE)
