"""The models of a run compared on the same held-out tasks, from the journal's outcomes alone.

A task's success is the fraction of its rollouts that succeeded (0..1). `records.Outcome.counts_as` says what a broken
and an unjudged rollout count as. A model wins a task if its success there is higher than before, and loses it if lower.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Final, Literal

from mcprl.runs import intervals
from mcprl.runs.clusters import clusterings
from mcprl.runs.records import Outcome, success_by_task
from mcprl.types import Scenario

Interval = tuple[float, float]
Model = Literal["base", "start", "warm", "trained"]
MODELS: Final[tuple[Model, ...]] = ("base", "start", "warm", "trained")
"""In the order of training. `start` is what training began from, if that was a LoRA and not the base model."""
Outcomes = Mapping[Model, Sequence[Outcome]]
_PART_RESAMPLES: Final = 2_000
"""Resamples for the interval of a part: a report has a hundred of them."""


@dataclass(frozen=True)
class TaskResult:
    """A test task as the models of one run did it: the rollouts of each, and the success of each (0..1)."""

    scenario: Scenario
    rollouts: Mapping[Model, Sequence[Outcome]]
    success: Mapping[Model, float]


@dataclass(frozen=True)
class Rate:
    """How often one model succeeded: the mean success of its tasks with a 95 % interval, which is the widest of those
    by the comparison's clusterings; the mean over forms of each form's mean (`macro`, `None` if no task has a form);
    and the judge's mean score. Of its `rollouts`, `errors` broke and `unjudged` have no judgement.
    """

    success: float
    ci95: Interval
    macro: float | None
    score: float | None
    rollouts: int
    errors: int
    unjudged: int


@dataclass(frozen=True)
class Gain:
    """A later model's mean success minus an earlier one's on the same tasks, with its 95 % interval.

    `macro` is the same difference of the means over forms. `clustering` names the clustering that the interval is of,
    the widest; `by_task` is the interval if every task stood for itself. Of the tasks, `won` went up, `lost` went down.
    """

    mean: float
    ci95: Interval
    by_task: Interval
    macro: float | None
    clustering: str
    won: int
    lost: int


@dataclass(frozen=True)
class Comparison:
    """The models on the same `n` tasks, `None` if there is nothing to compare yet.

    `gain` is trained minus base. `rl_gain`, the part that is due to RL, is trained minus warm, `None` if there was but
    one of warm start and RL. `over_base` has the gain with its details, `over_start` that over what training began
    from, `over_before` that over the model tested before it. `start_over_base` and `warm_over_before` are the parts of
    what training began from and of the warm start. `forms` counts the tasks' forms, and `clusters` the clusters of each
    clustering that the intervals were made with.
    """

    n: int
    base: Rate | None = None
    start: Rate | None = None
    warm: Rate | None = None
    trained: Rate | None = None
    gain: float | None = None
    gain_ci95: Interval | None = None
    rl_gain: float | None = None
    rl_gain_ci95: Interval | None = None
    over_base: Gain | None = None
    over_start: Gain | None = None
    over_before: Gain | None = None
    start_over_base: Gain | None = None
    warm_over_before: Gain | None = None
    forms: int = 0
    clusters: dict[str, int] = field(default_factory=dict[str, int])


def task_results(outcomes: Outcomes, scenarios: Iterable[Scenario]) -> list[TaskResult]:
    """The tasks with a rollout of every tested model that counts, in the order of `scenarios`. Only these are
    compared.
    """
    rates = {model: success_by_task(tested) for model, tested in outcomes.items()}
    rollouts = {model: _by_task(tested) for model, tested in outcomes.items()}
    return [
        TaskResult(
            scenario,
            {model: rollouts[model][scenario.id] for model in outcomes},
            {model: rates[model][scenario.id] for model in outcomes},
        )
        for scenario in scenarios
        if rates and all(scenario.id in success for success in rates.values())
    ]


def compare(tasks: Sequence[TaskResult], seed: int, resamples: int = 10_000) -> Comparison:
    """The models on `tasks`, which may be of several runs. `seed` is the bootstrap's."""
    if not tasks:
        return Comparison(0)
    scenarios = [task.scenario for task in tasks]
    clusters = clusterings(scenarios)
    models: list[Model] = [model for model in MODELS if all(model in task.success for task in tasks)]
    rates = {model: _rate(tasks, model, clusters) for model in models}

    def gain(before: Model, after: Model) -> Gain | None:
        return _gain(tasks, before, after, clusters, seed, resamples) if {before, after} <= rates.keys() else None

    over_base, over_start, due_to_rl = (gain(before, "trained") for before in MODELS[:-1])
    return Comparison(
        n=len(tasks),
        base=rates.get("base"),
        start=rates.get("start"),
        warm=rates.get("warm"),
        trained=rates.get("trained"),
        gain=over_base.mean if over_base else None,
        gain_ci95=over_base.ci95 if over_base else None,
        rl_gain=due_to_rl.mean if due_to_rl else None,
        rl_gain_ci95=due_to_rl.ci95 if due_to_rl else None,
        over_base=over_base,
        over_start=over_start,
        over_before=due_to_rl or over_start or over_base,
        start_over_base=gain("base", "start"),
        warm_over_before=gain("start", "warm") or gain("base", "warm"),
        forms=len({scenario.form for scenario in scenarios if scenario.form}),
        clusters={name: len(set(labels)) for name, labels in clusters.items()},
    )


