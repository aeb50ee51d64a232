"""The proof: what a run's journal says about base, warm-started and trained model on the same held-out tasks.

`build` reads the journal and nothing else, of a finished run or of one that is still going; `report` makes pages of it.

A task is a success as far as its tries were (0..1, several tries averaged). A try that broke through no fault of the
policy (`stop == "error"`) counts as a failure and is counted apart; a try that no judge could score counts neither way.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Final, Literal

from mcprl.runs import intervals
from mcprl.runs.journal import Journal
from mcprl.runs.records import Metric, Outcome
from mcprl.runs.trackers import dialogue
from mcprl.types import CallMade, Scenario, Score, Trajectory

Interval = tuple[float, float]
Model = Literal["base", "warm", "trained"]
MODELS: Final[tuple[Model, ...]] = ("base", "warm", "trained")
Outcomes = Mapping[Model, list[Outcome]]

_MOST_SOLVED = 3


@dataclass(frozen=True)
class Rate:
    """How often one model succeeded: over tasks, with a 95 % interval (Wilson), and the judge's mean score."""

    success: float
    ci95: Interval
    score: float | None
    tries: int
    errors: int
    unjudged: int


@dataclass(frozen=True)
class Comparison:
    """The models on the same `n` tasks. `gain` is trained minus base; `rl_gain` is trained minus warm where there was a
    warm start, else minus base: the part that is due to RL. `None` where there is nothing to compare yet.
    """

    n: int
    base: Rate | None
    warm: Rate | None
    trained: Rate | None
    gain: float | None = None
    gain_ci95: Interval | None = None
    rl_gain: float | None = None
    rl_gain_ci95: Interval | None = None


@dataclass(frozen=True)
class Curve:
    """Learning, by step: success on the validation tasks with its interval, and the mean score of the training
    tries.
    """

    val: list[tuple[int, float, float, float]]
    train: list[tuple[int, float]]


@dataclass(frozen=True)
class Example:
    """One test task as the base and the trained model did it, as text, and what the judge said."""

    scenario: str
    request: str
    solved: bool
    before: str
    after: str
    before_why: str
    after_why: str


@dataclass(frozen=True)
class Report:
    """What a run proves, and what it takes to judge and to repeat it."""

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


# --- reading the journal ----------------------------------------------------------------------------------------------


def build(folder: str | Path) -> Report:
    """The report of the run in `folder`, as far as it has come. Raises `JournalError` where there is no run."""
    with Journal.open(folder) as journal:
        config, steps, best = journal.config, journal.steps(), journal.adapters("best")
        scenarios = {scenario.id: scenario for scenario in journal.scenarios("test")}
        tested: Outcomes = {model: _latest(journal.outcomes(f"test:{model}")) for model in MODELS}
        outcomes: Outcomes = {model: found for model, found in tested.items() if found}
        tasks = _common(outcomes)
        finished, status = _status(scenarios, outcomes, len(steps))
        exact = [float(value) for step in steps if (value := step.metrics.get("exact_tokens")) is not None]

        def parts(names: Callable[[Scenario], Iterable[str]]) -> dict[str, Comparison]:
            members: defaultdict[str, list[str]] = defaultdict(list)
            for task in tasks:
                for part in names(scenarios[task]):
                    members[part].append(task)
            return {part: _compare(outcomes, members[part], config.seed) for part in sorted(members)}

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
            exact_tokens=min(exact, default=None),
            groups=_sum(step.metrics.get("groups") for step in steps),
            dropped_groups=_sum(step.metrics.get("dropped_groups") for step in steps),
            test=_compare(outcomes, tasks, config.seed),
            per_tool=parts(_tools),
            per_difficulty=parts(_difficulty(outcomes)),
            per_kind=parts(lambda scenario: [scenario.kind]),
            curve=_curve(journal),
            stops=_stops(journal, outcomes),
            examples=_examples(journal, scenarios, tasks, outcomes),
            versions=journal.fact("versions", {}),
            tool_hash=journal.fact("tool_hash", ""),
            date=datetime.fromtimestamp(journal.events("opened")[0].at, UTC).isoformat(timespec="seconds"),
        )


