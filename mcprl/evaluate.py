"""How good a model or an adapter is at a pack's tasks, without training: `mcprl eval`."""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcprl.config import Config
from mcprl.engines.machine import resolve
from mcprl.errors import JournalError, ModelError, ScenarioError
from mcprl.events import Emit, Note, ignore
from mcprl.judges import open_judge
from mcprl.judges.scoring import score_held_out
from mcprl.judges.verifier import Verifier
from mcprl.llm.agent import ApiAgent, open_policy
from mcprl.llm.policy import PolicyLlm
from mcprl.rollout import Sampler, equal_rollouts
from mcprl.runs import intervals, resuming
from mcprl.runs.cards import with_card
from mcprl.runs.clusters import clusterings
from mcprl.runs.journal import Journal
from mcprl.runs.proof import SUITES
from mcprl.runs.records import Outcome, success_by_task
from mcprl.scenarios.generate import generate
from mcprl.scenarios.packs.pack import load_pack, require_tools, with_tests
from mcprl.scenarios.packs.standing import standing
from mcprl.scenarios.prepare import read_test_pack, require_tasks
from mcprl.servers.rewards import require_behind, rewarded
from mcprl.servers.server import Server, connect
from mcprl.servers.sharing import share_processes
from mcprl.types import Adapter, Group, Scenario, Score, Split, Trajectory

TaskRate = tuple[int, float, float, float]
"""Number of tasks, mean success (0..1), and the low and high end of its 95 % interval, the widest by cluster."""


@dataclass(frozen=True)
class Result:
    """One task: its success (fraction of rollouts, `None` if none of them counts), a trajectory, and the judge's
    explanation or the trajectory's error.
    """

    scenario: Scenario
    success: float | None
    trajectory: Trajectory
    why: str


@dataclass(frozen=True)
class Evaluation:
    """A model's success on the tasks of one split, overall, by kind of task and, if there are several, by suite. Of all
    rollouts, `broken` count as failures and `unjudged` neither way, as in the report of a run.
    """

    model: str
    results: tuple[Result, ...]
    overall: TaskRate
    by_suite: dict[str, TaskRate]
    by_kind: dict[str, TaskRate]
    broken: int
    unjudged: int
    cost: float | None
    """US dollars that a model behind an API cost, replies from the cache included; `None` if that is not known, or of
    a model of one's own."""
    rollouts: int = 0
    """All rollouts, which `cost` is for."""


async def evaluate_pack(
    config: Config,
    adapter: Path | None = None,
    split: Split = "test",
    emit: Emit = ignore,
    kept: Path | None = None,
    resume: bool = False,
) -> Evaluation:
    """Test the configured model, with `adapter` if one is given, on the tasks of `split`: `eval.rollouts` of each.

    The tasks are those of the configured pack, or new ones. Each rollout is written to a journal in the folder `kept`,
    if one is named, as soon as it is complete; `resume` goes on with what that folder holds, its settings, adapter and
    tasks. Raises `ServerError`, `ScenarioError`, `EngineError`, `ModelError` or `JournalError`.
    """
    with ExitStack() as stack:
        journal = stack.enter_context(Journal.open(kept, write=True)) if kept and resume else None
        if journal:
            config = resuming.configuration(journal, config)
            asked: Any = journal.fact("evaluation")
            if not asked:
                raise JournalError(f"{journal.folder} holds a run, not an evaluation; mcprl train --resume goes on")
            config = _as_stated(config, asked["stated"])
            adapter, split = Path(asked["adapter"]) if asked["adapter"] else None, asked["split"]
        if adapter is not None and not (adapter / "adapter_model.safetensors").is_file():
            raise ModelError(f"{adapter} holds no adapter; a run keeps its adapters in runs/NAME/adapters/step-N")
        if warning := equal_rollouts(config.eval):
            emit(Note(warning))
        if not journal:
            require_tasks(config.scenarios)  # before the model is loaded
        given = config
        config = resolve(with_card(config, adapter) if adapter else config)
        log = Path(config.runs_dir) / "eval-vllm.log"
        connecting = connect(config.servers, config.tools, emit=emit, task=config.task)
        async with open_policy(config, log, emit) as engine, connecting as server:
            policy = PolicyLlm(engine)
            server.lend(policy.partner)
            judge = open_judge(config.judge, server.tools, config.seed, policy)
            scenarios = journal.scenarios() if journal else await _tasks(config, server, split, emit)
            if kept and not journal:
                journal = stack.enter_context(Journal.create(kept, given))
                stated = {name: sorted(getattr(given, name).model_fields_set) for name in _BY_MODEL}
                about = {"adapter": str(adapter.absolute()) if adapter else "", "split": split, "stated": stated}
                journal.write_fact("evaluation", about)
                journal.write_scenarios(scenarios)
                emit(Note(f"rollouts are kept in {kept}; after a stop go on with: mcprl eval --resume {kept}"))
            await share_processes(server, scenarios, emit)
            trained = Adapter(str(adapter), 1) if adapter else None
            sampler = Sampler(config, server, engine, journal, emit=emit)
            groups = await sampler.groups("eval", 0, scenarios, config.eval.rollouts, trained)
            verifier = Verifier(server.tools)
            scores = [await score_held_out(group, verifier, judge, emit) for group in groups]
            if journal:
                journal.write_scores("eval", 0, [score for each in scores for score in each])
        cost = engine.cost if isinstance(engine, ApiAgent) else None
        return _evaluation(config.model.name + (f" with {adapter}" if adapter else ""), groups, scores, cost)


