"""Requests for what tools work out, for what no tool does, and requests that leave something out."""

import random
import re
from dataclasses import replace

from mcprl.scenarios.intents import Change, Compute, Lacking, Lookup, Reference, Unserved, Value
from mcprl.scenarios.wording import grammar
from mcprl.scenarios.wording.arguments import QUERIES, following, is_number, roles_of, zone_times
from mcprl.scenarios.wording.changes import change_options
from mcprl.scenarios.wording.clocks import spans, with_moment
from mcprl.scenarios.wording.deeds import deed, imperative
from mcprl.scenarios.wording.fields import label_slots
from mcprl.scenarios.wording.keys import KEYS
from mcprl.scenarios.wording.lookups import about_options
from mcprl.scenarios.wording.modifiers import in_full, is_deal, is_technical
from mcprl.scenarios.wording.phrases import Phrase, is_person, phrase, spoken
from mcprl.scenarios.wording.suiting import DOCUMENTS, is_verbal
from mcprl.scenarios.wording.template import BEGIN, END, Option, data, mark, options
from mcprl.scenarios.wording.values import is_zone, plain, quoted, shown
from mcprl.servers.effects import VERBS
from mcprl.text import words

_ARITHMETIC = {
    "add": "add sum plus addition", "subtract": "subtract minus difference subtraction",
    "multiply": "multiply times product multiplication", "divide": "divide division quotient",
}  # fmt: skip
_ASKING = tuple("get return show fetch retrieve find look list give display read check tell".split())
_TEXTS = ("text", "message", "input", "sentence", "string", "content", "phrase", "body", "word")
_OWN = ("account", "appointment", "ticket", "task", "car", "flight", "seat", "policy", "loan", "bill", "plan")
"""Things that people call theirs, besides dealings: my ticket, but that product."""
_NO_THINGS = ("time", "date", "day", "sum", "result", "answer", "content", "output", "log", "logging", "update", "echo")
"""What tools work out or do, and nobody has: no times are printed or faxed."""
_PAPERS = ("invoice", "bill", "receipt", "contract", "note")
_SAID = {"trigger": "run", "invoke": "run"}
_MAKING = ("create", "add", "register", "book", "open", "insert")
_CONNECTED = r"(?: (?:of|in|for|from|to|by|with|on|at|between|using|based|as|given|into)\b.*)$"


def compute_options(intent: Compute, rng: random.Random) -> list[Option]:
    """Requests for what a tool works out of its arguments."""
    arguments = intent.arguments
    parts = {*words(intent.tool), *words(intent.description)[:8]}
    roles = roles_of(arguments, rng)
    zones = any(is_zone(value) for value in arguments)
    if {"from", "to", "main"} <= {*roles} and any(value.attribute.meaning == "date" for value in arguments):
        roles["to"] += f" on {roles.pop('main')}"  # a way between two places, on a day
    if {"from", "to", "main"} <= {*roles}:
        if not zones:
            return options(data("computes")["from_to"], "compute.from_to", roles)
        apart = any("difference" in words(one.key) for one in intent.asked)
        name = "zones_difference" if apart else "zones"
        found = with_moment(options(data("computes")[name], f"compute.{name}", zone_times(roles)))
        clock = not apart and all(one.meaning == "time" for one in intent.asked)
        return found + (spans(roles, arguments, rng) if clock else [])
    if len(arguments) == 1 and (zones or "time" in words(intent.tool)) and {"time", "clock", "now"} & parts:
        name = "weekday" if any({"weekday", "day"} & {*words(one.key)} for one in intent.asked) else "clock"
        if name == "weekday" or all(one.meaning in ("time", "datetime") for one in intent.asked):
            return options(data("computes")[name], f"compute.{name}", {"main": shown(arguments[0], rng)})
    if len(arguments) == 2 and all(is_number(value) for value in arguments):
        for name, cues in _ARITHMETIC.items():
            if {*cues.split()} & {*words(intent.tool)} or {*cues.split()} & {*words(intent.description)[:3]}:
                slots = {"a": shown(arguments[0], rng), "b": shown(arguments[1], rng)}
                return options(data("computes")[name], f"compute.{name}", slots)
    if len(arguments) == 1 and (name := _single(intent)):
        return options(data("computes")[name], f"compute.{name}", {"main": mark(plain(arguments[0].value))})
    if len(arguments) == 1 and _is_text(arguments[0]):
        if {"echo", "repeat", "echoes"} & parts:
            return options(data("computes")["echo"], "compute.echo", {"main": _text(arguments[0], rng)})
        if do := _shortened(intent):
            slots = {"do": do, "main": _text(arguments[0], rng)}
            return options(data("computes")["text"], "compute.text", slots)
    return _general(intent, roles, rng)


