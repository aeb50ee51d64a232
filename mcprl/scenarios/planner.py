"""The steps that every kind of task is made of: fill a call with values of one split, execute it, name the thing that
it is about, and put the task into words.

The split is by thing: the key of every thing that a task names or asks for belongs to train, val or test by a hash of
it and the seed. So does the form of a request: a third of the constructions, and a fifth of the pairs of tools that
follow one another, are kept for the test on forms.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from mcprl.judges.checks import leaves
from mcprl.scenarios.filling import Filling
from mcprl.scenarios.intents import Intent, Outcome
from mcprl.scenarios.packs.pack import split_of
from mcprl.scenarios.probing.knowledge import State
from mcprl.scenarios.probing.results import takes_path
from mcprl.scenarios.steps import Field, Grounded
from mcprl.scenarios.writers import plain
from mcprl.scenarios.writers.plain import Worded
from mcprl.text import stems
from mcprl.types import Call, Check, Fact, Scalar, Scenario, Tool


class Planner(Filling):
    """Fills calls with values of one split and suite, executes them, and makes tasks of the results.

    A method that finds no fitting value, tool or result returns `None`. `ready` says how readily each kind of question
    makes a part of a task of two: those that fail sink. `found` has, by task, what it asks for and what that is, in a
    sentence, and `named` the values that its request must name.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self.ready: defaultdict[object, float] = defaultdict(lambda: 1.0)
        self.found: dict[str, str] = {}
        self.named: dict[str, tuple[Scalar, ...]] = {}

    def question(
        self,
        kind: str,
        intent: Intent,
        plan: Sequence[Call],
        fields: Sequence[tuple[Field, str]],
        state: State,
        entities: Sequence[Scalar],
    ) -> Grounded | None:
        """A task whose answer must state the values of `fields`, each with its subject if there are several things."""
        checks = tuple(
            Fact(
                entry.value,
                entry.attribute.label,
                entry.attribute.meaning,
                entry.attribute.unit,
                subject,
                entry.rivals,
                entry.derived,
                entry.live,
            )
            for entry, subject in fields
        )
        outcome = tuple(entry.value for entry, _ in fields)
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
        pairs = {(first.tool, second.tool) for first, second in pairwise(plan)}
        if self.suite != "forms" and pairs & self.catalog.held_out_pairs(self.seed):
            return None
        if not all(self.known.accepts(call) for call in plan):
            return None
        if len(plan) > self.max_calls or not all(self.allowed(value) for value in self.catalog.about(entities)):
            return None
        grounded = Grounded(kind, intent, outcome, plan, checks, state, tuple(entities))
        # Without an entity, the question itself belongs to a split.
        if not entities and not grounded.by_wording and split_of(self.seed, f"{kind} {intent}") != self.split:
            return None
        return grounded

    def _tells_apart(self, tool: Tool, request: str) -> bool:
        """Whether a request has a word that only this tool uses of those that work something out of the same arguments:
        a search for direct flights is not one for connections."""

        def said(tool: Tool) -> set[str]:
            return {*stems(f"{tool.name} {tool.description.partition('.')[0]}")}

        keys = {slot.key for slot in self.needs(tool)}
        others = [other for other in self.known.reads() if other is not tool and self.computes(other)]
        twins = [other for other in others if {slot.key for slot in self.needs(other)} == keys]
        return all({*stems(request)} & (said(tool) - said(twin)) for twin in twins)

    def word(self, task: Grounded) -> Scenario | None:
        """The scenario of a task, in words of a form that belongs to the suite; `None` if no construction fits."""
        worded = self._worded(task)
        if worded is None:
            return None
        told = plain.answer(task.intent, task.outcome, self.rng)
        content = json.dumps([worded.request, [[call.tool, call.arguments] for call in task.plan]], sort_keys=True)
        values = tuple(dict.fromkeys(map(str, self.catalog.about(task.entities))))
        scenario = Scenario(
            hashlib.sha256(content.encode()).hexdigest()[:12],
            worded.request,
            task.checks,
            task.plan,
            told,
            task.state.setup,
            values,
            self.split,
            task.kind,
            worded.form,
            self.suite,
        )
        self.found[scenario.id] = plain.found(task.intent, task.outcome) or told
        self.named[scenario.id] = tuple(plain.values_in(task.intent))
        return scenario

    def _worded(self, task: Grounded) -> Worded | None:
        worded = plain.say(task.intent, self.rng, self.allowed_forms)
        if worded is None or (task.by_wording and split_of(self.seed, worded.request) != self.split):
            return None
        if task.kind in ("action", "compute") and not self._tells_apart(
            self.known.tools[task.plan[-1].tool], worded.request
        ):
            return None
        places = [value for call in task.plan for value in self._unsaid_settings(call, worded.request)]
        return replace(worded, request=plain.placed(worded.request, list(dict.fromkeys(places))))

    def _unsaid_settings(self, call: Call, request: str) -> list[str]:
        """The folders of the server's command line that a call takes, and that neither it nor the request tells."""
        slots = {slot.path: slot for slot in self.known.slots.get(call.tool, ())}
        taken = [str(value) for path, value in leaves(call.arguments) if path in slots and takes_path(slots[path])]
        roots = [value for value in taken if value in self.catalog.roots]
        return [value for value in roots if value not in request and not self.known.is_shown(value)]
