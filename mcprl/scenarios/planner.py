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
from itertools import pairwise

from mcprl.scenarios.beside import respelled, with_another
from mcprl.scenarios.filling import Filling
from mcprl.scenarios.intents import Intent, Outcome
from mcprl.scenarios.packs.pack import split_of
from mcprl.scenarios.probing.knowledge import State
from mcprl.scenarios.steps import Field, Grounded
from mcprl.scenarios.wording import answer, say
from mcprl.scenarios.wording.clocks import as_asked
from mcprl.servers.effects import is_read
from mcprl.text import stems
from mcprl.types import Call, Check, Fact, Scalar, Scenario, Tool


class Planner(Filling):
    """Fills calls with values of one split and suite, executes them, and makes tasks of the results.

    A method that finds no fitting value, tool or result returns `None`. `ready` says how readily each kind of question
    makes a part of a task of two: those that fail sink.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self.ready: defaultdict[object, float] = defaultdict(lambda: 1.0)

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
        worded = say(task.intent, self.rng, self.allowed_form)
        if worded is None or (task.by_wording and split_of(self.seed, worded.request) != self.split):
            return None
        if task.kind in ("action", "compute") and not self._tells_apart(
            self.known.tools[task.plan[-1].tool], worded.request
        ):
            return None
        other = ""
        if task.plan and task.kind != "missing":
            tools = [self.known.tools[call.tool] for call in task.plan]
            worded = respelled(worded, task.entities, str([tool.as_function() for tool in tools]), self.rng)
            pool = task.state.pool.values()
            writes = any(not is_read(tool) for tool in tools)
            worded, other = with_another(
                worded, task.entities, pool, self.rng, self.allowed, self.allowed_form, writes=writes
            )
        content = json.dumps([worded.request, [[call.tool, call.arguments] for call in task.plan]], sort_keys=True)
        about = self.catalog.about(task.entities)
        values = tuple(dict.fromkeys(str(value) for value in (*about, *([other] if other else []))))
        return Scenario(
            hashlib.sha256(content.encode()).hexdigest()[:12],
            worded.request,
            task.checks,
            task.plan,
            as_asked(answer(task.intent, task.outcome, self.rng), task.plan, worded.request),
            task.state.setup,
            values,
            self.split,
            task.kind,
            worded.form,
            self.suite,
        )
