"""What a language model gets to read of a group, and what its reply says: pure text in, text out (RULER).

What all tries begin with and what several of them got back is written once. Every text that comes from a try or a
server is JSON in which `<`, `>`, `&` and characters that do not show are escaped, so that no text can imitate the marks
around it; the marks bear a number that cannot be guessed, and so do the ids.
"""

import hashlib
import json
import math
import random
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcprl.tree import common_prefix
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
_SHARED_AT = 80  # a result of as many characters is written once where several tries got it


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
    shown = [[_message(message, max_chars) for message in messages] for messages in tries]
    common = min((common_prefix(shown[0], other) for other in shown), default=0)
    rest = [[json.dumps(message, sort_keys=True) for message in messages[common:]] for messages in shown]
    alike = [json.dumps([own, dict(evidence[n]) if evidence else None], sort_keys=True) for n, own in enumerate(rest)]
    secret = hashlib.sha256(json.dumps([str(seed), shown[0][:common], sorted(alike)]).encode()).hexdigest()
    rng = random.Random(secret)
    names = {key: f"t{rng.getrandbits(40):010x}" for key in dict.fromkeys(alike)}
    results = _repeated([shown[alike.index(key)][common:] for key in names])

    fence = f"record-{rng.getrandbits(48):012x}"
    parts = [f"<tools>{inert([tool.as_function() for tool in tools])}</tools>"] if tools else []
    parts.append(f"<context>{inert(shown[0][:common])}</context>")
    parts += [f'<result id="{name}">{inert(text)}</result>' for text, name in results.items()]
    order = list(names)
    rng.shuffle(order)
    for key in order:
        at = alike.index(key)
        own = [_seen(message, results) for message in shown[at][common:]]
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


def _message(message: Message, max_chars: int) -> dict[str, Any]:
    """What matters of a message: no ids of calls, which differ between tries that did the same."""
    shown: dict[str, Any] = {"role": message["role"]}
    if message.get("content") is not None:
        shown["content"] = _shortened(str(message["content"]), max_chars)
    calls = [call["function"] for call in message.get("tool_calls") or ()]
    if calls:
        shown["tool_calls"] = [
            {"name": call["name"], "arguments": _shortened(str(call["arguments"]), max_chars)} for call in calls
        ]
    return shown


def _shortened(text: str, max_chars: int) -> str:
    if len(text) <= max_chars:
        return text
    head, tail = 2 * max_chars // 3, max_chars // 3
    return f"{text[:head]}[... {len(text) - head - tail} characters cut ...]{text[-tail:]}"


def _repeated(tries: Sequence[Sequence[dict[str, Any]]]) -> dict[str, str]:
    """Long texts that several tries hold, and the names that stand for them."""
    count = Counter(
        text
        for messages in tries
        for text in {message.get("content", "") for message in messages}
        if len(text) >= _SHARED_AT
    )
    return {text: f"r{n}" for n, text in enumerate((text for text, held in count.items() if held > 1), 1)}


def _seen(message: dict[str, Any], results: Mapping[str, str]) -> dict[str, Any]:
    name = results.get(message.get("content", ""))
    return message if name is None else message | {"content": {"see": name}}


def inert(value: Any) -> str:
    """JSON that holds no mark and nothing that does not show."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return "".join(_escaped(char) if _hidden(char) else char for char in text)


def _hidden(char: str) -> bool:
    selector = "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"
    return char in "<>&" or (char != " " and unicodedata.category(char)[0] in "CZ") or selector


def _escaped(char: str) -> str:
    return json.dumps(char)[1:-1] if ord(char) > 0x7E else f"\\u{ord(char):04x}"
