"""Short exercises that come before whole transcripts: they bring copying forward (see the model card for the
measurement).

Two kinds, in the chat template of real conversations. Calls: random tools over a few nouns, and requests of which each
names a thing, some values and what to do with them. Reading: a record or a list as a server shows it, and one to four
questions about it in turn, so that a list is read once and answered from several times. Requests and answers are those
of real tasks (`mcprl.scenarios.writers.plain`); nouns, names and values are random, so nothing can be learnt by heart:
which verb a server uses for reading, say.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import words
from style import Style, Text, cased
from words import Column

from mcprl.scenarios.intents import (
    Attribute,
    Change,
    Compare,
    Compute,
    Count,
    Each,
    Extreme,
    Intent,
    Listing,
    Lookup,
    Missing,
    Outcome,
    Reference,
    Total,
    Value,
)
from mcprl.scenarios.meaning import infer
from mcprl.scenarios.writers.plain import answer, say
from mcprl.servers.digest import digest
from mcprl.types import Message, Tool

CASES = ("snake", "camel", "kebab", "pascal")
READING = tuple(
    "browse check count describe explore fetch find get inspect list load lookup peek query read retrieve scan search "
    "see show view".split()
)
SETTING = ("set", "update", "change", "edit", "patch", "put")
MAKING = ("create", "add", "new", "register", "insert", "make")
REMOVING = ("delete", "remove", "drop", "erase", "discard")
WORKING = ("compute", "calculate", "estimate", "get", "work out", "quote")
IDS = ("code", "int", "slug", "hex", "word")
NAMES = ("title", "word", "person", "slug")
"""Kinds of values that things are told apart by, and that they are called by."""
SCALARS = tuple(kind for kind, (of, _) in words.KINDS.items() if of != "array")
ADDED = ("money", "count", "measure")
ORDERED = (*ADDED, "percent", "number", "date", "datetime", "year")
GROUPED = ("category", "status", "place", "person", "year")
Talk = tuple[str, tuple[Message, ...]]
"""A kind, and a conversation."""
Row = dict[str, Any]


def exercises(seed: int, count: int = 12) -> tuple[list[Tool], list[Talk]]:
    """One to ten random tools and `count` exercises that share them; one time in two no tools, only results to read."""
    rng = Random(f"practice {seed}")
    if rng.random() < 0.5:
        return [], [_record(rng) if rng.random() < 0.15 else _list(rng) for _ in range(count)]
    made = _tools(rng, rng.choice((1, 2, 3, 5, 7, 10)))
    calls = (_call(rng, rng.choice(made)) for _ in range(2 * count))
    return [one.tool for one in made], [talk for talk in calls if talk][:count]


# --- calls ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Made:
    """A tool, what it does, its noun and the columns that its parameters and its results have.

    `parameters` maps the public name of each parameter to its column, the key of the thing first.
    """

    tool: Tool
    does: str
    noun: str
    parameters: Mapping[str, Column]
    shown: Sequence[Column]


def _tools(rng: Random, count: int) -> list[_Made]:
    """Tools that differ in what they do or in what they do it to, with names in one style."""
    things = [words.domain(rng) for _ in range(1 + count // 3)]
    case, prefix = rng.choice(CASES), words.word(rng) + " " if rng.random() < 0.2 else ""
    asking = rng.random() < 0.6
    made: dict[tuple[str, str], _Made] = {}
    for _ in range(count):
        noun, many, columns = rng.choice(things)
        does = rng.choice(("get", "get", "list", "compute") if asking else ("set", "create", "remove", "get", "set"))
        plain = [column for column in columns if words.KINDS.get(column.kind, ("string",))[0] != "array"]
        if plain and (noun, does) not in made:
            made[noun, does] = _tool(rng, does, noun, many, plain, case, prefix)
    return list(made.values())


def _tool(rng: Random, does: str, noun: str, many: str, columns: list[Column], case: str, prefix: str) -> _Made:
    key = _key(rng, noun)
    of = rng.choice(columns)
    verbs, taken, about = {
        "get": (READING, [key], noun),
        "list": (READING, [of] if rng.random() < 0.4 else [], many),
        "compute": (WORKING, rng.sample(columns, min(len(columns), rng.choice((1, 2, 2, 3)))), words.word(rng)),
        "set": (SETTING, [key, of], f"{noun} {of.words}" if rng.random() < 0.7 else noun),
        "create": (MAKING, rng.sample(columns, min(len(columns), rng.choice((1, 2, 3)))), noun),
        "remove": (REMOVING, [key], noun),
    }[does]
    verb = rng.choice(verbs if rng.random() < 0.85 or does not in ("get", "list") else words.VERBS)
    named = f"{verb} {about}"
    parameters = {cased(column.words, case): column for column in taken}
    properties = {name: _schema(rng, column) for name, column in parameters.items()}
    schema = {"type": "object", "properties": properties, "required": list(properties) if does != "list" else []}
    described = rng.choice(("", named.capitalize(), f"{verb} a {about}".capitalize()))
    tool = Tool(cased(prefix + named, case), described, schema)
    return _Made(tool, does, about if does == "compute" else noun, parameters, columns)


def _key(rng: Random, noun: str) -> Column:
    """A column that tells the things of a noun apart."""
    front = rng.choice(("", f"{noun} "))
    if rng.random() < 0.5:
        return Column(front + rng.choice(("name", "name", "title")), rng.choice(NAMES))
    return Column(front + rng.choice(("id", "id", "code", "number")), rng.choice(IDS))


def _schema(rng: Random, column: Column) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": column.type}
    if column.choices:
        schema["enum"] = list(column.choices)
    return schema | ({"description": f"The {column.words}"} if rng.random() < 0.2 else {})


def _call(rng: Random, made: _Made) -> Talk | None:
    """A request for one call of the tool. `None` if no construction fits."""
    arguments = {name: column.make(rng) for name, column in made.parameters.items()}
    values = tuple(Value(attribute(name, made.parameters[name], [value]), value) for name, value in arguments.items())
    intent = _intent(rng, made, values)
    worded = say(intent, rng) if intent else None
    if worded is None:
        return None
    function = {"name": made.tool.name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    calls = [{"id": "call_0", "type": "function", "function": function}]
    called: Message = {"role": "assistant", "content": None, "tool_calls": calls}
    return f"practice-{made.does}", ({"role": "user", "content": worded.request}, called)


def _intent(rng: Random, made: _Made, values: tuple[Value, ...]) -> Intent | None:
    """A reason to call the tool with the values."""
    noun, tool = made.noun, made.tool
    described = tool.description or " ".join(cased(tool.name, "snake").split("_")).capitalize()
    thing = Reference(noun, values[:1])
    asked = [attribute(cased(column.words, "snake"), column, [column.make(rng)]) for column in made.shown]
    match made.does:
        case "get":
            return Lookup(thing, tuple(rng.sample(asked, min(len(asked), rng.choice((1, 1, 1, 2))))))
        case "list":
            given = {value.attribute.label for value in values}
            asked = [each for each in asked if each.label not in given]
            by = [each for each in asked if each.meaning in ORDERED]
            if by and len(asked) > 1 and rng.random() < 0.4:
                ordered = rng.choice(by)
                others = [each for each in asked if each is not ordered]
                return Extreme(noun, values, ordered, rng.random() < 0.5, (rng.choice(others),))
            return Listing(noun, values, rng.choice(asked)) if asked and rng.random() < 0.4 else Count(noun, values)
        case "compute":
            return Compute(tool.name, described, values, ())
        case "set":
            return Change(tool.name, described, "set", thing, values[1:])
        case "create":
            return Change(tool.name, described, "create", Reference(noun), values)
        case _:
            return Change(tool.name, described, "remove", thing, ())


def attribute(name: str, column: Column, values: Sequence[Any]) -> Attribute:
    """What a field that holds a column's values means."""
    found = infer(name, values)
    if column.choices:
        return Attribute(name, found.label, "status" if "stat" in name.lower() else "category", "", column.choices)
    return found


