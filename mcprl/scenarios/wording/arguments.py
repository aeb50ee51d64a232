"""The arguments of a computation behind an order: ` in Porto`, ` for 3 March 2026`, ` from EUR to USD`."""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from mcprl.scenarios.intents import Value
from mcprl.scenarios.wording import grammar
from mcprl.scenarios.wording.modifiers import in_full, modifiers
from mcprl.scenarios.wording.template import BEGIN, mark
from mcprl.scenarios.wording.values import UNIT_WORDS, is_zone, plain, quoted, shown
from mcprl.text import words

_FROM = ("from", "source", "src", "base", "origin", "start", "departure")
_TO = ("to", "target", "destination", "dest", "dst", "end", "arrival", "into")
QUERIES = {"query", "q", "search", "keyword", "keywords", "topic", "question", "expression", "term"}


def roles_of(arguments: Sequence[Value], rng: random.Random) -> dict[str, str]:
    """The values at `from`, `to` and `main`, if each role has one argument."""
    roles: dict[str, str] = {}
    rest: list[Value] = []
    for value in arguments:
        parts = {*words(value.attribute.key)}
        role = "from" if parts & {*_FROM} else "to" if parts & {*_TO} else ""
        if role and role not in roles:
            roles[role] = shown(value, rng)
        else:
            rest.append(value)
    if len(rest) == 1:
        roles["main"] = shown(rest[0], rng)
    return roles if len(rest) <= 1 else {}


def zone_times(roles: Mapping[str, str]) -> dict[str, str]:
    """The slots of places, also as their times: `Netherlands time` without the country's article."""
    times = {f"{role}_time": f"{text.replace(f'{BEGIN}the ', BEGIN)} time" for role, text in roles.items()}
    return {**roles, **times}


def following(arguments: Sequence[Value], rng: random.Random) -> str:
    """The arguments behind an order. A type stands before what it is the type of: ` for text resource 7`."""
    for sort in arguments:
        noun = re.sub(r" (?:type|kind)$", "", sort.attribute.label)
        if sort.attribute.meaning != "category" or noun == sort.attribute.label:
            continue
        own = next((v for v in arguments if re.sub(r" (?:number|id)$", "", v.attribute.label) == noun), None)
        if own is not None and own.attribute.meaning in ("identifier", "number"):
            others = "".join(_argument(value, rng) for value in arguments if value not in (sort, own))
            return f" for {mark(plain(sort.value).lower())} {noun} {mark(plain(own.value))}{others}"
    return "".join(_argument(value, rng) for value in arguments)


def _argument(value: Value, rng: random.Random) -> str:
    """An argument behind an order: ` in Porto`, ` for 3 March 2026`, ` with a limit of 5`."""
    attribute = value.attribute
    parts = {*words(attribute.key)}
    if attribute.meaning == "place" or is_zone(value):
        return f" in {shown(value, rng)}"
    if attribute.meaning in ("date", "datetime"):
        joint = "from" if parts & {*_FROM} else "to" if parts & {*_TO} else "on"
        return f" {joint} {shown(value, rng)}"
    if parts & {*_FROM}:
        return f" from {shown(value, rng)}"
    if parts & {*_TO}:
        return f" to {shown(value, rng)}"
    if parts & {"days", "hours", "weeks", "months"}:
        unit = next(word for word in words(attribute.key) if word in ("days", "hours", "weeks", "months"))
        return f" for the next {shown(replace(value, attribute=replace(attribute, unit=unit)), rng)}"
    if parts & QUERIES:
        return f" for {quoted(value, rng)}"
    if (attribute.meaning == "duration" or parts & {"duration"}) and is_number(value):
        unit = UNIT_WORDS.get(attribute.unit, attribute.unit)
        return f" for {mark(plain(value.value))} {grammar.one(unit) if value.value == 1 else unit}".rstrip()
    if attribute.meaning in ("identifier", "name", "path", "email"):
        label = attribute.label.removesuffix(" number").removesuffix(" id").removesuffix(" name")
        return (
            f" for {label} {shown(value, rng)}" if label not in ("id", "name", "path") else f" for {shown(value, rng)}"
        )
    if attribute.meaning == "category" and parts & {"type", "kind", "category"}:
        return f" of type {shown(value, rng)}"
    if attribute.meaning == "flag":
        label = attribute.label.removeprefix("include ").removeprefix("show ").removeprefix("with ")
        return f" {'with' if value.value else 'without'} {label}"
    if len(attribute.label) == 1:
        return f" with {shown(value, rng)}"
    _, after = modifiers([value], False, rng)
    return f" {after[0]}" if after else f" with {in_full(attribute)} {quoted(value, rng)}"


def is_number(value: Value) -> bool:
    """Whether a value is a number and no truth value."""
    return isinstance(value.value, int | float) and not isinstance(value.value, bool)
