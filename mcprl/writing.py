"""Tasks that write: a call whose effect was seen, where a read shows it, and can be looked for after a try."""

from mcprl import wording
from mcprl.checks import holds
from mcprl.invent import invent
from mcprl.knowledge import State, fill_write
from mcprl.planning import Filled, Planner, call_of, given
from mcprl.slots import build
from mcprl.types import CallMade, Scenario, Session, StateHolds, Tool


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
