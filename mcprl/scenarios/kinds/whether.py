"""Questions whether there are any things: with some, and as often with none, so that neither can be guessed."""

from collections.abc import Iterator

from mcprl.judges.checks import is_empty
from mcprl.scenarios.intents import Count, Value
from mcprl.scenarios.kinds.rows import LIMITED, Rows, filters, is_number, rows_of_a_list
from mcprl.scenarios.naming import said
from mcprl.scenarios.parameters import bound
from mcprl.scenarios.planner import Planner
from mcprl.scenarios.probing.knowledge import State
from mcprl.scenarios.slots import Slot
from mcprl.scenarios.steps import Grounded, call_of, in_order
from mcprl.text import singular
from mcprl.types import Call, CallMade, Check, Fact, Scalar, Session

_DRAWS = 6
"""Things that may have none of what a tool lists for them, and values of a filter that may leave none."""
_ROUND = (1000, 500, 100, 50, 20, 10, 5, 2, 1)


async def whether(planner: Planner, session: Session, state: State) -> Grounded | None:
    """Whether there are any of the things in a list, with what a filter keeps."""
    if planner.rng.random() < 0.5:
        return await _none(planner, session, state)
    chosen = await rows_of_a_list(planner, session, state, 1)
    if chosen is None or not chosen.where:
        return None
    intent, outcome = Count(chosen.noun, chosen.where, whether=True), (len(chosen.rows),)
    checks: tuple[Check, ...] = (_there(chosen.noun, True),)
    return planner.task("whether", intent, outcome, tuple(chosen.reached.plan), checks, state, chosen.entities())


async def _none(planner: Planner, session: Session, state: State) -> Grounded | None:
    """Things of which there are none: nothing is listed for their owner, or a filter leaves nothing."""
    tool = planner.choice.tool(lambda tool: tool.name in planner.catalog.lists)
    chosen = await rows_of_a_list(planner, session, state, 1, tool, limited=False, ranked=True) if tool else None
    if tool is None or chosen is None:
        return None
    owned = planner.catalog.entity_slots(tool)
    if len(owned) == 1 and planner.rng.random() < 0.5:
        return await _of_nobody(planner, session, state, chosen, owned[0])
    return await _left_by_no_filter(planner, session, state, chosen)


async def _of_nobody(planner: Planner, session: Session, state: State, chosen: Rows, slot: Slot) -> Grounded | None:
    """What is listed of a thing that has none of it: the orders of a customer who never ordered."""
    tool, filled = chosen.step.tool, chosen.step.filled
    for value in planner.known.options(slot, state, planner.rng, planner.allowed)[:_DRAWS]:
        call = call_of(tool, [(own, value if own == slot else old) for own, old in filled])
        if await _is_nothing(session, call):
            where = tuple(said(planner.catalog, [(own, value if own == slot else old) for own, old in filled]))
            return _task(planner, chosen.noun, where, [call], call, state, [value])
    return None


async def _left_by_no_filter(planner: Planner, session: Session, state: State, chosen: Rows) -> Grounded | None:
    """What no row has: an amount that all exceed, a status that none is in."""
    step = chosen.step
    taken = {slot for slot, _ in step.filled}
    for slot in planner.known.slots[step.tool.name]:
        for value in _vain(planner, chosen, slot) if slot not in taken else ():
            call = call_of(step.tool, in_order([*step.filled, (slot, value.value)]))
            if await _is_nothing(session, call):
                plan = [*chosen.reached.plan[:-1], call]
                return _task(planner, chosen.noun, (*chosen.where, value), plan, step.call, state, chosen.entities())
    return None


def _vain(planner: Planner, chosen: Rows, slot: Slot) -> Iterator[Value]:
    """What a slot may take that no row has."""
    if slot.choices and slot.kind == "string":
        choices = planner.rng.sample(list(slot.choices), len(slot.choices))
        yield from (Value(planner.catalog.slot(slot), choice) for choice in choices[:_DRAWS])
    if (bounded := bound(slot)) is None:
        return
    for column in chosen.columns(planner, LIMITED):
        values = [row[column.key] for row in chosen.rows]
        if all(map(is_number, values)):
            limit = _below(min(values)) if bounded[0] == "under" else _below(3 * max(values))
            value = Value(column, limit, bounded[0])
            if limit > 0 and filters(slot, value):
                yield value


def _below(value: float) -> int:
    """The roundest number below, no less than half of it."""
    return next((number for step in _ROUND if value / 2 <= (number := int((value - 0.01) // step) * step)), 0)


async def _is_nothing(session: Session, call: Call) -> bool:
    result = await session.call(call.tool, call.arguments)
    return not result.is_error and is_empty(result.structured, result.text)


def _task(
    planner: Planner,
    noun: str,
    where: tuple[Value, ...],
    plan: list[Call],
    looked: Call,
    state: State,
    entities: list[Scalar],
) -> Grounded | None:
    """The task; to have made the call `looked`, without a filter, is as good."""
    checks: tuple[Check, ...] = (CallMade(looked.tool, looked.arguments, failed=True), _there(noun, False))
    return planner.task("whether", Count(noun, where, whether=True), (0,), tuple(plan), checks, state, entities)


def _there(noun: str, there: bool) -> Fact:
    return Fact(there, singular(noun.split()[-1]), "flag", derived=True)
