"""Questions about things: an attribute of one or of several, of what belongs to another thing."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from mcprl.judges.checks import holds
from mcprl.scenarios.askable import askable
from mcprl.scenarios.english.nouns import is_technical
from mcprl.scenarios.intents import Combine, Compare, Compute, Each, Lookup, Relation
from mcprl.scenarios.kinds.rows import ADDED, ORDERED, STOCKS, is_code
from mcprl.scenarios.planner import Planner
from mcprl.scenarios.probing.knowledge import State
from mcprl.scenarios.probing.results import takes_path
from mcprl.scenarios.slots import Slot
from mcprl.scenarios.steps import Field, Found, Grounded, same
from mcprl.types import Call, Session, Tool

MakeTask = Callable[[Planner, Session, State], Awaitable[Grounded | None]]
"""A kind of task that writes nothing."""
_SECONDS = 4
"""Things that are looked at for one that can be compared with another."""


async def lookup(planner: Planner, session: Session, state: State) -> Grounded | None:
    """One or two attributes of a thing."""
    tool = planner.choice.tool(lambda tool: not planner.catalog.computes(tool), lambda tool: _tells(planner, tool))
    share = 0.2  # `relation` and `across` take most things by their names
    if tool and any(map(takes_path, planner.catalog.needs(tool))):
        share = 0.6  # nobody says a path if it has a name
    elif tool and planner.finder.givers(tool):
        share = 0.9  # nor coordinates, if it is a town's
    by_name = planner.rng.random() < share
    found = await planner.finder.thing(session, state, tool, by_name) if tool else None
    fields = planner.choice.fields(found) if found else ()
    if found is None or not fields:
        return None
    asked = tuple(entry.attribute for entry in fields)
    intent = Lookup(found.reference, asked)
    last = found.steps[-1] if found.steps else None
    named = last and (last.rows or any(planner.catalog.names_entity(slot) for slot, _ in last.filled))
    if tool and last and found.reference.values and not named:
        intent = Compute(tool.name, tool.title or tool.description, found.reference.values, asked)
    return planner.question("lookup", intent, found.plan, fields, state, found.entities)


def _tells(planner: Planner, tool: Tool) -> int:
    """How many fields the tool's results tell of a thing besides its key; at least 1."""
    told = {place[-1] for place in planner.known.base.pool if place[:2] == ("from", tool.name)}
    return max(1, len(told) - 1)


async def across(planner: Planner, session: Session, state: State) -> Grounded | None:
    """Two attributes of one thing that two tools show: what does it cost, and how many are left?"""
    tool = planner.choice.tool(lambda tool: _twins(planner, tool))
    found = await planner.finder.thing(session, state, tool) if tool else None
    twins = _twins(planner, tool) if tool else []  # looking for the thing may have shown that there are none
    if tool is None or found is None or not twins or not found.steps or found.steps[-1].tool is not tool:
        return None
    other, slot = planner.rng.choice(twins)
    key = next((value for own, value in found.steps[-1].filled if planner.catalog.names_entity(own)), None)
    step = await planner.calls.read(session, state, other, {slot: key}) if key is not None else None
    if step is None or not isinstance(step.record, Mapping) or step.rows:
        return None
    shown = "\n".join(made.result.text for made in found.steps)
    given = [value.value for value in found.reference.values]
    second = [f for f in askable(planner.catalog, step, step.record, (), given) if not holds(shown, f.value)]  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    first = planner.choice.fields(found, 1, lambda field: not holds(step.result.text, field.value))
    if not first or not second:
        return None
    fields = (*first, planner.rng.choice(second))
    intent = Lookup(found.reference, tuple(field.attribute for field in fields))
    return planner.question("lookup", intent, [*found.plan, step.call], fields, state, found.entities)


def _twins(planner: Planner, tool: Tool) -> list[tuple[Tool, Slot]]:
    """The other tools that show one thing by the same key, each with its slot."""

    def key(tool: Tool) -> tuple[Slot, str] | None:
        needed = planner.catalog.needs(tool)
        if len(needed) != 1 or tool.name in planner.catalog.lists or not planner.catalog.names_entity(needed[0]):
            return None
        return needed[0], planner.catalog.named_by(tool, needed[0])

    own = key(tool)
    others = [(other, key(other)) for other in planner.known.reads() if other is not tool] if own else []
    return [(other, found[0]) for other, found in others if found and own and found[1] == own[1]]


async def each(planner: Planner, session: Session, state: State) -> Grounded | None:
    """The same attribute of two things."""
    pair = await _pair(planner, session, state, lambda entry: entry.attribute.meaning != "flag")
    if pair is None:
        return None
    first, second, mine, theirs = pair
    intent = Each((first.reference, second.reference), mine.attribute)
    asked = [
        replace(mine, rivals=(theirs.value, *mine.rivals), subject=first.subject),
        replace(theirs, rivals=(mine.value, *theirs.rivals), subject=second.subject),
    ]
    return planner.question("each", intent, _joined(first, second), asked, state, [*first.entities, *second.entities])


async def compare(planner: Planner, session: Session, state: State) -> Grounded | None:
    """Which of two things has more of an attribute."""
    pair = await _pair(planner, session, state, _is_ordered)
    if pair is None:
        return None
    first, second, mine, theirs = pair
    if type(mine.value) is not type(theirs.value) or not first.subject or not second.subject:
        return None
    most = planner.rng.random() < 0.5
    first_wins = (mine.value > theirs.value) == most  # pyright: ignore[reportOperatorIssue]
    winner, loser = (first, second) if first_wins else (second, first)
    intent = Compare((first.reference, second.reference), mine.attribute, most)
    naming = winner.reference.values[0]
    asked = [Field(naming.attribute, naming.value, (loser.subject,), derived=True)]
    entities = [*first.entities, *second.entities]
    return planner.question("compare", intent, _joined(first, second), asked, state, entities)


