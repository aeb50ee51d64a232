"""The warm start: supervised steps on verified plans before RL, until validation stops rising."""

import shutil
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import partial

from mcprl.config import Config
from mcprl.events import Emit, Note, WarmStartBegan, WarmStartEnded, WarmStartStep
from mcprl.models.adapters import copy_adapter
from mcprl.models.load import LoadedModel
from mcprl.runs.journal import Journal
from mcprl.runs.learning import rl_minutes
from mcprl.training.demonstrations import Demonstrations
from mcprl.training.opening import AnyTrainer, load_weights, open_trainer, save_weights
from mcprl.training.pipeline import concurrently
from mcprl.training.selection import best_step, has_stalled
from mcprl.training.symptoms import notes
from mcprl.training.thread import in_update_thread
from mcprl.types import Adapter

SOLVES_ENOUGH = 0.5
"""The validation score of a base model from which recipe "auto" has it learn from its own rollouts alone."""
_NOISE, _NOISY_TASKS, _MOST_NOISE = 0.05, 1.5, 0.3
"""So much lower a later step may score, or by so many tasks up to a limit, and is kept: the score of some fifty tasks
is no surer, that of fewer depends on one, and the rate has fallen to 0 by then."""
_TIMED_STEPS, _LONG_HOURS = 2, 2.0
"""After so many steps what is left is told, if it takes so many hours."""
Validate = Callable[[int, Adapter | None], Awaitable[float]]
"""The score on the validation tasks after so many supervised steps, of their adapter or of the base model (`None`)."""


def computed(journal: Journal) -> dict[int, float]:
    """The tokens that a run's warm start had computed at each of its checkpoints."""
    return {int(step): float(tokens) for step, tokens in journal.fact("warm_start_tokens", {}).items()}


def rl_is_spent(config: Config, journal: Journal) -> bool:
    """Whether RL has taken its minutes or, if it may not take more (recipe "auto"), has computed as many tokens as the
    warm start before it. A control takes all its steps, in the minutes that it has."""
    if rl_minutes(journal) > config.training.max_minutes:
        return True
    allowed = max(computed(journal).values(), default=0.0)
    if config.training.recipe != "auto" or config.is_control or not (allowed and journal.adapters("warm")):
        return False
    names = ("sampled_tokens", "forwarded_tokens")
    taken = (float(record.metrics.get(name) or 0) for record in journal.steps() for name in names)
    return sum(taken) >= allowed