_BY_MODEL = ("model", "rollout", "training")
"""Sections with settings that follow from the model where they are not stated."""


def _as_stated(config: Config, stated: dict[str, list[str]]) -> Config:
    """A stored configuration, which has all settings, with those alone that were stated: the others follow from the
    model again, and a trial chooses its wording."""
    parts = dict[str, Any]()
    for section, names in stated.items():
        own = getattr(config, section)
        parts[section] = type(own).model_validate({name: getattr(own, name) for name in names})
    return config.model_copy(update=parts)


async def _tasks(config: Config, server: Server, split: Split, emit: Emit) -> tuple[Scenario, ...]:
    """The tasks of `split`. Raises `ScenarioError` if there are none or the pack does not fit the server's tools."""
    people = read_test_pack(config.scenarios, server.tools) if split == "test" else ()
    if config.scenarios.pack:
        pack = load_pack(config.scenarios.pack)
    else:
        pack = await generate(server, config.scenarios, config.seed, emit)
    if not pack.fits(server.tools):
        if not pack.tool_hash:
            require_tools(pack, server.tools, config.scenarios.pack)
        raise ScenarioError(f"{config.scenarios.pack} was made for other tools than this server's; make a new pack")
    scenarios = tuple(rewarded(each, server.scoring) for each in with_tests(pack, people).split(split))
    if not scenarios:
        raise ScenarioError(f"the pack has no {split} tasks")
    require_behind(scenarios, server)
    await standing(server, scenarios if config.scenarios.pack else people, emit)
    return scenarios


def _evaluation(
    model: str, groups: Sequence[Group], scores_P: Sequence[Sequence[Score]], cost: float | None
) -> Evaluation:
    outcomes: list[Outcome] = []
    results: list[Result] = []
    for group, scores in zip(groups, scores_P, strict=True):
        by_id = {score.trajectory_id: score for score in scores}
        members = [_outcome(trajectory, by_id.get(trajectory.id)) for trajectory in group.trajectories]
        success = success_by_task(members).get(group.scenario.id)
        shown = next((member for member in group.trajectories if member.id in by_id), group.trajectories[0])
        why = by_id[shown.id].explanation if shown.id in by_id else shown.error
        outcomes += members
        results.append(Result(group.scenario, success, shown, why))
    suites: defaultdict[str, list[Result]] = defaultdict(list)
    kinds: defaultdict[str, list[Result]] = defaultdict(list)
    for result in results:
        suites[result.scenario.suite].append(result)
        kinds[result.scenario.kind].append(result)
    return Evaluation(
        model=model,
        results=tuple(results),
        overall=_rate(results),
        by_suite={suite: _rate(suites[suite]) for suite in SUITES if suite in suites},
        by_kind={kind: _rate(members) for kind, members in sorted(kinds.items())},
        broken=sum(outcome.stop == "error" for outcome in outcomes),
        unjudged=sum(outcome.counts_as is None for outcome in outcomes),
        cost=cost,
        rollouts=len(outcomes),
    )


def _outcome(trajectory: Trajectory, score: Score | None) -> Outcome:
    value, success = (score.value, score.success) if score else (None, None)
    return Outcome(0, trajectory.id, trajectory.scenario_id, trajectory.stop, value, success)


def _rate(results: Sequence[Result]) -> TaskRate:
    """The rate over the tasks that count, with the interval by cluster; without any, a success of 0 between 0 and 1."""
    counted = [(result.scenario, result.success) for result in results if result.success is not None]
    success = [rate for _, rate in counted]
    low, high, _ = intervals.widest_rate(success, clusterings([scenario for scenario, _ in counted]))
    return len(success), sum(success) / max(1, len(success)), low, high
