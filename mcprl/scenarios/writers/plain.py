"""Plain English by rule: what an intent asks for, in a few stiff and safe constructions, and what its plan proved.

It is nano's language and what is written without a model. Every value stands as the server spells it. A form is the id
of a construction: `read/tell`.
"""

import random
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from mcprl.scenarios.english.grammar import a, infinitive, is_plural, listed, one, plural
from mcprl.scenarios.english.labels import JOINTS, is_adjective, is_done, names
from mcprl.scenarios.english.nouns import spoken
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
    Forbidden,
    Intent,
    Lacking,
    Listing,
    Lookup,
    Missing,
    Outcome,
    Reference,
    Relation,
    Top,
    Total,
    Unserved,
    Value,
)
from mcprl.scenarios.names import NAME_PARTS
from mcprl.scenarios.steps import spelled
from mcprl.servers.effects import VERBS
from mcprl.text import words
from mcprl.types import Scalar

_VERBS = frozenset("cancel delete remove close archive drop discard revoke unassign unlink detach clear".split())
"""Verbs of tools that take something away."""
_SHOWING = frozenset("get list show fetch read find lookup check view describe retrieve search query".split())
"""Verbs of tools that show what is asked for."""
_FREE = frozenset("expression formula input text message query value".split())
"""Parameters whose value follows the verb: calculate 3 + 4."""
_MOST_OF_A_DEED = 80
_OWN_LABELS = frozenset("name title id number code key identifier path slug hash sha uuid short full".split())
"""Words of labels that tell of nothing but what a thing is called."""
_OF_ITSELF = frozenset("name title email message subject summary description text".split())
"""Words of labels of what a thing has, and does not belong to."""
_CALLED = ("model", "brand", "label", "host name", "callsign", "registration", "plate", "serial", "sku", "isbn", "iban")
"""Labels of values that a thing is called by."""
_WHERE = frozenset("city town country region state county province".split())
"""Labels of values that something is in."""
_PLACES = frozenset("repository repo folder directory workspace project path cwd root".split())
"""Words of labels of where something is done."""
_MOMENTS = ("date", "datetime", "time", "year")
_SENTENCE = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)\s|\n|; ")
_TELLING = re.compile(r"[A-Z][a-z]{2}|[A-Za-z].*\d|\w[@/.]\w")
"""A name, a code or a path, which nobody takes for another word."""

Allowed = Callable[[str, Sequence[str]], Sequence[str]]
"""Which constructions of a set may be used, by the name of the set and their ids."""


@cache
def _data() -> dict[str, Any]:
    """The constructions of `plain.toml`."""
    return tomllib.loads((files("mcprl.scenarios.writers") / "plain.toml").read_text())


DECLINED: Sequence[str] = tuple(_data()["texts"]["declined"])
"""Answers to what no tool does."""


@dataclass(frozen=True)
class Worded:
    """A request and the id of its construction."""

    request: str
    form: str


def every(name: str, forms: Sequence[str]) -> Sequence[str]:
    """All constructions."""
    return forms


def say(intent: Intent, rng: random.Random, allowed: Allowed = every) -> Worded | None:
    """A request for the intent in an allowed construction, `None` if it cannot be worded."""
    if isinstance(intent, Both):
        first, second = (say(part, rng, allowed) for part in intent.parts)
        return Worded(f"{first.request} {second.request}", f"both/{first.form}") if first and second else None
    if _is_idle(intent):
        return None
    sets: list[tuple[str, Mapping[str, str], list[str]]] = []
    for name, requests in _constructions(_by_name_alone(intent, rng), rng, allowed):
        if ids := [form for form in allowed(name, [*requests]) if form in requests]:
            sets.append((name, requests, ids))
    if not sets:
        return None
    name, requests, ids = rng.choice(sets)
    form = rng.choice(ids)
    return Worded(requests[form], f"{name}/{form}")


def _is_idle(intent: Intent) -> bool:
    """Whether a write does nothing to anything that the request could name."""
    return isinstance(intent, Change) and not intent.thing and all(isinstance(v.value, bool) for v in intent.values)


