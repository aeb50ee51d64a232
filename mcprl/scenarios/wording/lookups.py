"""Questions for fields of things: one thing, several, the first or last of a group."""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from mcprl.scenarios.intents import Attribute, Each, Lookup, Missing
from mcprl.scenarios.wording import grammar
from mcprl.scenarios.wording.clocks import clock_options
from mcprl.scenarios.wording.degrees import OWN_LABELS
from mcprl.scenarios.wording.fields import label_slots
from mcprl.scenarios.wording.modifiers import (
    is_technical,
    noun_label,
    shortened,
    what_was_done,
)
from mcprl.scenarios.wording.nouns import ABSTRACT, is_person, spoken
from mcprl.scenarios.wording.phrases import Phrase, alike, phrase
from mcprl.scenarios.wording.since import apart, with_since
from mcprl.scenarios.wording.suiting import (
    COMMITTED,
    DOCUMENTS,
    PLACES,
    direct,
    indirect,
    is_variable,
    is_verbal,
    is_wide,
    joint_of,
    of_commit,
    stands_in,
    table_of,
    within,
)
from mcprl.scenarios.wording.template import Option, agreeing, data, expand, in_brackets, mark, options
from mcprl.scenarios.wording.values import plain

_SORTS = ("type", "kind")
_TALKED = ("form-to-fill", "customer-asks", "have-here")
"""Constructions for what people outside ask for: no permissions of a file."""
_OF_RECORDS = ("have-here", "form-to-fill", "lost-note")
"""Constructions for what stands in a record: nobody has the weather of a place in front of them."""
_BESIDE = "{it} {label_word}"
"""Only a short name is followed by a label without a mark."""
_ASIDE = re.compile(r",|^(?:I|a customer|someone|somebody)\b")
"""What tells more than it asks: too much before a second question."""


def lookup_options(intent: Lookup, rng: random.Random) -> list[Option]:
    """Requests for one or two fields of one thing."""
    named, since = apart(intent.thing, rng)
    thing = phrase(named, rng)
    noun = grammar.one(spoken(intent.thing.noun)).removeprefix("changed ")
    found = about_options(thing, noun, intent.asked, rng)
    return [with_since(option, since) for option in found] if since else found


def about_options(thing: Phrase, noun: str, asked: tuple[Attribute, ...], rng: random.Random) -> list[Option]:
    """Requests for fields of the thing that `thing` names."""
    asked = tuple(_in_place(of_commit(shortened(one, noun), noun), noun) for one in asked)
    if any(one.meaning == "place" for one in asked):
        thing = replace(thing, text=in_brackets(thing.text))
    if len(asked) == 1:
        return _one_field(thing, noun, asked[0], rng)
    return _two_fields(thing, noun, asked, rng)


def missing_options(intent: Missing, rng: random.Random) -> list[Option]:
    """Requests for something that does not exist: worded as if it did."""
    thing, values = phrase(intent.thing, rng), intent.thing.values
    noun = grammar.one(spoken(intent.thing.noun))
    if intent.asked is not None:
        return _one_field(thing, noun, shortened(intent.asked, noun), rng)
    if values and values[0].attribute.label == "mention":  # worded as a search that finds something
        slots = {"nouns": grammar.plural(noun), "q": mark(f'"{plain(values[0].value)}"')}
        return options(data("groups")["listing_search"], "listing.search", slots)
    slots = {**thing.slots(), "noun": noun}
    named = len(values) == 1 and values[0].attribute.meaning in ("name", "path")
    if named and is_technical(noun) and noun.split()[-1] not in (*DOCUMENTS, "folder", "directory"):
        slots |= {"it": f"{grammar.a(noun)} called {mark(plain(values[0].value))}", "the": thing.text}
        found = data("groups")["missing_called"]
        if noun not in ABSTRACT:
            return options(found, "missing.called", slots)
        slots["the"] = f"the {noun} for {thing.text}"
        found = {name: said for name, said in found.items() if name != "whats-in"}  # there is nothing in an entry
        asked = {name: said for name, said in data("groups")["missing"].items() if name not in ("heard", "look-up")}
        said = options(asked, "missing", {**thing.slots(), "noun": noun})
        return options(found, "missing.called", slots) + said
    name = "missing_document" if noun.split()[-1] in (*DOCUMENTS, "folder") else "missing"
    return options(data("groups")[name], name.replace("_", "."), slots)