def _is_ordered(entry: Field) -> bool:
    return entry.attribute.meaning in ORDERED and not is_code(entry.attribute) and not entry.live


async def combine(planner: Planner, session: Session, state: State) -> Grounded | None:
    """The sum or the difference of an attribute of two things."""
    pair = await _pair(planner, session, state, _is_combinable)
    if pair is None:
        return None
    first, second, mine, theirs = pair
    one, other = mine.value, theirs.value
    if isinstance(one, str | bool) or isinstance(other, str | bool):
        return None
    counted = mine.attribute.meaning == "count"  # nobody asks for the difference of two numbers of bags
    sums = counted or (mine.attribute.meaning == "money" and planner.rng.random() < 0.5)
    result = round(one + other if sums else abs(one - other), 2)
    intent = Combine((first.reference, second.reference), mine.attribute, "sum" if sums else "difference")
    asked = [Field(mine.attribute, result, (one, other), derived=True)]
    entities = [*first.entities, *second.entities]
    return planner.question("combine", intent, _joined(first, second), asked, state, entities)


def _is_combinable(entry: Field) -> bool:
    """Whether two values of a field can be added up or differ by something that people want to know: not the stocks of
    two different goods."""
    stocked = entry.attribute.meaning == "count" and bool(STOCKS & {*entry.attribute.label.split()})
    return entry.attribute.meaning in ADDED and not entry.live and not stocked


async def _pair(
    planner: Planner, session: Session, state: State, fits: Callable[[Field], bool]
) -> tuple[Found, Found, Field, Field] | None:
    """Two things that are named in the same way and an attribute that differs between them."""
    tool = planner.choice.tool(planner.catalog.entity_slots)
    if tool is None:
        return None
    by_name = planner.rng.random() < 0.6
    first = await planner.finder.thing(session, state, tool, by_name)
    for _ in range(_SECONDS if first else 0):
        second = await planner.finder.thing(session, state, tool, by_name)
        if first is None or second is None or first.reference.noun != second.reference.noun:
            continue
        if is_technical(first.reference.noun):
            return None  # nobody compares two files or two commits
        named = [[value.attribute.key for value in found.reference.values] for found in (first, second)]
        if named[0] != named[1] or first.subject == second.subject:
            continue
        theirs = {entry.attribute.key: entry for entry in second.fields}

        def differs(entry: Field, theirs: Mapping[str, Field] = theirs) -> bool:
            other = theirs.get(entry.attribute.key)
            return fits(entry) and other is not None and not same(entry.value, other.value)

        if fields := planner.choice.fields(first, 1, differs):
            return first, second, fields[0], theirs[fields[0].attribute.key]
    return None


def _joined(first: Found, second: Found) -> list[Call]:
    """The calls that lead to both things; a list that leads to both is read once."""
    return [*first.plan, *(call for call in second.plan if call not in first.plan)]


async def relation(planner: Planner, session: Session, state: State) -> Grounded | None:
    """An attribute of a thing that is reached through others, each call taking a value of the result before it."""
    leads = {first for first, _ in planner.catalog.pairs()}
    first = planner.choice.tool(lambda tool: tool.name in leads)
    start = await planner.finder.thing(session, state, first) if first else None
    if start is None:
        return None
    reached, via, entities = start, list[str](), list(start.entities)
    while len(reached.steps) < planner.max_calls:
        following = await planner.finder.follow(session, reached)
        if following is None:
            break
        reached, noun, key = following
        listed = reached.steps[-1].tool.name in planner.catalog.lists  # what belongs to the thing is another
        other = listed or not same(planner.catalog.thing(key), planner.catalog.thing(reached.subject))
        own = start.reference.noun.split()[-1]  # the jobs of a customer are jobs
        if (
            other and noun not in (start.reference.noun, *via[-1:]) and (via or noun.split()[-1] != own)
        ):  # a listed order is the order that is then read
            via.append(noun)
        entities.append(key)
        if planner.rng.random() < 0.6:
            break
    if len(reached.steps) == len(start.steps):
        return None
    fields = planner.choice.fields(reached, 1)
    if not fields:
        return None
    asked = tuple(entry.attribute for entry in fields)
    intent = Relation(start.reference, tuple(via), asked) if via else Lookup(start.reference, asked)
    kind = "relation" if via else "lookup"
    return planner.question(kind, intent, _leading(reached), [fields[0]], state, entities)


def _leading(reached: Found) -> list[Call]:
    """The calls that lead to a thing: not those whose result nobody needs, since the request or an earlier result has
    what the next call takes.
    """
    said = [value.value for value in reached.reference.values]
    kept = [reached.steps[-1]]
    for n in reversed(range(len(reached.steps) - 1)):
        earlier = "\n".join(step.result.text for step in reached.steps[:n])
        wanted = [value for step in kept for _, value in step.filled if not any(same(value, one) for one in said)]
        if any(holds(reached.steps[n].result.text, value) and not holds(earlier, value) for value in wanted):
            kept.insert(0, reached.steps[n])
    return [step.call for step in kept]
