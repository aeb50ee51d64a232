"""Short exercises that come before whole transcripts: they bring copying forward (see the model card for the
measurement).

Four kinds, in the chat template of real conversations: choose the tool that a question is about, turn an order into a
call, copy a value out of a record, find the row of a list that a request names. Everything in them is random words and
values, so nothing can be learnt by heart: which verb a server uses for reading, say.
"""

import json
from collections.abc import Sequence
from random import Random
from typing import Any

import words
from style import Style, Text, cased

from mcprl.scenarios.fields import record_of, rows_of
from mcprl.scenarios.names import spoken
from mcprl.scenarios.slots import slots
from mcprl.scenarios.wording import answer, ask, order, pick, picked, subject
from mcprl.servers.digest import digest
from mcprl.text import compact
from mcprl.types import Message, Tool

CASES = ("snake", "camel", "kebab", "pascal")
VERBS = ("get", "find", "list", "set", "add", "show", "read", "update")
READING = tuple(
    "browse check count describe explore fetch find get inspect list load lookup peek query read retrieve scan search "
    "see show view".split()
)
Talk = tuple[str, tuple[Message, ...]]
"""A kind, and a conversation."""


def exercises(seed: int, count: int = 12) -> tuple[list[Tool], list[Talk]]:
    """One to ten random tools and `count` exercises that share them; one time in two no tools, only records."""
    rng = Random(f"practice {seed}")
    if rng.random() < 0.5:
        return [], [_record(rng) if rng.random() < 0.15 else _row(rng) for _ in range(2 * count)]
    asking = rng.random() < 0.7
    tools = _tools(rng, rng.choice((1, 2, 3, 5, 7, 10)), READING if asking else VERBS)
    return tools, [(_question if asking else _call)(rng, rng.choice(tools)) for _ in range(count)]


