"""Requests and answers in English, worded with the tool's own description, name and parameter names."""

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from mcprl.scenarios.names import doing, noun, spoken
from mcprl.scenarios.slots import Slot
from mcprl.text import compact, singular, stems, words
from mcprl.types import Scalar, Tool

_THIRD_PERSON = re.compile(r"^[A-Z]?[a-z]+s$")
_KEEP_S = {"process", "access", "address", "pass", "discuss", "guess", "express"}


def imperative(tool: Tool) -> str:
    """What a tool does as an order without a capital: its description's first sentence if short, else its name."""
    first = re.split(r"(?<=[a-z0-9)])[.;\n:]|\s[-–(]", tool.description.strip(), maxsplit=1)[0].strip()
    parts = first.split()
    if not 2 <= len(parts) <= 12:
        return doing(tool)
    head = parts[0].lower()
    if _THIRD_PERSON.match(parts[0]) and head not in _KEEP_S:
        head = _infinitive(head)
    return " ".join([head, *parts[1:]])


def _infinitive(verb: str) -> str:
    """A verb in the third person (`fetches`) without its ending."""
    if verb.endswith("ies"):
        return verb[:-3] + "y"
    if verb.endswith(("ches", "shes", "sses", "xes")):
        return verb[:-2]
    return verb[:-1]


def thing(tool: Tool) -> str:
    """What a tool is about, in the singular: `open order` for `list_open_orders`."""
    *front, last = noun(tool).split() or ["item"]
    return " ".join([*front, singular(last)])


def value_text(value: Scalar, rng: random.Random) -> str:
    """A value as a person writes it: free text in quotes, codes and numbers mostly without."""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    if '"' not in text and len(text.split()) <= 2:
        lucky = rng.random() < (0.4 if " " in text else 0.12)
        if not lucky or isinstance(value, int | float):
            return text
    for mark in ("'", '"'):
        if mark not in text:
            return f"{mark}{text}{mark}"
    return text


def argument_phrase(filled: Sequence[tuple[Slot, Scalar]], rng: random.Random) -> str:
    """Slots by name with their values, in call order: `order id O-17 and status open`."""
    style = rng.choice(("{} {}", "{} {}", "{}: {}", "{} = {}", "{} set to {}" if len(filled) > 1 else "{} {}"))
    parts: list[str] = []
    last = ""
    for slot, value in filled:
        label = spoken(slot.key if slot.path[-1] != 0 else singular_words(slot.key))
        shown = value_text(value, rng)
        if label == last:
            parts[-1] += f" and {shown}"
        else:
            parts.append(style.format(label, shown))
        last = label
    if len(parts) == 1:
        return parts[0]
    last_joint = " and " if rng.random() < 0.6 else ", "
    return ", ".join(parts[:-1]) + last_joint + parts[-1]


def singular_words(name: str) -> str:
    """A name with its last word in the singular: `file_path` for `filePaths`."""
    *front, last = words(name) or (name,)
    return "_".join([*front, singular(last)])


def subject(tool: Tool, filled: Sequence[tuple[Slot, Scalar]], rng: random.Random) -> str:
    """The thing that a call reads: `order O-17`, `the order with status open and limit 3`."""
    about = thing(tool)
    if not filled:
        return f"the {about}"
    if len(filled) == 1 and rng.random() < 0.5 and named_by(tool, filled[0][0]) == about:
        return f"{about} {value_text(filled[0][1], rng)}"
    return f"the {about} with {argument_phrase(filled, rng)}"


def named_by(tool: Tool, slot: Slot) -> str:
    """The thing that a value of the slot names: the tool's own (`order_id` of `get_order`) or another (`customer_id` of
    `list_orders`).
    """
    front = stems(slot.key)[:-1]
    about = thing(tool)
    if not front or {*front} & {*stems(about)}:
        return about
    return " ".join(front)


def listed(parts: Sequence[str]) -> str:
    """At least one part as an English list: `a, b and c`."""
    if len(parts) == 1:
        return parts[0]
    return ", ".join(parts[:-1]) + " and " + parts[-1]


