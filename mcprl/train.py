"""The loop, top to bottom: read this file first, then one file per verb.

    server -> tasks -> base test -> (warm start) -> [rollouts -> scores -> update] x steps -> held-out test -> report

Objective: GRPO. The advantages of a group are its scores, centred on their mean and divided by it
(`training/advantages.py`). The loss is CISPO's token-level policy gradient with a clipped, detached importance weight
(`training/loss.py`), and AdamW updates a LoRA. The adapter that validated best is tested.
Left out by default: KL to the base model, an entropy bonus, division by the standard deviation, several epochs.

Whatever a step makes is in the journal before it is used, and every random choice follows from (seed, step, scenario,
rollout). So a run that was killed at any instant resumes from its last complete step and ends as if it had not been.
"""

import json
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, Protocol

import anyio.to_thread

from mcprl.config import Config
from mcprl.engines import Engine, open_engine, placement, require_client, server_device, uses_tinker
from mcprl.engines.conversation import require_room
from mcprl.engines.machine import resolve
from mcprl.engines.trial import load_worded
from mcprl.errors import BudgetError
from mcprl.events import BestChosen, Emit, Evaluated, Note, RunComplete, StepComplete, ignore, recording
from mcprl.judges import Judge
from mcprl.judges.scoring import Judged, Scoring
from mcprl.llm.policy import PolicyLlm
from mcprl.models.load import LoadedModel, find_device
from mcprl.rollout import Sampler, equal_rollouts
from mcprl.runs import comparison, report, resuming
from mcprl.runs.figures import minutes
from mcprl.runs.journal import Journal
from mcprl.runs.ledger import end_training, fates, rewind_to_whole
from mcprl.runs.proof import record_overlap
from mcprl.runs.records import rollout_metrics, success_by_task
from mcprl.runs.trackers import Trackers, open_trackers, require_trackers
from mcprl.runs.watchdog import watching
from mcprl.scenarios.prepare import accept_tools, prepare_pack, require_tasks
from mcprl.servers.log import logging_to
from mcprl.servers.server import Server, connect
from mcprl.text import counted
from mcprl.training import memory, symptoms
from mcprl.training.curriculum import draw
from mcprl.training.demonstrations import Demonstrations
from mcprl.training.opening import AnyTrainer, open_trainer
from mcprl.training.pipeline import concurrently
from mcprl.training.selection import best_step, has_stalled, prune_adapters
from mcprl.training.step import RewardedGroup, make_batch, update
from mcprl.training.thread import in_update_thread
from mcprl.training.warm_start import WarmStart, rl_is_spent
from mcprl.types import Adapter, Scenario


class Parts(Protocol):
    """What a run takes from outside of the loop (`mcprl.art.own.OwnParts`)."""

    def checked(self, config: Config) -> Config:
        """The settings of a run with these parts. Raises what is wrong with them."""
        ...

    @property
    def judging(self) -> Judge | None:
        """The judge in place of the configured one, if there is one."""
        ...

    def conversing(self, config: Config, model: LoadedModel, engine: Engine) -> dict[str, Any]:
        """The `Sampler`'s `converse`, if the rollouts are not the run's own."""
        ...

    async def measure(
        self, config: Config, journal: Journal, engine: Engine, step: int, adapter: Adapter | None, emit: Emit
    ) -> None:
        """Measure the tested adapter of `step` on what others made, after the held-out test."""
        ...


async def train(
    config: Config,
    parts: Parts,
    resume: str | Path | None = None,
    emit: Emit = ignore,
    accept_tool_changes: bool = False,
) -> report.Report:
    """`mcprl.train_adapter` with all that it takes from outside: see there."""
    with ExitStack() as stack:
        journal = stack.enter_context(Journal.open(resume, write=True)) if resume else None
        config = resuming.configuration(journal, config) if journal else config
        config = await anyio.to_thread.run_sync(parts.checked, config)
        if not journal:
            config = await anyio.to_thread.run_sync(checked, config, emit)
        async with connect(config.servers, config.tools, emit=emit, task=config.task) as server:
            if not (journal and journal.scenarios()):
                require_tasks(config.scenarios, server.tools)
            elif accept_tool_changes:
                accept_tools(journal, server.tools, emit)
            config, model = await load_worded(config, emit)
            require_room(config.rollout, server, model, emit)
            # Only now, so that what is wrong with the settings leaves no run behind.
            journal = journal or stack.enter_context(Journal.create(Path(config.runs_dir) / config.name, config))
            stack.enter_context(server.recorded(journal.folder if config.record else None))
            stack.enter_context(logging_to(journal.folder / "server.log"))
            with watching(journal, 60 * config.training.stall_minutes, recording(journal.write_event, emit)) as record:
                return await _run(config, journal, server, model, record, parts)


