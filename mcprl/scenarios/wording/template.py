"""Constructions: the patterns in `data/*.toml`, and how one becomes text.

A pattern holds alternatives, `[what's|what is]`, and slots, `{it}`. Values are marked while a request is built, so
that nothing after that (capitals, typing errors) changes them.
"""

import random
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from mcprl.text import singular

BEGIN, END = "\x02", "\x03"
"""Marks around a value."""
SET_ASIDE = frozenset("reserved booked ordered needed used required allocated expected taken sold".split())
"""Words of a label that counts what is promised, gone or not there yet."""
_ALTERNATIVES = re.compile(r"\[([^\[\]]*)\]")
_SLOT = re.compile(r"\{(\w+)\}")
_IN_SORT = re.compile(rf"(?<={END}) in the ({BEGIN}[^{END}]*{END}) (?:category|section|range|group)\b")


@dataclass(frozen=True)
class Option:
    """A construction that fits an intent: its form, its patterns, and what its slots hold."""

    form: str
    patterns: tuple[str, ...]
    slots: Mapping[str, str] = field(default_factory=dict[str, str])
    weight: float = 1.0
    asks: bool = False
    """Whether a question mark ends it."""


@cache
def data(name: str) -> dict[str, Any]:
    """The tables of `data/NAME.toml`."""
    return tomllib.loads((files("mcprl.scenarios.wording") / "data" / f"{name}.toml").read_text())


def mark(value: str) -> str:
    """A value that nothing may change."""
    return f"{BEGIN}{value}{END}"


def unmark(text: str) -> str:
    """A text without the marks around its values, and without a word before a value that begins with it: on shelf
    `shelf 1`."""
    return re.sub(r"\b([a-z]+) \1 (?=\d)", r"\1 ", text.replace(BEGIN, "").replace(END, ""))


def outside(text: str) -> Iterator[tuple[bool, str]]:
    """The pieces of a marked text, each with whether it may be changed."""
    for piece in re.split(rf"({BEGIN}[^{END}]*{END})", text):
        if piece:
            yield not piece.startswith(BEGIN), piece


def expand(pattern: str, rng: random.Random) -> str:
    """A pattern with one of each group of alternatives."""
    while match := _ALTERNATIVES.search(pattern):
        pattern = pattern[: match.start()] + rng.choice(match[1].split("|")) + pattern[match.end() :]
    return pattern


def fill(pattern: str, slots: Mapping[str, str], rng: random.Random) -> str | None:
    """A pattern as marked text, `None` if a slot has nothing to hold."""
    text = agreeing(expand(pattern, rng), slots)
    for match in _SLOT.finditer(text):
        if not slots.get(match[1], "") and match[1] not in _MAY_BE_EMPTY:
            return None
    text = _SLOT.sub(lambda match: slots.get(match[1], ""), text)
    return tidy(text)


def agreeing(pattern: str, slots: Mapping[str, str]) -> str:
    """A pattern with the preposition that the label asks for, `who` for people, and verbs for a plural label."""
    if slots.get("of"):
        pattern = re.sub(
            r"(\{(?:label(?:_word)?|named_labels|the_labels|labels_both)\}) (?:of|for) ",
            r"\1 {of} ",
            pattern,
        )
    if slots.get("asks"):
        pattern = re.sub(
            r"\bwhat(?=(?:'s| is) (?:the|\{its\}) \{label| was its \{label)", "who", pattern, flags=re.IGNORECASE
        )
        pattern = re.sub(r"\bwhat(?= \{are\} the \{label| are the \{\w*labels?\}| was it again)", "who", pattern)
    if slots.get("are") == "are":
        pattern = re.sub(r"what(?:'s| is) the (?=\{label)", "what are the ", pattern)
        pattern = re.sub(r"what(?:'s| is) (?=\{its\} \{label)", "what are ", pattern)
        pattern = re.sub(r"what was (it|that)(?= again)", "what were they", pattern)
        pattern = re.sub(r"(the \{label(?:_word)?\} [^.?!,]*\{it\}) is\b", r"\1 are", pattern)
        pattern = re.sub(r"(the \{label(?:_word)?\} [^.?!,]*)\bdoes\b", r"\1do", pattern)
    return pattern


_WEDGED = re.compile(
    r"\b(?:are there|there are) ((?:over)?due|[a-z]+ed (?:by|for|in|on|at|between|before|after|since|until))\b"
)
"""How many jobs there are due today: they are due."""
_MAY_BE_EMPTY = ("s", "es", "rest", "tail")


def tidy(text: str) -> str:
    """A text without the spaces and marks that empty alternatives leave."""
    pieces = [re.sub(r"\s+", " ", piece) if free else piece for free, piece in outside(text)]
    text = _WEDGED.sub(r"are \1", "".join(pieces))
    text = re.sub(r"\b(?:are there|there are|do we have|have we got|we have) that are ", "are ", text)
    text = re.sub(r" +([,.?!;:])(?=\s|$)", r"\1", text)
    return text.strip()


def fits(entry: Mapping[str, Any], label: str, *, person: bool = False, nouns: Sequence[str] = ()) -> bool:
    """Whether a construction is made for a field of this label and a thing of this kind.

    `labels` lists words of which the label must have one, `without` words that it must not have, `at_hand` says that it
    must not be of what is set aside, `people` says whether the thing is a person, `nouns` lists words for the thing.
    """
    has = {*label.split(), *(singular(word) for word in label.split())}
    if "labels" in entry and not has & {*str(entry["labels"]).split()}:
        return False
    if has & {*str(entry.get("without", "")).split()} or (entry.get("at_hand") and has & SET_ASIDE):
        return False
    if "exact" in entry and label not in entry["exact"]:
        return False
    if "people" in entry and entry["people"] != person:
        return False
    return "nouns" not in entry or bool({*nouns} & {*str(entry["nouns"]).split()})


def options(
    table: Mapping[str, Any], prefix: str, slots: Mapping[str, str], *, weight: float = 1.0, asks: bool = False
) -> list[Option]:
    """A table `id = patterns` as options with the same slots."""
    return [
        Option(f"{prefix}/{name}", tuple(patterns), slots, weight, asks)
        for name, patterns in table.items()
        if isinstance(patterns, list)
    ]


def in_brackets(text: str) -> str:
    """A text with the categories of what it names in brackets: where is the Oak Shelf (furniture)?"""
    return _IN_SORT.sub(r" (\1)", text)
