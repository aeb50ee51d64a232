"""Questions about groups: counts, totals, lists, and which of several things has the most."""

import random
import re
from collections.abc import Mapping
from dataclasses import replace

from mcprl.scenarios.intents import Attribute, Combine, Compare, Count, Listing, Total, Value
from mcprl.scenarios.names import NAME_PARTS
from mcprl.scenarios.wording import grammar
from mcprl.scenarios.wording.degrees import degree, height, higher
from mcprl.scenarios.wording.fields import label_slots
from mcprl.scenarios.wording.keys import KEYS, front_of
from mcprl.scenarios.wording.modifiers import (
    BOOKINGS,
    in_full,
    is_deal,
    is_technical,
    noun_label,
    shortened,
    since_when,
    what_was_done,
)
from mcprl.scenarios.wording.nouns import VARIANT, WARES, by_sort, variant_of
from mcprl.scenarios.wording.phrases import alike, definite, group, is_person, spoken
from mcprl.scenarios.wording.scaled import those
from mcprl.scenarios.wording.since import apart
from mcprl.scenarios.wording.template import Option, data, mark, options
from mcprl.scenarios.wording.values import called, plain
from mcprl.text import words

_EXTENSION = re.compile(r"(?:\*\*/)?\*(\.\w{1,5})")
_NOTES = ("observation", "note", "remark", "comment", "fact")
_OURS = re.compile(r"\b(?:do we have|have we got|we have)\b")
_WHICH = re.compile(r"\b(?:which|what)(?: one)?(?: of the two)?('s| is| has)\b", re.IGNORECASE)
_FAR = re.compile(r"\{head\} (?:are there|there are)")
_CHOSEN = ("decide", "choose", "pick")
"""Comparisons between which one chooses: of goods."""
_STOCKED = ("product", "item", "article", "good", "part", "tool")
"""Nouns of which there are kinds and pieces: whoever counts the kinds says so."""
_HASHED = ("commit", "revision")
_STOCKS = frozenset("stock inventory available".split())
_BILLED = ("price", "cost", "fee", "fare", "rent", "charge", "amount")


def count_options(intent: Count, rng: random.Random) -> list[Option]:
    """Requests for the number of things, or for whether there are any."""
    if intent.whether:
        return _of_all(options(data("groups")["whether"], "whether", _grouped(intent, rng)), intent)
    if since := _since(intent, rng):
        return options(data("groups")["count_since"], "count.since", since)
    slots = _grouped(intent, rng)
    if not intent.where and grammar.one(spoken(intent.noun)).split()[-1] in _STOCKED:
        slots |= {"group": f"different {slots['group']}", "head": f"different {slots['head']}"}
    found = _of_all(options(data("groups")["count"], "count", slots), intent)
    if " that " in slots["head"]:
        found = _verb_near(found)
    parts = any(front_of(value.attribute) in _HASHED for value in intent.where)
    if not intent.where or parts or grammar.one(spoken(intent.noun)) == "column":  # there are some
        found = [option for option in found if not option.form.endswith("/any-and-how")]
    noun = variant_of(grammar.one(spoken(intent.noun)), intent.where)
    owner = next((value for value in intent.where if _is_owner(value, noun)), None)
    things = group(*by_sort(noun, [value for value in intent.where if value is not owner]), rng)
    if owner is None or things.tail:
        return found
    name = mark(plain(owner.value))
    name = name if owner.attribute.meaning == "person" else f"{front_of(owner.attribute)} {name}"
    told = options(data("groups")["count_owner"], "count.owner", {"owner": name, "things": things.text})
    return told if noun != VARIANT else found + told


def _is_owner(value: Value, noun: str) -> bool:
    """Whether a value is the person who has the things that are counted, or the product whose variants they are."""
    front = front_of(value.attribute) or value.attribute.label
    told = value.how == "is" and value.attribute.meaning in ("person", "identifier", "name", "email")
    return told and (is_person(front) or (noun == VARIANT and front in WARES)) and not isinstance(value.value, float)


