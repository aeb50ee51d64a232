"""Tasks that edit a document: a value behind its name, a cell of a table, a point that is done, one more point.

The document is read first, since an edit takes the old text as it stands.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from mcprl.judges.checks import shows
from mcprl.scenarios.documents import document_row, titled
from mcprl.scenarios.english.labels import JOINTS
from mcprl.scenarios.intents import Attribute, Change, Reference, Value
from mcprl.scenarios.naming import value_of
from mcprl.scenarios.parameters import READING, opens
from mcprl.scenarios.planner import Planner
from mcprl.scenarios.probing.draws import replacement
from mcprl.scenarios.probing.knowledge import State
from mcprl.scenarios.probing.results import takes_path
from mcprl.scenarios.probing.values import day_near, iso_day, neighbour, note
from mcprl.scenarios.steps import Found, Grounded, Step, call_of
from mcprl.text import words
from mcprl.types import Scalar, Session, StateHolds, Tool

_NUMBER = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w-]|\.\d)")
_MOST_WORDS = 3
_OPEN, _DONE = "[ ]", "[x]"
_POINT = re.compile(r"(\s*(?:[-*]|\d+[.)])\s+)(?!\[).+")
"""A line of a list, with what stands before its text."""
_LINE = Attribute("line", "line", "text")
_EDITED = frozenset("category count date measure money name number person place status text year".split())


@dataclass(frozen=True)
class _Edit:
    """What is changed and how, the old and the new text of the document, and the entities besides its path."""

    thing: Reference
    effect: Literal["edit", "append", "tick"]
    values: tuple[Value, ...]
    old: str
    new: str
    entities: tuple[Scalar, ...] = ()


async def edit(planner: Planner, clean: Session, written: Session, state: State, tool: Tool) -> Grounded | None:
    """An edit of a document that a tool makes by replacing a text in it."""
    slots = replacement(tool, planner.known.slots[tool.name])
    found = await _document(planner, clean, state) if slots else None
    if slots is None or found is None:
        return None
    path, document, step = found
    made = [*_values(planner, document, step), *_cells(planner, document, step), *_points(planner, document, step)]
    made = [one for one in made if step.result.text.count(one.old) == 1 and one.old != one.new]
    if not made:
        return None
    chosen = planner.rng.choice(made)
    call = call_of(tool, [(slots.path, path), (slots.old, chosen.old), (slots.new, chosen.new)])
    gone = () if chosen.old in chosen.new else (chosen.old,)
    check = StateHolds(step.tool.name, step.call.arguments, (chosen.new.rpartition("\n")[2],), gone)
    if (await written.call(tool.name, call.arguments)).is_error:
        return None
    after = await written.call(step.tool.name, step.call.arguments)
    if not shows(after, check):
        return None
    intent = Change(tool.name, tool.description, chosen.effect, chosen.thing, chosen.values)
    plan = (*document.plan, step.call, call)
    return planner.task("write", intent, (), plan, (check,), state, [path, *chosen.entities])


async def _document(planner: Planner, session: Session, state: State) -> tuple[str, Found, Step] | None:
    """A document by its path, or as people name it: the path, the thing with the steps that lead to its path, and the
    step that reads it."""
    readers = [tool for tool in planner.known.reads() if {*words(tool.name)} & READING and _only_path(planner, tool)]
    if not readers:
        return None
    tool = planner.rng.choice(readers)
    slot = planner.catalog.needs(tool)[0]
    named = await titled(planner.calls, session, state, tool, slot) if planner.rng.random() < 0.5 else None
    if named:
        path, document = named
    else:
        options = planner.known.options(slot, state, planner.rng, planner.allowed)
        options = [str(planner.catalog.from_root(option)) for option in options if opens(tool, option)]
        if not options:
            return None
        path = planner.rng.choice(options)
        document = Found(Reference("file", (value_of(planner.catalog, slot, path),)), (), {}, (), (path,))
    step = await planner.calls.execute(session, tool, [(slot, path)])
    return (path, document, step) if step and not step.result.cut_bytes else None


def _only_path(planner: Planner, tool: Tool) -> bool:
    needed = planner.catalog.needs(tool)
    return len(needed) == 1 and takes_path(needed[0]) and isinstance(needed[0].path[-1], str)


def _values(planner: Planner, document: Found, step: Step) -> Iterator[_Edit]:
    """Values that stand behind their names: `Status: unpaid`."""
    if step.rows or not isinstance(step.record, Mapping):
        return
    record: Mapping[str, Any] = step.record  # pyright: ignore[reportUnknownVariableType]
    for key in record:
        line = re.search(rf"\b{re.escape(key)}: (\S.*?)\s*$", step.result.text, re.MULTILINE)
        attribute = planner.catalog.attribute(step.tool.name, (key,), record)
        if line is None or len(line[1].split()) > _MOST_WORDS or attribute.label.split()[-1] in JOINTS:
            continue  # a sentence that somebody wrote, or nothing that has a name
        elsewhere = [*planner.known.base.pool.get(("from", step.tool.name, key), ())]
        if other := _another(planner, attribute, line[1], elsewhere):
            value, told = other
            old, new = f"{key}: {line[1]}", f"{key}: {told}"
            yield _Edit(document.reference, "edit", (value,), old, new, _entities(value))


def _cells(planner: Planner, document: Found, step: Step) -> Iterator[_Edit]:
    """Cells of a table whose rows are lines with commas, and the points of a checklist."""
    row = document_row(planner.subset, step, document) if len(step.rows) > 1 else None
    if row is None:
        return
    line, cells = _line_of(row.record, step.result.text)
    for entry in row.fields:
        key = entry.attribute.key
        column = [own[key] for own in step.rows if key in own]
        other = _another(planner, entry.attribute, cells[key].strip(), column) if key in cells else None
        if other:
            value, told = other
            changed = ",".join((cells | {key: cells[key].replace(cells[key].strip(), told)}).values())
            yield _Edit(row.reference, "edit", (value,), line, changed, (*row.entities, *_entities(value)))
    if row.record.get("done") is False:
        point = f"{_OPEN} {row.subject}"
        yield _Edit(row.reference, "tick", (), point, point.replace(_OPEN, _DONE), row.entities)


def _line_of(record: Mapping[str, Any], text: str) -> tuple[str, dict[str, str]]:
    """The line with commas that holds a row, and its cells as they are written; empty if there is none."""
    for line in text.splitlines():
        cells = line.split(",")
        if len(cells) == len(record) and all(map(_is_written, cells, record.values())):
            return line, dict(zip(record, cells, strict=True))
    return "", {}


def _is_written(cell: str, value: Scalar) -> bool:
    """Whether a cell holds a value: `6.80` is 6.8."""
    number = isinstance(value, float) and re.fullmatch(r"-?\d+\.\d+", cell.strip())
    return float(cell) == value if number else bool(cell.strip()) and cell.strip() == str(value)


def _points(planner: Planner, document: Found, step: Step) -> Iterator[_Edit]:
    """One more point at the end of a list."""
    lines = step.result.text.rstrip().splitlines()
    last = _POINT.fullmatch(lines[-1]) if len(lines) > 1 and _POINT.fullmatch(lines[-2]) else None
    text = next((made for made in (note(planner.rng) for _ in range(24)) if planner.allowed(made)), None)
    if last is None or text is None:
        return
    front = re.sub(r"\d+", lambda number: str(int(number[0]) + 1), last[1])
    added = f"{lines[-1]}\n{front}{text}"
    yield _Edit(document.reference, "append", (Value(_LINE, text),), lines[-1], added, (text,))


def _another(
    planner: Planner, attribute: Attribute, text: str, elsewhere: Sequence[Scalar]
) -> tuple[Value, str] | None:
    """Another value of the same kind and how it is written: a number or a day near to it, else what the field is
    elsewhere."""
    if attribute.meaning not in _EDITED or re.search(r'[,"\n]', text):
        return None
    numbers = _NUMBER.findall(text)
    if iso_day(text) == text:
        told = day_near([text], planner.rng)
    elif len(numbers) == 1:
        whole, _, rest = numbers[0].partition(".")
        told = _NUMBER.sub(str(neighbour(int(whole), planner.rng) or 1) + (f".{rest}" if rest else ""), text)
    else:
        others = [other for other in elsewhere if isinstance(other, str) and other != text and len(other) < 40]
        others = [other for other in others if not re.search(r'[\d,"\n]', other) and planner.allowed(other)]
        told = planner.rng.choice(others) if others and not any(map(str.isdigit, text)) else None
    return (Value(attribute, int(told) if told.isdigit() else told), told) if told and told != text else None


def _entities(value: Value) -> tuple[Scalar, ...]:
    """The value, if it is no number or day and none of a few."""
    few = value.attribute.choices or value.attribute.meaning in ("status", "category")
    return () if few or re.match(r"\d", str(value.value)) else (value.value,)
