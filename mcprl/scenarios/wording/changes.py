"""Requests for writes: events and orders (`data/changes.toml`)."""

import random
import re
from collections.abc import Sequence
from dataclasses import replace

from mcprl.scenarios.intents import Adjust, Attribute, Change, Reference, Value
from mcprl.scenarios.parameters import is_replaced
from mcprl.scenarios.wording import grammar
from mcprl.scenarios.wording.deeds import deed, nouns, swapped
from mcprl.scenarios.wording.edits import edit_options
from mcprl.scenarios.wording.fields import date_verbs, label_slots
from mcprl.scenarios.wording.keys import names
from mcprl.scenarios.wording.links import linked
from mcprl.scenarios.wording.modifiers import in_full, is_adjective, is_technical, modifiers, noun_label, shortened
from mcprl.scenarios.wording.nouns import ABSTRACT, LIVING, by_sort, is_person, spoken
from mcprl.scenarios.wording.phrases import Phrase, phrase
from mcprl.scenarios.wording.suiting import fitting
from mcprl.scenarios.wording.template import Option, data, mark, options
from mcprl.scenarios.wording.values import at_work, plain, quoted, shown, status_told, status_words
from mcprl.text import words

_COMPUTING = ("folder", "directory", "file", "branch", "table", "column", "database", "repository", "channel", "bucket")
"""Things that are made and not entered in a list."""
_NOTES = ("note", "remark", "comment", "fact")
_CONTENT = ("text", "content", "body", "message")
_OF_LISTS = ("have-new", "missing", "put-in", "enter", "save", "new-list")
_OF_MADE = ("need-new", "set-up", "make")
"""Constructions for what is entered in a list, and for what is made."""
_SENDING = ("send", "give", "grant", "issue", "award", "offer")
_FOR_ME = ("do-it", "can-you", "want-you")
"""Orders of what is done to whoever asks."""
_TELLS = re.compile(r"\{event\}|\{told\}|\{is\}|\{are\}|should|wrong|nobody|forgot|\{v\} now")
"""What tells that a thing has a value, and so is not said of a thing that is named by its old one: the waiting job."""


def change_options(intent: Change, rng: random.Random) -> list[Option]:
    """Requests for a write."""
    if fact := linked(intent):
        name = "unrelate" if intent.effect == "remove" else "relate"
        return options(data("changes")[name], f"change.{name}", {"fact": fact})
    if intent.effect == "create":
        return _create(intent, rng)
    if intent.effect in ("edit", "append", "tick"):
        return edit_options(intent, rng)
    if intent.effect == "remove" and not intent.values and intent.thing is not None:
        return _remove(intent.thing, "cancel" in words(intent.tool), rng)
    if intent.effect == "set" and intent.values and (intent.thing is None or intent.thing.values or len(intent.values)):
        return _set(intent, rng)
    return _act(intent, rng)


def _remove(thing: Reference, cancels: bool, rng: random.Random) -> list[Option]:
    """Requests that take a thing away. Of a person, and of what may be one, the entry is deleted."""
    named = phrase(thing, rng)
    noun = grammar.one(spoken(thing.noun))
    slots = {**named.slots(), "made": "created" if is_technical(noun) else "added"}
    name = "cancel" if cancels else "remove_entry" if named.person or noun in (*ABSTRACT, *LIVING) else "remove"
    return options(data("changes")[name], f"change.{name}", slots)


def _act(intent: Change, rng: random.Random) -> list[Option]:
    done = deed(intent, rng)
    ways = data("changes")["act"]
    if re.search(r"\bme\b", done):  # nobody has to transfer me to somebody
        ways = {name: said for name, said in ways.items() if name in _FOR_ME}
    if intent.thing is None or is_technical(grammar.one(spoken(intent.thing.noun))):
        ways = {name: said for name, said in ways.items() if name != "told-to"}  # no boss cares which file is staged
    return options(ways, "act", {"do": done})


# --- values that change -----------------------------------------------------------------------------------------------