def _of_all(found: list[Option], intent: Count | Listing) -> list[Option]:
    """The constructions without those that say that we have the things: not of computers', people's or ordered ones."""
    fronts = [front_of(value.attribute) for value in intent.where]
    owners = [front for front in fronts if front and (is_technical(front) or is_person(front) or is_deal(front))]
    if not owners and not is_technical(grammar.one(spoken(intent.noun))):
        return found
    kept = [replace(o, patterns=tuple(p for p in o.patterns if not _OURS.search(p))) for o in found]
    return [option for option in kept if option.patterns]


def _grouped(intent: Count | Listing, rng: random.Random) -> dict[str, str]:
    """The slots for a group: all of it, and its head and the rest apart."""
    things = group(intent.noun, intent.where, rng)
    return {"group": things.text, "head": things.text.removesuffix(things.tail).rstrip(), "tail": things.tail}


def total_options(intent: Total, rng: random.Random) -> list[Option]:
    """Requests for a sum or an average."""
    things = group(intent.noun, intent.where, rng)
    one = group(intent.noun, intent.where, rng, more=False)
    of = shortened(intent.of, grammar.one(spoken(intent.noun)))
    if what_was_done(of):  # how many lines were added since a commit: of files nothing else is said
        slots = {**label_slots(of, rng), "since": things.tail}
        return options(data("groups")["sum_done"], "sum.done", slots) if len(intent.where) == 1 else []
    slots = {**label_slots(of, rng), "group": things.text, "the_group": definite(things.text), "is": "is"}
    slots["a_one"] = grammar.a(one.text) if "\x03's" not in one.text else f"one of {definite(things.text)}"
    how = intent.how
    if how == "sum" and slots["label"].startswith("total "):
        slots["label"] = slots["label"].removeprefix("total ")
    if slots["label"] == "total":
        slots["label"] = "total amount" if how == "average" else "amount"
    if how == "sum" and intent.of.meaning == "count" and grammar.is_plural(in_full(of)):
        return options(data("groups")["sum_count"], "sum.count", slots)
    found = options(data("groups")[how], how, slots)
    if intent.of.meaning == "money":
        found += options(data("groups")[f"{how}_money"], f"{how}.money", slots)
    return found


def listing_options(intent: Listing, rng: random.Random) -> list[Option]:
    """Requests for all things with some values."""
    if found := _special_listing(intent):
        return found
    if since := _since(intent, rng):
        return options(data("groups")["listing_since"], "listing.since", since)
    asked = intent.asked
    own_label = asked.label.removeprefix(f"{grammar.one(spoken(intent.noun))} ")
    if own_label not in KEYS:  # the flight numbers of the flights
        asked = replace(asked, label=own_label)
    slots = {**label_slots(asked, rng), **_grouped(intent, rng)}
    # Files are listed by their names, not the files of the files.
    own = intent.asked.label == intent.noun.split()[-1]
    found = [] if own else options(data("groups")["listing_of"], "listing.of", slots)
    coded = intent.asked.meaning == "identifier" and _have_names(intent.noun)  # the products are not their ids
    half = coded or intent.asked.label in ("first name", "last name")  # which does not name a passenger alone
    if own or (intent.asked.meaning in ("name", "identifier", "path") and not half and not _is_of_another(intent)):
        found += options(data("groups")["listing"], "listing", slots, weight=1.6)
    if not slots["tail"] and " of " in slots["head"]:
        found = _verb_near(found)
    return _of_all(found, intent)


def _is_of_another(intent: Listing) -> bool:
    """Whether the asked field names another thing than the listed ones: the client number of an invoice."""
    owner, _, last = intent.asked.label.rpartition(" ")
    return last in (*KEYS, "name") and bool(owner) and {*words(owner)}.isdisjoint((*words(intent.noun), *NAME_PARTS))


def _verb_near(found: list[Option]) -> list[Option]:
    """The constructions in which no verb follows all that is said of the things: it would stand too far behind."""
    kept = [replace(o, patterns=tuple(p for p in o.patterns if not _FAR.search(p))) for o in found]
    return [option for option in kept if option.patterns]


