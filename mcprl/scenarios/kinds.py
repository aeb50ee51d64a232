"""The kinds of tasks, a function each: it draws values, makes the calls on a session and returns one task.

`None` means that what was drawn makes no task. `scenarios.compose` calls them.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from mcprl.judges.checks import holds, leaves, squash
from mcprl.scenarios import wording
from mcprl.scenarios.fields import Field, Keys, record_fields, record_of, rows_of, shows, usable
from mcprl.scenarios.knowledge import State
from mcprl.scenarios.names import spoken
from mcprl.scenarios.planner import Executed, Filled, Planner, call_of, free_values
from mcprl.scenarios.slots import JsonPath, Slot, build
from mcprl.scenarios.values import stranger
from mcprl.types import CallMade, Check, Fact, Json, SaysMissing, Scalar, Scenario, Session, StateHolds, Tool

MakeTask = Callable[[Planner, Session, State], Awaitable[Scenario | None]]
"""A kind of task that only reads."""


async def lookup(planner: Planner, session: Session, state: State) -> Scenario | None:
    """One call, and one or two fields of its result."""
    step = await planner.read(session, state)
    if step is None:
        return None
    fields = planner.choose_fields(step)
    if not fields:
        return None
    rng = planner.rng
    labels = [entry.label for entry in fields]
    if (step.filled and rng.random() < 0.6) or (fields[0].label != "result" and rng.random() < 0.3):
        request = wording.ask(labels, wording.subject(step.tool, step.filled, rng), rng)
    else:
        request = wording.order(step.tool, step.filled, rng, labels)
    return planner.question("lookup", request, [step], fields, state)


async def both(planner: Planner, session: Session, state: State) -> Scenario | None:
    """The same field of two things, by two calls of one tool."""
    first = await planner.read(session, state)
    if first is None or not first.filled:
        return None
    second = await planner.read(session, state, first.tool)
    fields = planner.choose_fields(first)[:1]
    if second is None or not fields or second.call == first.call:
        return None
    field = fields[0]
    same_field = next((entry for entry in second.fields if entry.label == field.label), None)
    same_slots = [slot for slot, _ in first.filled] == [slot for slot, _ in second.filled]
    if same_field is None or same_field.values == field.values or not same_slots:
        return None
    subjects = [wording.subject(step.tool, step.filled, planner.rng) for step in (first, second)]
    request = wording.ask([field.label], " and ".join(subjects), planner.rng)
    field = Field(field.path, field.label, field.values + same_field.values)
    return planner.question("both", request, [first, second], [field], state)


async def pick(planner: Planner, session: Session, state: State) -> Scenario | None:
    """A field of one row of a list. The request names the row by an attribute that only this row has."""
    step = await planner.read(session, state)
    drawn = _row(planner, step) if step else None
    if step is None or drawn is None:
        return None
    rows, row, key = drawn
    fields = [
        entry
        for entry in record_fields(row, {squash(str(row[key]))})
        if len(entry.values) == 1 and not isinstance(entry.values[0], bool)
    ]
    if not fields:
        return None
    entry = planner.rng.choice(fields)
    among = wording.argument_phrase(step.filled, planner.rng) if step.filled else ""
    request = wording.pick(wording.thing(step.tool), spoken(key), row[key], [entry.label], planner.rng, among)
    answer = wording.picked(step.result.text, row, key, entry.path[0], wording.answer({entry.label: entry.values}))
    values = [*free_values(step.filled), row[key]]
    if not all(planner.allowed(value) for value in values):
        return None
    others = tuple(value for value in _values_at(rows, entry.path) if not holds(f"{request} {answer}", value))
    checks = (Fact(entry.values[0], entry.label, rivals=others),)
    return planner.task("pick", request, (step.call,), checks, answer, state, values)


def _values_at(rows: Sequence[dict[str, Any]], path: Keys) -> list[Scalar]:
    """The different values of one field in all rows."""
    fields = [field for row in rows for field in record_fields(row, set()) if field.path == path]
    return list(dict.fromkeys(value for field in fields for value in field.values))


def _row(planner: Planner, step: Executed) -> tuple[list[dict[str, Any]], dict[str, Any], str] | None:
    """The rows of a list result, one of them, and the name of an attribute whose value only that row has."""
    listed = rows_of(record_of(step.result))
    if listed is None or "column 0" in listed[1][0]:
        return None
    _, rows = listed
    row = planner.rng.choice(rows)
    names = [
        name
        for name, value in row.items()
        if isinstance(value, str | int | float)
        and not isinstance(value, bool)
        and 0 < len(str(value)) <= 60
        and sum(other.get(name) == value for other in rows) == 1
        and planner.allowed(value)
    ]
    return (rows, row, planner.rng.choice(names)) if names else None


async def chain(planner: Planner, session: Session, state: State) -> Scenario | None:
    """Two or more calls, each with a value of the result before it. Only the last result has the fields asked for."""
    sources = planner.known.sources.items()
    leads = {source[1] for (tool, _), own in sources for source in own if source[0] == "from" and source[1] != tool}
    first = planner.tool(lambda tool: tool.name in leads)
    step = await planner.read(session, state, first) if first else None
    start = _opening(planner, step) if step else None
    if step is None or start is None:
        return None
    opening, picked, record = start
    steps = await _links(planner, session, step, record)
    if len(steps) == 1:
        return None
    earlier = "\n".join([*(step.result.text for step in steps[:-1]), opening])
    fields = [
        entry for entry in planner.choose_fields(steps[-1]) if not any(holds(earlier, value) for value in entry.values)
    ]
    if not fields:
        return None
    things = [wording.thing(step.tool) for step in steps[1:]]
    request = wording.chained(opening, things, [entry.label for entry in fields], planner.rng)
    return planner.question("chain", request, steps, fields, state, picked)


async def _links(planner: Planner, session: Session, first: Executed, record: Json) -> list[Executed]:
    """The calls of a chain from `first` on, whose result (or one row of it) is `record`."""
    steps = [first]
    while len(steps) < planner.max_calls:
        following = await _follow(planner, session, steps, record)
        if following is None:
            break
        steps.append(following)
        record = record_of(following.result)
        if planner.rng.random() < 0.6:
            break
    return steps


def _opening(planner: Planner, step: Executed) -> tuple[str, list[Scalar], Json] | None:
    """The start of a chain, which is the first call's result or one row of it: in words, the values that name the row,
    and as JSON.
    """
    record = record_of(step.result)
    if rows_of(record) is None:
        return wording.subject(step.tool, step.filled, planner.rng), [], record
    drawn = _row(planner, step)
    if drawn is None:
        return None
    _, row, key = drawn
    shown = wording.value_text(row[key], planner.rng)
    opening = f"the {wording.thing(step.tool)} whose {spoken(key)} is {shown}"
    if step.filled:
        opening += f" among those with {wording.argument_phrase(step.filled, planner.rng)}"
    return opening, [row[key]], row


async def _follow(planner: Planner, session: Session, steps: list[Executed], record: Json) -> Executed | None:
    """A call whose only required argument is a value of the last result, from a place that worked when probed."""
    last = steps[-1]
    known = planner.known
    called = {step.tool.name for step in steps}
    placed = [(_keys(path), value) for path, value in leaves(record)]
    counts = Counter(keys for keys, _ in placed)
    values = [
        (keys, value)
        for keys, value in placed
        # If a place has several values, the request would not say which one to go on with.
        if not isinstance(value, bool) and planner.allowed(value) and counts[keys] == 1
    ]
    planner.rng.shuffle(values)
    for keys, value in values:
        if not keys or any(value == earlier for _, earlier in last.filled):
            continue
        for tool in known.reads():
            needed = planner.needs(tool)
            if len(needed) != 1 or needed[0].choices or tool.name in called:
                continue
            sources = known.sources.get((tool.name, needed[0].path), [])
            if any((*source[:2], source[-1]) == ("from", last.tool.name, keys[-1]) for source in sources):
                step = await planner.execute(session, tool, [(needed[0], value)])
                if step is not None:
                    return step
    return None


def _keys(path: JsonPath) -> Keys:
    """A path without its list positions."""
    return tuple(part for part in path if isinstance(part, str))


async def missing(planner: Planner, session: Session, state: State) -> Scenario | None:
    """A call about a thing that does not exist: the answer must say so."""
    rng = planner.rng
    tool = planner.tool(lambda tool: any(_names_entity(planner, slot) for slot in planner.needs(tool)))
    needed = planner.needs(tool) if tool else []
    if tool is None or len(needed) != 1:
        return None
    options = planner.known.options(needed[0], state, rng, lambda _: True)
    strangers = [stranger(value, rng) for value in options[:6]]
    strangers = [value for value in strangers if planner.allowed(value) and value not in options]
    if not strangers:
        return None
    filled: Filled = [(needed[0], strangers[0])]
    call = call_of(tool, filled)
    if usable(await session.call(tool.name, call.arguments)):
        return None
    label = rng.choice(["details", *[entry for entry in ("status", "name") if rng.random() < 0.3]])
    subject = wording.subject(tool, filled, rng)
    request = wording.ask([label], subject, rng) if rng.random() < 0.6 else wording.order(tool, filled, rng)
    checks: tuple[Check, ...] = (CallMade(call.tool, call.arguments, failed=True), SaysMissing())
    return planner.task("missing", request, (call,), checks, wording.not_found(tool, filled), state, [strangers[0]])


def _names_entity(planner: Planner, slot: Slot) -> bool:
    """Whether the slot took values that results hold, so that its values name things of the server."""
    return any(source[0] == "from" for source in planner.known.sources.get((slot.tool, slot.path), []))


def reading_kinds(max_calls: int) -> dict[MakeTask, int]:
    """The kinds that only read, for plans of at most `max_calls` calls. Each has its share of the tasks as a weight."""
    one_call: dict[MakeTask, int] = {lookup: 40, pick: 16, missing: 10}
    if max_calls < 2:
        return one_call
    return one_call | {chain: 24, both: 10}


async def write(planner: Planner, clean: Session, written: Session, state: State, tool: Tool) -> Scenario | None:
    """A task that writes, executed in the session `written`.

    If probing found a read that shows the write, its result is the check, and the read must not show it in a `clean`
    session. Otherwise the check is the call itself.
    """
    filled = planner.fill_write(tool, state)
    if filled is None or (not filled and not planner.allowed(f"{tool.name}()")):
        return None
    call = call_of(tool, filled)
    effect = _effect(planner, tool, filled)
    if effect and await _holds(clean, effect):
        return None
    if (await written.call(tool.name, call.arguments)).is_error or (effect and not await _holds(written, effect)):
        return None
    request = wording.order(tool, filled, planner.rng)
    kind, check = ("write", effect) if effect else ("action", CallMade(tool.name, call.arguments))
    return planner.task(kind, request, (call,), (check,), "Done.", state, free_values(filled))


def _effect(planner: Planner, tool: Tool, filled: Filled) -> StateHolds | None:
    """What a read must show after the write. If several reads show it, the last that probing found is taken."""
    values = {slot.path: value for slot, value in filled}
    effect = None
    for trip in planner.known.round_trips:
        shown = tuple(values[path] for path in trip.shown if path in values)
        if trip.write == tool.name and shown and all(origin in values for _, origin in trip.bind):
            bound = {path: values[origin] for path, origin in trip.bind}
            effect = StateHolds(trip.read, build(bound | dict(trip.constants)), shown)
    return effect


async def _holds(session: Session, effect: StateHolds) -> bool:
    return shows(await session.call(effect.tool, effect.arguments), effect.values)
