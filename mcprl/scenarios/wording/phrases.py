"""Noun phrases: how a request names a thing or a group of things by their values."""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mcprl.scenarios.intents import Reference, Top, Value
from mcprl.scenarios.wording import grammar
from mcprl.scenarios.wording.degrees import height, standing, superlative
from mcprl.scenarios.wording.keys import HEADINGS, front_of, is_code, names
from mcprl.scenarios.wording.modifiers import BOOKINGS, BUYERS, is_deal, is_technical, modifiers
from mcprl.scenarios.wording.nouns import LIVING, by_sort, is_person, spoken
from mcprl.scenarios.wording.template import BEGIN, END, data, in_brackets, mark
from mcprl.scenarios.wording.values import called, plain, shown
from mcprl.text import singular

_CODED = re.compile(r"([a-z]+(?: [a-z]+)*) ([A-Z]+\d[\w.-]*)")
"""A name with its size or model behind it, which people say first: the M6 bolt."""
_SORTS = ("type", "kind", "class", "category", "group", "version", "variant")
"""Nouns that say nothing without the word before them."""
_CODE = re.compile(r"(?=.*\d)(?=.*[A-Za-z])\S{2,24}|[A-Z]{5,12}")
_SMALL = frozenset("a an the our my your to for with".split())
_HASHED = ("commit", "revision")
"""Nouns of things whose hash may happen to have no letter."""
_BOOKED = ("flight", "leg", "segment", "passenger", "seat", "room", "ticket", "night")
"""Nouns of what is in a booking, besides goods."""
_CALLED_SO = ("airport", "station", "terminal", "port", "warehouse", "office", "hub", "depot", "store")
"""Nouns of places that stand behind their code: SEA airport."""
_IN_TABLES = ("table", "column")
"""Nouns that stand behind their names: the paid column in the invoices table."""
_IN_PLACE = re.compile(rf" (?:(?:in|in the|of the [a-z]+) {BEGIN}[^{END}]*{END}(?: table)?|\({BEGIN}[^{END}]*{END}\))$")


@dataclass(frozen=True)
class Phrase:
    """A noun phrase, its values marked. `bare` is a short way to come back to it: `the order`."""

    text: str
    bare: str
    plural: bool = False
    person: bool = False
    short: bool = True
    """Whether it takes an `'s`: it has nothing after its head."""
    tail: str = ""
    """What may stand apart from the head of a group: how many files are there `in commit 1c55c83`."""

    @property
    def own(self) -> str:
        """The possessive pronoun."""
        return "their" if self.person or self.plural else "its"

    @property
    def pronoun(self) -> str:
        """The pronoun as a subject."""
        return "they" if self.person or self.plural else "it"

    @property
    def several(self) -> str:
        """It where there are some of it: three of `the window frames`."""
        named = re.fullmatch(f"((?:the|our) {BEGIN})([^{END}]*[a-z])({END})", self.text)
        return named[1] + grammar.plural(named[2]) + named[3] if named else self.text

    def slots(self) -> dict[str, str]:
        """The slots of a pattern that depend on the phrase."""
        more = self.plural
        return {
            "it": self.text,
            "several": self.several,
            "its": f"{self.text}'s" if self.short and not more else "",
            "bare": self.bare,
            "own": self.own,
            "pronoun": self.pronoun,
            "object": "them" if self.person or more else "it",
            "is": "are" if more else "is",
            "isnt": "aren't" if more else "isn't",
            "was": "were" if more else "was",
            "has": "have" if more else "has",
            "does": "do" if more else "does",
            "s": "" if more else "s",
            "es": "" if more else "es",
        }