# --- reading ----------------------------------------------------------------------------------------------------------


def _record(rng: Random) -> Talk:
    """One thing as a server shows it, and questions about its fields."""
    style = Style.draw(rng)
    noun, _, columns = _thing(rng, rng.randint(2, 6))
    row = {style.key(column.words): column.make(rng) for column in columns}
    key = _key(rng, noun)
    named = Reference(noun, (Value(infer(cased(key.words, "snake"), [value := key.make(rng)]), value),))
    attributes = [attribute(name, column, [row[name]]) for name, column in zip(row, columns, strict=True)]
    turns: list[tuple[Intent, Outcome]] = []
    for _ in range(rng.choice((1, 1, 2, 3))):
        asked = tuple(rng.sample(attributes, min(len(attributes), rng.choice((1, 1, 1, 2)))))
        turns.append((Lookup(named, asked), tuple(row[each.key] for each in asked)))
    return _read(rng, "practice-record", style.record(noun, row), turns) or _record(rng)


def _list(rng: Random) -> Talk:
    """Several things as a server shows them, and questions about some or all of them."""
    style = Style.draw(rng)
    noun, many, columns = _thing(rng, rng.choice((2, 3, 3, 4)))
    columns = [_key(rng, noun), *columns]
    columns = list({column.words: column for column in columns}.values())
    if rng.random() < 0.3:  # the value asked for may stand before the name
        rng.shuffle(columns)
    keys = [style.key(column.words) for column in columns]
    made = [[column.make(rng) for column in columns] for _ in range(rng.choice((2, 2, 2, 3, 3, 4, 5, 7, 9)))]
    rows = [dict(zip(keys, values, strict=True)) for values in made]
    pairs = zip(keys, columns, strict=True)
    attributes = [attribute(key, column, [row[key] for row in rows]) for key, column in pairs]
    turns: list[tuple[Intent, Outcome]] = []
    wanted = rng.choice((1, 1, 2, 3, 4))
    for _ in range(4 * wanted):
        turn = rng.choices(list(_ASKING), list(_ASKING.values()))[0](rng, noun, attributes, rows)
        if turn and len(turns) < wanted:
            turns.append(turn)
    return _read(rng, "practice-list", style.rows(many, rows), turns) or _list(rng)