def _by_name_alone(intent: Intent, rng: random.Random) -> Intent:
    """The intent with a thing that has a name or a code of its own called by it alone, half of the time."""

    def short(thing: Reference) -> Reference:
        alone = thing.top is None and len(thing.values) == 1 and _names(thing.values[0], one(thing.noun))
        tells = alone and isinstance(thing.values[0].value, str) and _TELLING.search(thing.values[0].value)
        return replace(thing, noun="") if tells and rng.random() < 0.5 else thing

    match intent:
        case Lookup() | Missing() | Adjust():
            return replace(intent, thing=short(intent.thing))
        case Relation():
            return replace(intent, start=short(intent.start))
        case Change(thing=Reference() as thing):
            return replace(intent, thing=short(thing))
        case _:
            return intent


def placed(request: str, folders: Sequence[str]) -> str:
    """A request with the folders that it is about."""
    end = ", please." if request.endswith(", please.") else request[-1:]
    return f"{request.removesuffix(end)} in {listed(folders)}{end}" if folders else request


def _framed(frames: str, text: str) -> dict[str, str]:
    """The requests that the constructions of a table of `plain.toml` make of a text."""
    be = "are" if is_plural(text.removeprefix("the ")) else "is"
    made = {form: frame.format(it=text, It=capitalised(text), be=be) for form, frame in _data()[frames].items()}
    return made if text else {}


def _filled(table: str, **parts: str) -> dict[str, str]:
    """The constructions of a table with their parts."""
    return {form: capitalised(frame.format(**parts)) for form, frame in _data()[table].items()}


def _constructions(intent: Intent, rng: random.Random, allowed: Allowed) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Sets of constructions that fit an intent: the name of each, and its requests by their ids."""
    match intent:
        case Change() | Adjust() | Conditional():
            yield "write", _framed("orders", _order(intent, rng, allowed))
        case Absent() | Forbidden():
            yield "write", _framed("orders", _order(intent.change, rng, allowed))
        case Lacking(Change(effect="set" | "edit", thing=Reference(values=(_, *_)) as thing), lacking) if not any(
            value.attribute.key == lacking.key for value in thing.values
        ):
            yield "lacking-write", _framed("orders", f"set the {lacking.label} of {thing_of(thing)}")
        case Lacking(inner, lacking):
            for name, requests in _constructions(_without(inner, lacking), rng, allowed):
                yield f"lacking-{name}", requests
        case Unserved(nouns) if nouns and rng.random() < 0.5:
            noun = rng.choice(nouns)
            unknowable = rng.choice(_data()["texts"]["unknowable"]).format(noun=noun, nouns=plural(noun))
            yield "unserved", _framed("clauses", unknowable)
        case Unserved():
            yield "unserved", _framed("orders", rng.choice(_data()["texts"]["elsewhere"]))
        case Compute(tool, _, arguments, asked) if asked and words(tool)[0] in _SHOWING and words(tool)[1:]:
            named = " ".join(words(tool)[1:])
            own = f"{_labels(asked)} of the {named}{_for([_named(each, '') for each in arguments])}"
            yield "read", _framed("things", own)
        case Compute():
            yield "compute", _framed("orders", _computation(intent))
            yield "convert", _conversion(intent)
        case Compare(things, by, most):
            first, second = (thing_of(thing) for thing in things)
            yield "compare", _framed("clauses", f"which of {listed([first, second])} has {_more(by, most)}")
            yield "which-has", {"which-has": f"Which has {_more(by, most)}, {first} or {second}?"}
        case Count(noun, where, whether=True):
            yield "whether", _framed("clauses", f"whether there is {a(one(noun))}{_with(where)}")
            parts = {"a": a(one(noun)), "nouns": plural(one(noun)), "said": _with(where)}
            yield "whether-any", _filled("whether", **parts)
        case Lookup(thing, (Attribute(meaning="flag") as flag,)) | Missing(thing, Attribute(meaning="flag") as flag):
            yield "whether", _framed("clauses", f"whether {thing_of(thing)} is marked as {flag.label}")
            if is_adjective(flag.label):
                yield "is-it", {"is-it": f"Is {thing_of(thing)} {flag.label}?"}
        case _:
            yield "read", _framed("things", _thing_asked(intent))
            yield from _questions(intent)


# --- questions --------------------------------------------------------------------------------------------------------


def _questions(intent: Intent) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Questions that name what is asked for in other ways than as a noun phrase."""
    match intent:
        case Lookup(thing, (asked,)) | Missing(thing, Attribute() as asked) if _is_named(thing):
            yield _asking(asked, thing_of(thing))
        case Relation(start, via, (asked,)):
            yield _asking(asked, "".join(f"the {noun} of " for noun in reversed(via)) + thing_of(start))
        case Missing(thing, None):
            own = thing_of(thing)
            yield "is-there", _filled("missing", thing=own, a=a(own.removeprefix("the ")) if thing.noun else own)
        case Count(noun, where):
            yield "how-many", _filled("counts", nouns=plural(one(noun)), said=_with(where))
        case Total(of=of) if of.meaning == "money":
            yield "how-much", {"how-much": f"How much is {_thing_asked(intent)}?"}
        case Listing(noun, where, asked) if names(asked, one(noun)) or one(asked.label) == one(noun):
            yield "which", _filled("lists", nouns=plural(one(noun)), said=_with(where))
        case Extreme(noun, where, by, most, asked):
            own, said = one(noun), _with(where)
            superlative = _superlative(by, most)
            if superlative:
                yield "superlative", _framed("things", f"{_labels(asked)} of the {superlative} {own}{said}")
            if len(asked) == 1 and names(asked[0], own):
                told = f"is the {superlative}" if superlative else f"has the {_most(by, most)} {_label(by)}"
                yield "which-is", {"which-is": f"Which {own}{said} {told}?"}
        case Connected(verb, subject, None):
            first, *rest = words(verb)
            if infinitive(first) != first:
                yield "what-does", {"what-does": f"What does {subject} {' '.join((infinitive(first), *rest))}?"}
        case Connected(verb, _, other):
            yield "who-or-what", {"who-or-what": f"Who or what {' '.join(words(verb))} {other}?"}
        case _:
            pass


