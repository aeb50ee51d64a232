"""The loop, top to bottom.

server -> scenarios -> base test -> (warm start) -> rollouts, scores, update, again and again -> held-out test -> report

Everything a step makes is in the journal before it is used, and every random choice follows from (seed, step, scenario,
try), so a run killed at any instant goes on with `resume` from the last complete step and ends as if it had not been.
"""

import json
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from statistics import fmean
from typing import Any

import anyio

from mcprl.config import Config
from mcprl.engines import open_engine
from mcprl.errors import BudgetError, McprlError
from mcprl.judges.scoring import Judged, Scoring
from mcprl.llm.policy import PolicyLlm
from mcprl.models.load import load_model
from mcprl.prepare import fits, prepare_pack, settled
from mcprl.rollout import rollouts, unfinished
from mcprl.runs import report
from mcprl.runs.journal import Journal
from mcprl.runs.trackers import Trackers, open_trackers
from mcprl.servers.server import Server, connect
from mcprl.training.advantages import advantages
from mcprl.training.curriculum import draw
from mcprl.training.rows import certificate, training_rows
from mcprl.training.trainer import Trainer
from mcprl.training.warm_start import warm_start
from mcprl.types import Adapter, Group, Row, Scenario, Trajectory

Show = Callable[[str, dict[str, Any]], None]
"""Told what happens while it happens: a kind of event and its data; the command line prints it."""


@dataclass(frozen=True)
class _Tried:
    """What a step trains on: its tries, what the judge made of them, and the seconds spent."""

    step: int
    groups_P: list[Group]
    judged: Judged
    swap_s: float
    rollout_s: float
    judge_s: float


async def train_adapter(
    config: Config, resume: str | Path | None = None, show: Show = lambda *_: None
) -> report.Report:
    """Train an adapter for the configured servers and prove what it gained; returns the report of the run.

    Raises `ConfigError` (the run cannot fit into memory, say), `ServerError`, `ScenarioError`, `ModelError`,
    `JournalError` or `TrainingError`, each with what to do.
    """
    if not resume:
        show("note", {"text": await anyio.to_thread.run_sync(fits, config)})
        config = settled(config)
        if config.model.loader == "unsloth":
            show("note", {"text": "unsloth loads the model, which takes a while; --loader transformers does without"})
    with Journal.open(resume, write=True) if resume else Journal.create(_folder(config), config) as journal:
        config = _with_servers(journal.config, config) if resume else config
        trackers = open_trackers(config.trackers, journal.folder, config)
        proof = None
        try:
            async with connect(config.servers, config.tools, log=journal.folder / "server.log") as server:
                await _Run(config, journal, server, trackers, show).work()
            finished = report.write(journal.folder)
            proof = json.loads((journal.folder / "report.json").read_text())
        finally:
            trackers.close(proof)
        return finished


def _with_servers(saved: Config, given: Config) -> Config:
    """A run's own configuration; the servers as given anew where they are, since secrets were not kept."""
    return saved.model_copy(update={"servers": given.servers}) if given.servers else saved


