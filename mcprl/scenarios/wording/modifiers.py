"""Values around a noun: `Ana's`, `open`; `in Porto`, `of 3 March 2026` (`data/modifiers.toml`). And labels as nouns."""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from mcprl.scenarios.intents import Attribute, Value
from mcprl.scenarios.wording import grammar
from mcprl.scenarios.wording.keys import HEADINGS, JOINTS, front_of
from mcprl.scenarios.wording.template import data
from mcprl.scenarios.wording.values import STAGES, at_work, called, forms, plain, quoted, shown
from mcprl.text import singular

_ADJECTIVE = ("ed", "able", "ible", "ive", "lic", "ate", "ent", "ant", "id", "al")
_ADJECTIVES = frozenset("open free new paid done valid hidden online offline full empty ready sold lost broken".split())
_ADJUNCTS = {"color", "colour", "size", "genre", "type", "kind"}
_KINDS_OF = {"brand", "source", "platform", "make"}
"""Labels whose values say what kind of thing it is: `visa cards`, `web orders`."""
_AGAINST = frozenset("target base against reference baseline".split())
"""Labels of what something is compared with."""
_INSIDE = re.compile(r"(?:(.+) )?(?:contains|includes|like)")
"""Labels of what a text has in it: `title contains`."""
_STAFFED = "hospital branch clinic school depot station office site store practice club garage studio hut".split()
BOOKINGS = ("booking", "reservation", "appointment")
"""Dealings that are made, and do not come in."""
BUYERS = ("customer", "client", "buyer", "user")
"""People from whom dealings come."""
_BEHIND = ("done", "ok", "ready", "due")
"""States that stand behind a noun only: appointments that are done."""
_DONE = {
    "added": ("to", "add"), "inserted": ("into", "insert"), "removed": ("from", "remove"),
    "deleted": ("from", "delete"), "changed": ("in", "change"), "modified": ("in", "modify"),
}  # fmt: skip
"""Participles of what is done to the parts of a document, with the preposition and the infinitive."""


def modifiers(values: Sequence[Value], more: bool, rng: random.Random) -> tuple[list[str], list[str]]:
    """What stands before and after a noun: `Ana's`, `open`; `in Porto`, `of 3 March 2026`."""
    before: list[str] = []
    after: list[str] = []
    held = any(value.attribute.label.startswith("from") for value in values)  # not from 3 March from Ana
    for value in values:
        text, front = _modifier(value, more, rng)
        if held and value.attribute.meaning in ("date", "datetime"):
            text = re.sub("^from ", "of ", text)
        place = 0 if value.attribute.meaning == "person" else len(after)  # the job from Mara Lund due on 9 March
        if front and text.endswith("'s") and (any(part.endswith("'s") for part in before)):
            text, front = _person_after(value, rng), False
        if not front:
            after.insert(place, text)
        elif text.endswith("'s"):
            before.insert(0, text)
        else:
            before.append(text)
    after.sort(key=lambda text: (_rank(text), not (held and text.startswith("of "))))
    for i in range(1, len(after)):
        if _rank(after[i]) == _rank(after[i - 1]) > 0:
            after[i] = "and " + after[i]
    return before, after


def _rank(text: str) -> int:
    """The place of a modifier behind the noun: short ones first, relative clauses last."""
    if text.startswith(("that ", "who ", "whose ", "of which ")):
        return 2
    if text.startswith(("of type ", "of kind ")):
        return -1
    return 1 if text.startswith("with ") else 0


def _person_after(value: Value, rng: random.Random) -> str:
    return f"of {shown(value, rng)}"


def in_full(attribute: Attribute) -> str:
    """The label as this wording writes it: `SKU`, and `email address`."""
    ways = data("thesaurus")["labels"].get(attribute.label)
    return ways[0] if ways else attribute.label


_BOUNDS = ("minimum", "maximum", "total", "average")


def noun_label(attribute: Attribute) -> str:
    """The label as a noun: `active status` for a flag, `number of items` or `minimum number of items` for a count."""
    label = in_full(attribute)
    if attribute.meaning in ("count", "number") and grammar.is_plural(label):
        bound, _, counted = label.partition(" ")
        return f"{bound} number of {counted}" if bound in _BOUNDS and counted else f"number of {label}"
    owner, _, last = attribute.label.rpartition(" ")
    if attribute.meaning == "email" and last == "email" and owner in data("thesaurus")["people"]:
        return f"{owner}'s email address"
    return f"{label} status" if attribute.meaning == "flag" and is_adjective(attribute.label) else label


