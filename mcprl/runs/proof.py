"""The proof: what a run's journal says about base, warm-started and trained model on the same held-out tasks.

`build` reads nothing but the journal, of a finished run or of one that is still going; `report` writes the pages.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean

from mcprl.runs import intervals
from mcprl.runs.comparison import (
    MODELS,
    Comparison,
    Model,
    Outcomes,
    common_tasks,
    compare,
    compare_parts,
    difficulty,
    tools_of,
)
from mcprl.runs.examples import Example, pick_examples
from mcprl.runs.journal import Journal
from mcprl.runs.records import Outcome, StepRecord, success_by_task
from mcprl.types import Scenario


@dataclass(frozen=True)
class Curve:
    """Learning by step. `val` has (step, success on the validation tasks, low, high) with the 95 % interval, `train`
    (step, mean score of the training rollouts).
    """

    val: list[tuple[int, float, float, float]]
    train: list[tuple[int, float]]


@dataclass(frozen=True)
class Report:
    """What a run proves, with what a reader needs to judge it and to repeat it."""

    name: str
    status: str
    finished: bool
    server: str
    tools: list[str]
    left_out: dict[str, str]
    model: str
    seed: int
    control: str
    learning_rate: float
    steps: int
    best_step: int | None
    wall_s: float
    exact_tokens: float | None
    groups: int
    dropped_groups: int
    test: Comparison
    per_tool: dict[str, Comparison]
    per_difficulty: dict[str, Comparison]
    per_kind: dict[str, Comparison]
    curve: Curve
    stops: dict[str, dict[str, int]]
    examples: list[Example]
    versions: dict[str, str]
    tool_hash: str
    date: str


def build(folder: str | Path) -> Report:
    """The report of the run in `folder`, as far as the run has come. Raises `JournalError` if there is no run."""
    with Journal.open(folder) as journal:
        config, steps, best = journal.config, journal.steps(), journal.adapters("best")
        outcomes = _test_outcomes(journal)
        scenarios = {scenario.id: scenario for scenario in journal.scenarios("test")}
        compared = [scenarios[task] for task in common_tasks(outcomes)]
        finished, status = _status(scenarios, outcomes, len(steps))
        return Report(
            name=journal.folder.absolute().name,
            status=status,
            finished=finished,
            server=", ".join(journal.fact("server") or [server.target for server in config.servers]),
            tools=journal.fact("tools", []),
            left_out=journal.fact("left_out", {}),
            model=journal.fact("model", config.model.name),
            seed=config.seed,
            control=config.control,
            learning_rate=config.training.learning_rate,
            steps=len(steps),
            best_step=best[-1].adapter.step if best else None,
            wall_s=round(journal.wall_s(), 1),
            exact_tokens=min(_metric(steps, "exact_tokens"), default=None),
            groups=int(sum(_metric(steps, "groups"))),
            dropped_groups=int(sum(_metric(steps, "dropped_groups"))),
            test=compare(outcomes, compared, config.seed),
            per_tool=compare_parts(outcomes, compared, tools_of, config.seed),
            per_difficulty=compare_parts(outcomes, compared, difficulty(outcomes), config.seed),
            per_kind=compare_parts(outcomes, compared, lambda scenario: [scenario.kind], config.seed),
            curve=_curve(journal),
            stops=_stops(journal, outcomes),
            examples=pick_examples(journal, compared, outcomes),
            versions=journal.fact("versions", {}),
            tool_hash=journal.fact("tool_hash", ""),
            date=datetime.fromtimestamp(journal.events("opened")[0].at, UTC).isoformat(timespec="seconds"),
        )


def _test_outcomes(journal: Journal) -> dict[Model, list[Outcome]]:
    """The outcomes of each tested model, of the last step at which it was tested."""
    tested: dict[Model, list[Outcome]] = {}
    for model in MODELS:
        outcomes = journal.outcomes(f"test:{model}")
        last = max((outcome.step for outcome in outcomes), default=0)
        if latest := [outcome for outcome in outcomes if outcome.step == last]:
            tested[model] = latest
    return tested


def _status(scenarios: Mapping[str, Scenario], outcomes: Outcomes, steps: int) -> tuple[bool, str]:
    """Whether the run is finished, and its status in words. The test of the warm-started model may be missing."""
    for model in MODELS:
        tested = {outcome.scenario_id for outcome in outcomes.get(model, ())}
        if model == "warm" and not tested:
            continue
        if not scenarios or scenarios.keys() - tested:
            done = f"{len(tested)} of {len(scenarios)}" if scenarios else "none"
            return False, f"unfinished: {steps} steps are done, {done} test tasks by the {model} model"
    return True, "finished"


def _metric(steps: Iterable[StepRecord], name: str) -> list[float]:
    """A metric's values, of the steps that recorded one."""
    values = [step.metrics.get(name) for step in steps]
    return [float(value) for value in values if value is not None]


def _curve(journal: Journal) -> Curve:
    val: list[tuple[int, float, float, float]] = []
    for step, outcomes in _by_step(journal.outcomes("val")).items():
        if rates := success_by_task(outcomes):
            total = sum(rates.values())
            val.append((step, total / len(rates), *intervals.wilson(total, len(rates))))
    train: list[tuple[int, float]] = []
    for step, outcomes in _by_step(journal.outcomes("train")).items():
        if values := [outcome.value for outcome in outcomes if outcome.value is not None]:
            train.append((step, fmean(values)))
    return Curve(val, train)


def _by_step(outcomes: Iterable[Outcome]) -> dict[int, list[Outcome]]:
    steps: defaultdict[int, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        steps[outcome.step].append(outcome)
    return dict(sorted(steps.items()))


def _stops(journal: Journal, outcomes: Outcomes) -> dict[str, dict[str, int]]:
    """Phase -> stop reason -> number of rollouts, for training and the tests."""
    phases: dict[str, Sequence[Outcome]] = {"train": journal.outcomes("train")}
    phases |= {f"test:{model}": tested for model, tested in outcomes.items()}
    return {phase: dict(Counter(outcome.stop for outcome in ended).most_common()) for phase, ended in phases.items()}