def _single(intent: Compute) -> str:
    """The table for a tool with one argument that is an expression, code or a path, else empty."""
    value = intent.arguments[0]
    text, key = plain(value.value), {*words(value.attribute.key)}
    if re.match(r"(?:SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|WITH|ALTER)\b", text):
        return "code"
    if key & {"expression", "formula", "calculation"} and re.search(r"\d", text):
        return "expression"
    reads = {*words(intent.tool)} & {"list", "read", "show", "open", "get", "cat", "tree"}
    return "contents" if value.attribute.meaning == "path" and reads and not intent.asked else ""


def _text(value: Value, rng: random.Random) -> str:
    return quoted(replace(value, attribute=replace(value.attribute, meaning="text")), rng)


def _general(intent: Compute, roles: dict[str, str], rng: random.Random) -> list[Option]:
    """A question or an order made of the description."""
    head = imperative(re.sub(r"\s+tool$", "", intent.description, flags=re.IGNORECASE))
    rest = following(intent.arguments, rng)
    if (
        intent.asked
        and len(intent.arguments) == 1
        and intent.arguments[0].attribute.meaning in ("place", "name", "date")
    ):
        thing = Phrase(shown(intent.arguments[0], rng), "the place", short=True)
        return about_options(thing, "place", intent.asked, rng)
    named = _from_name(intent.tool)
    if head and head.split()[0] not in _ASKING and named.split()[0] in _ASKING and len(named.split()) > 1:
        head = named  # what `get_annotated_message` "demonstrates" is not what a user wants
    verb, _, what = (head or named).partition(" ")
    verb = "search for" if verb == "search" and what.split()[:1] not in ([], ["for"], ["in"], ["the"]) else verb
    if "from" in roles and "to" in roles and "main" not in roles:
        ways = re.sub(_CONNECTED, "", what.removeprefix("for "))
        if verb.startswith(("search", "find")) and grammar.is_plural(ways):
            return options(data("computes")["route_search"], "compute.route_search", {**roles, "what": ways})
        return options(data("computes")["route"], "compute.route", {**roles, "do": _cut(f"{verb} {what}", rest)})
    verb = _SAID.get(verb, verb)
    if (own := re.fullmatch(r"(?:an?|the|one) (.+)", what)) and rest.startswith(f" for {own[1]} "):
        what, rest = rest.removeprefix(" for "), ""  # describe hut ROS, and no hut for it
    if verb in _ASKING and what:
        what = _cut(what, rest)
        if (named := re.match(rf" for (?:{BEGIN}[^{END}]*{END} )?(\w+) {BEGIN}", rest)) and what != named[1]:
            what = what.removeprefix(f"{named[1]} ")  # the reference for resource 7, no resource reference
        what, rest = _sorted(what, rest, intent)
        slots = {"what": _definite(what), "rest": rest, "is": "are" if grammar.is_plural(what) else "is"}
        inner = re.fullmatch(r"(?:the |all )?([\w ]+?) that (?:is|are) (.+)", what)  # what changes are staged?
        slots |= {"head": inner[1], "state": inner[2]} if inner else {"what_short": slots["what"]}
        found = options(data("computes")["asking"], "compute.asking", slots)
        if not intent.asked:  # nobody checks or knows what is only handed over
            return found
        slots["what_labels"] = grammar.listed([f"the {in_full(one)}" for one in intent.asked])
        return found + options(data("computes")["asking_for"], "compute.asking", slots)
    titled = all(part[:1].isupper() for part in intent.description.split())
    if titled and what and not what.endswith("ing") and not grammar.is_plural(what):
        what = _definite(what)  # a title has no articles: "Trigger Long Running Operation"
    slots = {"do": _cut(f"{verb} {what}".strip(), rest), "rest": rest}
    return options(data("computes")["general"], "compute.general", slots)