@dataclass
class WarmStart:
    """The supervised phase of a run. The report tests its end by itself, so that RL's part of the gain is known.

    `val_tasks` is the number of tasks that `validate` scores. `paused` is the engine's: between validations the steps
    have its memory.
    """

    config: Config
    journal: Journal
    loaded: LoadedModel
    validate: Validate
    val_tasks: int
    paused: Callable[[], AbstractAsyncContextManager[None]]
    emit: Emit
    _scores: dict[int, float] = field(default_factory=dict[int, float])
    _checkpoints: dict[int, Adapter] = field(default_factory=dict[int, Adapter])

    async def run(self, demonstrations: Demonstrations) -> Adapter | None:
        """Take the steps, from the last validation on if the run was stopped, or else from `training.start`.

        Returns the adapter that validated best, or a later one that is hardly worse; the model then has its weights.
        `None` if that is the base model: there are no steps to take, it validated best, or it solves enough already.
        """
        training, start = self.config.training, self.start()
        if not (training.warm_start_steps or start):
            return None
        if done := self._done():
            return done
        if not start and (ended := self.journal.events("warmed")) and not ended[-1].data["step"]:
            return None  # in an earlier session the base model validated best
        if not training.warm_start_steps:
            return self._keep(start)
        self._scores[0] = await self.validate(0, start)
        if training.recipe == "auto" and self._scores[0] >= SOLVES_ENOUGH:
            began = "the start" if start else "the base model"
            self.emit(Note(f"no warm start: {began} scores {self._scores[0]:.2f} in validation"))
            return self._keep(start)
        await self._train(demonstrations)
        return self._keep_best(start)

    def start(self) -> Adapter | None:
        """The adapter to begin with, copied into the run, and its weights in the model."""
        if not self.config.training.start:
            return None
        start = self.journal.folder / "adapters" / "start"
        if not start.exists():
            copy_adapter(self.config.training.start, start)
        load_weights(self.loaded, start)
        return Adapter(str(start), 0)

    async def _train(self, demonstrations: Demonstrations) -> None:
        training = self.config.training
        self.emit(WarmStartBegan(training.warm_start_steps))
        trainer = open_trainer(self.loaded, training, training.warm_start_steps, self.emit)
        if trainer.note:
            self.emit(Note(trainer.note))
        self._checkpoints[0] = Adapter(f"{self._adapter.path}-0", 0)
        save_weights(self.loaded, self._checkpoints[0].path)
        await self._load_checkpoints(trainer)
        tokens = computed(self.journal).get(max(self._checkpoints), 0.0)
        metrics: list[dict[str, float]] = []
        while (last := max(self._scores)) < training.warm_start_steps:
            if has_stalled(self._scores, training.patience):
                break
            validated = min(last - last % training.eval_every + training.eval_every, training.warm_start_steps)
            async with self.paused():
                for step in range(last + 1, validated + 1):
                    metrics.append(await self._step(trainer, demonstrations, step))
                    tokens += metrics[-1]["forwarded_tokens"]
                    for sentence in (*notes(metrics), *self._told_if_long(metrics, step)):
                        self.emit(Note(sentence))
                    self.emit(WarmStartStep(step, training.warm_start_steps, metrics[-1]))
            # Before the checkpoint, so that a run that is stopped in between knows the tokens of each that it finds.
            self.journal.write_fact("warm_start_tokens", computed(self.journal) | {validated: tokens})
            await self._validate(trainer, validated)

    def _told_if_long(self, metrics: Sequence[Mapping[str, float]], step: int) -> Iterator[str]:
        """Once in a session, how long the steps that are left will take if that is long, and what makes it shorter."""
        if len(metrics) != _TIMED_STEPS:
            return
        training, tokens = self.config.training, metrics[-1]["forwarded_tokens"]
        hours = (training.warm_start_steps - step) * tokens / metrics[-1]["tokens_per_s"] / 3600
        if hours > _LONG_HOURS:
            fewer = f"--warm-start-plans {max(1, training.warm_start_plans // 4)} or "
            yield (
                f"the supervised steps will take up to {hours:.1f} hours more, {tokens:,.0f} tokens each. A new run is "
                f"done sooner with {fewer if training.warm_start_plans > 1 else ''}--max-result-bytes below "
                f"{self.config.tools.max_result_bytes}, which cuts long results"
            )

    async def _step(self, trainer: AnyTrainer, demonstrations: Demonstrations, step: int) -> dict[str, float]:
        """One supervised step, while the plans of the next one are executed. Returns its metrics."""
        rows_B = await demonstrations.rows(step)
        following = partial(demonstrations.rows, step + 1) if step < self.config.training.warm_start_steps else None
        async with concurrently(following):
            return await in_update_thread(partial(trainer.supervise, rows_B, self._rate(step)))

    def _rate(self, step: int) -> float:
        """The learning rate of a step: constant, in the last quarter of the steps it falls to 0."""
        training = self.config.training
        left = (training.warm_start_steps + 1 - step) / training.warm_start_steps
        return training.warm_start_learning_rate * min(1.0, 4 * left)

    async def _validate(self, trainer: AnyTrainer, step: int) -> None:
        self._checkpoints[step] = checkpoint = Adapter(f"{self._adapter.path}-{step}", step)
        trainer.save(checkpoint.path)
        self.journal.write_adapter(checkpoint, kind="supervised")
        self._scores[step] = await self.validate(step, checkpoint)

    async def _load_checkpoints(self, trainer: AnyTrainer) -> None:
        """What an earlier session of the run has left."""
        for saved in self.journal.adapters("supervised"):
            if saved.is_whole:
                self._checkpoints[saved.adapter.step] = saved.adapter
                self._scores[saved.adapter.step] = await self.validate(saved.adapter.step, saved.adapter)
        if last := max(self._checkpoints):
            trainer.load(self._checkpoints[last].path)

    @property
    def _adapter(self) -> Adapter:
        return Adapter(str(self.journal.folder / "adapters" / "warm"), 0)

    def _done(self) -> Adapter | None:
        """The warm start's adapter, if an earlier session of the run has made it."""
        saved = self.journal.adapters("warm")
        if not saved:
            return None
        if not saved[-1].is_whole:
            self.emit(Note("the warm start's adapter is damaged and is made again"))
            return None
        load_weights(self.loaded, self._adapter.path)
        return self._adapter

    def _keep_best(self, start: Adapter | None) -> Adapter | None:
        """Of the start and the checkpoints keep the best, or the last that is hardly worse."""
        best = best_step(self._scores, min(_MOST_NOISE, max(_NOISE, _NOISY_TASKS / self.val_tasks)))
        if self._scores[best] < self._scores[0] - _NOISE:  # only among trained steps has a later one seen more
            best = best_step(self._scores, _NOISE)
        self.emit(WarmStartEnded(best, self._scores[best]))
        load_weights(self.loaded, self._checkpoints[best].path)
        kept = self._keep(self._checkpoints[best] if best else start)
        for checkpoint in self._checkpoints.values():
            shutil.rmtree(checkpoint.path, ignore_errors=True)
        return kept

    def _keep(self, adapter: Adapter | None) -> Adapter | None:
        """Keep an adapter as the warm start's; of the base model there is nothing to keep."""
        if not adapter:
            return None
        copy_adapter(adapter.path, self._adapter.path)
        self.journal.write_adapter(self._adapter, kind="warm")
        return self._adapter
