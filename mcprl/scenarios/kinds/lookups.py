"""Questions about things: an attribute of one or of several, of what belongs to another thing, of what a tool works
out."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from mcprl.judges.checks import holds
from mcprl.scenarios.calls import MOST_BARREN
from mcprl.scenarios.fields import text_facts
from mcprl.scenarios.guessing import is_guessable
from mcprl.scenarios.intents import Attribute, Combine, Compare, Compute, Each, Lookup, Reference, Relation
from mcprl.scenarios.planner import Planner
from mcprl.scenarios.probing.knowledge import State
from mcprl.scenarios.slots import Slot
from mcprl.scenarios.steps import Field, Found, Grounded, Step, same
from mcprl.scenarios.wording.modifiers import is_moment_of_history
from mcprl.types import Call, CallMade, Session, Tool

MakeTask = Callable[[Planner, Session, State], Awaitable[Grounded | None]]
"""A kind of task that writes nothing."""
_SECONDS = 4
"""Things that are looked at for one that can be compared with another."""
_ADDED = ("money", "count", "measure", "duration")
_ORDERED = ("money", "count", "measure", "percent", "number", "date", "datetime", "year", "duration")


async def lookup(planner: Planner, session: Session, state: State) -> Grounded | None:
    """One or two attributes of a thing."""
    tool = planner.tool(lambda tool: not planner.computes(tool))
    found = await planner.thing(session, state, tool) if tool else None
    fields = planner.choose(found) if found else ()
    if found is None or not fields:
        return None
    intent = Lookup(found.reference, tuple(entry.attribute for entry in fields))
    asked = [(entry, "") for entry in fields]
    return planner.question("lookup", intent, found.plan, asked, state, found.entities)


async def across(planner: Planner, session: Session, state: State) -> Grounded | None:
    """Two attributes of one thing that two tools show: what does it cost, and how many are left?"""
    tool = planner.tool(lambda tool: bool(_twins(planner, tool)))
    found = await planner.thing(session, state, tool) if tool else None
    twins = _twins(planner, tool) if tool else []  # looking for the thing may have shown that there are none
    if tool is None or found is None or not twins or not found.steps or found.steps[-1].tool is not tool:
        return None
    other, slot = planner.rng.choice(twins)
    key = next((value for own, value in found.steps[-1].filled if planner.catalog.names_entity(own)), None)
    step = await planner.read(session, state, other, {slot: key}) if key is not None else None
    if step is None or not isinstance(step.record, Mapping) or step.rows:
        return None
    shown = "\n".join(made.result.text for made in found.steps)
    given = [value.value for value in found.reference.values]
    second = [f for f in planner.fields(step, step.record, (), given) if not holds(shown, f.value)]  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    first = planner.choose(found, 1, lambda field: not holds(step.result.text, field.value))
    if not first or not second:
        return None
    fields = (*first, planner.rng.choice(second))
    intent = Lookup(found.reference, tuple(field.attribute for field in fields))
    asked = [(field, "") for field in fields]
    return planner.question("lookup", intent, [*found.plan, step.call], asked, state, found.entities)


def _twins(planner: Planner, tool: Tool) -> list[tuple[Tool, Slot]]:
    """The other tools that show one thing by the same key, each with its slot."""

    def key(tool: Tool) -> tuple[Slot, str] | None:
        needed = planner.needs(tool)
        if len(needed) != 1 or tool.name in planner.catalog.lists or not planner.catalog.names_entity(needed[0]):
            return None
        return needed[0], planner.catalog.named_by(tool, needed[0])

    own = key(tool)
    others = [(other, key(other)) for other in planner.known.reads() if other is not tool] if own else []
    return [(other, found[0]) for other, found in others if found and own and found[1] == own[1]]


async def compute(planner: Planner, session: Session, state: State) -> Grounded | None:
    """What a tool works out of values that name no thing of the server."""
    tool = planner.tool(lambda tool: planner.computes(tool) and planner.barren[tool.name] < MOST_BARREN)
    step = await planner.read(session, state, tool, {}) if tool else None
    if tool is None or step is None:
        return None
    fields, values = _worked_out(planner, step), tuple(planner.said(step.filled))
    texts = [value.value for value in values if isinstance(value.value, str)]
    if len({*texts}) < len(texts):
        return None  # nobody asks how far a place is from itself
    if not fields:
        planner.barren[tool.name] += 1
        return None
    # The values of a computation are no things of the server: what is held out is their combination.
    entities = [", ".join(str(value.value) for value in values)]
    asked = () if fields[0].attribute.key == "result" else (fields[0].attribute,)
    intent = Compute(tool.name, tool.title or tool.description, values, asked)
    task = planner.question("compute", intent, [step.call], [(fields[0], "")], state, entities)
    planner.barren[tool.name] -= task is not None
    return task


async def act(planner: Planner, session: Session, state: State) -> Grounded | None:
    """A call that is asked for itself, since nothing that could be asked stands in its result."""
    tool = planner.tool(planner.is_plain)
    step = await planner.read(session, state, tool, {}) if tool else None
    if tool is None or step is None or (planner.computes(tool) and _worked_out(planner, step)):
        return None
    values = tuple(value for value in planner.said(step.filled, paging=True))
    entities = [", ".join(str(value.value) for value in values)] if values else []
    intent = Compute(tool.name, tool.title or tool.description, values)
    checks = (CallMade(tool.name, step.call.arguments),)
    outcome = (step.result.text,) if _is_short(step.result.text) else ("done",)
    return planner.task("action", intent, outcome, (step.call,), checks, state, entities)


def _is_short(text: str) -> bool:
    return len(text) < 80 and "\n" not in text and "[" not in text


def _worked_out(planner: Planner, step: Step) -> list[Field]:
    """What a computation returned: a field of its record, else what varies in its text; a random one first."""
    given = [value for _, value in step.filled]
    record = step.rows[0] if len(step.rows) == 1 else step.record
    if isinstance(record, Mapping):
        fields = list(planner.fields(step, record, (), given))  # pyright: ignore[reportUnknownArgumentType]
        fields = [entry for entry in fields if not is_guessable(planner.known, step.tool.name, entry)]
        planner.rng.shuffle(fields)
        return fields
    texts = planner.known.texts.get(step.tool.name, [])
    facts = text_facts(texts, step.result.text, {str(value).casefold() for value in given})
    meaning = "number" if facts and not isinstance(facts[0], str) else "text"
    return [Field(Attribute("result", "result", meaning), value) for value in facts[:1]]


async def compute_each(planner: Planner, session: Session, state: State) -> Grounded | None:
    """What a tool works out of a place or a category, for two values of it and the same other arguments."""
    tool = planner.tool(lambda tool: planner.computes(tool) and bool(_choosing(planner, tool)))
    first = await planner.read(session, state, tool, {}) if tool else None
    varied = planner.rng.choice(_choosing(planner, tool)) if tool else None
    fixed = {slot: value for slot, value in first.filled if slot != varied} if first else {}
    second = await planner.read(session, state, tool, fixed) if tool and first else None
    if tool is None or first is None or second is None or first.call == second.call:
        return None
    said = [tuple(planner.said([pair for pair in step.filled if pair[0] == varied])) for step in (first, second)]
    given = tuple(planner.said([pair for pair in first.filled if pair[0] != varied]))
    if any(len(values) != 1 for values in said) or {v.value for v in given} & {values[0].value for values in said}:
        return None
    theirs = {entry.attribute: entry for entry in _worked_out(planner, second)}
    pairs = [(entry, theirs[entry.attribute]) for entry in _worked_out(planner, first) if entry.attribute in theirs]
    pairs = [pair for pair in pairs if not same(pair[0].value, pair[1].value) and pair[0].attribute.key != "result"]
    if not pairs:
        return None
    mine, other = pairs[0]
    mine, other = replace(mine, rivals=(other.value, *mine.rivals)), replace(other, rivals=(mine.value, *other.rivals))
    intent = Each(tuple(Reference(values[0].attribute.label, values) for values in said), mine.attribute, given)
    asked = [(entry, str(values[0].value)) for entry, values in zip((mine, other), said, strict=True)]
    entities = [values[0].value for values in said if not values[0].attribute.choices]
    if given:  # what is held out is their combination
        entities = [", ".join(str(value.value) for value in (*given, *(values[0] for values in said)))]
    return planner.question("each", intent, [first.call, second.call], asked, state, entities)


def _choosing(planner: Planner, tool: Tool) -> list[Slot]:
    """The slots of a tool that take a place or a category: of several the last, which says what for."""
    found = [slot for slot in planner.needs(tool) if planner.catalog.slot(slot).meaning in ("place", "category")]
    return found[-1:]


async def each(planner: Planner, session: Session, state: State) -> Grounded | None:
    """The same attribute of two things."""
    pair = await _pair(planner, session, state, lambda entry: entry.attribute.meaning != "flag")
    if pair is None:
        return None
    first, second, mine, theirs = pair
    intent = Each((first.reference, second.reference), mine.attribute)
    asked = [
        (replace(mine, rivals=(theirs.value, *mine.rivals)), first.subject),
        (replace(theirs, rivals=(mine.value, *theirs.rivals)), second.subject),
    ]
    return planner.question("each", intent, _joined(first, second), asked, state, [*first.entities, *second.entities])


async def compare(planner: Planner, session: Session, state: State) -> Grounded | None:
    """Which of two things has more of an attribute."""
    pair = await _pair(planner, session, state, lambda entry: entry.attribute.meaning in _ORDERED and not entry.live)
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
    asked = [(Field(naming.attribute, naming.value, (loser.subject,), derived=True), "")]
    entities = [*first.entities, *second.entities]
    return planner.question("compare", intent, _joined(first, second), asked, state, entities)


async def combine(planner: Planner, session: Session, state: State) -> Grounded | None:
    """The sum or the difference of an attribute of two things."""
    pair = await _pair(planner, session, state, lambda entry: entry.attribute.meaning in _ADDED and not entry.live)
    if pair is None:
        return None
    first, second, mine, theirs = pair
    one, other = mine.value, theirs.value
    if isinstance(one, str | bool) or isinstance(other, str | bool):
        return None
    sums = mine.attribute.meaning in ("money", "count") and planner.rng.random() < 0.5
    result = round(one + other if sums else abs(one - other), 2)
    intent = Combine((first.reference, second.reference), mine.attribute, "sum" if sums else "difference")
    asked = [(Field(mine.attribute, result, (one, other), derived=True), "")]
    entities = [*first.entities, *second.entities]
    return planner.question("combine", intent, _joined(first, second), asked, state, entities)


async def _pair(
    planner: Planner, session: Session, state: State, fits: Callable[[Field], bool]
) -> tuple[Found, Found, Field, Field] | None:
    """Two things that are named in the same way and an attribute that differs between them."""
    tool = planner.tool(lambda tool: any(planner.catalog.names_entity(slot) for slot in planner.needs(tool)))
    if tool is None:
        return None
    by_name = planner.rng.random() < 0.6
    first = await planner.thing(session, state, tool, by_name)
    for _ in range(_SECONDS if first else 0):
        second = await planner.thing(session, state, tool, by_name)
        if first is None or second is None or first.reference.noun != second.reference.noun:
            continue
        named = [[value.attribute.key for value in found.reference.values] for found in (first, second)]
        if named[0] != named[1] or first.subject == second.subject:
            continue
        history = [{v.value for v in found.reference.values if is_moment_of_history(v)} for found in (first, second)]
        if history[0] != history[1]:  # what changed since one commit is not compared with what changed since another
            continue
        theirs = {entry.attribute.key: entry for entry in second.fields}

        def differs(entry: Field, theirs: Mapping[str, Field] = theirs) -> bool:
            other = theirs.get(entry.attribute.key)
            return fits(entry) and other is not None and not same(entry.value, other.value)

        if fields := planner.choose(first, 1, differs):
            return first, second, fields[0], theirs[fields[0].attribute.key]
    return None


def _joined(first: Found, second: Found) -> list[Call]:
    """The calls that lead to both things; a list that leads to both is read once."""
    return [*first.plan, *(call for call in second.plan if call not in first.plan)]


async def relation(planner: Planner, session: Session, state: State) -> Grounded | None:
    """An attribute of a thing that is reached through others, each call taking a value of the result before it."""
    leads = {first for first, _ in planner.catalog.pairs()}
    first = planner.tool(lambda tool: tool.name in leads)
    start = await planner.thing(session, state, first) if first else None
    if start is None:
        return None
    reached, via, entities = start, list[str](), list(start.entities)
    while len(reached.steps) < planner.max_calls:
        following = await planner.follow(session, reached)
        if following is None:
            break
        reached, noun, key = following
        listed = reached.steps[-1].tool.name in planner.catalog.lists  # what belongs to the thing is another
        other = listed or not same(planner.catalog.thing(key), planner.catalog.thing(reached.subject))
        if other and noun not in (start.reference.noun, *via[-1:]):  # a listed order is the order that is then read
            via.append(noun)
        entities.append(key)
        if planner.rng.random() < 0.6:
            break
    if len(reached.steps) == len(start.steps):
        return None
    fields = planner.choose(reached, 1)
    if not fields:
        return None
    asked = tuple(entry.attribute for entry in fields)
    intent = Relation(start.reference, tuple(via), asked) if via else Lookup(start.reference, asked)
    kind = "relation" if via else "lookup"
    return planner.question(kind, intent, _leading(reached), [(fields[0], "")], state, entities)


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