# --- one field --------------------------------------------------------------------------------------------------------


def _one_field(thing: Phrase, noun: str, asked: Attribute, rng: random.Random) -> list[Option]:
    table = data("lookups")
    if asked.meaning == "identifier" and asked.label in ("number", f"{noun} number"):
        said = noun in thing.text  # the number of the waiting job; else it would say how many there are
        asked = replace(asked, label="number" if said else f"{noun} number")
    inside = stands_in(thing, asked)
    thing = replace(thing, text=thing.text.removeprefix(f"{thing.bare} "), short=False) if inside else thing
    slots = {**thing.slots(), **label_slots(asked, rng), "noun": noun}
    if asked.label == COMMITTED and noun in thing.text:
        slots |= {"label": "date", "label_word": "date"}
    slots["of"] = joint_of(thing, asked, slots)
    if "'s " in slots["label"] or within(thing, asked):  # no commit's author's address, no conditions of Porto's
        slots["its"] = ""
    found: list[Option] = []
    sort = asked.label in _SORTS and noun in ABSTRACT  # the type of an entity is what it is
    asked = replace(asked, label="sort") if sort else asked
    questions = list(direct(asked, thing))
    for name, patterns in questions:
        asked_so = tuple(f"{pattern}?" for pattern in patterns)
        found.append(Option(f"lookup.{table_of(asked, thing)}/{name}", asked_so, slots, 6 / max(len(questions), 3)))
    clauses = indirect(asked, thing)
    for name, frames in table["frame"].items() if clauses else ():
        patterns = tuple(frame.replace("{clause}", clause) for frame in frames for clause in clauses)
        found.append(Option(f"lookup.frame/{name}", patterns, slots, 0.2))
    verbal = sort or is_verbal(asked) or is_variable(asked, thing) or bool(what_was_done(asked))
    if asked.meaning != "flag" and not (verbal and found):
        beside = thing.short and not thing.text.startswith("the ") and bool(re.search(r"\d", thing.text))
        found += [
            Option(f"lookup.noun/{name}", tuple(f"{p}?" for p in patterns if beside or p != _BESIDE), slots, 0.35)
            for name, patterns in table["any"]["noun"].items()
        ]
        orders = table["any"]["order"].items()
        unsaid = (
            *(_TALKED if is_technical(noun) else ()),
            *(("have-here",) if thing.person or noun == "place" or is_wide(thing) else ()),
            *(("customer-asks",) if asked.meaning == "identifier" else ()),
            *(_OF_RECORDS if noun.split()[-1] in PLACES else ()),
        )
        orders = {name: say for name, say in orders if name not in unsaid}
        found += options(orders, "lookup.order", slots, weight=0.2)
    return found


def _in_place(asked: Attribute, noun: str) -> Attribute:
    """The conditions in a place as those of its weather."""
    if asked.label == "conditions" and noun.split()[-1] in PLACES:
        return replace(asked, label="weather conditions")
    return asked


# --- more fields and more things --------------------------------------------------------------------------------------