def phrase(thing: Reference, rng: random.Random) -> Phrase:
    """A thing as the request names it."""
    noun, values = by_sort(grammar.one(spoken(thing.noun)), thing.values)
    thing = Reference(noun, values, thing.top)
    noun = grammar.one(spoken(thing.noun)).removesuffix(" changed")
    person = is_person(noun)
    if thing.top is not None:
        one = group(thing.noun, thing.values, rng, more=False)
        return Phrase(_topmost(one.text, thing.top, noun), f"the {noun}", person=person, short=False)
    if not thing.values:
        return Phrase(f"the {noun}", f"the {noun}", person=person)
    thing = replace(thing, values=tuple(_dated(noun, _held(noun, value)) for value in thing.values))
    if len(thing.values) == 1:
        return _by_one(thing.values[0], noun, person, rng)
    head, rest = _head(thing.values, noun)
    heading = head is not None and head.attribute.label in HEADINGS
    if head is not None and (heading or head.attribute.meaning in ("identifier", "path", "email")):
        named = _by_one(head, noun, person, rng)
        before, after = modifiers(rest, False, rng)
        tail = " ".join([*after, *(f"({text})" for text in before)])
        return Phrase(f"{named.text} {tail}".strip(), f"the {noun}", person=person, short=False)
    before, after = modifiers(rest, False, rng)
    if head is not None:
        coded = plain(head.value).islower() and " " not in plain(head.value)
        before_noun = noun in _IN_TABLES or noun.split()[-1] in BOOKINGS
        task = _is_task(noun, plain(head.value))
        kind = [noun] if before_noun or task or (coded and noun not in data("thesaurus")["goods"]) else []
        called_so = [*kind, mark(f'"{plain(head.value)}"' if task else plain(head.value))]
        text = " ".join(["the", *before, *(called_so[::-1] if before_noun else called_so), *after])
        if person and not before:
            text = " ".join([mark(plain(head.value)), *after])
        return Phrase(text, f"the {noun}", _is_many(head, person), person, short=not after)
    text = " ".join([_article(before), *before, noun, *after]).strip()
    return Phrase(text, f"the {noun}", person=person, short=not after)


def alike(things: Sequence[Reference], rng: random.Random) -> list[Phrase]:
    """Several things, all named in the same way: `SKU-1 and SKU-2`, not `SKU-1 and product SKU-2`."""
    seed = rng.random()
    named = (phrase(thing, random.Random(seed)) for thing in things)
    found = [replace(one, text=in_brackets(one.text)) for one in named]
    ends = {match[0] if (match := _IN_PLACE.search(one.text)) else "" for one in found}
    if len(ends) == 1 and (end := ends.pop()):  # Mara Brandt and Ines Ivanov in Turin
        found = [replace(one, text=one.text.removesuffix(end)) for one in found[:-1]] + found[-1:]
    bare = [
        replace(one, text=one.text.removeprefix(f"{one.bare} "))
        if re.match(f'{re.escape(one.bare)} {BEGIN}[^"]', one.text)
        else one
        for one in found
    ]
    return bare if any(re.search(r"[/.]", one.text) for one in bare) else found  # not the file a.md and the file b.md


def _topmost(one: str, top: Top, noun: str) -> str:
    """`Ana's cheapest open order`, `the cheapest lamp from Lumina`, `the lamp with the highest rating`."""
    if placed := standing(top.by, top.most, noun):
        return f"{definite(one)} that {placed}"
    word = superlative(top.by, top.most, noun)
    if not word:
        return f"{definite(one)} with {height(top.by, top.most)}"
    owner, found, rest = one.partition("\x03's ")
    if found and " " not in owner.strip("\x02"):
        return f"{owner}\x03's {word} {rest}"
    return f"the {word} {one}"


def _quoted(noun: str, head: Value) -> str:
    """`the entry "disk full"`: a message or a subject is no name that a sentence could do without marks."""
    return f"the {noun} {mark(chr(34) + plain(head.value) + chr(34))}"


def _article(before: list[str]) -> str:
    """`the`, unless a possessive stands first: `Ana's order`."""
    return "" if before and before[0].endswith("'s") else "the"