def what_was_done(attribute: Attribute) -> dict[str, str]:
    """The slots of a count of what was done to parts: `removed lines` are lines that were removed from a file. Empty
    for other attributes.
    """
    done, _, counted = in_full(attribute).partition(" ")
    if attribute.meaning != "count" or done not in _DONE or not counted or not grammar.is_plural(counted):
        return {}
    side, act = _DONE[done]
    return {"counted": counted, "done": done, "side": side, "act": act}


def shortened(attribute: Attribute, noun: str) -> Attribute:
    """The attribute without its thing's noun in the label: the `type` of an entity, not its `entity type`. The quantity
    of an order is its pieces."""
    if attribute.label == "quantity" and attribute.meaning == "count" and is_deal(noun):
        return replace(attribute, label="pieces")
    full = data("thesaurus")["nouns_in_full"]
    short = attribute.label
    for own in (noun, *(name for name in full if full[name] == noun)):
        short = short.removeprefix(f"{own} ")
    if attribute.meaning in ("date", "datetime", "identifier") or short == attribute.label:
        return attribute
    return replace(attribute, label=short)


def is_deal(noun: str) -> bool:
    """Whether the noun is that of a dealing, whose quantities are no stock: `order`, `return request`."""
    return noun.split()[-1] in data("thesaurus")["deals"]


def is_technical(noun: str) -> bool:
    """Whether the noun is that of a thing of computers: `file`, `the commit`."""
    return noun.split()[-1] in data("thesaurus")["technical"]


def either_of(attribute: Attribute) -> tuple[str, ...]:
    """The two types of which a thing has one, as people say them: one way or round trip. Empty for other attributes."""
    sorts = tuple(str(choice).replace("_", " ") for choice in attribute.choices)
    typed = attribute.meaning == "category" and attribute.label.split()[-1] in ("type", "kind")
    return sorts if typed and len(sorts) == 2 and all(re.fullmatch("[a-z ]+", sort) for sort in sorts) else ()


def is_adjective(label: str) -> bool:
    """Whether a flag's label stands after `is`: `active`, `in stock`; not `children`."""
    last = label.split()[-1]
    return last in _ADJECTIVES or label.startswith(("in ", "on ")) or last.endswith(_ADJECTIVE)


def _modifier(value: Value, more: bool, rng: random.Random) -> tuple[str, bool]:
    """One value as a modifier, and whether it stands before the noun."""
    if value.how != "is":
        return _limited(value, more, rng), False
    attribute, text = value.attribute, shown(value, rng)
    label, meaning = in_full(attribute), attribute.meaning
    if is_moment_of_history(value):
        return (f"since commit {text}" if " " not in text else f'since "{text}"'), False
    if match := _INSIDE.fullmatch(label):
        return (f"with {text} in the {match[1]}" if match[1] else f"containing {text}"), False
    if meaning != "flag" and (label in JOINTS or label.endswith(" between") or label.startswith(("in ", "from "))):
        return f"{label} {text}", False
    if meaning == "flag" and (isinstance(value.value, bool) or value.value in ("yes", "no")):
        return _flagged(label, value.value in (True, "yes"), more), False
    if meaning == "status" and (stage := at_work(attribute, text)):
        return stage, False
    if meaning in ("status", "category") and _is_adjective(value) and not _is_behind(value):
        return text, True
    if attribute.label == "breed":  # Siamese cats
        return text, True
    if meaning == "category" and {*label.split()} & _KINDS_OF and len(forms(value)[0].split()) < 3:
        return text, True
    if meaning == "text":
        text = quoted(value, rng)
    if label == "about":
        text = called(plain(value.value))
    if meaning == "person":
        return _of_person(value, text, rng)
    patterns = _table(attribute)
    if patterns is None and meaning == "name" and label.split()[-1] in HEADINGS:
        return f'called "{text}"', False
    if patterns is None and meaning == "name" and front_of(attribute):
        return _of_thing(value, text), False
    if patterns is None:
        return f"with the {label} {text}", False
    chosen = rng.choice(patterns)
    unit = attribute.unit
    filled = chosen.format(
        v=text,
        label=label,
        labels=grammar.one(label) if value.value == 1 else grammar.plural(label),
        front=front_of(attribute) or label,
        are="are" if more else "is",
        were="were" if more else "was",
        s="" if more else "s",
        es="" if more else "es",
        unit=unit,
    )
    return filled, False