def _set(intent: Change, rng: random.Random) -> list[Option]:
    thing = phrase(intent.thing, rng) if intent.thing is not None else None
    if thing is None:
        noun = spoken(" ".join(nouns(intent.tool)) or "settings")
        thing = Phrase(f"the {noun}", f"the {noun}", plural=grammar.is_plural(noun))
    if pair := _replaced(intent.values):
        slots = {**thing.slots(), "old": quoted(pair[0], rng), "new": quoted(pair[1], rng)}
        return options(data("changes")["replace"], "set.replace", slots)
    if swapped(intent.values):
        return _act(intent, rng)
    values = [replace(value, attribute=_unkeyed(value.attribute)) for value in intent.values]
    if len(values) > 1:
        return _set_several(values, thing, rng)
    value = values[0]
    if intent.thing is None:
        return options(data("changes")["set_alone"], "set.alone", _value_slots(value, rng))
    value = replace(value, attribute=shortened(value.attribute, grammar.one(spoken(intent.thing.noun))))
    slots = {**thing.slots(), **_value_slots(value, rng, thing.text)}
    table = data("changes")["set"]
    found = [
        Option(f"set.{_kind(value)}/{name}", tuple(patterns), slots)
        for name, patterns in fitting(table.get(_kind(value), {}), value.attribute, thing)
    ]
    weight = 0.3 if found else 1.0
    fit = fitting(table["any"], value.attribute, thing)
    found += [Option(f"set.any/{name}", tuple(patterns), slots, weight) for name, patterns in fit]
    if value.attribute.key not in (named.attribute.key for named in intent.thing.values):
        return found
    found = [replace(o, patterns=tuple(p for p in o.patterns if not _TELLS.search(p))) for o in found]
    return [option for option in found if option.patterns]


def _replaced(values: Sequence[Value]) -> tuple[Value, Value] | None:
    """The old and the new text of a replacement, if the values are these."""
    pair = len(values) == 2 and is_replaced(values[0].attribute.key, values[1].attribute.key)
    return (values[0], values[1]) if pair else None


def _kind(value: Value) -> str:
    meaning = value.attribute.meaning
    if meaning == "flag":
        return "flag_on" if value.value in (True, "true", "yes", "on") else "flag_off"
    if meaning in ("email", "phone", "url"):
        return "contact"
    if meaning == "status" and at_work(value.attribute, plain(value.value)):
        return "stage"
    return "date" if meaning == "datetime" else meaning


def _value_slots(value: Value, rng: random.Random, thing: str = "") -> dict[str, str]:
    text = shown(value, rng)
    word, event = _status_words(value, text, thing, rng)
    quote = quoted(value, rng)
    slots = {**label_slots(value.attribute, rng), "v": text, "q": quote, "word": word, "event": event}
    slots["told"] = rng.choice(status_told(value) or [""]).replace("{it}", thing)
    slots["state"] = at_work(value.attribute, text)
    slots["at"] = "at" if re.match(r"\W?\d", text) else "in"  # a street's number, else a town
    return {**slots, "v": quote} if value.attribute.meaning == "text" else slots


def _status_words(value: Value, text: str, thing: str, rng: random.Random) -> tuple[str, str]:
    """A status in other words at times, and as an event that tells of nobody whom the thing is named by."""
    ways, events = status_words(value)
    named = {word for word in words(thing) if len(word) > 4}
    events = [event for event in events if not named & {*words(event)}]
    word = text if not ways or rng.random() < 0.6 else mark(rng.choice(ways))
    return word, mark(rng.choice(events)) if events else ""