def _is_named(thing: Reference) -> bool:
    """Whether a thing is called by one name or key, or by its noun alone."""
    return not thing.noun or (thing.top is None and len(thing.values) < 2 and " with " not in thing_of(thing))


def _asking(asked: Attribute, thing: str) -> tuple[str, Mapping[str, str]]:
    """Questions for a field of a thing, by its label, by what was done then, or by what it means."""
    label, done = _label(asked), words(asked.key)[:1]
    questions = [each for each in _data()["asks"] if asked.label in each.get("labels", "").split(", ")]
    moment = asked.meaning in _MOMENTS and done and is_done(done[0]) and len(words(asked.key)) < 3
    if moment and not questions:
        return "done", _filled("done", thing=thing, done=done[0])
    if not questions or asked.meaning == "identifier":
        counted = asked.meaning != "count" or is_plural(asked.label)
        questions = [each for each in _data()["asks"] if counted and each.get("meaning") == asked.meaning]
    if not questions:
        return "", {}
    first = questions[0]
    counted = asked.label if first.get("meaning") == "count" else label
    made = {_id(each): each.format(it=f"the {label} of {thing}", thing=thing, label=counted) for each in first["say"]}
    return f"ask-{first.get('labels', first.get('meaning')).split(',')[0]}", made


def _id(construction: str) -> str:
    """The words of a construction without its parts."""
    return "-".join(words(re.sub(r"\{\w+\}", "", construction)))


def _superlative(by: Attribute, most: bool) -> str:
    """One word for what has the most or the least of a field, empty if there is none."""
    found = (each["say"] for each in _data()["most"] if by.label in each["labels"].split(", "))
    return next((says[0 if most else 1] for says in found), "")


def _conversion(intent: Compute) -> dict[str, str]:
    """Questions for a number in another unit; empty if the intent is no conversion."""
    ends = {words(each.attribute.key)[0]: each.value for each in intent.arguments if isinstance(each.value, str)}
    numbers = [each.value for each in intent.arguments if isinstance(each.value, int | float)]
    if {*ends} != {"from", "to"} or len(numbers) != 1 or len(intent.arguments) != 3:
        return {}
    return _filled("converts", n=_plain(numbers[0]), from_=str(ends["from"]), to=str(ends["to"]))


