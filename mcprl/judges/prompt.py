"""What a language model gets to read of a group, and what its reply says: pure text in, text out (RULER).

What all tries begin with, and what several of them did, is written once. Every text that comes from a try or a
server is JSON in which `<`, `>`, `&` and characters that do not show are escaped, so that no text can imitate the marks
around it; the marks bear a number that cannot be guessed, and so do the ids.
"""

import hashlib
import json
import math
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcprl.text import common_prefix, inert, parse_json
from mcprl.types import Message, Tool

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "scores": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "trajectory_id": {"type": "string"},
                    "explanation": {"type": "string"},
                    "score": {"type": "number"},
                },
                "required": ["trajectory_id", "explanation", "score"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["scores"],
    "additionalProperties": False,
}
_SHARED_AT = 24  # a step of as many characters is written once where several tries have it
_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]  # ids made of these cost few tokens


@dataclass(frozen=True)
class Verdict:
    """The judge's word on one try."""

    score: float
    explanation: str


@dataclass(frozen=True)
class Record:
    """A group as text: `text` between marks named `fence`, and for each try, in the order given, its id there."""

    text: str
    fence: str
    ids: tuple[str, ...]

    @property
    def distinct(self) -> tuple[str, ...]:
        """Each id once, in the order of the text: tries that are alike have one id together."""
        return tuple(sorted(set(self.ids), key=lambda name: self.text.index(f'"{name}"')))


def write(
    tries: Sequence[Sequence[Message]],
    tools: Sequence[Tool] = (),
    evidence: Sequence[Mapping[str, Any]] = (),
    *,
    seed: object = 0,
    max_chars: int = 2_000,
) -> Record:
    """The record of one group's message lists; its order and its ids follow from `seed` and the content.

    `evidence` has one mapping a try, or there is none. Texts above `max_chars` characters are shortened in the middle.
    """
    shown = [_steps(messages, max_chars) for messages in tries]
    common = min((common_prefix(shown[0], other) for other in shown), default=0)
    rest = [[json.dumps(step) for step in steps[common:]] for steps in shown]
    alike = [json.dumps([own, dict(evidence[n]) if evidence else None], sort_keys=True) for n, own in enumerate(rest)]
    secret = hashlib.sha256(json.dumps([str(seed), shown[0][:common], sorted(alike)]).encode()).hexdigest()
    rng = random.Random(secret)
    names = {key: "".join(rng.choices(_SYLLABLES, k=4)) for key in dict.fromkeys(alike)}
    steps = _repeated([rest[alike.index(key)] for key in names])

    fence = f"record-{''.join(rng.choices(_SYLLABLES, k=6))}"
    parts = [f"<tools>{inert([_tool(tool) for tool in tools])}</tools>"] if tools else []
    parts.append(f"<context>{inert(shown[0][:common])}</context>")
    parts += [f'<step id="{number}">{inert(_seen(json.loads(text), steps))}</step>' for text, number in steps.items()]
    order = list(names)
    rng.shuffle(order)
    for key in order:
        at = alike.index(key)
        own = [steps[text] if text in steps else _seen(json.loads(text), steps) for text in rest[at]]
        known = f"<evidence>{inert(dict(evidence[at]))}</evidence>" if evidence else ""
        parts.append(f'<trajectory id="{names[key]}">{inert(own)}{known}</trajectory>')
    text = "\n".join([f"<{fence}>", *parts, f"</{fence}>"])
    return Record(text, fence, tuple(names[key] for key in alike))


def read(reply: str, ids: Sequence[str]) -> dict[str, Verdict]:
    """The verdict on each id. Raises `ValueError` saying all that is wrong with the reply, for the judge to mend."""
    entries = _scores(reply)
    problems: list[str] = []
    found: dict[str, Verdict] = {}
    for entry in entries:
        name, score = str(entry.get("trajectory_id")), entry.get("score")
        if name not in ids:
            problems.append(f"{name[:40]!r} is none of the ids")
        elif name in found:
            problems.append(f"{name} has more than one score")
        elif isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
            problems.append(f"the score of {name} is {score!r:.40}, not a number")
        elif not 0 <= score <= 1:
            problems.append(f"the score of {name} is {score!r:.40}, not between 0 and 1")
        else:
            found[name] = Verdict(float(score), str(entry.get("explanation", "")))
    if missing := [name for name in ids if name not in {str(entry.get("trajectory_id")) for entry in entries}]:
        problems.append(f"there is no score for {', '.join(missing)}")
    if problems:
        raise ValueError("; ".join(problems))
    return found


