"""The proof: what a run's journal says about base, warm-started and trained model on the same held-out tasks.

`build` and `pool` read nothing but journals, of finished runs or of ones that are still going; `report` writes the
pages. A test has up to four suites, which are compared apart. The suite that is hardest to have tuned to leads.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any, Final

from mcprl.errors import JournalError
from mcprl.runs.agreement import Agreement, agreement, recorded
from mcprl.runs.attempts import BenchResult, bench_results
from mcprl.runs.clusters import tools_of
from mcprl.runs.comparison import (
    MODELS,
    Comparison,
    Model,
    Outcomes,
    TaskResult,
    compare,
    compare_parts,
    difficulty,
    solved_before,
    task_results,
)
from mcprl.runs.examples import ExampleTask, Loss, losses, pick_examples
from mcprl.runs.journal import Journal
from mcprl.runs.learning import Curve, Learning, Part, learning_curve, measure, parts_of, taken, wall_s
from mcprl.runs.obedience import obedience
from mcprl.runs.overlap import SuiteOverlap, overlap
from mcprl.runs.preferences import Preferences, preferences
from mcprl.runs.records import Outcome, StepRecord
from mcprl.runs.unscored import Unscored, unscored
from mcprl.text import counted, shortened
from mcprl.types import Adapter, Scenario, Suite

SUITES: Final[tuple[Suite, ...]] = ("people", "forms", "entities", "seeds", "inputs", "injected")
"""The suites in the order in which they lead."""
LEAST = 20
"""Tasks of a suite that leads, if one has so many: of a few tasks a rate of 100 % says nothing."""
_SUMMED: Final = ("groups", "dropped_groups", "helped_groups")


@dataclass(frozen=True, kw_only=True)
class Proof:
    """Base, warm-started and trained model on the same held-out tasks, of one run or of several.

    `test` compares them on the suite `lead`, of which the parts by tool, kind, form and difficulty are too; `suites`
    has every suite. `losses` has every lost task of all suites. `retained` compares the models on the tasks of all
    suites that the base model solved before the test (`comparison.solved_before`), of `measured` tasks of which that is
    known. `learning` is what was spent, of several runs the mean. `rewarded` counts the tasks that the server scores.
    """

    name: str
    status: str
    finished: bool
    server: str
    model: str
    control: str
    learning_rate: float
    tool_hash: str
    lead: Suite
    test: Comparison
    suites: dict[Suite, Comparison]
    retained: Comparison
    measured: int
    learning: Learning
    per_tool: dict[str, Comparison]
    per_kind: dict[str, Comparison]
    per_form: dict[str, Comparison]
    per_difficulty: dict[str, Comparison]
    losses: list[Loss]
    rewarded: int = 0

    @property
    def is_control(self) -> bool:
        """Whether the run must show no gain over its start."""
        return self.control != "none" or self.learning_rate == 0


@dataclass(frozen=True, kw_only=True)
class Report(Proof):
    """What a run proves, with what a reader needs to judge it and to repeat it. `overlap` is `None` until the run has
    ended. `judge`: how a judge that reads agrees with the checks, if there is one. `spent`: what each part of the run
    took. `targets`: the servers' addresses or commands, without secrets. `benches`: benchmarks of others. `obeyed`: of
    each tested model the rollouts that obeyed an injection, and all that met one. `notes`: what the run said. `memory`:
    GiB that the process was `planned` to need, and took at its `peak`. `preferred`: whose answers a judge preferred,
    of a run without a server.
    """

    tools: list[str]
    left_out: dict[str, str]
    seed: int
    steps: int
    best_step: int | None
    wall_s: float
    exact_tokens: float | None
    groups: int
    dropped_groups: int
    helped_groups: int
    overlap: dict[Suite, SuiteOverlap] | None
    curve: Curve
    stops: dict[str, dict[str, int]]
    examples: list[ExampleTask]
    versions: dict[str, str]
    date: str
    judge: Agreement | None = None
    unscored: list[Unscored] = field(default_factory=list[Unscored])
    spent: list[Part] = field(default_factory=list[Part])
    targets: list[str] = field(default_factory=list[str])
    benches: list[BenchResult] = field(default_factory=list[BenchResult])
    obeyed: dict[Model, tuple[int, int]] = field(default_factory=dict[Model, tuple[int, int]])
    notes: list[str] = field(default_factory=list[str])
    memory: dict[str, float] | None = None
    preferred: Preferences | None = None


@dataclass(frozen=True, kw_only=True)
class Pooled(Proof):
    """Several runs as one: a task that several of them tested is one cluster. `runs` has each run's leading suite."""

    runs: dict[str, Comparison]


