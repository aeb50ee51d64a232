"""The models of a run compared on the same held-out tasks, from the journal's outcomes alone.

A task's success is the fraction of its rollouts that succeeded (0..1). `records.Outcome.counts_as` says what a broken
and an unjudged rollout count as.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final, Literal

from mcprl.runs import intervals
from mcprl.runs.records import Outcome, success_by_task
from mcprl.types import CallMade, Scenario

Interval = tuple[float, float]
Model = Literal["base", "warm", "trained"]
MODELS: Final[tuple[Model, ...]] = ("base", "warm", "trained")
Outcomes = Mapping[Model, Sequence[Outcome]]


@dataclass(frozen=True)
class Rate:
    """How often one model succeeded: the mean success of its tasks with a 95 % interval (Wilson), and the judge's mean
    score. Of its `rollouts`, `errors` broke and `unjudged` have no judgement.
    """

    success: float
    ci95: Interval
    score: float | None
    rollouts: int
    errors: int
    unjudged: int


@dataclass(frozen=True)
class Comparison:
    """The models on the same `n` tasks. `gain` is trained minus base. `rl_gain`, the part that is due to RL, is trained
    minus warm, or minus base without a warm start. `None` if there is nothing to compare yet.
    """

    n: int
    base: Rate | None
    warm: Rate | None
    trained: Rate | None
    gain: float | None = None
    gain_ci95: Interval | None = None
    rl_gain: float | None = None
    rl_gain_ci95: Interval | None = None


def common_tasks(outcomes: Outcomes) -> list[str]:
    """The ids of the tasks with a rollout of every model that counts, in order. Only these are compared."""
    if not outcomes:
        return []
    first, *others = [success_by_task(tested) for tested in outcomes.values()]
    return [task for task in first if all(task in rates for rates in others)]


def compare(outcomes: Outcomes, scenarios: Iterable[Scenario], seed: int) -> Comparison:
    """The models on `scenarios`, which must be tasks common to all of them. `seed` is the bootstrap's."""
    tasks = [scenario.id for scenario in scenarios]
    chosen = set(tasks)
    rates: dict[Model, Rate] = {}
    series: dict[Model, list[float]] = {}
    for model, tested in outcomes.items():
        members = [outcome for outcome in tested if outcome.scenario_id in chosen]
        if success := success_by_task(members):
            series[model] = [success[task] for task in tasks]
            rates[model] = _rate(members, series[model])
    gain, gain_ci95 = _gain(series, "base", seed)
    rl_gain, rl_gain_ci95 = _gain(series, "warm" if "warm" in series else "base", seed)
    return Comparison(
        n=len(tasks),
        base=rates.get("base"),
        warm=rates.get("warm"),
        trained=rates.get("trained"),
        gain=gain,
        gain_ci95=gain_ci95,
        rl_gain=rl_gain,
        rl_gain_ci95=rl_gain_ci95,
    )


def compare_parts(
    outcomes: Outcomes, scenarios: Iterable[Scenario], parts: Callable[[Scenario], Iterable[str]], seed: int
) -> dict[str, Comparison]:
    """A comparison for each part, in the order of the parts' names. `parts` names the parts that a scenario is in."""
    members: defaultdict[str, list[Scenario]] = defaultdict(list)
    for scenario in scenarios:
        for part in parts(scenario):
            members[part].append(scenario)
    return {part: compare(outcomes, members[part], seed) for part in sorted(members)}


def _rate(outcomes: Sequence[Outcome], success: Sequence[float]) -> Rate:
    values = [outcome.value for outcome in outcomes if outcome.value is not None]
    return Rate(
        success=fmean(success),
        ci95=intervals.wilson(sum(success), len(success)),
        score=fmean(values) if values else None,
        rollouts=len(outcomes),
        errors=sum(outcome.stop == "error" for outcome in outcomes),
        unjudged=sum(outcome.counts_as is None for outcome in outcomes),
    )


def _gain(series: Mapping[Model, Sequence[float]], before: Model, seed: int) -> tuple[float | None, Interval | None]:
    if before not in series or "trained" not in series:
        return None, None
    mean, low, high = intervals.paired_difference(series[before], series["trained"], seed=seed)
    return mean, (low, high)


# --- parts of the tasks -----------------------------------------------------------------------------------------------


def tools_of(scenario: Scenario) -> list[str]:
    """The tools of the task's plan, or, without a plan, those whose calls its checks require."""
    planned = {call.tool for call in scenario.plan}
    return sorted(planned or {check.tool for check in scenario.checks if isinstance(check, CallMade)})


def difficulty(outcomes: Outcomes) -> Callable[[Scenario], list[str]]:
    """A function that puts a task into a third by the base model's failure rate, as measured before the test if it was,
    else in the test itself.

    Thirds made by the test itself are biased: a task that the base model failed by bad luck looks like a gain. Their
    names say which rate was used.
    """
    success = success_by_task(outcomes.get("base", ()))

    def third(scenario: Scenario) -> list[str]:
        if scenario.difficulty is None:
            return [f"{_level(1 - success.get(scenario.id, 0.0))} (base model in this test)"]
        return [f"{_level(scenario.difficulty)} (measured before)"]

    return third


def _level(failure: float) -> str:
    if failure < 1 / 3:
        return "1 easy"
    return "2 medium" if failure < 2 / 3 else "3 hard"