def _cut(text: str, rest: str) -> str:
    """An order without what the arguments say: `forecast for a city` is `forecast` if a city follows."""
    if not rest:
        return text
    return re.sub(_CONNECTED, "", text) or text


def _sorted(what: str, rest: str, intent: Compute) -> tuple[str, str]:
    """What is asked for with its only argument, if it is its type, before its noun: the annotated debug message."""
    *front, last = what.split()
    value = intent.arguments[0] if len(intent.arguments) == 1 else None
    if value is None or value.attribute.meaning != "category" or not front or not rest.startswith(" of type "):
        return what, rest
    return " ".join((*front, mark(plain(value.value).lower()), last)), ""


def _definite(what: str) -> str:
    """A noun phrase with an article: `current weather` is `the current weather`."""
    first = what.split()[0]
    if first in ("the", "all", "my", "our", "every"):
        return what
    if first in ("a", "an"):
        return "the " + what.partition(" ")[2]
    return f"the {what}"


def _from_name(tool: str) -> str:
    parts = words(tool)
    start = next((i for i, word in enumerate(parts) if word in VERBS), 0)
    return spoken("_".join(parts[start:]))


def _shortened(intent: Compute) -> str:
    head = imperative(intent.description) or _from_name(intent.tool)
    head = re.sub(
        r"\b(?:a|an|the) (?=(?:given |input |provided )?(?:text|string|message|word|sentence|input)\b)", "this ", head
    )
    head = re.sub(r"\b(?:given|input|provided) ", "", head)
    return head if len(head.split()) > 1 else f"{head} this"


def _is_text(value: Value) -> bool:
    if {*words(value.attribute.key)} & QUERIES:
        return False
    return isinstance(value.value, str) and (value.attribute.meaning == "text" or value.attribute.key in _TEXTS)


# --- what is left out -------------------------------------------------------------------------------------------------


def lacking_options(intent: Lacking, rng: random.Random) -> list[Option]:
    """Requests that leave out a required value."""
    inner, key = intent.intent, intent.lacking.key
    if isinstance(inner, Lookup):
        return _lacking_lookup(inner, rng)
    if isinstance(inner, Change):
        return _lacking_change(inner, intent, rng)
    arguments = tuple(value for value in inner.arguments if value.attribute.key != key)
    head = imperative(inner.description) or _from_name(inner.tool)
    roles = roles_of(arguments, rng)
    if {*roles} == {"from", "main"} and any(is_zone(value) for value in arguments):
        return with_moment(options(data("computes")["lacking_zones"], "lacking.zones", zone_times(roles)))
    if len(arguments) == 1 and is_number(arguments[0]) and {"add", "sum", "adds"} & {*words(inner.tool)}:
        return options(data("computes")["lacking_sum"], "lacking.sum", {"main": shown(arguments[0], rng)})
    rest = following(arguments, rng)
    return options(data("computes")["lacking_general"], "lacking.general", {"do": _cut(head, "x"), "rest": rest})


def _mine(noun: str, rng: random.Random) -> dict[str, str]:
    own = is_deal(noun) or noun.split()[-1] in _OWN
    mine = rng.choice((f"my {noun}", f"my {noun}", f"our {noun}") if own else (f"the {noun}", f"that {noun}"))
    return {
        "mine": mine,
        "mine_to_change": mine,
        "noun": noun,
        "a_noun": grammar.a(noun),
    }


