"""Tasks that edit a document: a value behind its name, a cell of a table, a point that is done, one more point.

The document is read first, since an edit takes the old text as it stands.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from mcprl.judges.checks import shows
from mcprl.scenarios.fields import scalars
from mcprl.scenarios.intents import Attribute, Change, Reference, Value
from mcprl.scenarios.parameters import replacement
from mcprl.scenarios.planner import Planner
from mcprl.scenarios.probing.knowledge import State
from mcprl.scenarios.probing.near import day_near, iso_day, neighbour
from mcprl.scenarios.probing.paths import takes_path
from mcprl.scenarios.probing.sentences import note
from mcprl.scenarios.slots import Slot
from mcprl.scenarios.steps import Found, Grounded, Step, call_of
from mcprl.scenarios.titles import READING
from mcprl.scenarios.wording.keys import JOINTS
from mcprl.text import words
from mcprl.types import Scalar, Session, StateHolds, Tool

_NUMBER = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w-]|\.\d)")
_MOST_WORDS = 3
_OPEN, _DONE = "[ ]", "[x]"
_POINT = re.compile(r"(\s*(?:[-*]|\d+[.)])\s+)(?!\[).+")
"""A line of a list, with what stands before its text."""
_LINE, _STATUS = Attribute("line", "line", "text"), Attribute("status", "status", "status")

Edit = tuple[Reference, Value, str, str]
"""What is changed, the value that it gets, and the old and the new text of the document."""


def edits(planner: Planner, tool: Tool) -> tuple[Slot, tuple[Slot, Slot]] | None:
    """The parameters for the path, the old and the new text of a tool that replaces a text in a document; `None` for
    other tools."""
    sides = replacement(planner.known.slots[tool.name])
    target = next((slot for slot in planner.needs(tool) if takes_path(slot)), None)
    return (target, sides) if target and sides else None


async def edit(planner: Planner, clean: Session, written: Session, state: State, tool: Tool) -> Grounded | None:
    """An edit of a document that a tool makes by replacing a text in it."""
    edited = edits(planner, tool)
    found = await _document(planner, clean, state) if edited else None
    if edited is None or found is None:
        return None
    target, sides = edited
    path, document, step = found
    made = [*_values(planner, document, step), *_cells(planner, document, step), *_points(planner, document, step)]
    made = [one for one in made if step.result.text.count(one[2]) == 1 and one[2] != one[3]]
    if not made:
        return None
    thing, value, old, new = planner.rng.choice(made)
    call = call_of(tool, [(target, path), (sides[0], old), (sides[1], new)])
    gone = () if old in new else (old,)
    check = StateHolds(step.tool.name, step.call.arguments, (new.rpartition("\n")[2],), gone)
    if (await written.call(tool.name, call.arguments)).is_error:
        return None
    after = await written.call(step.tool.name, step.call.arguments)
    if not shows(after, check):
        return None
    intent = Change(tool.name, tool.description, "set", thing, (value,))
    plan = (*document.plan, step.call, call)
    return planner.task("write", intent, (), plan, (check,), state, [path])


async def _document(planner: Planner, session: Session, state: State) -> tuple[str, Found, Step] | None:
    """A document by its path, or as people name it: the path, the thing with the steps that lead to its path, and the
    step that reads it."""
    readers = [tool for tool in planner.known.reads() if {*words(tool.name)} & READING and _only_path(planner, tool)]
    if not readers:
        return None
    tool = planner.rng.choice(readers)
    slot = planner.needs(tool)[0]
    titled = await planner.titled(session, state, tool, slot) if planner.rng.random() < 0.5 else None
    if titled:
        path, document = titled
    else:
        options = planner.known.options(slot, state, planner.rng, planner.allowed)
        if not options:
            return None
        path = str(planner.catalog.from_root(planner.rng.choice(options)))
        document = Found(Reference("file", (planner.naming(slot, path),)), (), {}, (), (path,))
    step = await planner.execute(session, tool, [(slot, path)])
    return (path, document, step) if step and not step.result.cut_bytes else None


def _only_path(planner: Planner, tool: Tool) -> bool:
    needed = planner.needs(tool)
    return len(needed) == 1 and takes_path(needed[0]) and isinstance(needed[0].path[-1], str)


def _values(planner: Planner, document: Found, step: Step) -> Iterator[Edit]:
    """Values that stand behind their names: `Status: unpaid`."""
    if step.rows or not isinstance(step.record, Mapping):
        return
    for keys, value in scalars(step.record):  # pyright: ignore[reportUnknownMemberType]
        old = f"{keys[-1]}: {value}"
        elsewhere = planner.known.base.pool.get(("from", step.tool.name, *keys), {})
        other = _another(planner, value, [*elsewhere])
        told = len(str(value).split()) > _MOST_WORDS or "," in str(value)  # a sentence that somebody wrote
        if old in step.result.text and len(keys) == 1 and other is not None and not told:
            attribute = planner.catalog.attribute(step.tool.name, keys, step.record)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
            if attribute.label.split()[-1] not in JOINTS:
                yield document.reference, Value(attribute, other), old, f"{keys[-1]}: {other}"


def _cells(planner: Planner, document: Found, step: Step) -> Iterator[Edit]:
    """Cells of a table whose rows are lines with commas, and the points of a checklist."""
    row = planner.row_of_document(step, document) if len(step.rows) > 1 else None
    if row is None:
        return
    texts = [str(value) for _, value in scalars(row.record)]
    line = next((line for line in step.result.text.splitlines() if [*map(str.strip, line.split(","))] == texts), "")
    for entry in row.fields:
        column = [own[entry.attribute.key] for own in step.rows if entry.attribute.key in own]
        other = _another(planner, entry.value, column) if entry.attribute.meaning != "email" else None
        if line and other is not None and entry.attribute.key in row.record:
            changed = [str(other) if key == (entry.attribute.key,) else str(v) for key, v in scalars(row.record)]
            yield row.reference, Value(entry.attribute, other), line, ",".join(changed)
    if row.record.get("done") is False:
        point = f"{_OPEN} {row.subject}"
        yield row.reference, Value(_STATUS, "done"), point, point.replace(_OPEN, _DONE)


def _points(planner: Planner, document: Found, step: Step) -> Iterator[Edit]:
    """One more point at the end of a list."""
    lines = step.result.text.rstrip().splitlines()
    last = _POINT.fullmatch(lines[-1]) if len(lines) > 1 and _POINT.fullmatch(lines[-2]) else None
    if last is None:
        return
    text = note(planner.rng)
    front = re.sub(r"\d+", lambda number: str(int(number[0]) + 1), last[1])
    yield document.reference, Value(_LINE, text), lines[-1], f"{lines[-1]}\n{front}{text}"


def _another(planner: Planner, value: Scalar, elsewhere: Sequence[Scalar]) -> Scalar | None:
    """Another value of the same kind: a number or a day near to it, else what the field is elsewhere."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and (day := iso_day(value)):
        return day_near([day], planner.rng) if day == value else None
    if isinstance(value, int | float):
        return neighbour(value, planner.rng) if isinstance(value, int) else round(value * 1.1, 2)
    if (numbers := _NUMBER.findall(value)) and len(numbers) == 1:
        whole, _, rest = numbers[0].partition(".")
        other = str(neighbour(int(whole), planner.rng) or 1) + (f".{rest}" if rest else "")
        return _NUMBER.sub(other, value)
    others = [other for other in elsewhere if isinstance(other, str) and other != value and len(other) < 40]
    return planner.rng.choice(others) if others and not any(map(str.isdigit, value)) else None