def _thing_asked(intent: Intent) -> str:
    """What an intent that reads asks for, as a noun phrase."""
    match intent:
        case Lookup(thing, asked):
            return f"{_labels(asked, thing.noun)} of {thing_of(thing)}"
        case Missing(thing, None):
            return f"the details of {thing_of(thing)}"
        case Missing(thing, Attribute() as asked):
            return f"{_labels([asked], thing.noun)} of {thing_of(thing)}"
        case Relation(start, via, asked):
            through = "".join(f" of the {noun}" for noun in reversed(via))
            return f"{_labels(asked, via[-1])}{through} of {thing_of(start)}"
        case Each(things, asked, given):
            return f"{_labels([asked])} of {listed([thing_of(thing) for thing in things])}{_with(given)}"
        case Combine(things, of, how):
            first, second = map(thing_of, things)
            joint = "sum of" if how == "sum" else "difference between"
            return f"the {joint} the {_label(of)} of {first} and of {second}"
        case Count(noun, where):
            return f"the number of {plural(one(noun))}{_with(where)}"
        case Total(noun, where, of, how):
            kind = "average" if how == "average" else "total"
            return f"the {kind} {of.label.removeprefix('total ')} of all {plural(one(noun))}{_with(where)}"
        case Extreme(noun, where, by, most, asked):
            own = f"the {one(noun)} with the {_most(by, most)} {_label(by)}"
            among = f" among the {plural(one(noun))}{_with(where)}" if where else ""
            return f"{_labels(asked)} of {own}{among}"
        case Listing(noun, where, asked) if one(asked.label) == one(noun):
            return f"all {plural(one(noun))}{_with(where)}"
        case Listing(noun, where, asked):
            return f"the {_many(_label(asked))} of all {plural(one(noun))}{_with(where)}"
        case Connected(verb, subject, None):
            return f"everything that {subject} {' '.join(words(verb))}"
        case Connected(verb, _, other):
            return f"everything that {' '.join(words(verb))} {other}"
        case _:
            return ""


# --- orders -----------------------------------------------------------------------------------------------------------


def _order(intent: Change | Adjust | Conditional, rng: random.Random, allowed: Allowed) -> str:
    """What an intent that writes asks for, beginning with a verb."""

    def deed(table: str, **parts: str) -> str:
        deeds: Mapping[str, str] = _data()[table]
        ids = [form for form in allowed(f"deed-{table}", [*deeds]) if form in deeds]
        return deeds[rng.choice(ids or [*deeds])].format(**parts)

    match intent:
        case Adjust(thing=thing, attribute=attribute, change=change):
            parts = {"label": attribute.label, "thing": thing_of(thing), "by": _plain(abs(change))}
            return deed("raise" if change > 0 else "lower", **parts)
        case Conditional(change, condition) if change.thing:
            thing, label = thing_of(change.thing), condition.attribute.label
            held = f"the {label} of {thing} is {value_of(condition)}"
            return f"{_order(change, rng, allowed)} if {held}, and else tell me the {label}"
        case Change(effect="set" | "edit", thing=Reference() as thing, values=(Value(flag, bool() as on),)):
            named = thing_of(thing)
            if is_adjective(flag.label):
                return f"mark {named} as {'' if on else 'not '}{flag.label}"
            return f"switch the {flag.label} of {named} {'on' if on else 'off'}"
        case Change(effect="set" | "edit", thing=Reference() as thing, values=(value,)):
            marked = value.attribute.meaning == "status" and rng.random() < 0.5
            told = {"label": value.attribute.label, "thing": thing_of(thing), "value": value_of(value)}
            return deed("mark" if marked else "set", **told)
        case Change():
            return _change(intent)
        case _:
            return ""