def _set_several(values: Sequence[Value], thing: Phrase, rng: random.Random) -> list[Option]:
    paid = next((value for value in values if "payment" in value.attribute.label.split()), None)
    stated = [(_several_of(value), quoted(value, rng)) for value in values if value is not paid]
    named = [(f"number of {more}" if more else label, text) for (label, more), text in stated]
    few = named if len(named) < 3 else []  # nobody writes three sentences for three fields
    two = few if paid is None else []
    slots = {
        **thing.slots(),
        "pairs": grammar.listed([f"the {label} to {text}" for label, text in few]) if few else "",
        "facts": grammar.listed([f"the {label} {_are(label)} {text}" for label, text in two]) if two else "",
        "should": grammar.listed([f"the {label} should be {text}" for label, text in two]) if two else "",
        "list": ", ".join(f"{text} {more}" if more else f"{label} {text}" for (label, more), text in stated),
        "tail": f", charged to {quoted(paid, rng)}" if paid is not None else "",
    }
    return options(data("changes")["several"], "set.several", slots)


def _several_of(value: Value) -> tuple[str, str]:
    """The label of a value, and the plural of what it counts: `5 bags`. Empty if it counts nothing."""
    label = in_full(value.attribute)
    return noun_label(value.attribute), label if isinstance(value.value, int) and grammar.is_plural(label) else ""


def _unkeyed(attribute: Attribute) -> Attribute:
    """The attribute of what a key names: `payment method` for `payment method id`."""
    is_key = attribute.meaning == "identifier" and attribute.label.endswith((" id", " key"))
    return replace(attribute, label=attribute.label.rpartition(" ")[0]) if is_key else attribute


def _are(label: str) -> str:
    return "are" if grammar.is_plural(label) else "is"


def adjust_options(intent: Adjust, rng: random.Random) -> list[Option]:
    """Requests for a change by an amount."""
    thing = phrase(intent.thing, rng)
    amount = Value(intent.attribute, abs(intent.change))
    slots = {**thing.slots(), **label_slots(intent.attribute, rng), "n": shown(amount, rng)}
    kind = "up" if intent.change > 0 else "down"
    return [
        Option(f"adjust.{kind}/{name}", tuple(patterns), slots)
        for name, patterns in fitting(data("changes")[kind], intent.attribute, thing)
    ]


# --- new things -------------------------------------------------------------------------------------------------------


def _create(intent: Change, rng: random.Random) -> list[Option]:
    made = " ".join(nouns(intent.tool))
    parent = intent.thing if intent.thing is not None and intent.thing.values else None
    noun = spoken(intent.thing.noun) if intent.thing is not None else spoken(made or "entry")
    if parent is not None and made and grammar.one(spoken(made)) != grammar.one(noun):
        noun = spoken(made)
    elif parent is not None:
        parent = None
    noun = grammar.one(noun)
    values = list(intent.values) if parent or intent.thing is None else [*intent.thing.values, *intent.values]
    noun, sorted_values = by_sort(noun, values)  # a client called Ana, not an entity of the type client
    values = list(sorted_values)
    rest = described(noun, values, rng)
    slots = {
        "object": "them" if is_person(noun) else "it",
        "noun": noun,
        "new": grammar.a(noun),
        "new_new": f"a new {noun}",
        "rest": rest,
    }
    texts = [value for value in values if value.attribute.meaning == "text"]
    noted = "".join(said for value in texts[:1] if (said := described(noun, [value], rng)).startswith(" with the "))
    slots |= (
        {"told": rest.removesuffix(noted).rstrip(","), "tail": noted}
        if len(texts) == 1 and noted
        else {"told": rest, "tail": ""}
    )
    slots["mid"] = f"{slots['told']}," if is_person(noun) and slots["told"] else slots["told"]
    slots["list"] = ", ".join(f"{in_full(value.attribute)} {quoted(value, rng)}" for value in values)
    if parent is not None and noun in _NOTES and len(values) == len(texts) == 1:
        told = {**phrase(parent, rng).slots(), "q": quoted(texts[0], rng)}
        return options(data("changes")["create_note"], "create.note", told)
    if parent is not None:
        slots = {**phrase(parent, rng).slots(), **slots, "send": next(iter(words(intent.tool)), "")}
        name = "create_send" if slots["send"] in _SENDING else "create_in"
        return options(data("changes")[name], name.replace("_", "."), slots)
    if len(values) == len(texts) == 1 and texts[0].attribute.label.split()[-1] in (noun.split()[-1], *_CONTENT):
        told = {"noun": noun, "a_noun": grammar.a(noun), "nouns": grammar.plural(noun), "q": quoted(texts[0], rng)}
        return options(data("changes")["create_text"], "create.text", told)
    special = data("changes")["create_for"].get(noun.split()[-1], {})
    found = options(special, f"create.{noun.split()[-1].replace(' ', '-')}", slots, weight=1.5)
    plain_forms = data("changes")["create"]
    others = _OF_LISTS if noun.split()[-1] in _COMPUTING else _OF_MADE
    others = (*others, "create") if is_person(noun) else others
    plain_forms = {name: said for name, said in plain_forms.items() if name not in others}
    return found + options(plain_forms, "create", slots)