def _of_thing(value: Value, text: str) -> str:
    """A thing by its name: `at the harbour branch`, `of the project Apollo`."""
    front = front_of(value.attribute)
    if front == "table":
        return f"in the {text} table"
    if singular(front.split()[-1]) in data("thesaurus")["people"]:
        return f"by {text}"
    if front in _STAFFED:
        return f"at the {text} {front}" if plain(value.value).islower() else f"at {text}"
    return f"{'in' if front == 'folder' else 'of'} the {front} {text}"


def _is_behind(value: Value) -> bool:
    """Whether a state stands behind a noun only: jobs that are waiting, where this is one of their stages."""
    return plain(value.value) in _BEHIND or value.attribute.label.split()[-1] in STAGES


def is_moment_of_history(value: Value) -> bool:
    """Whether something is compared with a commit, named by its hash or its message: what changed since then."""
    text = str(value.value)
    told = re.fullmatch(r"[0-9a-f]{7,40}", text) or (" " in text and value.attribute.meaning == "name")
    return bool({*value.attribute.label.split()} & _AGAINST and told)


def since_when(values: Sequence[Value], rng: random.Random) -> tuple[tuple[Value, ...], str]:
    """The values without the commit that something is compared with, and `since commit 1c55c83`; empty without one."""
    moment = next((value for value in values if is_moment_of_history(value)), None)
    return tuple(value for value in values if value is not moment), _modifier(moment, False, rng)[0] if moment else ""


def _limited(value: Value, more: bool, rng: random.Random) -> str:
    """What is not a value, or over or under it: `that are not shipped`, `that cost less than EUR 60`."""
    table = data("modifiers")[value.how]
    attribute = value.attribute
    label = noun_label(attribute)
    labelled = (entry["say"] for entry in table.get(attribute.meaning, []) if _is_of(entry, attribute))
    chosen = rng.choice(next(labelled, table["any"]))
    text = shown(value, rng)
    return chosen.format(
        v=text,
        label=label,
        labels=grammar.plural(in_full(attribute)),
        a_label=grammar.a(label),
        are="are" if more else "is",
        s="" if more else "s",
        have="have" if more else "has",
        were="were" if more else "was",
    )


def _is_of(entry: Mapping[str, Any], attribute: Attribute) -> bool:
    """Whether an entry is for attributes of this label."""
    has = {*attribute.label.split(), *(singular(word) for word in attribute.label.split())}
    return not entry.get("labels") or bool(has & {*entry["labels"].split()})


def _table(attribute: Attribute) -> list[str] | None:
    """The patterns for values of this attribute after a noun."""
    front = front_of(attribute)
    for entry in data("modifiers").get(attribute.meaning, []):
        if attribute.meaning == "name" and front and not entry.get("labels"):
            return None
        if _is_of(entry, attribute):
            return entry["say"]
    return None


def _is_adjective(value: Value) -> bool:
    """Whether the value can stand before a noun: a short word in lower case that is no noun's name."""
    text = forms(value)[0]
    if value.attribute.meaning == "status":
        return bool(re.fullmatch(r"[a-z]+(?: [a-z]+)?", text)) and " " not in text
    adjectives = data("thesaurus")["adjectives"]
    return text in adjectives or (
        bool(re.fullmatch(r"[a-z]+|[A-Z]{3,}", text)) and bool({*value.attribute.label.split()} & _ADJUNCTS)
    )


def _of_person(value: Value, text: str, rng: random.Random) -> tuple[str, bool]:
    """`Ana's`, `assigned to Ana`, `by Ana`."""
    for entry in data("modifiers")["person"]:
        if {*value.attribute.label.split()} & {*entry["labels"].split()}:
            chosen = rng.choice(entry["say"])
            return chosen.format(v=text), chosen == "{v}'s"
    return f"{text}'s", True


def _flagged(label: str, holds: bool, more: bool) -> str:
    """`that is active`, `that has no children`."""
    verb = "are" if more else "is"
    if not is_adjective(label):
        return f"with{'' if holds else 'out'} {label}"
    return f"that {verb}{'' if holds else ' not'} {label}"