def _change(intent: Change) -> str:
    thing = thing_of(intent.thing) if intent.thing else ""
    verb = (words(intent.tool) or [""])[0]
    deed = _deed(intent.tool, intent.description)
    values = [_named(value, deed) for value in intent.values]
    match intent.effect:
        case "remove" if thing:
            return f"{verb if verb in _VERBS else 'delete'} {thing}{_joined(values)}"
        case "tick" if not values:
            return f"tick off {thing}"
        case "append" if len(values) == 1:
            return f"add the line {value_of(intent.values[0], quoted=True)} to {thing}"
        case "set" | "edit" if thing and intent.values:
            parts = [f"the {value.attribute.label} to {value_of(value)}" for value in intent.values]
            return f"set {listed(parts)} for {thing}"
        case _:
            own = [(intent.thing.noun, thing, "for")] if intent.thing and intent.thing.values else []
            return _with_its_own(deed, [*own, *(_argument(value, deed) for value in intent.values)])


def _computation(intent: Compute) -> str:
    deed = _deed(intent.tool, intent.description)
    if [value.attribute.label in _FREE for value in intent.arguments] == [True]:
        return f"{deed} {_plain(intent.arguments[0].value)}, and tell me the result"
    values = [_named(value, deed) for value in intent.arguments]
    ends = [value for value in values if value.startswith(("from ", "to "))]
    values = [value for value in values if value not in ends]
    asked = f", and tell me {_labels(intent.asked) if intent.asked else 'the result'}"
    if len(ends) == 2 and len(values) == 1:  # convert 3 from metres to feet
        return f"{deed.split(' ')[0]} {_plain(_main(intent))} {' '.join(ends)}{asked}"
    bare = all(len(value.attribute.label) == 1 for value in intent.arguments)
    if bare and values and not any(" " in value for value in values):
        return " ".join((f"{deed}, {listed(values)}", *ends)) + asked
    return _with_its_own(deed, [_argument(value, deed) for value in intent.arguments]) + asked


def _argument(value: Value, deed: str) -> tuple[str, str, str]:
    """The label of a value, the value behind it, and the word that joins it to a deed: things are what it is for."""
    label = value.attribute.label
    if {*words(label)} & _PLACES:
        return label, value_of(value), "in"
    told, is_end = _named(value, deed), words(value.attribute.key)[:1] in (("from",), ("to",))
    thing = value.attribute.meaning in ("person", "name", "identifier", "place") and label not in _OF_ITSELF
    return label, told, "" if is_end and isinstance(value.value, str) else "for" if thing else "with"


def _with_its_own(deed: str, values: Sequence[tuple[str, str, str]]) -> str:
    """A deed with values behind their labels: in the place of what it says of any such, else at its end. "Enter a
    member" is "Enter member 8"."""
    left: dict[str, list[str]] = {"for": [], "in": [], "with": [], "": []}
    for label, value, joint in values:
        any_such = re.search(rf"\b(?:an?|one|the) {re.escape(label)}\b(?![-'])", deed)
        if any_such and label and joint != "in":
            deed = deed[: any_such.start()] + value + deed[any_such.end() :]
        else:
            left[joint].append(value)
    told = (f"{joint} {listed(parts)}" if joint else " ".join(parts) for joint, parts in left.items() if parts)
    return " ".join((deed, *told))


def _main(intent: Compute) -> Scalar:
    """The value of a conversion: what goes neither from nor to."""
    return next(v.value for v in intent.arguments if words(v.attribute.key)[:1] not in (("from",), ("to",)))


def _for(parts: Sequence[str]) -> str:
    return f" for {listed(parts)}" if parts else ""


def _joined(parts: Sequence[str]) -> str:
    parts = [part for part in parts if part]
    return f" with {listed(parts)}" if parts else ""


def _deed(tool: str, description: str) -> str:
    """What a tool does, as an order: the first sentence of its description, or the words of its name."""
    text = _SENTENCE.split(description.strip())[0].strip().rstrip(".:")
    text = re.sub(r"\s*\([^)]*\)|,?\s*['\"].*", "", text)
    first, _, rest = text.partition(" ")
    verb = infinitive(first.lower())
    if rest and len(text) <= _MOST_OF_A_DEED and verb in {*VERBS, *words(tool), *_data()["texts"]["verbs"].split()}:
        return f"{verb} {rest}"
    named = " ".join(words(tool))
    return named if words(tool)[:1] and words(tool)[0] in VERBS else f"use {named}"