async def _run(
    config: Config, journal: Journal, server: Server, model: LoadedModel, emit: Emit, parts: Parts
) -> report.Report:
    """All phases of a run, and its report."""
    rewind_to_whole(journal, emit)
    if model.note:
        emit(Note(model.note))
    trackers = open_trackers(config.trackers, journal.folder, config)
    proof = None
    try:
        async with open_engine(config, model, journal.folder / "vllm.log", emit) as engine:
            server.lend(PolicyLlm(engine).partner)
            sampler = Sampler(config, server, engine, journal, emit, **parts.conversing(config, model, engine))
            scoring = Scoring(config, server.tools, journal, PolicyLlm(engine), emit, parts.judging)
            await _train(Run(config, journal, server, model, engine, sampler, scoring, trackers, parts, emit))
        if not uses_tinker(config):
            device = find_device(config.model.device)
            if taken := memory.planned_and_peak(config, placement(config, device)):
                journal.write_fact("memory", taken)
        finished = report.write(journal.folder)
        proof = json.loads((journal.folder / "report.json").read_text())
    finally:
        trackers.close(proof)
    return finished


@dataclass(frozen=True)
class Run:
    """The parts that every phase of a run uses."""

    config: Config
    journal: Journal
    server: Server
    model: LoadedModel
    engine: Engine
    sampler: Sampler
    scoring: Scoring
    trackers: Trackers
    parts: Parts
    emit: Emit

    def adapter(self, step: int) -> Adapter:
        return Adapter(str(self.journal.folder / "adapters" / f"step-{step}"), step)

    def validates(self, step: int) -> bool:
        return step % self.config.training.eval_every == 0 or step == self.config.training.steps


async def _train(run: Run) -> None:
    """The phases of a run. Each reads what it finds in the journal instead of doing it again."""
    pack = await prepare_pack(run.config, run.journal, run.server, PolicyLlm(run.engine), run.emit)
    await run.engine.ready()
    if warning := equal_rollouts(run.config.eval):
        run.emit(Note(warning))
    await evaluate(run, "test:base", pack.test, 0, None)
    if comparison.can_forget(run.journal.outcomes("test:base", 0)):
        await measure_difficulty(run, pack.test, 1)
    measured = run.config.training.measure
    training = await measure_difficulty(run, pack.train, measured) if measured else pack.train
    demonstrations = Demonstrations(run.config, run.journal, run.server, run.model.tokenizer, training, run.emit)
    validate = partial(evaluate, run, "val:warm", pack.val)
    warm_start = WarmStart(run.config, run.journal, run.model, validate, len(pack.val), run.engine.paused, run.emit)
    if start := warm_start.start():
        await evaluate(run, "test:start", pack.test, 0, start)
    step, adapter = 0, await warm_start.run(demonstrations)
    if run.config.training.steps:
        if adapter and run.config.training.warm_start_steps:
            await evaluate(run, "test:warm", pack.test, 0, adapter)
        step, adapter = await reinforce(run, training, pack.val, adapter)
    await evaluate(run, "test:trained", pack.test, step, adapter)
    await run.parts.measure(run.config, run.journal, run.engine, step, adapter, run.emit)
    record_overlap(run.journal)
    run.emit(RunComplete())