def build(folder: str | Path) -> Report:
    """The report of the run in `folder`, as far as the run has come. Raises `JournalError` if there is no run."""
    with Journal.open(folder) as journal:
        tested = Tested(journal)
        config, steps, best = journal.config, journal.steps(), journal.adapters("best")
        shared = journal.fact("overlap")
        return Report(
            **(_compared(tested.tasks, config.seed) | tested.head),
            tools=journal.fact("tools", []),
            left_out=journal.fact("left_out", {}),
            losses=losses(tested.name, journal, tested.tasks, tested.start),
            seed=config.seed,
            steps=len(steps),
            best_step=best[-1].adapter.step if best else None,
            wall_s=round(wall_s(journal), 1),
            exact_tokens=min(_metric(steps, "exact_tokens"), default=None),
            **dict[str, Any]((name, int(sum(_metric(steps, name)))) for name in _SUMMED),
            overlap=None if shared is None else {suite: SuiteOverlap(**counts) for suite, counts in shared.items()},
            curve=learning_curve(journal),
            stops=_stops(journal, tested.outcomes),
            examples=pick_examples(journal, tested.tasks, tested.start),
            versions=journal.fact("versions", {}),
            date=datetime.fromtimestamp(journal.events("opened")[0].at, UTC).isoformat(timespec="seconds"),
            judge=agreement(judged) if (judged := recorded(journal)) else None,
            unscored=unscored(journal, journal.scenarios("test"), tested.outcomes),
            spent=parts_of(journal),
            targets=[server.target for server in config.servers],
            benches=bench_results(journal),
            obeyed=obedience(journal, tested.outcomes),
            memory=journal.fact("memory"),
            preferred=preferences(journal),
            notes=list(dict.fromkeys(event.data["text"] for event in journal.events("note"))),
        )


def pool(folders: Sequence[str | Path]) -> Pooled:
    """Several runs of one server and model as one proof, say of several seeds.

    Raises `JournalError` if a folder holds no run, and if the runs differ in server tools, model or control.
    """
    tasks: list[TaskResult] = []
    lost: list[Loss] = []
    runs: dict[str, list[TaskResult]] = {}
    heads: list[dict[str, Any]] = []
    for folder in folders:
        with Journal.open(folder) as journal:
            tested = Tested(journal)
            lost += losses(tested.name, journal, tested.tasks, tested.start)
        tasks += tested.tasks
        runs[tested.name] = tested.tasks
        heads.append(tested.head)
    alike = {"the server's tools": "tool_hash", "the model": "model", "the control": "control"}
    for word, key in alike.items():
        values = [head[key] if key != "control" or head["learning_rate"] else "learning rate 0" for head in heads]
        if len({*values}) > 1:
            each = ", ".join(f"{head['name']} {value or 'none'}" for head, value in zip(heads, values, strict=True))
            raise JournalError(f"the runs cannot be pooled: they differ in {word} ({each})")
    if len(runs) < len(heads):
        raise JournalError(f"a run is named twice: {', '.join(head['name'] for head in heads)}")
    unfinished = [f"{head['name']} is {head['status']}" for head in heads if not head["finished"]]
    head: dict[str, Any] = {
        **heads[0],
        "name": ", ".join(runs),
        "finished": not unfinished,
        "status": "; ".join(unfinished) or "finished",
        "learning": Learning.mean([head["learning"] for head in heads]),
    }
    compared = _compared(tasks, 0)
    lead = compared["lead"]
    each_run = {name: compare([task for task in of if task.scenario.suite == lead], 0) for name, of in runs.items()}
    return Pooled(**compared, **head, losses=lost, runs=each_run)


def chosen_adapter(journal: Journal) -> Adapter:
    """The adapter that was tested as the trained model: the best by validation, which may be the warm start's.

    Raises `JournalError` if the run is not finished, or if no adapter was better than the base model.
    """
    has_rl = journal.config.training.steps > 0
    choices = journal.events("best" if has_rl else "warmed")
    if not (choices or journal.events("done")):
        raise JournalError(f"{journal.folder} is not finished; go on with: mcprl train --resume {journal.folder.name}")
    adapters = journal.adapters("best" if has_rl and choices and choices[-1].data["step"] else "warm")
    if not adapters:
        raise JournalError(f"{journal.folder} has no trained adapter: no step was better than the base model")
    return adapters[-1].adapter