def _two_fields(thing: Phrase, noun: str, asked: tuple[Attribute, ...], rng: random.Random) -> list[Option]:
    """Two questions in one request, the second with a pronoun."""
    first, second = asked[0], asked[1]
    if first.label.startswith(f"{second.label} "):  # the author, and then their address
        asked = first, second = second, first
    if " in the " in second.label:  # the postal code in the address
        return []
    again = Phrase(thing.pronoun, thing.bare, plural=thing.person, person=thing.person, short=False)
    if any(stands_in(thing, one) for one in asked):
        thing = replace(thing, text=thing.text.removeprefix(f"{thing.bare} "), short=False)
    slots = {**thing.slots(), "noun": noun}
    joints = {joint_of(thing, one, label_slots(one, rng)) for one in asked}
    slots["of"] = joints.pop() if len(joints) == 1 else ""
    labels = [_label_beside(one, asked[0], noun if noun in thing.text else "") for one in asked]
    slots["labels_both"] = grammar.listed(labels)
    slots["be"] = "" if any(one.meaning == "person" for one in asked) else be(asked)  # who, not what
    slots["the_labels"] = grammar.listed([f"the {label}" for label in labels])
    if any(is_verbal(one) or is_variable(one, thing) or one.meaning == "flag" for one in asked):
        slots |= {"labels_both": "", "the_labels": ""}
    if moments := of_one_kind(asked, thing):
        slots |= {"first": first.label, "second": second.label}
        return options(data("groups")[moments], moments.replace("two_", "lookup."), slots)
    for letter, one, about in (("q", first, thing), ("p", second, again)):
        chosen = {**about.slots(), **label_slots(one, rng), "noun": noun}
        if one.label == COMMITTED and noun in thing.text:
            chosen |= {"label": "date", "label_word": "date"}
        chosen["of"] = joint_of(about, one, chosen)
        if about is again:
            chosen |= {"it": thing.pronoun, "several": "them"}
            in_it = is_variable(one, thing) or (stands_in(thing, one) and one.label not in OWN_LABELS)
            chosen["alone"] = "yes" if in_it or "'s " in chosen["label"] else ""
        unsaid = "?" if about.several == about.text else "{several}"  # how many of them, and what it costs
        questions = [p for _, patterns in direct(one, about) for p in patterns if "?" not in p and unsaid not in p]
        questions = [p for p in questions if not _ASIDE.search(p)]
        slots[f"direct_{letter}"] = filled(rng.choice(questions), chosen, rng) if questions else ""
        clauses = [clause for clause in indirect(one, about) if unsaid not in clause]
        slots[f"indirect_{letter}"] = filled(rng.choice(clauses), chosen, rng) if clauses else ""
    return options(data("groups")["two"], "lookup.two", slots)


def _label_beside(one: Attribute, first: Attribute, noun: str) -> str:
    """The label of one of two fields: the author and the email address, the date of a commit that is called one."""
    if one.label == COMMITTED and noun:
        return "date"
    return noun_label(one).removeprefix(f"{noun_label(first)}'s ")


def of_one_kind(asked: Sequence[Attribute], thing: Phrase) -> str:
    """The table for two fields that go into one question, `what day and time is it`; empty for others."""
    if [one.meaning for one in asked] == ["date", "time"] and all(one.label in OWN_LABELS for one in asked):
        return "two_moment"
    if all(is_variable(one, thing) for one in asked):
        return "two_variables"
    return "two_home" if thing.person and all(one.meaning == "place" and is_verbal(one) for one in asked) else ""


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
    asked = _in_place(shortened(intent.asked, noun), noun)
    slots = {**every.slots(), **label_slots(asked, rng), "nouns": grammar.plural(noun)}
    slots["of"] = joint_of(Phrase("", noun), asked, slots)
    slots |= {"noun": noun, "be": "are"}
    for part in ("label_head", "label_inside"):  # which cities are the addresses of both in
        slots[part] = grammar.plural(slots[part]) if slots["label_inside"] else slots[part]
    slots["rest"] = grammar.listed([thing.text for thing in things[1:]])
    slots["first"] = things[0].text
    slots["commas"] = ", ".join(thing.text for thing in things) if all(thing.short for thing in things) else ""
    if asked.label in _SORTS and noun in ABSTRACT:
        return options(data("groups")["each_sort"], "each.sort", slots)
    if not slots["named_labels"] or asked.meaning == "status":
        slots |= {"named_labels": slots["label"], "be": slots["are"]}
    verbal = is_verbal(asked) and asked.meaning != "money" and not stands_in(replace(every, bare=noun), asked)
    found = [] if verbal else options(data("groups")["each"], "each", slots, weight=0.7)
    if not grammar.is_mass(slots["label"]) and "'s " not in slots["label"]:
        slots = {**slots, "label": grammar.plural(slots["label"]), "are": "are"}
    for name, patterns in (
        ()
        if what_was_done(asked) or (asked.meaning == "money" and not verbal)
        else direct(asked, replace(every, bare=noun))
    ):
        asked_so = tuple(f"{pattern}?" for pattern in patterns if "?" not in pattern and "how many of" not in pattern)
        found.append(Option(f"lookup.{table_of(asked, every)}/{name}", asked_so or ("",), slots, 0.6))
    return [option for option in found if any(option.patterns)]