def _lacking_lookup(inner: Lookup, rng: random.Random) -> list[Option]:
    noun = grammar.one(spoken(inner.thing.noun))
    slots = {**label_slots(inner.asked[0], rng), **_mine(noun, rng)}
    thing = Phrase(slots["mine"], slots["mine"], person=is_person(noun))
    if slots["label_word"] in ("date", "day", "time"):
        slots["label_word"] = slots["label"]  # of nothing in particular it is today's
    if is_verbal(inner.asked[0]):
        slots["label_word"] = ""  # where that product is, and not its shelf
    clause = inner.asked[0].meaning in ("count", "year")  # how many there are, since when: and no number or year of it
    clause = clause or is_verbal(inner.asked[0])
    found = [] if clause else options(data("computes")["lacking_thing"], "lacking.thing", slots)
    return found + [
        Option(option.form, option.patterns, option.slots, option.weight * 0.4)
        for option in about_options(thing, noun, inner.asked, rng)
    ]


def _lacking_change(inner: Change, intent: Lacking, rng: random.Random) -> list[Option]:
    key = intent.lacking.key
    values = tuple(value for value in inner.values if value.attribute.key != key)
    named = tuple(value for value in inner.thing.values if value.attribute.key != key) if inner.thing else ()
    noun = grammar.one(spoken(inner.thing.noun if inner.thing else " ".join(words(inner.tool)[1:]) or "entry"))
    slots = {**_mine(noun, rng), "lacking": in_full(intent.lacking)}
    if intent.lacking.meaning == "flag":
        slots["lacking"] += " status"
    if inner.thing is not None and named and inner.effect == "set":
        slots |= phrase(replace(inner.thing, values=named), rng).slots()
        return options(data("computes")["lacking_value"], "lacking.value", slots)
    if inner.effect == "set" and len(values) == 1 and inner.thing is not None:
        some = Reference(inner.thing.noun)
        return change_options(replace(inner, thing=some, values=values), rng)
    verb = words(inner.tool)[0]
    bare = replace(inner, thing=None, values=())
    if verb in ("update", "set", "edit", "modify", "change"):
        slots["deed"] = ""
        return options(data("computes")["lacking_change"], "lacking.change", slots)
    slots["mine_to_change"] = ""
    if verb in _MAKING:  # nobody creates that entry
        slots["mine"] = slots["a_noun"]
    slots["deed"] = data("changes")["verbs"].get(verb, verb if verb in VERBS else deed(bare, rng).split()[0])
    return options(data("computes")["lacking_change"], "lacking.change", slots)


def _without_verb(noun: str) -> str:
    """The noun of a tool without a verb that its name begins with: `nodes` for `open nodes`."""
    first, *rest = words(noun)
    return " ".join(rest) if rest and first in data("changes")["verbs"] else noun


def _sort_of(noun: str) -> str:
    """Which requests that nobody can serve are about such things; empty if none are."""
    last = noun.split()[-1]
    if is_person(noun):
        return "own_people"
    if last == "file":  # which nobody carries to the post
        return ""
    if last in (*DOCUMENTS, *_PAPERS):
        return "own_papers"
    if last in data("thesaurus")["goods"]:
        return "own_goods"
    return "" if is_technical(noun) or last in (*KEYS, "method", "name", "type") else "own"


def unserved_options(intent: Unserved, rng: random.Random) -> list[Option]:
    """Requests for other matters and for what nobody can do with the server's things."""
    found = options(data("unserved")["other"], "unserved.other", {})
    nouns = [
        noun
        for each in intent.nouns
        if (noun := grammar.one(spoken(_without_verb(each)))).split()[-1] not in (*VERBS, *_NO_THINGS)
    ]
    nouns = [noun for noun in nouns if grammar.plural(noun) != noun]  # no "all these stock"
    if not nouns:
        return found
    noun = rng.choice(nouns)
    slots = {"noun": noun, "nouns": grammar.plural(noun), "the_noun": f"the {noun}"}
    own = _sort_of(noun)
    said = data("unserved")[own] if own else {}
    return found + options(said, f"unserved.{own}", slots, weight=3)