def _latest(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes of the last step that was tested."""
    last = max((outcome.step for outcome in outcomes), default=0)
    return [outcome for outcome in outcomes if outcome.step == last]


def _success(outcome: Outcome) -> bool | None:
    return False if outcome.stop == "error" else outcome.success


def _rates(outcomes: Iterable[Outcome]) -> dict[str, float]:
    """The share of successful tries of each task of which a try was judged."""
    tries: defaultdict[str, list[bool]] = defaultdict(list)
    for outcome in outcomes:
        if (success := _success(outcome)) is not None:
            tries[outcome.scenario_id].append(success)
    return {task: fmean(found) for task, found in tries.items()}


def _common(outcomes: Outcomes) -> list[str]:
    """The tasks on which every model was tested, in order: only these are compared."""
    first, *others = [_rates(found) for found in outcomes.values()] or [{}]
    return [task for task in first if all(task in rates for rates in others)]


def _compare(outcomes: Outcomes, tasks: Sequence[str], seed: int) -> Comparison:
    chosen = set(tasks)
    own = {model: [o for o in found if o.scenario_id in chosen] for model, found in outcomes.items()}
    series = {model: [rates[task] for task in tasks] for model, found in own.items() if (rates := _rates(found))}

    def rate(model: Model) -> Rate | None:
        if model not in series:
            return None
        values = [o.value for o in own[model] if o.value is not None]
        return Rate(
            success=fmean(series[model]),
            ci95=intervals.wilson(sum(series[model]), len(tasks)),
            score=fmean(values) if values else None,
            tries=len(own[model]),
            errors=sum(o.stop == "error" for o in own[model]),
            unjudged=sum(_success(o) is None for o in own[model]),
        )

    def gain(before: Model) -> tuple[float | None, Interval | None]:
        if before not in series or "trained" not in series:
            return None, None
        mean, low, high = intervals.paired_difference(series[before], series["trained"], seed=seed)
        return mean, (low, high)

    return Comparison(
        len(tasks),
        rate("base"),
        rate("warm"),
        rate("trained"),
        *gain("base"),
        *gain("warm" if "warm" in series else "base"),
    )


def _status(scenarios: Mapping[str, Scenario], outcomes: Outcomes, steps: int) -> tuple[bool, str]:
    tried = {model: {o.scenario_id for o in outcomes.get(model, ())} for model in MODELS}
    for model in MODELS:
        if (model != "warm" or tried[model]) and (not scenarios or scenarios.keys() - tried[model]):
            done = f"{len(tried[model])} of {len(scenarios)}" if scenarios else "none"
            return False, f"unfinished: {steps} steps are done, {done} test tasks by the {model} model"
    return True, "finished"


# --- the parts --------------------------------------------------------------------------------------------------------


def _tools(scenario: Scenario) -> list[str]:
    """The tools that a task is about: those of its plan, else those whose call is checked."""
    planned = {call.tool for call in scenario.plan}
    return sorted(planned or {check.tool for check in scenario.checks if isinstance(check, CallMade)})


def _difficulty(outcomes: Outcomes) -> Callable[[Scenario], list[str]]:
    """Thirds of the base model's failure rate: as measured when the task was made, else on the test itself.

    Parts made by the test itself are biased: what the base model fails by bad luck looks like a gain. They say so.
    """
    success = _rates(outcomes.get("base", ()))

    def bucket(scenario: Scenario) -> list[str]:
        if scenario.difficulty is None:
            failure, by = 1 - success.get(scenario.id, 0.0), "base model in this test"
        else:
            failure, by = scenario.difficulty, "measured before"
        level = "1 easy" if failure < 1 / 3 else "2 medium" if failure < 2 / 3 else "3 hard"
        return [f"{level} ({by})"]

    return bucket


def _curve(journal: Journal) -> Curve:
    val, train = _by_step(journal.outcomes("val")), _by_step(journal.outcomes("train"))
    points: list[tuple[int, float, float, float]] = []
    for step, found in val.items():
        if rates := _rates(found):
            total = sum(rates.values())
            points.append((step, total / len(rates), *intervals.wilson(total, len(rates))))
    scores = {step: [o.value for o in found if o.value is not None] for step, found in train.items()}
    return Curve(points, [(step, fmean(values)) for step, values in scores.items() if values])


def _by_step(outcomes: Iterable[Outcome]) -> dict[int, list[Outcome]]:
    steps: defaultdict[int, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        steps[outcome.step].append(outcome)
    return dict(sorted(steps.items()))


def _stops(journal: Journal, outcomes: Outcomes) -> dict[str, dict[str, int]]:
    phases = {"train": journal.outcomes("train")} | {f"test:{model}": found for model, found in outcomes.items()}
    return {phase: dict(Counter(outcome.stop for outcome in found).most_common()) for phase, found in phases.items()}


def _sum(values: Iterable[Metric]) -> int:
    return sum(int(value) for value in values if value is not None)


# --- examples ---------------------------------------------------------------------------------------------------------


def _examples(
    journal: Journal, scenarios: Mapping[str, Scenario], tasks: Sequence[str], outcomes: Outcomes
) -> list[Example]:
    """Tasks that training solved, of different tools where there are, and one that it did not."""
    if not {"base", "trained"} <= outcomes.keys():
        return []
    before, after = _by_task(outcomes["base"]), _by_task(outcomes["trained"])
    failed = [task for task in tasks if _try(before[task], False)]
    solved = [task for task in failed if _try(after[task], True)]
    by_tools: dict[tuple[str, ...], str] = {}
    for task in solved:
        by_tools.setdefault(tuple(_tools(scenarios[task])), task)
    varied = [*by_tools.values(), *(task for task in solved if task not in by_tools.values())][:_MOST_SOLVED]
    open_still = [task for task in failed if task not in solved][:1]
    if not varied + open_still:
        return []
    texts = {model: _texts(journal, model, outcomes[model]) for model in ("base", "trained")}
    examples: list[Example] = []
    for task in varied + open_still:
        first = texts["base"][_try(before[task], False)]
        last = texts["trained"][_try(after[task], task in varied)]
        examples.append(Example(task, scenarios[task].request, task in varied, first[0], last[0], first[1], last[1]))
    return examples


def _by_task(outcomes: Iterable[Outcome]) -> dict[str, list[Outcome]]:
    tasks: defaultdict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        tasks[outcome.scenario_id].append(outcome)
    return tasks


def _try(outcomes: Iterable[Outcome], success: bool) -> str:
    """The first try that ended so, or the empty string."""
    return next((outcome.trajectory_id for outcome in outcomes if _success(outcome) is success), "")


def _texts(journal: Journal, model: str, outcomes: Sequence[Outcome]) -> dict[str, tuple[str, str]]:
    """Each trajectory as text, and what the judge said of it."""
    phase, step = f"test:{model}", outcomes[0].step
    scores = {score.trajectory_id: score for score in journal.scores(phase, step)}
    return {t.id: (dialogue(t.messages), _why(t, scores.get(t.id))) for t in journal.trajectories(phase, step)}


def _why(tried: Trajectory, score: Score | None) -> str:
    return tried.error or (score.explanation if score else "not judged")