class _Run:
    def __init__(self, config: Config, journal: Journal, server: Server, trackers: Trackers, show: Show) -> None:
        self.config, self.journal, self.server, self.trackers, self.show = config, journal, server, trackers, show
        self.pipelined = config.training.pipeline == "on"
        self.loaded = load_model(config.model)
        base = lambda scenarios: self._groups("anchor", 0, scenarios, 1, None)  # noqa: E731
        self.scoring = Scoring(config, server.tools, journal, PolicyLlm(lambda: self.engine), base)
        self.engine = open_engine(config, self.loaded, self.loaded.path, journal.folder / "vllm.log", self._hear)

    async def work(self) -> None:
        """Everything from the tasks to the held-out test."""
        try:
            await self._work()
        finally:
            await self.engine.close()

    async def _work(self) -> None:
        config, journal = self.config, self.journal
        pack = await prepare_pack(config, journal, self.server, PolicyLlm(lambda: self.engine), self.say)
        await self.engine.ready()  # it has been starting meanwhile
        train, val, test = pack.split("train"), pack.split("val"), pack.split("test")
        await self.evaluate("test:base", 0, test, None)
        await self._measure_difficulty(test)
        if config.training.measure:
            train = await self._measure_difficulty(train, config.training.measure)
        # The adapter that RL starts from: the warm-started one, or none.
        start = await warm_start(config, journal, self.server, self.loaded, train, self.say, self.show)
        if start:
            await self.evaluate("test:warm", 0, test, start)

        trainer = Trainer(self.loaded, config.training)
        if trainer.forward.note:
            self.say("note", text=trainer.forward.note)
        last = journal.last_step() or 0
        tried = list(journal.trajectories("test:base", 0))[: config.training.group_size]
        groups = (config.training.steps - last) * config.training.scenarios_per_step
        if forecast := await self.scoring.judge.forecast(groups, Group(test[0], tuple(tried))):
            self.say("note", text=forecast)
        if last:
            trainer.load(self._adapter(last).path)
        began = time.monotonic()
        validated = {0: await self.evaluate("val", 0, val, start)}
        for looked in (step for step in range(1, last + 1) if self._looks(step)):
            validated[looked] = await self.evaluate("val", looked, val, self._adapter(looked))
        ahead: _Tried | None = None  # what the next step trains on, where it is sampled while this one trains
        for step in range(last + 1, config.training.steps + 1):
            if self._stalled(validated) or time.monotonic() - began > 60 * config.training.max_minutes:
                break
            try:
                tried = ahead or await self._try(step, train, start)
                further = step + 1 if self.pipelined and step < config.training.steps else None
                ahead = await self._learn_beside(tried, trainer, further, train, start)
            except BudgetError as error:
                self.say("note", text=f"training ends with step {journal.last_step() or 0}: {error}")
                break
            if self._looks(step) or step == config.training.steps:
                validated[step] = await self.evaluate("val", step, val, self._adapter(step))
            self._prune(validated)

        best = max(validated, key=lambda step: (validated[step], step))  # of equals the later one: it has seen more
        chosen = self._adapter(best) if best else start
        if chosen and best:
            journal.write_adapter(chosen, kind="best")
        self.say("best", step=best, score=validated[best])
        await self.evaluate("test:trained", best, test, chosen)
        self.say("done")

    # --- one step -----------------------------------------------------------------------------------------------------

    async def _try(self, step: int, scenarios: Sequence[Scenario], start: Adapter | None) -> "_Tried":
        """The rollouts and scores of a step. They are sampled from the last step's adapter or, in the pipeline, from
        the one before, so that the same adapter is used however the run was interrupted."""
        config = self.config.training
        began = time.perf_counter()
        newest = step - 1 - self.pipelined
        current = self._adapter(newest) if newest > 0 else start
        if current:
            await self.engine.load_adapter(current)
        swapped = time.perf_counter()
        outcomes = ((o.scenario_id, o.step, o.success) for o in self.journal.outcomes("train"))
        chosen_P = draw(scenarios, outcomes, step, config.scenarios_per_step, self.config.seed)
        groups_P = await self._groups("train", step, chosen_P, config.group_size, current)
        rolled = time.perf_counter()
        judged = await self.scoring.train(step, groups_P)
        return _Tried(step, groups_P, judged, swapped - began, rolled - swapped, time.perf_counter() - rolled)

    async def _learn_beside(
        self,
        tried: "_Tried",
        trainer: Trainer,
        further: int | None,
        scenarios: Sequence[Scenario],
        start: Adapter | None,
    ) -> "_Tried | None":
        """Train on a step's tries and, in the pipeline, sample those of the step `further` meanwhile. What has been
        sampled is trained on before an error of the sampling is raised."""
        ahead: _Tried | None = None
        failed: list[Exception] = []

        async def sample(step: int) -> None:
            nonlocal ahead
            try:
                ahead = await self._try(step, scenarios, start)
            except McprlError as error:
                failed.append(error)

        async with anyio.create_task_group() as tasks:
            if further:
                tasks.start_soon(sample, further)
            try:
                await self._learn(tried, trainer)
            except Exception as error:  # raised as itself below: a task group would wrap it
                failed.insert(0, error)
                tasks.cancel_scope.cancel()
        if failed:
            raise failed[0]
        return ahead

    async def _learn(self, tried: "_Tried", trainer: Trainer) -> None:
        """Update the adapter on a step's tries and record the step."""
        config, step, began = self.config.training, tried.step, time.perf_counter()
        rows_B: list[tuple[Row, float]] = []
        used: list[Trajectory] = []
        dropped = 0
        for group, scores in zip(tried.groups_P, tried.judged.scores_P, strict=True):
            values = self.scoring.rewards(step, group, scores)
            centred = advantages(values, config.advantage_scale, config.signal_tolerance)
            if centred is None:
                dropped += 1
                continue
            by_id = {score.trajectory_id: advantage for score, advantage in zip(scores, centred, strict=True)}
            scored = [member for member in group.trajectories if member.id in by_id]
            used += scored
            rows_B += [(row, by_id[row.trajectory_id]) for member in scored for row in training_rows(member)]
        metrics: dict[str, float] = {}
        if rows_B:
            proof = certificate([row for row, _ in rows_B], used)
            share = len(used) / sum(map(len, tried.judged.scores_P))
            update = lambda: trainer.update(rows_B, self.config.rollout.temperature, proof, share)  # noqa: E731
            async with self.engine.paused():
                metrics = await anyio.to_thread.run_sync(update)
        adapter = self._adapter(step)
        trainer.save(adapter.path)
        self.journal.write_adapter(adapter)

        every = [member for group in tried.groups_P for member in group.trajectories]
        scores = [score for scores in tried.judged.scores_P for score in scores]
        metrics |= {
            "score": fmean(score.value for score in scores) if scores else 0.0,
            "success": fmean(bool(score.success) for score in scores) if scores else 0.0,
            "groups": len(tried.groups_P),
            "dropped_groups": dropped,
            "judge_failures": tried.judged.failures,
            "errors": sum(member.stop == "error" for member in every),
            "turns": fmean(len(member.turns) for member in every),
            "sampled_tokens": sum(len(turn.completion_ids) for member in every for turn in member.turns),
            "swap_s": tried.swap_s,
            "rollout_s": tried.rollout_s,
            "judge_s": tried.judge_s,
            "train_s": time.perf_counter() - began,
            **tried.judged.over_anchors,
            **self.scoring.judge.report(),
        }
        self.journal.write_step(step, metrics)
        self.trackers.log_step(step, metrics)
        self.trackers.log_groups(step, tried.groups_P, scores)
        self.show("step", {"step": step, "steps": config.steps, **metrics})

    async def _groups(
        self, phase: str, step: int, scenarios: Sequence[Scenario], tries: int, adapter: Adapter | None
    ) -> list[Group]:
        """The tries of each scenario; those that a stopped run had already made are taken from the journal."""
        if adapter:
            await self.engine.load_adapter(adapter)
        recorded = {tried.id: tried for tried in self.journal.trajectories(phase, step)}
        tested = phase not in ("train", "difficulty")
        tried_P_G = await rollouts(
            scenarios,
            tries,
            self.server,
            self.engine,
            self.config.rollout,
            label=f"{phase}/{step}",
            seed=self.config.seed,
            adapter=adapter.name if adapter else None,
            temperature=self.config.eval.temperature if tested else None,
            limit=self.config.engine.max_batch,
            recorded=recorded,
            done=lambda tried: self.journal.write_trajectories(phase, step, [tried]),
        )
        if note := unfinished([tried for tried_G in tried_P_G for tried in tried_G], self.config.rollout):
            self.say("note", text=note)
        return [Group(scenario, tuple(tried_G)) for scenario, tried_G in zip(scenarios, tried_P_G, strict=True)]

    async def evaluate(self, phase: str, step: int, scenarios: Sequence[Scenario], adapter: Adapter | None) -> float:
        """The mean score on held-out tasks, recorded under `phase`. What the journal holds is not sampled again."""
        began = time.perf_counter()
        groups = await self._groups(phase, step, scenarios, self.config.eval.rollouts, adapter)
        scores = [score for group in groups for score in await self.scoring.held_out(phase, step, group)]
        if not scores:
            return 0.0
        success = fmean(bool(score.success) for score in scores)
        seconds = time.perf_counter() - began
        self.say("evaluated", phase=phase, step=step, n=len(scores), success=success, seconds=round(seconds, 2))
        self.trackers.log_step(step, {f"{phase}/success": success, f"{phase}/score": fmean(s.value for s in scores)})
        return fmean(score.value for score in scores)

    # --- before and around the loop -----------------------------------------------------------------------------------

    async def _measure_difficulty(self, scenarios: Sequence[Scenario], tries: int = 2) -> tuple[Scenario, ...]:
        """How often the base model fails at each task, from tries apart from the test: its luck must not sort it."""
        groups = await self._groups("difficulty", 0, scenarios, tries, None)
        measured: list[Scenario] = []
        for group in groups:
            scores = await self.scoring.held_out("difficulty", 0, group) if group.scenario.checks else []
            failures = fmean(not score.success for score in scores) if scores else None
            measured.append(replace(group.scenario, difficulty=failures))
        self.journal.write_scenarios(measured)
        return tuple(measured)

    def _looks(self, step: int) -> bool:
        return step % self.config.training.eval_every == 0

    def _stalled(self, validated: dict[int, float]) -> bool:
        """Whether the last looks at the validation tasks brought nothing better than an earlier one."""
        best = max(validated, key=lambda step: (validated[step], -step))
        return sum(step > best for step in validated) >= self.config.training.patience

    def _adapter(self, step: int) -> Adapter:
        return Adapter(str(self.journal.folder / "adapters" / f"step-{step}"), step)

    def _prune(self, validated: dict[int, float]) -> None:
        """Delete the adapters that are neither the newest two nor the best so far."""
        best = max(validated, key=lambda step: (validated[step], step))
        saved = sorted(a.adapter.step for a in self.journal.adapters("train"))
        for step in saved[:-2]:
            if step != best and step not in validated:
                shutil.rmtree(self._adapter(step).path, ignore_errors=True)

    def _hear(self, kind: str, data: dict[str, Any]) -> None:
        """What the engine tells: notes are kept, its progress is shown."""
        if kind == "note":
            self.say(kind, **data)
        else:
            self.show(kind, data)

    def say(self, kind: str, **data: Any) -> None:
        self.journal.write_event(kind, **data)
        self.show(kind, data)


def _folder(config: Config) -> Path:
    name = config.name or f"{datetime.now():%Y%m%d-%H%M%S}"
    return Path(config.runs_dir) / name
