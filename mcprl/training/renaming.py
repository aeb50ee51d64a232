"""Demonstrations with other identifiers and another order of rows, so that a model learns to read them in results.

A server has a few dozen records, and each is shown in many plans. A model that remembers that the Ivory Teapot is
SKU-316 has no reason to look for it in the list before it, and names a key that it remembers for whatever it never saw.
So the digits of a conversation's identifiers are drawn anew, the same everywhere in it, the rows of lists shuffled, and
some left out. Rows that are sorted keep their order, which tells the cheapest and the newest.
"""

import json
import random
import re
from collections.abc import Iterator, Sequence
from typing import Any

from mcprl.text import compact, parse_json, words
from mcprl.types import Message, Tool

_TOKEN = re.compile(r"[A-Za-z0-9][\w./#-]*")
_RUN = re.compile(r"(?<!\d)(?<!\d[.,:])\d{3,}(?!\d|[.,:]\d)")
"""Digits that may be those of an identifier: no part of a decimal, of an amount or of a time."""
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
LEFT_OUT = 0.3
"""The share of the rows that are not used which a demonstration leaves out."""
_DRAWS = 100
"""Other digits that are drawn for an identifier; where all of them stand in the conversation it keeps its own."""
_KEYS = frozenset(("id", "no", "nr", "number", "key", "code", "ref"))
"""The last words of names of parameters whose whole numbers are identifiers."""


def renamed(messages: Sequence[Message], tools: Sequence[Tool], rng: random.Random) -> list[Message]:
    """The conversation with other digits in its identifiers, and with other rows around those that it uses.

    Digits that results or arguments have for something else too, such as a year, are left. So are those that the tools
    or the instructions state, since a call takes no other value than a listed one, and lists of which several
    rows are named later.
    """
    digits = _new_digits(messages, tools, rng)
    told = [_with_digits(message, digits) for message in messages]
    for at, message in enumerate(told):
        if message["role"] == "tool":
            message["content"] = _other_rows(message["content"], told[at + 1 :], rng)
    return told


def _new_digits(messages: Sequence[Message], tools: Sequence[Tool], rng: random.Random) -> dict[str, str]:
    """By the digits of each identifier, as many others."""
    taken = {run for text in _texts(messages) for run in re.findall(r"\d+", text)}
    keys = set(_whole_keys(messages))
    codes, alone = set[str](), set[str]()
    for message in messages:
        for text in _texts([message]):
            for token in _TOKEN.findall(text):
                if any(char.isalpha() for char in token) and not _DATE.match(token):
                    codes.update(_RUN.findall(token))
                elif message["role"] == "tool" or message.get("tool_calls"):
                    alone.update(_RUN.findall(token))
    digits: dict[str, str] = {}
    instructions = [message["content"] for message in messages if message["role"] == "system"]
    stated = "\n".join([*instructions, *(compact(tool.as_function()) for tool in tools)])
    for run in sorted((keys | (codes - alone)) - set(re.findall(r"\d+", stated))):
        first = "0" if run[0] == "0" else "123456789"
        drawn = (rng.choice(first) + "".join(rng.choices("0123456789", k=len(run) - 1)) for _ in range(_DRAWS))
        digits[run] = next((new for new in drawn if new not in taken), run)
        taken.add(digits[run])
    return digits


def _whole_keys(messages: Sequence[Message]) -> Iterator[str]:
    """The whole numbers that calls give for keys."""
    for message in messages:
        for call in message.get("tool_calls") or ():
            for name, value in json.loads(call["function"]["arguments"]).items():
                if type(value) is int and value > 99 and _KEYS & {*words(name)[-1:]}:
                    yield str(value)


def _texts(messages: Sequence[Message]) -> list[str]:
    """What the messages say: their contents, and the arguments of their calls."""
    contents = [message["content"] for message in messages if message.get("content")]
    return contents + [call["function"]["arguments"] for each in messages for call in each.get("tool_calls") or ()]


def _with_digits(message: Message, digits: dict[str, str]) -> Message:
    def changed(text: str) -> str:
        return _RUN.sub(lambda run: digits.get(run[0], run[0]), text)

    told: Message = dict(message)
    if message.get("content"):
        told["content"] = changed(message["content"])
    if calls := message.get("tool_calls"):
        told["tool_calls"] = [
            {**call, "function": {**call["function"], "arguments": changed(call["function"]["arguments"])}}
            for call in calls
        ]
    return told


def _other_rows(result: str, later: Sequence[Message], rng: random.Random) -> str:
    """A result that is a list of records, with these in another order if they have none and no more than one of them is
    named `later`. Some of the others are left out then, unless the answer has a number that may count them."""
    tree = parse_json(result)
    if tree is None or compact(tree) != result:
        return result
    rows: Any = tree if isinstance(tree, list) else next((each for each in tree.values() if isinstance(each, list)), [])
    if not all(isinstance(row, dict) and row for row in rows):
        return result
    text, answer = "\n".join(_texts(later)), later[-1].get("content") or "" if later else ""
    named = [re.search(rf"(?<!\w){re.escape(str(next(iter(row.values()))))}(?!\w)", text) is not None for row in rows]
    if sum(named) > 1:
        return result
    if not _is_sorted(rows):
        order = rng.sample(range(len(rows)), len(rows))
        rows[:], named = [rows[at] for at in order], [named[at] for at in order]
    counts = any(int(number) <= len(rows) for number in re.findall(r"(?<![\w.,:-])\d{1,3}(?![\w,:-]|\.\d)", answer))
    if isinstance(tree, list) and any(named) and not counts:
        rows[:] = [row for row, kept in zip(rows, named, strict=True) if kept or rng.random() >= LEFT_OUT]
    return compact(tree)


def _is_sorted(rows: Sequence[dict[str, Any]]) -> bool:
    """Whether the rows are in the order of a number or a date, which is no key: the first may be the cheapest."""
    for name in rows[0] if rows else ():
        values = [row.get(name) for row in rows]
        comparable = all(type(value) in (int, float) for value in values) or all(
            isinstance(value, str) and _DATE.match(value) for value in values
        )
        if comparable and not _KEYS & {*words(name)[-1:]} and len(set(values)) > 1:
            ordered = sorted(values)  # pyright: ignore[reportArgumentType, reportUnknownVariableType]
            if values in (ordered, ordered[::-1]):
                return True
    return False
