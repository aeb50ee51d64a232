"""A group as text for a language model that judges it (RULER), and the verdicts in the model's reply.

Steps that all rollouts begin with, and steps that several of them share, are written once. Every text from a rollout or
a server is JSON in which `<`, `>`, `&` and invisible characters are escaped, so that no text can imitate the marks
around it. The names of the marks and the ids cannot be guessed.
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

_SHARED_AT = 24  # a shared step of at least so many characters is written once
_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]  # ids of syllables cost few tokens


def reply_schema(ids: Sequence[str]) -> dict[str, Any]:
    """The JSON Schema of a reply: one verdict on each id.

    Its bounds and its fixed ids are for a small model that is held to them: without, it explains until it has no tokens
    left, and copies no id.
    """
    each = [_verdict({"const": name}) for name in ids]
    bounds = {"minItems": len(each), "maxItems": len(each), "prefixItems": each}
    return _object({"scores": {"type": "array", "items": _verdict({"type": "string"}), **bounds}})


def _verdict(name: dict[str, Any]) -> dict[str, Any]:
    explanation = {"type": "string", "maxLength": 400}
    score = {"type": "number", "minimum": 0, "maximum": 1}
    return _object({"trajectory_id": name, "explanation": explanation, "score": score})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


@dataclass(frozen=True)
class Verdict:
    """The judge's verdict on one rollout."""

    score: float
    explanation: str


@dataclass(frozen=True)
class Record:
    """A group as text: `text` between marks named `fence`, and each rollout's id in it, in the order given."""

    text: str
    fence: str
    ids: tuple[str, ...]

    @property
    def distinct(self) -> tuple[str, ...]:
        """Each id once, in the order of the text. Identical rollouts share an id."""
        return tuple(sorted(set(self.ids), key=lambda name: self.text.index(f'"{name}"')))


def write(
    messages_G: Sequence[Sequence[Message]],
    tools: Sequence[Tool] = (),
    evidence_G: Sequence[Mapping[str, Any]] = (),
    *,
    seed: object = 0,
    max_chars: int = 2_000,
) -> Record:
    """The record of one group's message lists. Its order and its ids follow from `seed` and the content.

    `evidence_G` has one mapping per rollout, or is empty. Texts above `max_chars` characters are shortened in the
    middle.
    """
    steps_G = [_steps(messages, max_chars) for messages in messages_G]
    shared = min((common_prefix(steps_G[0], steps) for steps in steps_G), default=0)
    context = steps_G[0][:shared]
    rest_G = [[json.dumps(step) for step in steps[shared:]] for steps in steps_G]
    # Identical rollouts have equal keys, and are written once.
    evidence_or_none_G = [dict(evidence) for evidence in evidence_G] if evidence_G else [None] * len(rest_G)
    keys_G = [json.dumps(pair, sort_keys=True) for pair in zip(rest_G, evidence_or_none_G, strict=True)]
    first_g = {key: keys_G.index(key) for key in keys_G}

    digest = hashlib.sha256(json.dumps([str(seed), context, sorted(keys_G)]).encode()).hexdigest()
    rng = random.Random(digest)
    ids = {key: "".join(rng.choices(_SYLLABLES, k=4)) for key in first_g}
    numbers = _repeated([rest_G[g] for g in first_g.values()])
    fence = f"record-{''.join(rng.choices(_SYLLABLES, k=6))}"
    parts = [f"<tools>{inert([_tool(tool) for tool in tools])}</tools>"] if tools else []
    parts.append(f"<context>{inert(context)}</context>")
    parts += [f'<step id="{n}">{inert(_with_numbers(json.loads(text), numbers))}</step>' for text, n in numbers.items()]
    order = list(first_g)
    rng.shuffle(order)
    for key in order:
        g = first_g[key]
        steps = [numbers[text] if text in numbers else _with_numbers(json.loads(text), numbers) for text in rest_G[g]]
        evidence = f"<evidence>{inert(dict(evidence_G[g]))}</evidence>" if evidence_G else ""
        parts.append(f'<trajectory id="{ids[key]}">{inert(steps)}{evidence}</trajectory>')
    text = "\n".join([f"<{fence}>", *parts, f"</{fence}>"])
    return Record(text, fence, tuple(ids[key] for key in keys_G))