def _have_names(noun: str) -> bool:
    """Whether things are goods or people, whose names are asked for if nothing is said."""
    one = grammar.one(spoken(noun))
    return is_person(one) or (one.split()[-1] in data("thesaurus")["goods"] and not is_technical(one))


def _since(intent: Count | Listing, rng: random.Random) -> dict[str, str]:
    """The slots for things that changed since a commit; empty for others. Nobody asks for more of them at once."""
    rest, since = since_when(intent.where, rng)
    things = group(intent.noun.removeprefix("changed "), rest, rng)
    return {"things": things.text, "since": since} if since else {}


def _special_listing(intent: Listing) -> list[Option]:
    """Requests for what a search finds, for the files of one kind, and for what is noted about a thing; else none."""
    values = {value.attribute.label: value for value in intent.where}
    slots = {"nouns": grammar.plural(spoken(intent.noun))}
    if [*values] == ["mention"]:
        query = mark(f'"{plain(values["mention"].value)}"')
        return options(data("groups")["listing_search"], "listing.search", {**slots, "q": query})
    others = [plain(value.value) for label, value in values.items() if label != "match"]
    pattern = _EXTENSION.fullmatch(plain(values["match"].value)) if "match" in values else None
    if pattern and len(others) == 1:
        slots |= {"ext": mark(pattern[1]), "folder": mark(others[0])}
        return options(data("groups")["listing_match"], "listing.match", slots)
    if [*values] == ["about"] and intent.noun in _NOTES:
        slots["it"] = called(plain(values["about"].value))
        return options(data("groups")["listing_about"], "listing.about", slots)
    return []


def compare_options(intent: Compare, rng: random.Random) -> list[Option]:
    """Requests for the thing of several that has the most or least of a field. Of people `who` is asked."""
    found = _compared(intent, rng)
    noun = grammar.one(spoken(intent.things[0].noun))
    if not is_person(noun):
        fit = noun.split()[-1] in data("thesaurus")["goods"]
        return [option for option in found if fit or option.form.rpartition("/")[2] not in _CHOSEN]
    found = [option for option in found if option.form.rpartition("/")[2] not in _CHOSEN]
    return [replace(o, patterns=tuple(_WHICH.sub(r"who\1", p) for p in o.patterns)) for o in found]


def _compared(intent: Compare, rng: random.Random) -> list[Option]:
    named, since = apart(intent.things[0], rng)
    if since and named.values:
        rest = tuple(apart(thing, rng)[0] for thing in intent.things)
        return [_front(option, since) for option in _compared(replace(intent, things=rest), rng)]
    named_alike = alike(intent.things, rng)
    things = [thing.text for thing in named_alike]
    by = shortened(intent.by, grammar.one(spoken(intent.things[0].noun)))
    more, most = degree(by, intent.most)
    label = in_full(by)
    if by.meaning in ("date", "datetime") and is_technical(grammar.one(spoken(intent.things[0].noun))):
        slots = {"all": grammar.listed(things), "things": grammar.listed(things, "or"), "pair": grammar.listed(things)}
        slots |= {"height": "the later" if intent.most else "the earlier", "what": label}
        found = options(data("groups")["compare_has"], "compare.has", slots)
        if len(things) == 2 and grammar.one(spoken(intent.things[0].noun)).split()[-1] in _HASHED:
            slots |= {"first": things[0], "last": things[-1], "more": "newer" if intent.most else "older"}
            found += options(data("groups")["compare_word"], "compare.word", slots)
        return found
    counted = by.meaning == "count" and grammar.is_plural(label)
    if by.meaning in ("count", "number") and len(things) == 2 and _STOCKS & {*label.split()}:
        some = [thing.several for thing in named_alike]
        slots = {"things": grammar.listed(some, "or"), "all": grammar.listed(some), "first": some[0], "last": some[1]}
        slots["more"] = "more" if intent.most else "fewer"
        named = [those(thing) for thing in named_alike]
        if not any(one.startswith("of ") for one in named):
            slots |= {"some": named[0], "others": named[1]}
        return options(data("groups")["compare_stock"], "compare.stock", slots)
    slots = {
        "things": grammar.listed(things, "or"),
        "all": grammar.listed(things),
        "pair": grammar.listed(things),
        "first": things[0],
        "last": things[-1] if len(things) == 2 else "",
        "more": more if len(things) == 2 else "",
        "rank": f"the {most}" if most else "",
        "height": _height(by, counted, intent.most, len(things) == 2),
        "higher": higher(by, intent.most) if len(things) == 2 and not counted else "",
        "what": label,
        "label": label,
    }
    billed = by.meaning == "money" and is_technical(grammar.one(spoken(intent.things[0].noun)))
    if billed or not (more if len(things) == 2 else most):  # the total of an invoice in a file is no size of the file
        return options(data("groups")["compare_has"], "compare.has", slots)
    found = options(data("groups")["compare_most"], "compare.most", slots)
    if len(things) == 2:
        found = options(data("groups")["compare_word"], "compare.word", slots)
    if by.meaning in ("date", "datetime", "year"):
        told = _told_by_time(intent, by, slots)
        return told if is_person(grammar.one(spoken(intent.things[0].noun))) and told else found + told
    return found


