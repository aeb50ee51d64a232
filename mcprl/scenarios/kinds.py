"""The kinds of tasks that only read. Each makes one task on a session, or `None` where what it drew makes none."""

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from mcprl.judges.checks import Scalar, holds, leaves, says_missing, squash
from mcprl.scenarios import wording
from mcprl.scenarios.fields import Field, Keys, record_fields, record_of, rows_of, usable
from mcprl.scenarios.knowledge import State, fill_write
from mcprl.scenarios.names import spoken
from mcprl.scenarios.planner import Executed, Filled, Planner, call_of, given
from mcprl.scenarios.slots import Path, Slot, build
from mcprl.scenarios.values import invent, stranger
from mcprl.types import CallMade, Check, Fact, Json, SaysMissing, Scenario, Session, StateHolds, Tool

Row = dict[str, Any]
Kind = Callable[[Planner, Session, State], Awaitable[Scenario | None]]


async def lookup(planner: Planner, session: Session, state: State) -> Scenario | None:
    """One call, and one or two things that its result says."""
    step = await planner.read(session, state)
    if step is None or not (fields := planner.choose_fields(step)):
        return None
    rng, labels = planner.rng, [entry.label for entry in fields]
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
    one = fields[0]
    other = next((entry for entry in second.fields if entry.label == one.label), None)
    alike = [slot for slot, _ in first.filled] == [slot for slot, _ in second.filled]
    if other is None or other.values == one.values or not alike:
        return None
    subjects = [wording.subject(step.tool, step.filled, planner.rng) for step in (first, second)]
    request = wording.ask([one.label], " and ".join(subjects), planner.rng)
    field = Field(one.path, one.label, one.values + other.values)
    return planner.question("both", request, [first, second], [field], state)


async def pick(planner: Planner, session: Session, state: State) -> Scenario | None:
    """A field of the one row of a list that an attribute tells from the others."""
    step = await planner.read(session, state)
    if step is None or (found := _row(planner, step)) is None:
        return None
    rows, row, key = found
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
    others = [v for other in rows for e in record_fields(other, set()) if e.path == entry.path for v in e.values]
    rivals = tuple(other for other in dict.fromkeys(others) if not holds(f"{request} {answer}", other))
    values = [*given(step.filled), row[key]]
    if not all(planner.allowed(value) for value in values):
        return None
    checks = (Fact(entry.values[0], entry.label, rivals),)
    return planner.task("pick", request, (step.call,), checks, answer, state, values)


def _row(planner: Planner, step: Executed) -> tuple[list[Row], Row, str] | None:
    """The rows of a list result, one of them, and an attribute whose value only that row has."""
    found = rows_of(record_of(step.result))
    if found is None or "column 0" in found[1][0]:
        return None
    _, rows = found
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
    """Calls each of which takes a value of the last one's result; what is asked stands in the last result alone."""
    sources = planner.known.sources.items()
    leads = {group[1] for (tool, _), groups in sources for group in groups if group[0] == "from" and group[1] != tool}
    first = planner.tool(lambda tool: tool.name in leads)
    step = await planner.read(session, state, first) if first else None
    if step is None:
        return None
    if (start := _opening(planner, step)) is None:
        return None
    opening, picked, view = start
    steps = [step]
    while len(steps) < planner.max_calls:
        following = await _follow(planner, session, steps, view)
        if following is None:
            break
        steps.append(following)
        view = record_of(following.result)
        if planner.rng.random() < 0.6:
            break
    if len(steps) == 1:
        return None
    earlier = "\n".join([*(step.result.text for step in steps[:-1]), opening])
    fields = [
        entry for entry in planner.choose_fields(steps[-1]) if not any(holds(earlier, value) for value in entry.values)
    ]
    if not fields:
        return None
    links = [wording.thing(step.tool) for step in steps[1:]]
    request = wording.chained(opening, links, [entry.label for entry in fields], planner.rng)
    return planner.question("chain", request, steps, fields, state, picked)


def _opening(planner: Planner, step: Executed) -> tuple[str, list[Scalar], Json] | None:
    """Where a chain begins: the first call's result or one row of it, in words, with what names the row, and as
    JSON.
    """
    view = record_of(step.result)
    if rows_of(view) is None:
        return wording.subject(step.tool, step.filled, planner.rng), [], view
    if (found := _row(planner, step)) is None:
        return None
    _, row, key = found
    shown = wording.value_text(row[key], planner.rng)
    opening = f"the {wording.thing(step.tool)} whose {spoken(key)} is {shown}"
    if step.filled:
        opening += f" among those with {wording.argument_phrase(step.filled, planner.rng)}"
    return opening, [row[key]], row