def _tools(rng: Random, count: int, verbs: Sequence[str]) -> list[Tool]:
    """Tools that differ in what they do or in what they do it to, with names in one style."""
    nouns = [words.word(rng) for _ in range(1 + 2 * count // 3)]
    nouns += [f"{rng.choice(nouns)} {words.word(rng)}" for _ in range(count // 4)]
    case, prefix = rng.choice(CASES), words.word(rng) + " " if rng.random() < 0.2 else ""
    pairs = [(rng.choice(verbs if rng.random() < 0.85 else words.VERBS), rng.choice(nouns)) for _ in range(count)]
    return [_tool(rng, verb, about, case, prefix) for verb, about in dict.fromkeys(pairs)]


def _tool(rng: Random, verb: str, about: str, case: str, prefix: str) -> Tool:
    properties: dict[str, Any] = {}
    for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
        kind = rng.choice(list(words.KINDS))
        name = words.word(rng) if rng.random() < 0.6 else kind
        properties[cased(name, case)] = _schema(kind, rng, name)
    required = [name for name in properties if rng.random() < 0.7]
    schema = {"type": "object", "properties": properties, "required": required}
    return Tool(cased(f"{prefix}{verb} {about}", case), rng.choice(("", f"{verb} {about}".capitalize())), schema)


def _schema(kind: str, rng: Random, name: str) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": words.KINDS[kind][0], "x-kind": kind}
    if schema["type"] == "array":
        schema["items"] = {"type": "string"}
    return schema | ({"description": f"The {name}"} if rng.random() < 0.2 else {})


def _question(rng: Random, tool: Tool) -> Talk:
    """The question for some field that real scenarios ask (`wording`): nothing in it names the tool's verb."""
    arguments = _arguments(rng, tool)
    filled = [(slot, arguments[slot.key]) for slot in slots(tool) if not isinstance(arguments.get(slot.key, []), list)]
    labels = [words.word(rng) for _ in range(rng.choice((1, 1, 1, 2)))]
    if rng.random() < 0.8:
        request = ask(labels, subject(tool, filled, rng), rng)
    else:
        request = order(tool, filled, rng, labels)
    return _calls("practice-question", request, tool, {slot.key: value for slot, value in filled})


def _arguments(rng: Random, tool: Tool) -> dict[str, Any]:
    schema = tool.input_schema
    return {
        name: words.KINDS[own["x-kind"]][1](rng)
        for name, own in schema["properties"].items()
        if name in schema["required"] or rng.random() < 0.5
    }


def _calls(kind: str, request: str, tool: Tool, arguments: dict[str, Any]) -> Talk:
    function = {"name": tool.name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    calls = [{"id": "call_0", "type": "function", "function": function}]
    called: Message = {"role": "assistant", "content": None, "tool_calls": calls}
    return kind, ({"role": "user", "content": request}, called)


def _call(rng: Random, tool: Tool) -> Talk:
    arguments = _arguments(rng, tool)
    style = rng.choice(("{} {}", "{}: {}", "{} = {}", "{} set to {}"))
    given = [style.format(_spoken(name), _said(value, rng)) for name, value in arguments.items()]
    request = _spoken(tool.name) + (rng.choice((" with ", ": ", ", ", " for ")) + _listed(given) if given else "")
    request = rng.choice(("", "Please ", "I want you to ", "Can you ")) + request + rng.choice((".", "", "?"))
    return _calls("practice-call", request[:1].upper() + request[1:], tool, arguments)


def _record(rng: Random) -> Talk:
    record = _fields(rng, rng.randint(2, 6))
    asked = rng.sample(list(record), min(len(record), rng.choice((1, 1, 1, 2))))
    case = rng.choice(CASES)
    told = " ".join(f"The {name} is {_plain(record[name])}." for name in asked)
    shown = compact({cased(name, case): value for name, value in record.items()})
    return "practice-record", _read(f"What is {_listed(['the ' + name for name in asked])}?", shown, told)


def _row(rng: Random) -> Talk:
    names = list(_fields(rng, rng.choice((2, 2, 2, 3, 4))))
    kinds = [
        rng.choice(("person", "title", "word", "code", "int", "date", "place", "company", "email", "money"))
        for _ in names
    ]
    rows = [
        {name: words.KINDS[kind][1](rng) for name, kind in zip(names, kinds, strict=True)}
        for _ in range(rng.choice((2, 2, 2, 3, 3, 4, 5, 7, 9)))
    ]
    result = Style.draw(rng).rows("things", rows)
    result = digest(str(result)) if isinstance(result, Text) else digest("null", result)
    found = rows_of(record_of(result))
    if found is None or len(found[1][0]) < 2:
        return _row(rng)
    row = rng.choice(found[1])
    key, asked = sorted(rng.sample(list(row), 2), key=list(row).index)
    if rng.random() < 0.2:
        key, asked = asked, key
    if sum(other[key] == row[key] for other in found[1]) > 1:
        return _row(rng)
    request = pick(words.word(rng), spoken(key), row[key], [spoken(asked)], rng)
    said = answer({spoken(asked): [row[asked]]})
    return "practice-row", _read(request, result.text, picked(result.text, row, key, asked, said))


def _fields(rng: Random, count: int) -> dict[str, Any]:
    made: dict[str, Any] = {}
    while len(made) < count:
        kind = rng.choice(list(words.KINDS))
        made[words.word(rng) if rng.random() < 0.6 else kind] = words.KINDS[kind][1](rng)
    return made


def _read(request: str, shown: str, answer: str) -> tuple[Message, ...]:
    return (
        {"role": "user", "content": request},
        {"role": "tool", "content": shown},
        {"role": "assistant", "content": answer},
    )


def _spoken(name: str) -> str:
    return "".join(f" {ch.lower()}" if ch.isupper() else " " if ch in "_-" else ch for ch in name).strip()


def _plain(value: Any) -> str:
    return _listed(value) if isinstance(value, list) else str(value).lower() if isinstance(value, bool) else str(value)


def _said(value: Any, rng: Random) -> str:
    if isinstance(value, str) and rng.random() < (0.6 if " " in value else 0.1):
        return f"'{value}'" if rng.random() < 0.7 else f'"{value}"'
    return _plain(value)


def _listed(parts: Sequence[Any]) -> str:
    return str(parts[0]) if len(parts) == 1 else ", ".join(map(str, parts[:-1])) + f" and {parts[-1]}"