def _told_by_time(intent: Compare, by: Attribute, slots: Mapping[str, str]) -> list[Option]:
    """Which of two dealings came in first, which of two people has been there longer."""
    noun = grammar.one(spoken(intent.things[0].noun))
    if len(intent.things) == 2 and is_person(noun) and "since" in by.label.split():
        name = "joined" if intent.most else "stays"
        said = {**slots, "noun": noun, "a_noun": grammar.a(noun)}
        return options(data("groups")[f"compare_{name}"], f"compare.{name}", said)
    if len(intent.things) != 2 or not is_deal(noun) or not {*by.label.split()} & {"order", "date", "creation"}:
        return []
    end = {**slots, "end": "last" if intent.most else "first"}
    if noun.split()[-1] in BOOKINGS:
        return options(data("groups")["compare_booked"], "compare.booked", end, weight=1.5)
    found = options(data("groups")["compare_came"], "compare.came", end, weight=1.5)
    return found if intent.most else found + options(data("groups")["compare_waits"], "compare.waits", slots)


def _front(option: Option, since: str) -> Option:
    """A construction that says since which commit the things are compared, behind the field or at its beginning."""
    told = (p.replace("{what}", "{what} {since}") if "{what}" in p else f"{{since}}, {p}" for p in option.patterns)
    return replace(option, patterns=tuple(told), slots={**option.slots, "since": since})


def _height(by: Attribute, counted: bool, most: bool, two: bool) -> str:
    if counted:
        return ("more" if most else "fewer") if two else ("the most" if most else "the fewest")
    return f"the {higher(by, most)}" if two else height(by, most).removesuffix(f" {in_full(by)}")


def combine_options(intent: Combine, rng: random.Random) -> list[Option]:
    """Requests for the sum or the difference of two things' fields."""
    of = shortened(intent.of, grammar.one(spoken(intent.things[0].noun)))
    label = in_full(of).removeprefix("total ")  # the total of both, and no total total
    slots = {"pair": grammar.listed([thing.text for thing in alike(intent.things, rng)]), "label": label}
    if intent.how == "difference":
        slots |= {"label": noun_label(of), "labels": grammar.plural(in_full(of))}
        return options(data("groups")["combine_difference"], "combine.difference", slots)
    if of.meaning == "money" and label.split()[-1] in _BILLED:
        return options(data("groups")["combine_sum_money"], "combine.cost", slots)
    if of.meaning == "count" and grammar.is_plural(label):
        return options(data("groups")["combine_sum_count"], "combine.count", slots)
    return options(
        data("groups")["combine_sum"], "combine.sum", {**slots, "label": noun_label(replace(of, label=label))}
    )
