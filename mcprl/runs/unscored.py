"""Test tasks that nothing scores, since nothing is expected and no judge reads them: base beside trained model."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from mcprl.runs.comparison import Model, Outcomes
from mcprl.runs.journal import Journal
from mcprl.types import Scenario, Trajectory


@dataclass(frozen=True)
class Unscored:
    """A request, and what each model did with it: its calls and its answer. They count in no rate."""

    request: str
    base: str
    trained: str


def unscored(journal: Journal, scenarios: Iterable[Scenario], outcomes: Outcomes) -> list[Unscored]:
    """The tasks without checks that have no score, in order; empty texts for a model that was not tested yet."""
    scored = {outcome.scenario_id for tested in outcomes.values() for outcome in tested if outcome.success is not None}
    tasks = [scenario for scenario in scenarios if not scenario.checks and scenario.id not in scored]
    if not tasks:
        return []
    base, trained = (_done(journal, model, outcomes) for model in ("base", "trained"))
    return [Unscored(task.request, base.get(task.id, ""), trained.get(task.id, "")) for task in tasks]


def _done(journal: Journal, model: Model, outcomes: Outcomes) -> dict[str, str]:
    """What the first rollout of each task did, by scenario id."""
    done: dict[str, str] = {}
    if tested := outcomes.get(model):
        for trajectory in journal.trajectories(f"test:{model}", tested[0].step):
            done.setdefault(trajectory.scenario_id, _summary(trajectory))
    return done


def _summary(trajectory: Trajectory) -> str:
    calls = [f"{call.tool}({json.dumps(call.arguments, ensure_ascii=False)})" for call in trajectory.calls]
    answer = trajectory.answer or f"({trajectory.error or trajectory.stop})"
    return " ".join(" -> ".join((*calls, answer)).split())[:400]