def ask(labels: Sequence[str], about: str, rng: random.Random) -> str:
    """A question for the fields `labels` of `about`."""
    what = listed([f"the {label}" for label in labels])
    verb = "is" if len(labels) == 1 else "are"
    return rng.choice(
        (
            f"What {verb} {what} of {about}?",
            f"What {verb} {what} for {about}?",
            f"Tell me {what} of {about}.",
            f"I need {what} of {about}.",
            f"Please find {what} of {about}.",
            f"Can you check {what} for {about}?",
            f"{about[:1].upper()}{about[1:]}: {what}?",
        )
    )


def order(tool: Tool, filled: Sequence[tuple[Slot, Scalar]], rng: random.Random, labels: Sequence[str] = ()) -> str:
    """An order to use a tool and to report the fields `labels`, if there are any."""
    task = imperative(tool) if rng.random() < 0.7 else doing(tool)
    if filled:
        phrase = argument_phrase(filled, rng)
        task = rng.choice((f"{task} with {phrase}", f"{task}: {phrase}", f"{task} ({phrase})", f"{task}, {phrase}"))
    if labels:
        report = listed([f"the {label}" for label in labels])
        task += rng.choice((f" and tell me {report}", f", then report {report}", f" and give me {report}"))
    text = rng.choice(("", "", "Please ", "I want you to ", "Could you ")) + task
    end = "?" if text.startswith("Could") else "."
    return text[:1].upper() + text[1:] + end


def pick(about: str, attribute: str, value: Scalar, labels: Sequence[str], rng: random.Random, among: str = "") -> str:
    """A question about the one row of a list whose `attribute` is `value`. `among` words the list call's arguments."""
    what = listed([f"the {label}" for label in labels])
    verb = "is" if len(labels) == 1 else "are"
    shown = value_text(value, rng)
    where = f" (look among those with {among})" if among else ""
    return rng.choice(
        (
            f"Find the {about} whose {attribute} is {shown} and tell me {what}{where}.",
            f"What {verb} {what} of the {about} with {attribute} {shown}{where}?",
            f"There is a {about} with {attribute} {shown}{where}. I need {what}.",
            f"Look for the {about} where {attribute} is {shown}{where} and give me {what}.",
        )
    )


def chained(first: str, steps: Sequence[str], labels: Sequence[str], rng: random.Random) -> str:
    """A question that needs one lookup after another: from `first` through the things `steps`, in this order."""
    what = listed([f"the {label}" for label in labels])
    verb = "is" if len(labels) == 1 else "are"
    through = steps[-1]
    middle = "".join(f" get its {step}," for step in steps)
    return rng.choice(
        (
            f"For {first},{middle} and tell me {what}.",
            f"Look up {first}, then{middle} and report {what}.",
            f"What {verb} {what} of the {through} that belongs to {first}?",
            f"Start from {first}.{middle.replace(' get', ' Then get')} and give me {what}.",
        )
    )


def answer(facts: Mapping[str, Sequence[Scalar]]) -> str:
    """Each label with its values: `The total is 12.5. The status is open.`"""
    return " ".join(f"The {label} is {listed([plain(value) for value in values])}." for label, values in facts.items())


def picked(text: str, row: Mapping[str, Any], key: str, field: str, statement: str) -> str:
    """The answer `statement` after a quote of one row of the list `text`, from its `key` to its `field`.

    The quote lets a reader check which row was read. It also lets a small model find the field by copying the row from
    the key that the request gives. There is no quote if the field comes before the key or the quote would be long.
    """
    names = list(row)
    if names.index(key) >= names.index(field):
        return statement
    quote = compact({name: row[name] for name in names[names.index(key) : names.index(field) + 1]})
    if quote[1:-1] not in text:  # the list is no JSON, but text: `name: Ana, total: 12` or `Ana | 12`
        begin, end = (rf"(?:{re.escape(name)}: )?{re.escape(plain(row[name]))}" for name in (key, field))
        match = re.search(rf"(?<!\w){begin}\b.*?{end}(?!\w)", text, re.DOTALL)
        quote = match[0] if match else ""
    if not 0 < len(quote) <= 160:
        return statement
    return f"{quote}: {statement[:1].lower()}{statement[1:]}"


def plain(value: Scalar) -> str:
    """A value as text, truth values in lower case."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def not_found(tool: Tool, filled: Sequence[tuple[Slot, Scalar]]) -> str:
    """The answer to a task about a thing that does not exist. `checks.says_missing` holds for it."""
    about = named_by(tool, filled[0][0]) if len(filled) == 1 else thing(tool)
    return f"I could not find {about} {listed([plain(value) for _, value in filled])}."