def _without(intent: Intent, lacking: Attribute) -> Intent:
    """An intent without the values of one attribute."""

    def kept(values: tuple[Value, ...]) -> tuple[Value, ...]:
        return tuple(value for value in values if value.attribute.key != lacking.key)

    def unnamed(thing: Reference | None) -> Reference | None:
        return Reference(thing.noun, kept(thing.values), thing.top) if thing else None

    match intent:
        case Lookup(thing, asked):
            return Lookup(Reference(thing.noun, kept(thing.values), thing.top), asked)
        case Compute(tool, description, arguments, asked):
            return Compute(tool, description, kept(arguments), asked)
        case Change(tool, description, effect, thing, values):
            return Change(tool, description, effect, unnamed(thing), kept(values))
        case _:
            return intent


def values_in(intent: object) -> list[Scalar]:
    """The values that an intent names things by, filters by or writes."""
    match intent:
        case Value():
            return [intent.value]
        case tuple():
            return [value for part in intent for value in values_in(part)]  # pyright: ignore[reportUnknownVariableType]
        case Attribute() | str() | int() | float() | None:
            return []
        case _ if is_dataclass(intent):
            return [value for part in fields(intent) for value in values_in(getattr(intent, part.name))]
        case _:
            return []


# --- phrases ----------------------------------------------------------------------------------------------------------


def thing_of(thing: Reference) -> str:
    """The noun phrase for a thing: `order O-17`, `the order with customer Ana and status paid`, `the newest order`."""
    noun = one(thing.noun)
    if not noun and thing.values:  # its name tells what it is
        return value_of(thing.values[0])
    if thing.top is None and not thing.values:
        return f"the {noun}"
    name = next((value for value in thing.values if _names(value, noun)), None)
    if thing.top is None and name:
        return f"{noun} {value_of(name)}{_with([value for value in thing.values if value is not name])}"
    return f"the {noun}{_topped(thing.top)}{_with(thing.values, 'and' if thing.top else 'with')}"


def _names(value: Value, noun: str) -> bool:
    """Whether a value alone names a thing of its kind."""
    label, meaning = value.attribute.label, value.attribute.meaning
    own = (
        {*label.split()} <= {*noun.split(), *spoken(noun).split(), *_OWN_LABELS}
        or label in _CALLED
        or (meaning in ("identifier", "path") and " " not in label)
    )
    return value.how == "is" and (own or (meaning == "name" and label.endswith(("name", "title"))))


def _topped(top: Top | None) -> str:
    return f" with the {_most(top.by, top.most)} {_label(top.by)}" if top else ""


def _more(by: Attribute, most: bool) -> str:
    if by.meaning in _MOMENTS:
        return f"the {'later' if most else 'earlier'} {_label(by)}"
    if by.meaning == "count" and is_plural(by.label):
        return f"{'more' if most else 'fewer'} {by.label}"
    return f"the {'higher' if most else 'lower'} {_label(by)}"


def _most(by: Attribute, most: bool) -> str:
    if by.meaning in _MOMENTS:
        return "latest" if most else "earliest"
    return "highest" if most else "lowest"


def _with(values: Sequence[Value], joint: str = "with") -> str:
    """The values that describe things: `for customer Ana`, `with status sent`."""
    if joint != "with":
        return f" {joint} {listed([_filter(value) for value in values])}" if values else ""
    others = [value for value in values if _is_other(value)]
    own = [value for value in values if value not in others]
    behind = [value for value in values if _joint(value)]
    own, others = ([value for value in part if value not in behind] for part in (own, others))
    described = f" with {listed([_filter(value) for value in own])}" if own else ""
    told = "".join(f" {_joint(value)} {value_of(value)}" for value in behind)
    return _for([_filter(value) for value in others]) + told + described


def _joint(value: Value) -> str:
    """The word that alone stands before a value: `in` Graz, `for` Mara Lund; empty if its label is said."""
    attribute = value.attribute
    if value.how != "is":
        return ""
    if attribute.label in JOINTS or attribute.label == "about":
        return attribute.label
    return "in" if attribute.label in _WHERE and attribute.meaning == "place" else ""