def _head(values: Sequence[Value], noun: str) -> tuple[Value | None, list[Value]]:
    """The value that names the thing, if there is one, and the others."""
    for value in values:
        if names(value.attribute, noun):
            return value, [other for other in values if other is not value]
    return None, list(values)


def _by_one(value: Value, noun: str, person: bool, rng: random.Random) -> Phrase:
    """A thing that one value names."""
    attribute = value.attribute
    bare = f"the {noun}"
    if attribute.label in HEADINGS and attribute.meaning == "name":
        return Phrase(_quoted(noun, value), bare, short=False)
    text = mark(plain(value.value))
    if names(attribute, noun) or (attribute.meaning == "identifier" and not front_of(attribute)):
        if is_code(attribute, noun):
            code = _by_code(plain(value.value), noun, rng)
            return Phrase(code, bare, person=person, short=not plain(value.value).isdigit())
        if attribute.meaning == "path" and not re.search(r"[/.]", plain(value.value)):
            return Phrase(rng.choice((f"the {noun} {text}", f"the {text} {noun}")), bare)
        if attribute.meaning == "path":
            ways = (text, text, f"the {noun} {text}")[2 * bool(re.match(r"(?!changed )\w+ed ", noun)) :]  # its state
            return Phrase(rng.choice(ways), bare)
        if attribute.meaning == "email":
            ways = ("with the email", "with the email address", "registered under")
            return Phrase(f"the {noun} {rng.choice(ways)} {text}", bare, person=person, short=False)
        titled = attribute.label in ("title", "file name", "user name")
        text = _by_name(plain(value.value), noun, person, rng, titled=titled)
        return Phrase(text, bare, _is_many(value, person), person, short=" called " not in text)
    if attribute.meaning in ("person", "place", "name") and singular(attribute.label) in (noun, f"{noun} name"):
        return Phrase(text, bare, person=person or attribute.meaning == "person")
    if attribute.meaning in ("category", "name", "place") and noun.split()[-1] in ("time", "weather", "forecast"):
        return Phrase(f"the {noun} in {shown(value, rng)}", bare, short=False)
    before, after = modifiers([value], False, rng)
    return Phrase(" ".join([_article(before), *before, noun, *after]).strip(), bare, person=person, short=not after)


def _is_many(name: Value, person: bool) -> bool:
    """Whether a thing's name is that of several: `Jute sacks`, but not `Paris` or `the Coffee Beans`."""
    *front, last = plain(name.value).split()
    return not person and bool(front) and last.islower() and len(last) > 3 and grammar.is_plural(last)


def _by_code(code: str, noun: str, rng: random.Random) -> str:
    """`order O-17`, `O-17`, `order 17`, `order #17`; numbers never alone."""
    text = mark(code)
    last = noun.split()[-1]
    short = rng.choice([noun, noun, noun if last in _SORTS else last])
    if last in _CALLED_SO and code.isalpha():
        return rng.choice((text, f"{text} {short}"))
    if re.fullmatch(r"\d+", code) and last not in _HASHED:
        return rng.choice((f"{short} {text}", f"{short} {text}", f"{short} #{text}", f"{short} number {text}"))
    if _CODE.fullmatch(code) or last in _HASHED:
        return rng.choice((text, f"{short} {text}", f"{short} {text}"))
    return rng.choice((f"{short} {text}", f"the {short} {text}"))


def _is_task(noun: str, name: str) -> bool:
    """Whether a name is of something to do, as checklists have them: the item "rent a van"."""
    return noun == "item" and name.islower() and bool(_SMALL & {*name.split()})