def _thing(rng: Random, count: int) -> tuple[str, str, list[Column]]:
    """A noun, its plural and `count` columns, some under random names."""
    noun, many, columns = words.domain(rng)
    columns = [column for column in columns if column.type != "array" and column.kind != "sentence"][:count]
    while len(columns) < count:
        kind = rng.choice(SCALARS)
        columns.append(Column(words.word(rng) if rng.random() < 0.6 else kind, kind))
    return noun, many, list({column.words: column for column in columns}.values())


def _read(rng: Random, kind: str, result: Any, turns: Sequence[tuple[Intent, Outcome]]) -> Talk | None:
    """A conversation: a request, the result, the answer, and further requests and answers. `None` if none is worded."""
    shown = digest(str(result)) if isinstance(result, Text) else digest("null", result)
    messages: list[Message] = []
    for intent, outcome in turns:
        if worded := say(intent, rng):
            messages.append({"role": "user", "content": worded.request})
            if len(messages) == 1:
                messages.append({"role": "tool", "content": shown.text})
            messages.append({"role": "assistant", "content": answer(intent, outcome, rng)})
    return (kind, tuple(messages)) if messages else None


Turn = tuple[Intent, Outcome] | None
"""A question about a list with the values that answer it; `None` if the list does not lend itself to it."""


def _named(rng: Random, attributes: Sequence[Attribute], rows: Sequence[Row]) -> Attribute | None:
    """A column whose values tell the rows apart."""
    fitting = [
        each
        for each in attributes
        if each.meaning not in ("flag", "text", "url")
        and len({str(row[each.key]).casefold() for row in rows}) == len(rows)
    ]
    naming = [each for each in fitting if each.meaning in ("name", "identifier", "person", "email")]
    return rng.choice(naming if naming and rng.random() < 0.8 else fitting) if fitting else None


def _lookup(rng: Random, noun: str, attributes: Sequence[Attribute], rows: Sequence[Row]) -> Turn:
    key = _named(rng, attributes, rows)
    others = [each for each in attributes if each is not key]
    if key is None or not others:
        return None
    row = rng.choice(rows)
    asked = tuple(rng.sample(others, min(len(others), rng.choice((1, 1, 1, 2)))))
    return Lookup(Reference(noun, (Value(key, row[key.key]),)), asked), tuple(row[each.key] for each in asked)