def _is_other(value: Value) -> bool:
    """Whether a value names another thing or person, and is no property."""
    label = value.attribute.label
    own = label in (*_OF_ITSELF, "id", "number") or {*label.split()} & {*NAME_PARTS, "email", "host"}
    return value.attribute.meaning in ("person", "name", "identifier") and not own


def _named(value: Value, deed: str) -> str:
    """A value behind its label, alone if that is one letter of which the deed does not speak."""
    label, first = value.attribute.label, words(value.attribute.key)[:1]
    if first in (("from",), ("to",)) and isinstance(value.value, str):
        return f"{first[0]} {value_of(value)}"
    return f"{label} {value_of(value)}" if len(label) > 1 or label in deed.split() else value_of(value)


def _filter(value: Value) -> str:
    joint = {"is": "", "not": "other than ", "over": "over ", "under": "under "}[value.how]
    label = value.attribute.label
    if _is_other(value):
        label = re.sub(r"(?<=\w) (?:number|id|code|name)$", "", label)
    return f"{label} {joint}{value_of(value)}"


def value_of(value: Value, quoted: bool = False) -> str:
    """A value as the server spells it, a text of several words in quotes."""
    text = _plain(value.value)
    if (
        isinstance(value.value, str)
        and value.attribute.meaning != "period"
        and value.value not in value.attribute.choices
        and (quoted or not any(map(str.isalnum, text)) or (" " in text and text[:1].islower()))
    ):
        return f'"{text}"'
    return f"{text} {value.attribute.unit}" if value.attribute.unit and not isinstance(value.value, str) else text


