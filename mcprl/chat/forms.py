"""Calls in other forms than the chat template's: in a fence, as bare JSON, in `<tools>`, with doubled braces.

Models write what they saw most: Qwen2.5-Coder puts a call into a json fence (vLLM issue 32926). JSON is a call only if
it names an offered tool and its arguments are an object. All else is text.
"""

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

from mcprl.chat.hermes import members, skip

Form = Literal["fence", "tag", "bare JSON"]

FENCE = "```"
TAGS = ("<tool_call>", "<tools>", "<tool>", "<function_call>", "<function>")
_NAMES = "|".join(tag[1:-1] for tag in TAGS)
OPENER = re.compile(rf"{FENCE}[\w-]*[ \t]*\n?|<(?P<tag>{_NAMES})>|(?:(?<=\s)|\A)(?=[\[{{])")
"""Where calls may begin."""
_OPENERS = 64
"""Such places that are looked at: a text of nothing else takes time with their square."""
_DOUBLED = re.compile(r'\{\{\s*"(?:name|function|type|arguments)"')


@dataclass(frozen=True)
class FoundCalls:
    """The calls that stand together in a turn's text, from `start` to `end`. `calls` has each one's tool and the JSON
    text of its arguments. `closed`: the fence that they stand in is complete."""

    form: Form
    start: int
    end: int
    calls: tuple[tuple[str, str], ...]
    closed: bool = False


def find(text: str, tools: Collection[str]) -> FoundCalls | None:
    """The first calls of offered tools in the text, `None` if there are none. What follows them is not read: a model
    that goes on after a call makes its result up."""
    at = 0
    for _ in range(_OPENERS):
        if not (opener := OPENER.search(text, at)):
            break
        fence, tag = opener.group().startswith(FENCE), opener["tag"]
        calls, end = _calls(text, opener.end(), tools, in_tag=bool(tag))
        if calls:
            form: Form = "fence" if fence else "tag" if tag else "bare JSON"
            after = skip(text, end)
            closer = FENCE if fence else f"</{tag}>" if tag else ""
            closed = text.startswith(closer, after)
            return FoundCalls(form, opener.start(), after + len(closer) if closed else end, calls, fence and closed)
        if fence:  # what it holds is no call, nor are the lines in it
            close = text.find(FENCE, opener.end())
            end = len(text) if close < 0 else close + len(FENCE)
        at = max(end, opener.end(), opener.start() + 1)
    return None


def _calls(text: str, at: int, tools: Collection[str], in_tag: bool) -> tuple[tuple[tuple[str, str], ...], int]:
    """The calls that begin at `at`, one after another or in an array, and the position behind them. Without any, the
    position behind the JSON value that is there. In a tag a name alone is a call without arguments."""
    at = skip(text, at)
    in_array = text.startswith("[", at)
    place = skip(text, at + 1) if in_array else at
    calls: list[tuple[str, str]] = []
    end = place
    while (found := _call(text, place, in_tag)) and found[0] in tools:
        calls.append(found[:2])
        end = found[2]
        place = skip(text, end)
        if text.startswith(",", place):
            place = skip(text, place + 1)
    if in_array and calls:
        if text.startswith("]", place):
            return tuple(calls), place + 1
        if place < len(text):  # something else is in it: it is a list of other things
            calls.clear()
    return tuple(calls), end if calls else _behind_value(text, at)


def _call(text: str, at: int, in_tag: bool) -> tuple[str, str, int] | None:
    """The name, the arguments' JSON text and the position behind the object at `at`, `None` if it has none of these."""
    doubled = _DOUBLED.match(text, at) is not None
    try:
        found, end = members(text, at + doubled)
        if doubled and text.startswith("}", skip(text, end)):
            end = skip(text, end) + 1
    except ValueError:
        if not doubled:
            return None
        end = min((place for mark in (FENCE, "</") if (place := text.find(mark, at)) >= 0), default=len(text))
        try:
            found, length = members(text[at:end].replace("{{", "{").replace("}}", "}"), 0)
        except ValueError:
            return None
        end = at
        for _ in range(length):
            end += 2 if text.startswith(("{{", "}}"), end) else 1
    name, raw = found.get("name", (None, ""))
    arguments, raw = found.get("arguments", (None, ""))
    function, _ = found.get("function", (None, ""))
    if isinstance(function, dict):
        name, arguments = function.get("name"), function.get("arguments")
        raw = json.dumps(arguments, ensure_ascii=False)
    elif name is None:
        name = function
    elif (in_tag and found.keys() <= {"name", "id", "type"}) or raw.strip() == "null":
        arguments = ""
    return (name, *checked, end) if isinstance(name, str) and (checked := _as_object(arguments, raw)) else None


def _as_object(arguments: Any, raw: str) -> tuple[str] | None:
    """The JSON text of the arguments if they are an object, or a text that holds one, or empty."""
    for _ in range(2):  # some models encode them twice
        if isinstance(arguments, str):
            raw = arguments if arguments.strip() else "{}"
            try:
                arguments = json.loads(raw)
            except (ValueError, RecursionError):
                return None
    try:
        json.dumps(arguments, ensure_ascii=False, allow_nan=False).encode()  # half a surrogate pair cannot be sent
    except ValueError:
        return None
    return (raw,) if isinstance(arguments, dict) else None


def _behind_value(text: str, at: int) -> int:
    try:
        return json.JSONDecoder().raw_decode(text, at)[1]
    except (ValueError, RecursionError):
        return at