def _each(rng: Random, noun: str, attributes: Sequence[Attribute], rows: Sequence[Row]) -> Turn:
    """The same of several rows: name and value side by side, many values for one reading of the list."""
    key = _named(rng, attributes, rows)
    others = [each for each in attributes if each is not key and each.meaning != "flag"]
    if key is None or not others:
        return None
    chosen = rng.sample(list(rows), min(len(rows), rng.choice((2, 2, 3, 4))))
    asked = rng.choice(others)
    things = tuple(Reference(noun, (Value(key, row[key.key]),)) for row in chosen)
    return Each(things, asked), tuple(row[asked.key] for row in chosen)


def _compare(rng: Random, noun: str, attributes: Sequence[Attribute], rows: Sequence[Row]) -> Turn:
    key, by = _named(rng, attributes, rows), _column(rng, attributes, ORDERED)
    one, other = rng.sample(list(rows), 2)
    if key is None or by is None or key is by or one[by.key] == other[by.key]:
        return None
    most = rng.random() < 0.5
    winner = one if (one[by.key] > other[by.key]) == most else other
    things = tuple(Reference(noun, (Value(key, row[key.key]),)) for row in (one, other))
    return Compare(things, by, most), (winner[key.key],)


def _extreme(rng: Random, noun: str, attributes: Sequence[Attribute], rows: Sequence[Row]) -> Turn:
    by = _column(rng, attributes, ORDERED)
    others = [each for each in attributes if each is not by and each.meaning != "flag"]
    if by is None or not others:
        return None
    most, values = rng.random() < 0.5, [row[by.key] for row in rows]
    best = max(values) if most else min(values)
    asked = rng.choice(others)
    if values.count(best) > 1:
        return None
    return Extreme(noun, (), by, most, (asked,)), (rows[values.index(best)][asked.key],)


def _group(rng: Random, attributes: Sequence[Attribute], rows: Sequence[Row]) -> tuple[tuple[Value, ...], list[Row]]:
    """Rows that share a value, or all."""
    column = _column(rng, attributes, GROUPED)
    if column is None or rng.random() < 0.3:
        return (), list(rows)
    value = rng.choice(rows)[column.key]
    return (Value(column, value),), [row for row in rows if row[column.key] == value]


def _count(rng: Random, noun: str, attributes: Sequence[Attribute], rows: Sequence[Row]) -> Turn:
    where, chosen = _group(rng, attributes, rows)
    return Count(noun, where), (len(chosen),)


def _listing(rng: Random, noun: str, attributes: Sequence[Attribute], rows: Sequence[Row]) -> Turn:
    where, chosen = _group(rng, attributes, rows)
    key = _named(rng, attributes, rows)
    if key is None or len(chosen) > 5 or any(value.attribute is key for value in where):
        return None
    return Listing(noun, where, key), tuple(row[key.key] for row in chosen)


def _total(rng: Random, noun: str, attributes: Sequence[Attribute], rows: Sequence[Row]) -> Turn:
    of = _column(rng, attributes, ADDED)
    if of is None or len(rows) > 3 or not all(isinstance(row[of.key], int | float) for row in rows):
        return None
    return Total(noun, (), of), (round(sum(row[of.key] for row in rows), 2),)


def _missing(rng: Random, noun: str, attributes: Sequence[Attribute], rows: Sequence[Row]) -> Turn:
    key = _named(rng, attributes, rows)
    if key is None or key.meaning not in ("name", "identifier", "person"):
        return None
    value = {"person": words.person, "name": words.title}.get(key.meaning, words.code)(rng)
    asked = rng.choice([each for each in attributes if each is not key] or [None])
    if any(str(row[key.key]) == value for row in rows):
        return None
    return Missing(Reference(noun, (Value(key, value),)), asked if rng.random() < 0.7 else None), ()


def _column(rng: Random, attributes: Sequence[Attribute], meanings: Sequence[str]) -> Attribute | None:
    fitting = [each for each in attributes if each.meaning in meanings]
    return rng.choice(fitting) if fitting else None


_ASKING: dict[Callable[[Random, str, Sequence[Attribute], Sequence[Row]], Turn], float] = {
    _lookup: 45,
    _each: 20,
    _extreme: 10,
    _count: 8,
    _listing: 6,
    _missing: 5,
    _compare: 4,
    _total: 2,
}