async def reinforce(
    run: Run, training: Sequence[Scenario], val: Sequence[Scenario], start: Adapter | None
) -> tuple[int, Adapter | None]:
    """GRPO from the adapter `start` (or the base model); returns the step that is tested and its adapter."""
    config, last = run.config.training, run.journal.last_step() or 0
    trainer = open_trainer(run.model, config, config.steps * config.minibatches * config.epochs, run.emit)
    if trainer.note and not run.journal.events("warmed"):  # else the warm start has said it
        run.emit(Note(trainer.note))
    if forecast := await run.scoring.forecast(config.steps - last):
        run.emit(Note(forecast))
    if last:
        trainer.load(run.adapter(last).path)
    known = [0, *filter(run.validates, range(1, last + 1))]
    scores = {step: await evaluate(run, "val", val, step, run.adapter(step) if step else start) for step in known}
    if not last and (forecast := _sampling_forecast(run)):
        run.emit(Note(forecast))
    ahead: StepRollouts | None = None
    for step in range(last + 1, config.steps + 1):
        patience = config.steps if run.config.is_control else config.patience
        if has_stalled(scores, patience) or rl_is_spent(run.config, run.journal):
            break
        steps, validated = symptoms.steps_of(run.journal), symptoms.validations(run.journal)
        if not run.config.is_control and (collapse := symptoms.collapse(steps, validated)):
            run.emit(Note(f"training ends with step {run.journal.last_step() or 0}: {collapse}"))
            break
        try:
            sampled = ahead or await sample_step(run, step, training, start)
            pipelined = config.pipeline == "on" and step < config.steps
            next_step = partial(sample_step, run, step + 1, training, start) if pipelined else None
            async with concurrently(next_step) as sampling:
                await update_adapter(run, trainer, sampled)
            ahead = sampling.result
        except BudgetError as error:
            run.emit(Note(f"training ends with step {run.journal.last_step() or 0}: {error}"))
            break
        if run.validates(step):
            scores[step] = await evaluate(run, "val", val, step, run.adapter(step))
        prune_adapters(run.journal, scores)
    last = run.journal.last_step() or 0
    if last and last not in scores:  # it ended early
        scores[last] = await evaluate(run, "val", val, last, run.adapter(last))
    prune_adapters(run.journal, scores)  # also after a resume without a step to take
    end_training(run.journal)
    tested = last if run.config.is_control else best_step(scores)  # a choice hides leaks
    if tested:
        run.journal.write_adapter(run.adapter(tested), kind="best")
    run.emit(BestChosen(tested, scores.get(tested, 0.0)))
    return tested, run.adapter(tested) if tested else start


def _sampling_forecast(run: Run) -> str:
    """What sampling the steps of RL will take at the speed of the largest test so far, since many rollouts at once are
    the faster each, and of the latest of them, since a policy that answers is faster than a base that goes on calling.
    Empty if none was timed."""
    config = run.config.training
    timed = [event.data for event in run.journal.events("evaluated") if event.data["seconds"]]
    if not timed:
        return ""
    largest = max(reversed(timed), key=lambda tested: tested["n"])
    rollouts = config.scenarios_per_step * config.group_size
    a_step = largest["seconds"] / (largest["n"] * run.config.eval.rollouts) * rollouts
    return (
        f"RL takes up to {counted(config.steps, 'step')} of {counted(rollouts, 'rollout')}; at the speed of the tests "
        f"so far sampling takes about {minutes(a_step)} a step, {minutes(a_step * config.steps)} in all. Updates "
        "come on top: each step's line has the time that is left. Ctrl-C keeps what the run has"
    )


@dataclass(frozen=True)
class StepRollouts:
    """What a step trains on: its groups with the judge's scores, the judge's figures, and what it all took."""

    step: int
    judged: Judged
    figures: dict[str, float]


async def sample_step(run: Run, step: int, scenarios: Sequence[Scenario], start: Adapter | None) -> StepRollouts:
    """Draw a step's scenarios, sample their rollouts and score them.

    The policy is the adapter of the last step or, if pipelined, of the one before, so that a run that was interrupted
    samples from the same adapter as one that was not.
    """
    config, began = run.config.training, time.perf_counter()
    newest = step - 2 if config.pipeline == "on" else step - 1
    policy = run.adapter(newest) if newest > 0 else start
    outcomes = ((o.scenario_id, o.step, o.success) for o in run.journal.outcomes("train"))
    drawn = draw(scenarios, outcomes, step, config.scenarios_per_step, run.config.seed, config.given_calls)
    drawn_P, given = [each.scenario for each in drawn], {each.scenario.id: each.given_calls for each in drawn}
    if policy and not run.sampler.is_sampled("train", step, drawn_P, config.group_size):
        await run.sampler.load(policy)
    swapped = time.perf_counter()
    groups_P = await run.sampler.groups("train", step, drawn_P, config.group_size, policy, given)
    sampled = time.perf_counter()
    base_P = await run.sampler.groups("anchor", 0, drawn_P, 1, None) if "base" in run.config.judge.anchors else None
    judged = await run.scoring.train(step, groups_P, base_P)
    seconds = {"swap_s": swapped - began, "rollout_s": sampled - swapped, "judge_s": time.perf_counter() - sampled}
    return StepRollouts(step, judged, run.scoring.judge.report() | seconds)