def _scores(reply: str) -> list[dict[str, Any]]:
    """The list of entries in a reply, be it fenced or in the middle of prose."""
    decoder = json.JSONDecoder()
    for start in re.finditer(r"[{\[]", reply):
        try:
            value = decoder.raw_decode(reply, start.start())[0]
        except (ValueError, RecursionError):
            continue
        entries: Any = value.get("scores") if isinstance(value, dict) else value
        if isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries):  # pyright: ignore[reportUnknownVariableType]
            return entries  # pyright: ignore[reportUnknownVariableType]
    raise ValueError('it holds no JSON object with a list "scores"')


def _steps(messages: Sequence[Message], max_chars: int) -> list[Any]:
    """What was said and done, in few words: `"text"` of the agent, `[tool, arguments, result]`, `{"user": "text"}`.

    The ids of calls, which differ between tries that did the same, only say which result belongs to which.
    """
    steps: list[Any] = []
    waiting: dict[Any, list[Any]] = {}
    for message in messages:
        said, calls = _shortened(str(message.get("content") or ""), max_chars), message.get("tool_calls") or ()
        if message["role"] == "assistant":
            steps += [said] if said or not calls else []
            for call in calls:
                function = call["function"]
                made: list[Any] = [str(function["name"]), _value(str(function["arguments"]), max_chars)]
                waiting[call.get("id")] = made
                steps.append(made)
        elif message["role"] == "tool" and (made_before := waiting.pop(message.get("tool_call_id"), None)):
            made_before.append(_value(str(message.get("content") or ""), max_chars))
        else:
            steps.append({str(message["role"]): said})
    return steps


def _value(text: str, max_chars: int) -> Any:
    """Text as it is, shortened, or the JSON object or list that it spells: quoted, that would cost twice as much."""
    value = parse_json(text) if len(text) <= max_chars else None
    return _shortened(text, max_chars) if value is None else value


def _tool(tool: Tool) -> dict[str, Any]:
    """A tool without what tells a judge nothing: titles, and the type that all parameters have."""
    schema = {key: value for key, value in tool.input_schema.items() if key not in ("type", "title", "$schema")}
    return {"name": tool.name, "description": tool.description, "parameters": _untitled(schema)}


def _untitled(schema: Any) -> Any:
    """A schema without the titles that generators add; a parameter that is called `title` stays."""
    if isinstance(schema, list):
        return [_untitled(inner) for inner in schema]  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(schema, dict):
        return schema
    return {key: _untitled(value) for key, value in schema.items() if key != "title" or not isinstance(value, str)}  # pyright: ignore[reportUnknownVariableType]


def _shortened(text: str, max_chars: int) -> str:
    if len(text) <= max_chars:
        return text
    head, tail = 2 * max_chars // 3, max_chars // 3
    return f"{text[:head]}[... {len(text) - head - tail} characters cut ...]{text[-tail:]}"


def _repeated(tries: Sequence[Sequence[str]]) -> dict[str, int]:
    """Steps that several tries have, results that several calls had, and the numbers that stand for them."""
    count = Counter(text for steps in tries for text in set(steps) if len(text) >= _SHARED_AT)
    distinct = {text: json.loads(text) for steps in tries for text in steps}
    results = Counter(json.dumps(step[2]) for step in distinct.values() if isinstance(step, list) and len(step) > 2)
    shared = [text for text in distinct if count[text] > 1]
    shared += [text for text, times in results.items() if times > 1 and len(text) >= _SHARED_AT]
    return {text: number for number, text in enumerate(shared, 1)}


def _seen(step: Any, numbers: Mapping[str, int]) -> Any:
    """A step with the number of its result in its place, where that is written elsewhere."""
    if not isinstance(step, list) or len(step) < 3:
        return step  # pyright: ignore[reportUnknownVariableType]
    return [*step[:2], numbers.get(json.dumps(step[2]), step[2])]