async def _follow(planner: Planner, session: Session, steps: list[Executed], view: Json) -> Executed | None:
    """A call whose key argument is a value of the last result, found where it was seen to work when probed."""
    last, known = steps[-1], planner.known
    found = [(_keys(path), value) for path, value in leaves(view)]
    places = Counter(keys for keys, _ in found)
    values = [
        (keys, value)
        for keys, value in found
        if not isinstance(value, bool) and planner.allowed(value) and places[keys] == 1  # one of many is no lead
    ]
    planner.rng.shuffle(values)
    for keys, value in values:
        if not keys or any(value == earlier for _, earlier in last.filled):
            continue
        for tool in known.reads():
            needed = planner.needs(tool)
            if len(needed) != 1 or needed[0].choices or tool.name in {step.tool.name for step in steps}:
                continue
            groups = known.sources.get((tool.name, needed[0].path), [])
            if any((*group[:2], group[-1]) == ("from", last.tool.name, keys[-1]) for group in groups):
                step = await planner.execute(session, tool, [(needed[0], value)])
                if step is not None:
                    return step
    return None


def _keys(path: Path) -> Keys:
    return tuple(part for part in path if isinstance(part, str))


async def missing(planner: Planner, session: Session, state: State) -> Scenario | None:
    """A call about a thing that does not exist: the answer must say so."""
    rng = planner.rng
    tool = planner.tool(lambda tool: any(_names_entity(planner, slot) for slot in planner.needs(tool)))
    if tool is None or len(needed := planner.needs(tool)) != 1:
        return None
    options = planner.known.options(needed[0], state, rng, lambda _: True)
    made = [stranger(value, rng) for value in options[:6]]
    made = [value for value in made if planner.allowed(value) and value not in options]
    if not made:
        return None
    filled: Filled = [(needed[0], made[0])]
    call = call_of(tool, filled)
    if usable(await session.call(tool.name, call.arguments)):
        return None
    label = rng.choice(["details", *[entry for entry in ("status", "name") if rng.random() < 0.3]])
    subject = wording.subject(tool, filled, rng)
    request = wording.ask([label], subject, rng) if rng.random() < 0.6 else wording.order(tool, filled, rng)
    checks: tuple[Check, ...] = (CallMade(call.tool, call.arguments, failed=True), SaysMissing())
    answer = wording.not_found(tool, filled)
    assert says_missing(answer)
    return planner.task("missing", request, (call,), checks, answer, state, [made[0]])


def _names_entity(planner: Planner, slot: Slot) -> bool:
    return any(group[0] == "from" for group in planner.known.sources.get((slot.tool, slot.path), []))


def kinds(max_calls: int) -> dict[Kind, int]:
    """The kinds that plans of at most `max_calls` allow, each with its share of the tasks."""
    of_one_call: dict[Kind, int] = {lookup: 40, pick: 16, missing: 10}
    return of_one_call | {chain: 24, both: 10} if max_calls > 1 else of_one_call


async def write(planner: Planner, clean: Session, written: Session, state: State, tool: Tool) -> Scenario | None:
    """A task that writes, made in the session `written`.

    What it must show afterwards is not there in a `clean` session. A write that no read shows is checked as a call.
    """
    filled = fill(planner, tool, state)
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
    return planner.task(kind, request, (call,), (check,), "Done.", state, given(filled))


def fill(planner: Planner, tool: Tool, state: State, references: bool = True) -> Filled | None:
    """Values of the split for a write: what it refers to from the state, if `references` are wanted, the rest
    invented.
    """
    for attempt in range(6):
        picked = fill_write(planner.known, tool, state if references else State(), planner.rng, attempt)
        if picked is None:
            return None
        filled: Filled = []
        for slot, (group, value) in picked.items():
            if group[0] == "from":
                near = [value for value in state.pool.get(group, ()) if planner.allowed(value)]
                value = planner.rng.choice(near) if near else None
            else:
                for _ in range(24):
                    if slot.choices or planner.allowed(value):
                        break
                    value = invent(slot, planner.rng)
            if value is None or not (slot.choices or planner.allowed(value)):
                break
            filled.append((slot, value))
        else:
            return filled
    return None


def _effect(planner: Planner, tool: Tool, filled: Filled) -> StateHolds | None:
    """What a read must show after the write; of several reads the one found last."""
    values = {slot.path: value for slot, value in filled}
    effect = None
    for trip in planner.known.round_trips:
        shown = tuple(values[path] for path in trip.shown if path in values)
        if trip.write == tool.name and shown and all(origin in values for _, origin in trip.bind):
            bound = {path: values[origin] for path, origin in trip.bind}
            effect = StateHolds(trip.read, build(bound | dict(trip.constants)), shown)
    return effect


async def _holds(session: Session, effect: StateHolds) -> bool:
    result = await session.call(effect.tool, effect.arguments)
    return not result.is_error and all(holds(result.text, value) for value in effect.values)
