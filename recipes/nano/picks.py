"""Exercises in finding a row: a list is read, and the thing that somebody asks about is found in it by its name.

In the rows of most servers the key stands before the name, so that the name points back to what is wanted. A small
pre-trained model copies what follows a word and not what precedes it: of rows with their key first SmolLM2 found the
right one of three in 33 % of the cases, after all lessons about procedural and written servers in 40 % (where the name
is first, 38 and 97 %; `benchmarks/finding_rows.py`).
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import words
from practice import CASES, IDS, ORDERED, READING, Row, Talk, attribute
from style import Style, Text, cased
from words import Column

from mcprl.scenarios.intents import Attribute, Extreme, Intent, Lookup, Outcome, Reference, Value
from mcprl.scenarios.writers.plain import answer, say
from mcprl.servers.digest import digest
from mcprl.types import Message, Tool

ROWS = (2, 3, 3, 4, 5, 6, 8, 10, 12, 14)
NAMED_BY = ("person", "title", "title", "word")
SHOWN = 2
"""Columns besides key and name that a list shows at most."""


def picks(seed: int, count: int = 6) -> tuple[list[Tool], list[Talk]]:
    """Two tools, one that lists things and one that reads one of them by its key, and `count` conversations with them:
    in each a list is read once, and one to three things in it are asked about."""
    rng = Random(f"picks {seed}")
    table = _Table.draw(rng)
    return list(table.tools), [talk for talk in (table.talk(rng) for _ in range(2 * count)) if talk][:count]


@dataclass(frozen=True)
class _Table:
    """Things of one noun: the columns that the list shows, in its order, those that only the record has, and how the
    server writes them. `coded` is the shape of all keys ("C-####"), empty if they are alike in nothing; names are put
    together of two `parts`, so that several share one."""

    noun: str
    many: str
    key: Column
    coded: str
    name: Column
    parts: tuple[Sequence[str], Sequence[str]]
    shown: Sequence[Column]
    hidden: Sequence[Column]
    style: Style
    tools: tuple[Tool, Tool]

    @classmethod
    def draw(cls, rng: Random) -> "_Table":
        noun, many, columns = words.domain(rng)
        front = rng.choice(("", f"{noun} "))
        key = Column(front + rng.choice(("id", "id", "code", "number", "no")), rng.choice(IDS))
        name = Column(rng.choice(("name", "name", "title", f"{noun} name")), rng.choice(NAMED_BY))
        plain = [each for each in columns if each.type != "array" and each.kind != "sentence"]
        others = list({each.words: each for each in plain if each.words not in (key.words, name.words)}.values())
        rng.shuffle(others)
        cut = rng.randint(0, min(SHOWN, len(others)))
        shown, hidden = [name, *others[:cut]], others[cut:]
        if rng.random() < 0.2:
            rng.shuffle(shown)
        shown.insert(0 if rng.random() < 0.8 else rng.randint(1, len(shown)), key)
        case = rng.choice(CASES)
        parameter = {cased(key.words, case): {"type": key.type}}
        tools = (
            Tool(cased(f"{rng.choice(READING)} {many}", case), rng.choice(("", f"All {many}."))),
            Tool(
                cased(f"{rng.choice(READING)} {noun}", case),
                rng.choice(("", f"One {noun} by its {key.words}.")),
                {"type": "object", "properties": parameter, "required": list(parameter)},
            ),
        )
        pools = (words.FIRST, words.LAST) if name.kind == "person" else (words.ADJECTIVES, words.NOUNS)
        parts = (rng.sample(pools[0], 5), rng.sample(pools[1], 5))
        return cls(noun, many, key, _shape(rng, key), name, parts, shown, hidden, Style.draw(rng), tools)

    def talk(self, rng: Random) -> Talk | None:
        """A conversation; `None` if no construction fits."""
        columns = [*self.shown, *self.hidden]
        made = [self._row(rng, columns) for _ in range(rng.choice(ROWS))]
        rows = list({row[self.key.words]: row for row in {row[self.name.words]: row for row in made}.values()}.values())
        attributes = {
            each.words: attribute(self._field(each), each, [row[each.words] for row in rows]) for each in columns
        }
        messages: list[Message] = []
        for _ in range(rng.choice((1, 2, 3))):
            row, intent, asked = self._asked(rng, attributes, rows)
            if worded := say(intent, rng):
                outcome: Outcome = (row[asked],)
                messages.append({"role": "user", "content": worded.request})
                messages += self._calls(len(messages), rows, row, asked)
                messages.append({"role": "assistant", "content": answer(intent, outcome, rng)})
        return ("practice-pick", tuple(messages)) if messages else None

    def _row(self, rng: Random, columns: Sequence[Column]) -> Row:
        row = {each.words: each.make(rng) for each in columns}
        if self.coded:
            key = re.sub("#", lambda _: rng.choice("123456789"), self.coded)
            row[self.key.words] = int(key) if self.key.kind == "int" else key
        if rng.random() < 0.7:
            row[self.name.words] = " ".join(map(rng.choice, self.parts)).title()
        return row

    def _asked(self, rng: Random, attributes: Mapping[str, Attribute], rows: Sequence[Row]) -> tuple[Row, Intent, str]:
        """A row, what is asked about it, and the column of it: seven times in ten one that only the record has."""
        shown = [each.words for each in self.shown if each is not self.name]
        hidden = [each.words for each in self.hidden]
        asked = rng.choice(hidden if hidden and rng.random() < 0.7 else shown)
        row = rng.choice(rows)
        ordered = [
            each for each in shown if attributes[each].meaning in ORDERED and each != asked and each != self.key.words
        ]
        if ordered and rng.random() < 0.3:
            by, most = rng.choice(ordered), rng.random() < 0.5
            values = [each[by] for each in rows]
            best = max(values) if most else min(values)
            if values.count(best) == 1:
                return (
                    rows[values.index(best)],
                    Extreme(self.noun, (), attributes[by], most, (attributes[asked],)),
                    asked,
                )
        named = Value(attributes[self.name.words], row[self.name.words])
        return row, Lookup(Reference(self.noun, (named,)), (attributes[asked],)), asked

    def _calls(self, at: int, rows: Sequence[Row], row: Row, asked: str) -> Iterator[Message]:
        """The calls that a question takes, with their results: the list unless it was read, the record if it is
        needed. `at`: the messages before them."""
        listing, reading = self.tools
        if at == 1:
            fields = [{self._field(each): one[each.words] for each in self.shown} for one in rows]
            yield from _called(at, listing, {}, self.style.rows(self.many, fields))
        if asked in [each.words for each in self.hidden]:
            arguments = {next(iter(reading.input_schema["properties"])): row[self.key.words]}
            record = {self._field(each): row[each.words] for each in (*self.shown, *self.hidden)}
            yield from _called(at + 2, reading, arguments, self.style.record(self.noun, record))

    def _field(self, column: Column) -> str:
        return self.style.key(column.words)


def _shape(rng: Random, key: Column) -> str:
    """The shape of the keys of a table."""
    letters = "".join(rng.choices("ABCDEFGHIJKLMNOPRSTUVW", k=rng.choice((1, 1, 2, 3))))
    digits = "#" * rng.choice((2, 3, 3, 4, 4))
    return {"code": f"{letters}{rng.choice('--_.')}{digits}", "int": digits}.get(key.kind, "")


def _called(at: int, tool: Tool, arguments: dict[str, Any], result: Any) -> Iterator[Message]:
    """A call and its result. `at` numbers it."""
    text = (digest(str(result)) if isinstance(result, Text) else digest("null", result)).text
    function = {"name": tool.name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    call = {"id": f"call{at:05}", "type": "function", "function": function}
    yield {"role": "assistant", "content": None, "tool_calls": [call]}
    yield {"role": "tool", "tool_call_id": call["id"], "content": text}
