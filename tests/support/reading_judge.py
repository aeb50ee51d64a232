"""A judge that follows the default rubric by reading: a stand-in for a language model that judges well.

It gets what RULER sends and nothing else: no plan, no facts, no checks. Of each try it asks what a careful reader
would: did a call use what the request gives, did it come back with something, does the answer state what the row of the
request's own entity says under the name that the request asks for, is an error owned up to?
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcprl.judges.checks import holds, leaves, says_missing
from mcprl.servers.digest import looks_like_error
from mcprl.text import parse_json, words
from support.fake_llm import Reply, Request, heard, scored, tries

CODE = re.compile(r"\b[A-Za-z]+-\d+\b|\b\d{4}-\d\d-\d\d\b|'([^']+)'|\"([^\"]+)\"")
WRITES = re.compile(r"\b(?:add|change|create|delete|set|update|remove|rename|write|store|save|move)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Made:
    """A call and what came back."""

    tool: str
    arguments: dict[str, Any]
    result: str
    failed: bool

    @property
    def values(self) -> list[Any]:
        return [leaf for _, leaf in leaves(self.arguments)]


def judge(request: Request, _: int = 0) -> Reply:
    """Answers RULER's request as the rubric asks."""
    context, tools = heard(request)
    asked = next((message["content"] for message in context if message["role"] == "user"), "")
    return Reply(scored({name: worth(asked, tools, [*context, *own]) for name, own in tries(request).items()}))


def worth(request: str, tools: Sequence[Mapping[str, Any]], messages: Sequence[Mapping[str, Any]]) -> float:
    """outcome 0.7, progress 0.2, economy 0.1, as the default rubric weighs them."""
    schemas = {tool["name"]: tool["parameters"] for tool in tools}
    calls = list(_calls(messages))
    last = messages[-1] if messages else {}
    answer = str(last.get("content") or "") if last.get("role") == "assistant" else ""
    given = [next(filter(None, (found[1], found[2])), found[0]) for found in CODE.finditer(request)]
    apt = [made for n, made in enumerate(calls) if _apt(request, schemas, made, calls[:n])]
    good = [made for made in apt if not made.failed]
    used = [value for value in given if any(value in made.values or holds(made.result, value) for made in good)]
    reach = len(used) / len(given) if given else float(bool(good))
    if WRITES.search(request):
        done = any(WRITES.search(" ".join(words(m.tool))) and all(g in m.values for g in given) for m in good)
        outcome = float(done and bool(answer) and not says_missing(answer))
    elif says_missing(answer):
        tried = [made for made in apt if made.failed and any(value in made.values for value in given)]
        named = any(holds(answer, value) for value in given)
        outcome = float(bool(tried) and not good and named and len(answer) < 100)
    else:
        outcome = reach * _states(request, answer, given, good)
    progress = 0.5 * reach + 0.5 * len(good) / max(1, len(calls))
    economy = max(0.0, 1 - 0.25 * max(0, len(calls) - len(good)) - len(answer) / 1_000)
    return round(0.7 * outcome + 0.2 * progress + 0.1 * outcome * economy, 4)


def _calls(messages: Sequence[Mapping[str, Any]]) -> Iterator[Made]:
    results = [str(message["content"]) for message in messages if message["role"] == "tool"]
    calls = [call for message in messages for call in message.get("tool_calls", ())]
    for call, result in zip(calls, results, strict=False):
        arguments = call["arguments"] if isinstance(call["arguments"], dict) else parse_json(str(call["arguments"]))
        failed = looks_like_error(result, parse_json(result)) or parse_json(result) == []
        yield Made(call["name"], arguments or {}, result, failed)


def _apt(request: str, schemas: Mapping[str, Any], made: Made, before: Sequence[Made]) -> bool:
    """Whether a call is of a tool that is there, with values that were given, of the kind that the tool says it
    takes."""
    schema = schemas.get(made.tool)
    if schema is None or not set(schema.get("required", ())) <= set(made.arguments):
        return False
    told = [request, *(earlier.result for earlier in before if not earlier.failed)]
    if not all(any(holds(text, value) for text in told) for value in made.values):
        return False
    for name, value in made.arguments.items():
        example = re.search(r"\b([A-Za-z]+)-\d+", str(schema["properties"].get(name, {}).get("description", "")))
        if example and not str(value).startswith(example[1] + "-"):
            return False
    return True


def _states(request: str, answer: str, given: Sequence[str], good: Sequence[Made]) -> float:
    """The share of what the request asks for that the answer states, out of the rows that it is about."""
    wanted: list[tuple[str, Any]] = []
    others: list[Any] = []
    for made in good:
        record: Any = parse_json(made.result)
        rows: list[Any] = record if isinstance(record, list) else [record]
        rows = [row for row in rows if isinstance(row, dict)]
        picked = [row for row in rows if any(value in row.values() and value not in made.values for value in given)]
        mine = picked or rows
        for row in rows:
            for key, value in row.items():
                if " ".join(words(key)) in " ".join(words(request)) and not holds(request, value):
                    (wanted if row in mine else others).extend([(key, value)] if row in mine else [value])
    if not wanted or len(answer) > 300:
        return 0.0
    stated = sum(holds(answer, value) for _, value in wanted) / len(wanted)
    meant = {str(value) for _, value in wanted}
    return 0.0 if any(str(other) not in meant and holds(answer, other) for other in others) else stated


if __name__ == "__main__":
    from support.fake_llm import serving

    with serving(judge) as fake:
        print(json.dumps({"url": fake.url}), flush=True)  # noqa: T201
        input()