def described(noun: str, values: Sequence[Value], rng: random.Random) -> str:
    """What follows the noun of a new thing: ` called Apollo, with high priority`."""
    values = [replace(v, attribute=shortened(v.attribute, noun)) for v in values]
    naming = [v for v in values if v.attribute.meaning in ("name", "path") and names(v.attribute, noun)]
    naming = naming[:1]
    texts = [v for v in values if v.attribute.meaning == "text" and v not in naming]
    others = [v for v in values if v not in naming and v not in texts]
    person = is_person(noun) and bool(naming)
    parts = [f", {_title(value)}" if person else f" called {_title(value)}" for value in naming]
    plain_others: list[str] = []
    flags = [v for v in others if v.attribute.meaning == "flag" and is_adjective(v.attribute.label)]
    others = [v for v in others if v not in flags]
    for value in others:
        before, after = modifiers([value], False, rng)
        if after and value.attribute.meaning == "person" and after[0].startswith("of "):
            after = ["for" + after[0].removeprefix("of")]
        after = [re.sub(r"^compared (?:with|to) ", "based on ", text) for text in after]  # a branch and its base
        if value.attribute.meaning in ("date", "datetime") and after and re.match(r"(?:of|from|on|with) ", after[0]):
            after = [_dated(value, rng)]
        if before and before[0].endswith("'s"):
            plain_others.append(f"for {before[0].removesuffix(chr(39) + 's')}")
        elif before:
            plain_others.append(f"with the {in_full(value.attribute)} {before[0]}")
        else:
            plain_others += after
    near = [text for text in plain_others if not text.startswith(("with ", "that ", "of which "))]
    far = [text for text in plain_others if text not in near]
    parts += [f"{',' * person} {text}" for text in near]
    owned = [text.removeprefix("with ") for text in far if text.startswith("with ")]
    parts += [f"{',' * person} with {grammar.listed(owned)}"] if owned else []
    parts += [f" {text}" for text in far if not text.startswith("with ")]
    parts += [f", {'' if value.value else 'not '}{value.attribute.label}" for value in flags]
    for i, value in enumerate(texts):
        label = grammar.one(in_full(value.attribute))
        joint = "," * (person and not i) + (
            " that says " if label in ("text", "content", "body", "message", noun) and not i else f" with the {label} "
        )
        parts.append(f"{' and' if i else ''}{joint}{quoted(value, rng)}")
    return "".join(parts)


def _dated(value: Value, rng: random.Random) -> str:
    """The date of a new thing: ` on 3 March 2026`, ` hired on 3 March 2026`."""
    if value.attribute.label in ("date", "day"):
        return f"on {shown(value, rng)}"
    verbs = date_verbs(value.attribute)
    return f"{verbs[0]} on {shown(value, rng)}" if verbs else f"with the {in_full(value.attribute)} {shown(value, rng)}"


def _title(value: Value) -> str:
    """A name, in quotation marks if it is a sentence."""
    text = plain(value.value)
    return mark(f'"{text}"' if len(text.split()) > 2 and '"' not in text else text)