def record_overlap(journal: Journal) -> None:
    """Compute what the test shares with training, and keep it in the journal as the fact "overlap"."""
    seen = chain(journal.conversations("demonstration"), journal.conversations("train"))
    shared = overlap(journal.scenarios("test"), journal.scenarios("train"), seen)
    journal.write_fact("overlap", {suite: asdict(counts) for suite, counts in shared.items()})


class Tested:
    """What a journal says about its test: the outcomes of each model, the tasks to compare and the run's description.

    `start` is the model that gains are measured from: for a control the last before RL, else the base.
    """

    def __init__(self, journal: Journal) -> None:
        config = journal.config
        self.outcomes = _test_outcomes(journal)
        scenarios = {scenario.id: scenario for scenario in journal.scenarios("test")}
        order = {suite: at for at, suite in enumerate(SUITES)}
        self.tasks = sorted(task_results(self.outcomes, scenarios.values()), key=lambda t: order[t.scenario.suite])
        later: list[Model] = ["start", "warm"] if config.is_control else []
        self.start: Model = "base"
        for model in later:
            self.start = model if model in self.outcomes else self.start
        self.name = journal.folder.absolute().name
        finished, status = _status(scenarios, self.outcomes, taken(journal))
        self.head: dict[str, Any] = {
            "name": self.name,
            "status": status,
            "finished": finished,
            "server": ", ".join(journal.fact("server") or [server.target for server in config.servers])
            or f"the task {shortened(config.task, 100)!r}",
            "model": journal.fact("model", config.model.name),
            "control": config.control,
            "learning_rate": config.training.learning_rate,
            "tool_hash": journal.fact("tool_hash", ""),
            "learning": measure(journal),
        }


def _compared(tasks: Sequence[TaskResult], seed: int) -> dict[str, Any]:
    """The comparisons of a `Proof`, of its suites and of the leading suite's parts."""
    by_suite = {suite: [task for task in tasks if task.scenario.suite == suite] for suite in SUITES}
    suites = {suite: compare(members, seed) for suite, members in by_suite.items() if members}
    lead = next((suite for suite, part in suites.items() if part.clusters.get("task", part.n) >= LEAST), None)
    lead = lead or max(suites, key=lambda suite: suites[suite].n, default="entities")
    leading = by_suite[lead]
    return {
        "lead": lead,
        "test": suites.get(lead, Comparison(0)),
        "suites": suites,
        "retained": compare(solved_before(tasks), seed),
        "measured": sum(task.scenario.difficulty is not None for task in tasks),
        "rewarded": sum(bool(task.scenario.reward_check) for task in leading),
        "per_tool": compare_parts(leading, lambda task: tools_of(task.scenario), seed),
        "per_kind": compare_parts(leading, lambda task: [task.scenario.kind], seed),
        "per_form": compare_parts(leading, lambda task: [task.scenario.form] if task.scenario.form else [], seed),
        "per_difficulty": compare_parts(leading, difficulty, seed),
    }


def _test_outcomes(journal: Journal) -> dict[Model, list[Outcome]]:
    """The outcomes of each tested model, of the last step at which it was tested."""
    tested: dict[Model, list[Outcome]] = {}
    for model in MODELS:
        outcomes = journal.outcomes(f"test:{model}")
        last = max((outcome.step for outcome in outcomes), default=0)
        if latest := [outcome for outcome in outcomes if outcome.step == last]:
            tested[model] = latest
    return tested


def _status(scenarios: Mapping[str, Scenario], outcomes: Outcomes, steps: str) -> tuple[bool, str]:
    """Whether the run is finished, and its status in words. What training began from and the
    warm-started model may not be tested."""
    for model in MODELS:
        tested = {outcome.scenario_id for outcome in outcomes.get(model, ())}
        if model in ("start", "warm") and not tested:
            continue
        if not scenarios or scenarios.keys() - tested:
            done = f"{len(tested)} of {counted(len(scenarios), 'test task')}" if scenarios else "no test task"
            return False, f"unfinished: {steps} done, {done} by the {model} model"
    return True, "finished"


def _metric(steps: Iterable[StepRecord], name: str) -> list[float]:
    """A metric's values, of the steps that recorded one."""
    values = [step.metrics.get(name) for step in steps]
    return [float(value) for value in values if value is not None]


def _stops(journal: Journal, outcomes: Outcomes) -> dict[str, dict[str, int]]:
    """Phase -> stop reason -> number of rollouts, for training and the tests."""
    phases: dict[str, Sequence[Outcome]] = {"train": journal.outcomes("train")}
    phases |= {f"test:{model}": tested for model, tested in outcomes.items()}
    return {phase: dict(Counter(outcome.stop for outcome in ended).most_common()) for phase, ended in phases.items()}