def compare_parts(
    tasks: Iterable[TaskResult], parts: Callable[[TaskResult], Iterable[str]], seed: int
) -> dict[str, Comparison]:
    """A comparison for each part, in the order of the parts' names. `parts` names the parts that a task is in."""
    members: defaultdict[str, list[TaskResult]] = defaultdict(list)
    for task in tasks:
        for part in parts(task):
            members[part].append(task)
    return {part: compare(members[part], seed, _PART_RESAMPLES) for part in sorted(members)}


def macro_mean(forms: Iterable[str], success: Iterable[float]) -> float | None:
    """The mean over forms of each form's mean success, so that a form with many tasks weighs no more than another.

    Tasks without a form count as one form together; `None` if no task has a form.
    """
    by_form: defaultdict[str, list[float]] = defaultdict(list)
    for form, rate in zip(forms, success, strict=True):
        by_form[form].append(rate)
    return fmean(map(fmean, by_form.values())) if any(by_form) else None


def _by_task(outcomes: Iterable[Outcome]) -> dict[str, list[Outcome]]:
    rollouts: defaultdict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        rollouts[outcome.scenario_id].append(outcome)
    return rollouts


def _rate(tasks: Sequence[TaskResult], model: Model, clusters: Mapping[str, Sequence[Hashable]]) -> Rate:
    success = [task.success[model] for task in tasks]
    outcomes = [outcome for task in tasks for outcome in task.rollouts[model]]
    values = [outcome.value for outcome in outcomes if outcome.value is not None]
    low, high, _ = intervals.widest_rate(success, clusters)
    return Rate(
        success=fmean(success),
        ci95=(low, high),
        macro=macro_mean((task.scenario.form for task in tasks), success),
        score=fmean(values) if values else None,
        rollouts=len(outcomes),
        errors=sum(outcome.stop == "error" for outcome in outcomes),
        unjudged=sum(outcome.counts_as is None for outcome in outcomes),
    )


def _gain(
    tasks: Sequence[TaskResult],
    before: Model,
    after: Model,
    clusters: Mapping[str, Sequence[Hashable]],
    seed: int,
    resamples: int,
) -> Gain:
    earlier, later = ([task.success[model] for task in tasks] for model in (before, after))
    mean, low, high, clustering = intervals.widest_difference(earlier, later, clusters, seed, resamples)
    changes = [end - start for start, end in zip(earlier, later, strict=True)]
    return Gain(
        mean=mean,
        ci95=(low, high),
        by_task=intervals.paired_difference(earlier, later, clusters["task"], seed, resamples)[1:],
        macro=macro_mean((task.scenario.form for task in tasks), changes),
        clustering=clustering,
        won=sum(change > 0 for change in changes),
        lost=sum(change < 0 for change in changes),
    )


WORTH_MEASURING = 0.05
"""The base model's success from which it is measured what it can forget: of fewer tasks nothing could be said."""


def can_forget(outcomes: Iterable[Outcome]) -> bool:
    """Whether the base model, by its outcomes in the test, solves enough for its losses to be measured."""
    rates = success_by_task(outcomes).values()
    return bool(rates) and fmean(rates) >= WORTH_MEASURING


def solved_before(tasks: Iterable[TaskResult]) -> list[TaskResult]:
    """The tasks that the base model solved in the rollout that was made apart from the test: what it can forget.

    The tasks that it solved in the test itself would not do: some were solved by luck, which does not come twice, so
    that any second test of them is worse (regression to the mean). A selection by an earlier measurement has no such
    bias, and base and trained model are compared by the test alone (Davis, American J. of Epidemiology 104, 1976).
    """
    return [task for task in tasks if task.scenario.difficulty == 0]


# --- parts of the tasks -----------------------------------------------------------------------------------------------


def difficulty(task: TaskResult) -> list[str]:
    """The task's third by the base model's failure rate, as measured before the test if it was, else in the test.

    Thirds made by the test itself are biased: a task that the base model failed by bad luck looks like a gain. Their
    names say which rate was used.
    """
    if task.scenario.difficulty is None:
        return [f"{_level(1 - task.success.get('base', 0.0))} (base model in this test)"]
    return [f"{_level(task.scenario.difficulty)} (measured before)"]


def _level(failure: float) -> str:
    if failure < 1 / 3:
        return "1 easy"
    return "2 medium" if failure < 2 / 3 else "3 hard"