def read(reply: str, ids: Sequence[str]) -> dict[str, Verdict]:
    """The verdict on each id. Raises `ValueError` with all problems of the reply, for the judge to mend."""
    entries = _scores(reply)
    problems: list[str] = []
    verdicts: dict[str, Verdict] = {}
    for entry in entries:
        name, score = str(entry.get("trajectory_id")), entry.get("score")
        if name not in ids:
            problems.append(f"{name[:40]!r} is none of the ids")
        elif name in verdicts:
            problems.append(f"{name} has more than one score")
        elif isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
            problems.append(f"the score of {name} is {score!r:.40}, not a number")
        elif not 0 <= score <= 1:
            problems.append(f"the score of {name} is {score!r:.40}, not between 0 and 1")
        else:
            verdicts[name] = Verdict(float(score), str(entry.get("explanation", "")))
    if missing := [name for name in ids if name not in {str(entry.get("trajectory_id")) for entry in entries}]:
        problems.append(f"there is no score for {', '.join(missing)}")
    if problems:
        raise ValueError("; ".join(dict.fromkeys(problems)))
    return verdicts


def _scores(reply: str) -> list[dict[str, Any]]:
    """The list of entries in a reply, which may be fenced or stand in the middle of prose. Raises `ValueError` if there
    is none, or if there are several that differ."""
    decoder, end = json.JSONDecoder(), 0
    found: list[list[dict[str, Any]]] = []
    for start in re.finditer(r"[{\[]", reply):
        if start.start() < end:
            continue
        try:
            value, after = decoder.raw_decode(reply, start.start())
        except (ValueError, RecursionError):
            continue
        entries: Any = value.get("scores") if isinstance(value, dict) else value
        is_list = isinstance(entries, list) and (entries or isinstance(value, dict))
        if is_list and all(isinstance(entry, dict) for entry in entries):  # pyright: ignore[reportUnknownVariableType]
            found.append(entries)  # pyright: ignore[reportUnknownArgumentType]
            end = after
    if not found:
        raise ValueError('it holds no JSON object with a list "scores"')
    if any(other != found[0] for other in found):
        raise ValueError('it holds several lists "scores" that differ')
    return found[0]


def _steps(messages: Sequence[Message], max_chars: int) -> list[Any]:
    """The messages in short: `"text"` of the agent, `[tool, arguments, result]` of a call, `{"user": "text"}`.

    The ids of calls only match results to calls. They are left out, since they differ between identical rollouts.
    """
    steps: list[Any] = []
    waiting: dict[Any, list[Any]] = {}
    for message in messages:
        content, calls = str(message.get("content") or ""), message.get("tool_calls") or ()
        if message["role"] == "assistant":
            if content or not calls:
                steps.append(_shortened(content, max_chars))
            for call in calls:
                function = call["function"]
                step: list[Any] = [str(function["name"]), _value(str(function["arguments"]), max_chars)]
                waiting[call.get("id")] = step
                steps.append(step)
        elif message["role"] == "tool" and message.get("tool_call_id") in waiting:
            waiting.pop(message.get("tool_call_id")).append(_value(content, max_chars))
        else:
            steps.append({str(message["role"]): _shortened(content, max_chars)})
    return steps


def _value(text: str, max_chars: int) -> Any:
    """The JSON object or list that the text spells (quoted, it would cost twice the tokens), else the text,
    shortened.
    """
    value = parse_json(text) if len(text) <= max_chars else None
    return _shortened(text, max_chars) if value is None else value


def _tool(tool: Tool) -> dict[str, Any]:
    """A tool without the parts that tell a judge nothing: titles, and the type that all parameters share."""
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


def _repeated(rest_G: Sequence[Sequence[str]]) -> dict[str, int]:
    """The numbers of the JSON texts that are written once: steps of several rollouts, and results of several calls."""
    rollouts = Counter(text for steps in rest_G for text in set(steps) if len(text) >= _SHARED_AT)
    distinct = {text: json.loads(text) for steps in rest_G for text in steps}
    results = Counter(json.dumps(step[2]) for step in distinct.values() if isinstance(step, list) and len(step) > 2)
    shared = [text for text in distinct if rollouts[text] > 1]
    shared += [text for text, times in results.items() if times > 1 and len(text) >= _SHARED_AT]
    return {text: number for number, text in enumerate(shared, 1)}


def _with_numbers(step: Any, numbers: Mapping[str, int]) -> Any:
    """The step, with the number of its result instead of the result if that has one."""
    if not isinstance(step, list) or len(step) < 3:
        return step  # pyright: ignore[reportUnknownVariableType]
    return [*step[:2], numbers.get(json.dumps(step[2]), step[2])]