def _plain(value: Scalar) -> str:
    """A value as text, truth values as an answer."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return spelled(value)


def _label(attribute: Attribute) -> str:
    """The label as a noun: without what makes it a sentence (`the sum is`), with one before a participle (`built`)."""
    label = re.sub(r"^(?:the|a|an) | (?:is|are|t|kg|g|km|m|cm|mm|l|ml)$", "", attribute.label)
    if attribute.meaning == "count" and is_plural(label) and not label.startswith("number "):
        return f"number of {label}"
    if attribute.meaning in (*_MOMENTS, "number") and (label == "since" or (" " not in label and is_done(label))):
        kind = {"date": "date", "datetime": "date", "time": "time"}.get(attribute.meaning, "year")
        return f"starting {kind}" if label == "since" else f"{kind} {label}"
    return label


def _labels(asked: Sequence[Attribute], noun: str = "") -> str:
    """The labels of what is asked for, of a thing without its noun: the date of an order, and not its order date."""
    labels = [_label(attribute) for attribute in asked]
    short = [label.removeprefix(f"{noun} ") if noun else label for label in labels]
    return listed([f"the {label}" for label in (short if len({*short}) == len(short) else labels)])


def _many(label: str) -> str:
    """The plural of a label: `dates mitigated`."""
    first, _, rest = label.partition(" ")
    if rest and is_done(rest):
        return f"{plural(first)} {rest}"
    return label if is_plural(label) or is_done(label) else plural(label.lower() if label.isupper() else label)


def capitalised(text: str) -> str:
    """A text whose first word begins with a capital, unless it is a code."""
    first = text.split(" ")[0].rstrip(",:")
    return text if not first.isalpha() else text[:1].upper() + text[1:]


# --- answers ----------------------------------------------------------------------------------------------------------


def answer(intent: Intent, outcome: Outcome, rng: random.Random) -> str:
    """The answer to an intent whose plan proved `outcome`: it states each value as the server spells it."""
    match intent:
        case Both(parts):
            told = (found(part, own) or answer(part, own, rng) for part, own in zip(parts, outcome, strict=True))
            return " ".join(told)
        case Conditional(change, _, True):
            return answer(change, (), rng)
        case Conditional(_, condition):
            return f"I did not change anything: {_stated(condition.attribute, outcome[0])}."
        case Missing(thing) | Absent(Change(thing=Reference() as thing)):
            return f"There is no {thing_of(thing).removeprefix('the ')}."
        case Absent():
            return "There is no such item."
        case Change() | Adjust():
            return _done(intent)
        case Lacking(_, lacking):
            return f"Which {lacking.label} do you mean?"
        case Unserved() | Forbidden():
            return rng.choice(DECLINED)
        case _:
            return f"{capitalised(_proved(intent, outcome)).removesuffix('.')}."


def found(intent: Intent, outcome: Outcome) -> str:
    """What is asked for and what it is, as one sentence for a writer; empty where the answer says it all."""
    match intent:
        case Relation() | Extreme() | Combine() | Total() | Listing() | Connected() if outcome:
            asked, values = _thing_asked(intent), listed([_plain(value) for value in outcome])
            return f"{capitalised(asked)} {'are' if len(outcome) > 1 else 'is'} {values}."
        case Lookup(thing, asked):
            parts = zip(asked, outcome, strict=False)
            return f"{capitalised(listed([_stated(one, value, f' of {thing_of(thing)}') for one, value in parts]))}."
        case Both(parts):
            told = (
                found(part, own) or answer(part, own, random.Random()) for part, own in zip(parts, outcome, strict=True)
            )
            return " ".join(told)
        case Compare(things, by, most):
            names = listed([thing_of(thing) for thing in things])
            return f"Of {names}, {_plain(outcome[0])} has {_more(by, most)}."
        case _:
            return ""


def _proved(intent: Intent, outcome: Outcome) -> str:
    """What was found out, as a sentence without its stop."""
    match intent:
        case Compute(asked=()):
            return "; ".join(_plain(value) for value in outcome).rstrip(".")
        case Lookup(asked=asked) | Relation(asked=asked) | Compute(asked=asked) | Extreme(asked=asked):
            return listed([_stated(attribute, value) for attribute, value in zip(asked, outcome, strict=False)])
        case Each(things, asked):
            parts = zip(things, outcome, strict=False)
            return listed([f"{_stated(asked, value, f' of {thing_of(thing)}')}" for thing, value in parts])
        case Compare(by=by, most=most):
            return f"{_plain(outcome[0])} has {_more(by, most)}"
        case Combine(of=of, how=how):
            return f"the {how} is {value_of(Value(of, outcome[0]))}"
        case Count(noun, where, whether):
            number = outcome[0] if outcome else 0
            nouns = one(noun) if number == 1 else plural(one(noun))
            told = f"there {'is' if number == 1 else 'are'} {number or 'no'} {nouns}{_with(where)}"
            return f"yes, {told}" if whether and number else told
        case Total(noun, where, of, how):
            return f"the {'average' if how == 'average' else 'total'} {of.label} is {value_of(Value(of, outcome[0]))}"
        case Listing(noun, where, _) if not outcome:
            return f"there are no {plural(one(noun))}{_with(where)}"
        case Listing(asked=asked):
            return f"the {_many(_label(asked))} are {listed([_plain(value) for value in outcome])}"
        case Connected():
            return f"it is {listed([_plain(value) for value in outcome])}"
        case _:
            return "done"


def _stated(attribute: Attribute, value: Any, of: str = "") -> str:
    if attribute.meaning == "flag":
        true = str(value).lower() in ("yes", "true", "on", "y", "1")
        return f"it is {'' if true else 'not '}marked as {attribute.label}" + (f" ({of[4:]})" if of else "")
    be = "are" if is_plural(_label(attribute)) else "is"
    return f"the {_label(attribute)}{of} {be} {value_of(Value(attribute, value))}"


def _done(intent: Change | Adjust) -> str:
    if isinstance(intent, Adjust):
        now = _stated(intent.attribute, intent.new, f" of {thing_of(intent.thing)}")
        return f"Done: {now.replace(' is ', ' is now ', 1)}."
    if intent.effect in ("set", "edit") and intent.thing:
        parts = [f"the {v.attribute.label} of {thing_of(intent.thing)} is now {value_of(v)}" for v in intent.values]
        return f"Done: {listed(parts)}."
    thing = thing_of(intent.thing) if intent.thing else "it"
    deeds = {"remove": f"{thing} is deleted", "tick": f"{thing} is ticked off", "create": "it is added"}
    return f"Done: {deeds.get(intent.effect, 'that is done')}."
