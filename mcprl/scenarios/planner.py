"""What every kind of task is made with: a kind finds things, executes calls, and asks the planner for the task.

A plan is a value that passes through steps: a `Found` thing, a `Grounded` task, a `Composed` one in words.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from mcprl.judges.checks import leaves
from mcprl.scenarios.calls import Calls
from mcprl.scenarios.catalog import Catalog
from mcprl.scenarios.choice import Choice
from mcprl.scenarios.filling import Filler
from mcprl.scenarios.finding import Finder
from mcprl.scenarios.intents import Intent, Outcome
from mcprl.scenarios.packs.pack import split_of
from mcprl.scenarios.probing.knowledge import State
from mcprl.scenarios.probing.results import takes_path
from mcprl.scenarios.steps import Field, Grounded
from mcprl.scenarios.subset import Subset
from mcprl.scenarios.writers import plain
from mcprl.scenarios.writers.plain import Worded
from mcprl.text import stems
from mcprl.types import Call, Check, Fact, Scalar, Scenario, Split, Suite, Tool


class Planner:
    """The parts that make the tasks of one split and suite, each of which owns one thing.

    `subset` says what belongs to it and draws, `choice` picks tools and fields, `calls` executes, `finder` leads to
    things, `filler` has the values of writes. What finds no fitting value, tool or result returns `None`. `ready` says
    how readily each kind of question makes a part of a task of two: those that fail sink.
    """

    def __init__(self, catalog: Catalog, split: Split, suite: Suite, seed: int, max_calls: int) -> None:
        self.catalog, self.known, self.max_calls = catalog, catalog.known, max_calls
        self.subset = Subset(catalog, split, suite, seed)
        self.rng, self.allowed = self.subset.rng, self.subset.allowed
        self.choice = Choice(self.subset)
        self.calls = Calls(self.subset, self.choice)
        self.finder = Finder(self.choice, self.calls, max_calls)
        self.filler = Filler(self.subset, self.calls.idle)
        self.ready: defaultdict[object, float] = defaultdict(lambda: 1.0)

    def question(
        self,
        kind: str,
        intent: Intent,
        plan: Sequence[Call],
        fields: Sequence[Field],
        state: State,
        entities: Sequence[Scalar],
    ) -> Grounded | None:
        """A task whose answer must state the values of `fields`."""
        checks = tuple(
            Fact(
                entry.value,
                entry.attribute.label,
                entry.attribute.meaning,
                entry.attribute.unit,
                entry.subject,
                entry.rivals,
                entry.derived,
                entry.live,
            )
            for entry in fields
        )
        outcome = tuple(entry.value for entry in fields)
        return self.task(kind, intent, outcome, tuple(plan), checks, state, entities)

    def task(
        self,
        kind: str,
        intent: Intent,
        outcome: Outcome,
        plan: tuple[Call, ...],
        checks: tuple[Check, ...],
        state: State,
        entities: Sequence[Scalar],
    ) -> Grounded | None:
        """A task without words; `None` if a value or the sequence of tools belongs to another split or suite."""
        subset, catalog = self.subset, self.catalog
        pairs = {(first.tool, second.tool) for first, second in pairwise(plan)}
        if subset.suite != "forms" and pairs & catalog.held_out_pairs(subset.seed):
            return None
        if not all(self.known.accepts(call) for call in plan):
            return None
        if len(plan) > self.max_calls or not all(self.allowed(value) for value in catalog.about(entities)):
            return None
        grounded = Grounded(kind, intent, outcome, plan, checks, state, tuple(entities))
        # Without an entity, the question itself belongs to a split.
        if not entities and not grounded.by_wording and split_of(subset.seed, f"{kind} {intent}") != subset.split:
            return None
        return grounded


@dataclass(frozen=True)
class Composed:
    """A task in words. `found` says in a sentence what it asks for and what that is, `named` has the values that its
    request must name."""

    scenario: Scenario
    found: str
    named: tuple[Scalar, ...]


def word(subset: Subset, task: Grounded) -> Composed | None:
    """A task in words of a form that belongs to the suite; `None` if no construction fits."""
    worded = _worded(subset, task)
    if worded is None:
        return None
    told = plain.answer(task.intent, task.outcome, subset.rng)
    content = json.dumps([worded.request, [[call.tool, call.arguments] for call in task.plan]], sort_keys=True)
    scenario = Scenario(
        hashlib.sha256(content.encode()).hexdigest()[:12],
        worded.request,
        task.checks,
        task.plan,
        told,
        task.state.setup,
        tuple(dict.fromkeys(map(str, subset.catalog.about(task.entities)))),
        subset.split,
        task.kind,
        worded.form,
        subset.suite,
    )
    found = plain.found(task.intent, task.outcome) or told
    return Composed(scenario, found, tuple(plain.values_in(task.intent)))


def _worded(subset: Subset, task: Grounded) -> Worded | None:
    worded = plain.say(task.intent, subset.rng, subset.allowed_forms)
    if (
        worded is None
        or "\n" in worded.request
        or (task.by_wording and split_of(subset.seed, worded.request) != subset.split)
    ):
        return None
    if task.kind in ("action", "compute") and not tells_apart(subset.catalog, task.plan[-1], worded.request):
        return None
    places = [value for call in task.plan for value in _unsaid_settings(subset.catalog, call, worded.request)]
    return replace(worded, request=plain.placed(worded.request, list(dict.fromkeys(places))))


def tells_apart(catalog: Catalog, call: Call, request: str) -> bool:
    """Whether a request has a word that only this tool uses of those that work something out of the same arguments:
    a search for direct flights is not one for connections."""

    def said(tool: Tool) -> set[str]:
        return {*stems(f"{tool.name} {tool.description.partition('.')[0]}")}

    tool = catalog.known.tools[call.tool]
    keys = {slot.key for slot in catalog.needs(tool)}
    others = [other for other in catalog.known.reads() if other is not tool and catalog.computes(other)]
    twins = [other for other in others if {slot.key for slot in catalog.needs(other)} == keys]
    twins = [other for other in twins if catalog.known.accepts(replace(call, tool=other.name))]
    return all({*stems(request)} & (said(tool) - said(twin)) for twin in twins)


def _unsaid_settings(catalog: Catalog, call: Call, request: str) -> list[str]:
    """The folders of the server's command line that a call takes, and that neither it nor the request tells."""
    slots = {slot.path: slot for slot in catalog.known.slots.get(call.tool, ())}
    taken = [str(value) for path, value in leaves(call.arguments) if path in slots and takes_path(slots[path])]
    roots = [value for value in taken if value in catalog.roots]
    return [value for value in roots if value not in request and not catalog.known.is_shown(value)]
