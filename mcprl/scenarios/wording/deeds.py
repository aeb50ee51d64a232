"""What a request has done, as an infinitive: `send out order O-17 to Porto`, `exchange item A for item B`."""

import random
import re
from collections.abc import Sequence
from dataclasses import replace

from mcprl.scenarios.intents import Change, Reference, Value
from mcprl.scenarios.wording import grammar
from mcprl.scenarios.wording.modifiers import in_full, modifiers, shortened
from mcprl.scenarios.wording.phrases import phrase, spoken
from mcprl.scenarios.wording.template import data, mark
from mcprl.scenarios.wording.values import plain, quoted
from mcprl.servers.effects import VERBS
from mcprl.text import stems, words

_VAGUE = ("new", "a", "an", "the", "by", "id", "for", "in", "of", "to", "from", "with", "all", "my", "and", "single")
_DETERMINERS = (
    "a",
    "an",
    "the",
    "one",
    "all",
    "any",
    "this",
    "these",
    "your",
    "my",
    "every",
    "each",
    "some",
    "several",
)
_GOING = ("to", "from", "into", "until")
_OTHER = frozenset(("new", "other", "replacement", "another"))
_GIVEN_FOR = {"exchange": "for", "swap": "for", "trade": "for", "replace": "with"}
_PAYING_BACK = frozenset(("return", "refund", "cancel"))
_HANDING_OVER = frozenset(("transfer", "escalate", "forward", "hand", "connect"))
_MOVING = frozenset(("move", "relocate", "transfer", "shift"))
_PLAIN_CHANGES = frozenset(("modify", "update", "edit", "set", "patch", "adjust"))


def deed(intent: Change, rng: random.Random) -> str:
    """What is done, as an infinitive: `send out order O-17 to Porto`."""
    parts = words(intent.tool)
    verb = next((word for word in parts if word in data("changes")["verbs"] or word in VERBS), "")
    if verb == "add" and re.search(r"\bstag(?:e|ing)\b", intent.description):
        verb = "stage"
    noun = grammar.one(spoken(intent.thing.noun if intent.thing is not None else " ".join(nouns(intent.tool))))
    values = [replace(value, attribute=shortened(value.attribute, noun)) for value in intent.values]
    tail = "".join(f" {_with(value, verb, rng)}" for value in values)
    if intent.thing is not None and (part := _part(intent, verb, values, rng)):
        return part
    if intent.thing is not None and (told := _told(intent, rng)):
        return f"{told}{tail}"
    if intent.thing is None and verb in data("changes")["alone"]:
        return data("changes")["alone"][verb] + tail
    if intent.thing is not None and verb:
        spoken_verb = data("changes")["verbs"].get(verb, verb)
        return f"{spoken_verb} {phrase(intent.thing, rng).text}{tail}"
    head = imperative(intent.description) or spoken("_".join(parts))
    if not any("user" in words(value.attribute.key) for value in intent.values) and intent.thing is None:
        whom = "the customer" if verb in _HANDING_OVER else "me"  # no value says who else it may be
        head = re.sub(r"\bthe (?:current )?user(?!')\b", whom, head)
    return f"{head}{_for(intent.thing, rng)}{tail}"


def swapped(values: Sequence[Value]) -> tuple[Value, Value] | None:
    """An old value and the new one that takes its place, if there are such: `item_id` and `new_item_id`."""
    for new in values:
        kept = [stem for stem in stems(new.attribute.key) if stem not in _OTHER]
        old = next((v for v in values if v is not new and [*stems(v.attribute.key)] == kept), None)
        if old is not None and len(kept) < len(stems(new.attribute.key)):
            return old, new
    return None


def _part(intent: Change, verb: str, values: Sequence[Value], rng: random.Random) -> str:
    """What is done to a part of the thing, which the last word of the tool's name says: `return item 17 of order O-1`.
    Empty if no value names such a part.
    """
    named = [*stems(intent.tool)][-1:]
    pair = swapped(values)
    old = pair[0] if pair else next((v for v in values if [*stems(v.attribute.key)][:1] == named), None)
    if old is None or intent.thing is None or not verb:
        return ""
    noun = spoken("_".join(word for word in stems(old.attribute.key) if word not in ("id", "number", "code", "key")))
    noun = f"the {noun}" if old.attribute.meaning == "text" else noun
    said = "change" if verb in _PLAIN_CHANGES else data("changes")["verbs"].get(verb, verb)
    told = mark(f'"{plain(old.value)}"') if old.attribute.meaning == "text" else quoted(old, rng)
    became = f" {_GIVEN_FOR.get(verb, 'to')} {noun} {quoted(pair[1], rng)}" if pair else ""
    rest = [value for value in values if value is not old and value not in (pair or ())]
    tail = "".join(f" {_with(value, verb, rng)}" for value in rest)
    joint = "in" if verb in _PLAIN_CHANGES else "from"
    return f"{said} {noun} {told} {joint} {phrase(intent.thing, rng).text}{became}{tail}"