async def update_adapter(run: Run, trainer: AnyTrainer, sampled: StepRollouts) -> None:
    """Update the adapter on a step's rollouts, save it, and record the step with its metrics."""
    began, step, judged = time.perf_counter(), sampled.step, sampled.judged
    rewarded: list[RewardedGroup] = []
    scored = {score.trajectory_id for scores in judged.scores_P for score in scores}
    for group, scores in zip(judged.groups_P, judged.scores_P, strict=True):
        trajectories_G = [trajectory for trajectory in group.trajectories if trajectory.id in scored]
        rewarded.append(RewardedGroup(trajectories_G, run.scoring.rewards(step, group, scores)))
    batch = make_batch(rewarded, run.config.training)
    metrics, gaps = dict[str, float](), dict[str, list[float]]()
    if batch.rows_B:
        work = partial(update, trainer, batch, run.config.rollout.temperature, on_gaps=gaps.update)
        async with run.engine.paused():
            metrics = await in_update_thread(work)
    adapter = run.adapter(step)
    trainer.save(adapter.path)
    metrics |= rollout_metrics(judged.groups_P) | judged.metrics() | sampled.figures
    metrics |= {"dropped_groups": batch.dropped_groups, "train_s": time.perf_counter() - began}
    run.trackers.log_step(step, metrics)
    run.trackers.log_groups(step, judged.groups_P, [score for scores in judged.scores_P for score in scores])
    trained = {trajectory.id for trajectory in batch.trajectories}
    became = fates(judged.groups_P, scored, trained, taken=metrics.get("skipped", 0.0) < 1)
    run.journal.write_step(step, metrics, adapter, became, gaps)
    no_signal = judged.no_signal(run.config.training.signal_tolerance)
    run.emit(StepComplete(step, run.config.training.steps, metrics, judged.by_tool(), no_signal))
    symptoms.emit_notes(run.journal, run.emit, run.config.training.steps)


async def evaluate(run: Run, phase: str, scenarios: Sequence[Scenario], step: int, adapter: Adapter | None) -> float:
    """The mean score on held-out tasks, recorded under `phase`."""
    began = time.perf_counter()
    groups = await run.sampler.groups(phase, step, scenarios, run.config.eval.rollouts, adapter)
    scores = [score for group in groups for score in await run.scoring.held_out(phase, step, group)]
    if not scores:
        return 0.0
    mean, rates = fmean(score.value for score in scores), success_by_task(run.journal.outcomes(phase, step)).values()
    run.emit(Evaluated(phase, step, len(rates), fmean(rates), round(time.perf_counter() - began, 2)))
    run.trackers.log_step(step, {f"{phase}/success": fmean(rates), f"{phase}/score": mean})
    return mean


async def measure_difficulty(run: Run, scenarios: Sequence[Scenario], group_size: int) -> tuple[Scenario, ...]:
    """The scenarios with the base model's failure rate, by rollouts of their own: the test's would sort it by luck."""
    groups = await run.sampler.groups("difficulty", 0, scenarios, group_size, None)
    measured: list[Scenario] = []
    for group in groups:
        scores = await run.scoring.held_out("difficulty", 0, group) if group.scenario.checks else []
        failed = fmean(not score.success for score in scores) if scores else None
        measured.append(replace(group.scenario, difficulty=failed))
    run.journal.write_scenarios(measured)
    return tuple(measured)


def checked(config: Config, emit: Emit) -> Config:
    """A new run's configuration with this machine's choices. Raises what is wrong with it, before there is a folder."""
    config = config.model_copy(update={"name": config.name or time.strftime("%Y%m%d-%H%M%S")})
    Journal.require_new(Path(config.runs_dir) / config.name)
    require_trackers(config.trackers)
    require_tasks(config.scenarios)
    require_client(config)
    config = resolve(config)
    if uses_tinker(config):
        return config  # the server has the memory
    config, line = memory.fitted(config, placement(config, find_device(config.model.device)), server_device())
    emit(Note(line))
    if config.model.loader == "unsloth":
        emit(Note("unsloth loads the model, which takes a while; --loader transformers does without"))
    return config