def _by_name(name: str, noun: str, person: bool, rng: random.Random, *, titled: bool) -> str:
    """`Ana`, `the Oak Shelf`, `the oak shelf`, `project Apollo`."""
    text = mark(name)
    if noun in ("entity", "node", "record", "object", "entry", "element", "place"):
        return called(name)
    if noun.split()[-1] in LIVING:
        return text
    if noun.split()[-1] in BOOKINGS:
        return f"the {text} {noun}"
    if noun in _IN_TABLES and " " not in name:
        return f"the {text} {noun}"
    if person or "@" in name or "_" in name or "." in name:
        return text if person or rng.random() < 0.6 else f"the {noun} {text}"
    if len(name.split()) > 4 or (
        len(name.split()) > 2 and name[:1].isupper() and name.split()[1].islower() and name.split()[-1].islower()
    ):
        return f"the {noun} {mark(name)}" if '"' in name else f'the {noun} "{text}"'
    if _is_task(noun, name):
        return f"the item {mark(chr(34) + name + chr(34))}"
    ends_like_noun = name.split()[-1].lower() == noun.split()[-1]
    if titled:
        return rng.choice((text, text, f"the {noun} {text}"))
    if re.fullmatch(r"[A-Z]{2,4}", name) and noun.split()[-1] in _CALLED_SO:
        return rng.choice((text, f"{text} {noun}"))
    goods = noun in data("thesaurus")["goods"] and not is_technical(noun)
    if goods and (coded := _CODED.fullmatch(name)):
        return f"the {mark(f'{coded[2]} {coded[1]}')}"
    if name.islower() and goods:  # the hinge, and not the part hinge
        return f"the {text}"
    if name.islower() and " " not in name and not name.isdigit():  # a machine's name: the table animals
        return rng.choice((f"the {noun} {text}", f"the {text} {noun}", f"{noun} {text}"))
    if ends_like_noun or (name[:1].islower() and " " in name):
        return f"the {text}"
    if goods:
        return rng.choice((f"the {text}", f"the {text}", f"our {text}"))
    if noun.split()[-1] in _SORTS:
        return f"the {noun} {text}"
    return rng.choice((text, f"the {noun} {text}", f"the {noun} called {text}"))


def group(noun: str, where: Sequence[Value], rng: random.Random, *, more: bool = True) -> Phrase:
    """Things of a kind with these values: `Ana's open orders`, `lamps from Lumina`. Without an article."""
    noun, where = by_sort(grammar.one(spoken(noun)), where)
    head = grammar.plural(noun) if more else noun
    where = [_dated(noun, _held(noun, value)) for value in where]
    before, after = modifiers(where, more, rng)
    if before and before[0].endswith("'s"):  # a list of Ana's open orders takes an article
        joint = "from" if is_deal(noun) else "of"
        after.insert(0, f"{joint} {before.pop(0).removesuffix(chr(39) + 's')}")
    tail = "" if after and after[0].startswith("of ") else " ".join(after)
    text = " ".join([*before, head, *after])
    return Phrase(text, head, plural=more, person=is_person(head), short=not after, tail=tail)


def _held(noun: str, value: Value) -> Value:
    """The order that goods are in, or the customer whom an order is from, as the value of a joint."""
    front = front_of(value.attribute)
    last = noun.split()[-1]
    if value.how == "is" and is_deal(noun) and last not in BOOKINGS and front in BUYERS:
        joint = {"identifier": f"from {front}", "person": "from"}.get(value.attribute.meaning, value.attribute.label)
        return replace(value, attribute=replace(value.attribute, label=joint))
    goods = last in (*data("thesaurus")["goods"], *_BOOKED) and value.attribute.meaning == "identifier"
    if not goods or value.how != "is" or not front or not is_deal(front):
        return value
    return replace(value, attribute=replace(value.attribute, label=f"in {front}"))


def _dated(noun: str, value: Value) -> Value:
    """The date of a dealing as the day it is from: an order of 3 March, but a flight on 3 March."""
    if not is_deal(noun) or value.how != "is" or value.attribute.label not in ("date", "day"):
        return value
    return replace(value, attribute=replace(value.attribute, label="creation date"))


def definite(phrase_text: str) -> str:
    """A group with its article: `the open orders`, `Ana's open orders`."""
    return phrase_text if re.match(r"[^ ]*\x03's ", phrase_text) else f"the {phrase_text}"