def _told(intent: Change, rng: random.Random) -> str:
    """The description's order with the thing at the place of its noun: `extend the loan of The Glass Harbour`."""
    order = imperative(intent.description)
    if intent.thing is None or not order:
        return ""
    noun = re.escape(intent.thing.noun.split("_")[-1].split(" ")[-1].lower())
    spot = re.search(rf"\b(?:an?|the|one|this|your|existing)(?: \w+){{0,2}}? {noun}\b", order)
    if spot is None:
        return ""
    verb, _, between = order[: spot.start()].strip().partition(" ")
    usual = data("changes")["verbs"].get(verb, "")
    if usual and not between and not order[spot.end() :] and rng.random() < 0.5:
        verb = usual
    rest = re.sub(r" by (?:its|the|their) (?:number|id|code|key|name)$", "", order[spot.end() :])
    if intent.values and re.match(r" (?:with|by|for|using|to|until|from|on|at) ", rest):
        rest = ""  # the values say it
    return " ".join(part for part in (verb, between, phrase(intent.thing, rng).text + rest) if part)


def _for(thing: Reference | None, rng: random.Random) -> str:
    return f" for {phrase(thing, rng).text}" if thing is not None and thing.values else ""


def _with(value: Value, verb: str, rng: random.Random) -> str:
    """A value behind an act, with the preposition that its name suggests."""
    attribute, text = value.attribute, quoted(value, rng)
    if "payment" in words(attribute.key) and verb in _PAYING_BACK:
        return f"to {text}" if verb == "refund" else f"and refund it to {text}"
    if verb in _HANDING_OVER and "summary" in words(attribute.key):
        return f"with the note {text}"
    table = data("changes")["prepositions"]
    front, *more = words(attribute.key)
    if (front in _GOING and more) or (verb == "assign" and attribute.meaning in ("email", "person", "name")):
        return f"{front if front in _GOING else 'to'} {text}"
    for word in (*reversed(words(attribute.key)), *reversed(attribute.label.split())):
        if word in table:
            return f"{'to' if verb in _MOVING and table[word] in ('at', 'in') else table[word]} {text}"
    if attribute.meaning == "text":
        return rng.choice((f"with {text} as the {in_full(attribute)}", f"with the {in_full(attribute)} {text}"))
    _, after = modifiers([value], False, rng)
    return after[0] if after else f"with {in_full(attribute)} {text}"


def imperative(description: str) -> str:
    """A description's first sentence as an order without a capital, empty if it is none or is long."""
    first = re.split(r"(?<=[a-z0-9)])[.;\n:]|\s[-–(]|, (?:which|so|and|or|with)\b", description.strip(), maxsplit=1)[
        0
    ].strip()
    while (
        len(first.split()) > 11
        and (
            cut := re.sub(
                r" (?:that|which|with|in|from|for|of|to)\b(?!.* (?:that|which|with|in|from|for|of|to)\b).*$", "", first
            )
        )
        != first
    ):
        first = cut
    parts = first.replace("`", "").replace('"', "").split()
    if not 2 <= len(parts) <= 11 or re.search(r"[_{}]|[a-z][A-Z]", first):
        return ""
    head = parts[0].lower()
    if not _is_order(head, parts[1].lower()):
        return ""
    if re.fullmatch(r"[a-z]+s", head) and head not in ("process", "access", "address", "pass", "this", "discuss"):
        head = grammar.infinitive(head)
    elif head in ("a", "an", "the", "this", "tool", "use") or head.endswith("ing"):
        return ""
    if all(part[:1].isupper() for part in parts):  # a title: "Get Tiny Image"
        parts = [part.lower() if part[1:].islower() else part for part in parts]
    order = re.sub(r" on or off$", "", " ".join([head, *parts[1:]]))
    order = re.sub(r"\b((?:un)?([a-z]+?)e?) (all )?\2e?d (?=[a-z]+$)", r"\1 \3", order)  # to unstage all staged changes
    return re.sub(r"(?<= )([a-z]+), [a-z-]+ (?=[a-z]+$)", r"\1 ", order)  # simulated, random-leveled logging


def _is_order(first: str, second: str) -> bool:
    """Whether a sentence that begins so tells to do something: not "State of a vault", "Botanical data"."""
    known = {first, grammar.infinitive(first)} & {*VERBS, *data("changes")["verbs"]}
    doing = first.endswith("s") and second not in ("of", "for", "by", "with", "in", "on", "to", "and", "at", "from")
    return bool(known) or doing or second in _DETERMINERS


def nouns(tool: str) -> list[str]:
    """What a tool's name is about: `comment` for `add_comment`."""
    parts = words(tool)
    start = next((i for i, word in enumerate(parts) if word in VERBS or word in data("changes")["verbs"]), -1)
    kept: list[str] = []
    for word in parts[start + 1 :]:
        if word in ("to", "for", "in", "on", "from", "by", "of", "with"):
            break
        if word not in _VAGUE:
            kept.append(word)
    return kept
