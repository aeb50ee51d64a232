"""Two requests in one message: two questions, or a write and a question about something else."""

from mcprl.scenarios.intents import Both
from mcprl.scenarios.kinds.abstain import missing
from mcprl.scenarios.kinds.aggregates import count, extreme, listing
from mcprl.scenarios.kinds.changes import write
from mcprl.scenarios.kinds.computes import compute
from mcprl.scenarios.kinds.lookups import MakeTask, combine, compare, lookup, relation
from mcprl.scenarios.kinds.parts import link, parts, search
from mcprl.scenarios.planner import Planner
from mcprl.scenarios.probing.knowledge import State
from mcprl.scenarios.steps import Grounded
from mcprl.types import Fact, Session, Tool

_PARTS: tuple[MakeTask, ...] = (
    *(lookup, lookup, lookup, relation, count, extreme, listing, compare),
    *(combine, compute, parts, link, search, missing),
)
_OF_GROUPS = ("count", "listing", "total", "extreme")
_CODE_LETTERS = 3
_DRAWS = 6
"""Questions that are drawn for one that can be joined with another."""


async def both(planner: Planner, session: Session, state: State) -> Grounded | None:
    """Two questions about different things."""
    first = None
    for _ in range(_DRAWS):
        kind = planner.rng.choices(_PARTS, [planner.ready[part] for part in _PARTS])[0]
        question = await kind(planner, session, state)
        planner.ready[kind] = min(1.0, planner.ready[kind] * (1.5 if question else 0.7))
        if first and question and (task := _joined(planner, first, question, state)):
            return task
        first = first or question
    return None


async def write_and_ask(
    planner: Planner, clean: Session, written: Session, state: State, tool: Tool
) -> Grounded | None:
    """A write and a question about another thing."""
    question = await lookup(planner, clean, state)
    task = await write(planner, clean, written, state, tool) if question else None
    return _joined(planner, task, question, state) if task and question else None


def _joined(planner: Planner, first: Grounded, second: Grounded, state: State) -> Grounded | None:
    """Both tasks as one; `None` if an answer could mix them up."""
    facts = [[check for check in task.checks if isinstance(check, Fact)] for task in (first, second)]
    names = {fact.name for fact in facts[0]} & {fact.name for fact in facts[1]}
    values = {str(fact.value) for fact in facts[0]} & {str(fact.value) for fact in facts[1]}
    things = {*map(str, first.entities)} & {*map(str, second.entities)}
    if names or values or things or first.kind == second.kind == "missing":
        return None
    if _is_long(first) or _is_long(second) or _is_one(first, second) or _follows(first, second):
        return None
    plan = (*first.plan, *(call for call in second.plan if call not in first.plan))
    intent, outcome = Both((first.intent, second.intent)), (first.outcome, second.outcome)
    checks, entities = (*first.checks, *second.checks), (*first.entities, *second.entities)
    return planner.task("both", intent, outcome, plan, checks, state, entities)


def _is_long(task: Grounded) -> bool:
    """Whether a task asks for several things by itself."""
    asked = getattr(task.intent, "asked", ())
    return isinstance(asked, tuple) and len(asked) > 1  # pyright: ignore[reportUnknownArgumentType]


def _is_one(first: Grounded, second: Grounded) -> bool:
    """Whether two tasks are about the same group: how many there are, and which."""
    grouped = first.kind in _OF_GROUPS and second.kind in _OF_GROUPS
    return grouped and all(call in first.plan for call in second.plan)


def _follows(first: Grounded, second: Grounded) -> bool:
    """Whether one task names by a code what the other asks for: the hash of a commit, and the files of this hash."""
    for asking, named in ((first, second), (second, first)):
        told = [str(check.value) for check in asking.checks if isinstance(check, Fact)]
        codes = [str(entity) for entity in named.entities if len(str(entity)) > _CODE_LETTERS]
        if any(answer.startswith(code) for answer in told for code in codes):
            return True
    return False
