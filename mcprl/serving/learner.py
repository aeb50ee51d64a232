"""Updates of a served model: a checked lesson in, a new adapter out, which is served from then on."""

import asyncio
import shutil
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio.to_thread

from mcprl.config import TrainingConfig
from mcprl.errors import McprlError
from mcprl.models import context_limit
from mcprl.models.adapters import load_adapter_weights
from mcprl.models.load import LoadedModel
from mcprl.serving.jobs import Job, Jobs
from mcprl.serving.lessons import Lesson, OnStep, gradient_step
from mcprl.serving.model import ServedModel
from mcprl.serving.origin import SOURCE, kept_steps
from mcprl.serving.refusals import Refusal, of_error
from mcprl.text import first_line
from mcprl.training.thread import in_update_thread
from mcprl.training.trainer import Trainer
from mcprl.types import Adapter

_SUPERVISED = "supervised"
"""An empty file beside an adapter whose last update was supervised: its optimizer's state is of no use to RL."""


class Learner:
    """Trains a served model. Its adapters are kept in `folder`, and a learner on that folder goes on from the newest.

    While an update is computed, requests are answered with the adapter before it, or wait (`ServedModel`).
    """

    def __init__(self, model: ServedModel, loaded: LoadedModel, config: TrainingConfig, folder: Path) -> None:
        self.model, self.folder, self.jobs = model, folder, Jobs()
        # The rollouts may be old. How far the policy has moved since they were sampled is the caller's to judge.
        self.config = config.model_copy(update={"max_sampler_gap": float("inf")})
        self.limit = context_limit(loaded.model.config)
        self._loaded = loaded
        self._trainer: Trainer | None = None

    async def resume(self) -> None:
        """Serve the newest adapter in the folder, if there is one."""
        steps = kept_steps(self.folder)
        for step in steps:
            self.model.kept[step] = self._adapter(step)
        if steps:
            await self.model.serve(self._adapter(steps[-1]))

    def train(self, lesson: Lesson, name: str | None = None) -> Job:
        """Begin an update, after those that were begun before it. A job of that name is followed, not begun again."""
        return (name and self.jobs.find(name)) or self.jobs.start(name, partial(self._train, lesson))

    def trained(self, step: int) -> bool:
        """Whether the adapter of that step is kept, and was trained here."""
        return self.model.kept.get(step) == self._adapter(step)

    async def delete(self, step: int) -> None:
        """Delete a kept adapter of this folder. Raises `Refusal` if it is served or not in the folder."""
        adapter = self._adapter(step)
        if not self.trained(step):
            raise Refusal(404, f"there is no adapter of step {step} that was trained here", "step", "not_found")
        if adapter == self.model.latest:
            raise Refusal(409, f"the adapter of step {step} is being served", "step", "in_use")
        del self.model.kept[step]
        await anyio.to_thread.run_sync(shutil.rmtree, adapter.path)

    async def fork(self, step: int, name: str) -> Path:
        """Copy a kept adapter to where a model of that name is kept (`mcprl serve TARGET --name NAME`), which goes on
        from it; returns its folder. Raises `Refusal` if there is no such adapter, or such a model already."""
        adapter = self.model.kept.get(step)
        if not adapter:
            raise Refusal(404, f"there is no adapter of step {step}", "step", "not_found")
        other = self.folder.parent.parent / name / self.folder.name
        try:
            await anyio.to_thread.run_sync(_copy, Path(adapter.path), other, f"step-{step or 1}")
        except FileExistsError:
            taken = f"there is a model {name!r} already; fork to another name"
            raise Refusal(409, taken, "name", "in_use") from None
        await anyio.to_thread.run_sync(shutil.copy, self.folder.parent / SOURCE, other.parent)
        return other.parent

    async def _train(self, lesson: Lesson, job: Job) -> None:
        try:
            job.say(type="job", job=job.id, **lesson.about)
            if why := lesson.why_not:
                job.say(type="unchanged", why=why, **self._served())
            else:
                await self._update(lesson, job)
            self.model.metrics.updates.labels("unchanged" if why else "changed").inc()
        except Exception as error:  # said to whoever follows, whatever it is
            self.model.metrics.updates.labels("failed").inc()
            refusal = of_error(error) if isinstance(error, McprlError) else Refusal(500, first_line(error))
            job.say(type="error", **refusal.body, **self._served())

    async def _update(self, lesson: Lesson, job: Job) -> None:
        loop, began = asyncio.get_running_loop(), time.perf_counter()
        steps, adapter = 0, self._adapter(max(self.model.step, *self.model.kept, 0) + 1)

        def on_step(metrics: dict[str, float]) -> None:
            nonlocal began, steps
            steps, now = steps + 1, time.perf_counter()
            event = gradient_step(metrics) | {"gradient_step": steps, "seconds": now - began, "step": adapter.step}
            began = now
            loop.call_soon_threadsafe(partial(job.say, type="gradient_step", **event))

        with self.model.updating():
            async with self.model.engine.paused():
                metrics = await in_update_thread(partial(self._compute, lesson, adapter, on_step))
            try:
                await self.model.serve(adapter)
            except BaseException:
                self._trainer = None  # what is served is what the next update begins with
                shutil.rmtree(adapter.path, ignore_errors=True)
                raise
        if self._trainer and (note := self._trainer.forward.note):
            job.say(type="note", text=note)
        job.say(type="adapter", **self._served(), metrics=metrics)

    def _compute(self, lesson: Lesson, adapter: Adapter, on_step: OnStep) -> dict[str, float]:
        """Update and save, or leave the weights as they were."""
        trainer = self._open(lesson.supervised)
        trainer.configure(lesson.config)
        try:
            metrics = lesson.train(trainer, on_step)
            trainer.save(adapter.path)
            if lesson.supervised:
                (Path(adapter.path) / _SUPERVISED).touch()
        except BaseException:
            self._trainer = None
            load_adapter_weights(self._loaded, self._adapter(self.model.step).path)
            raise
        return metrics

    def _open(self, supervised: bool) -> Trainer:
        """The trainer at the served step, which is saved first, so that a failed update can be taken back. Its
        optimizer begins with no moments if the last update was of the other kind."""
        served = Path(self._adapter(self.model.step).path)
        if not served.is_dir():
            if self.model.latest:
                load_adapter_weights(self._loaded, self.model.latest.path)
            Trainer(self._loaded, self.config).save(served)
        if self._trainer is None:
            self._trainer = Trainer(self._loaded, self.config)
            self._trainer.load(served)
        if supervised != (served / _SUPERVISED).exists():
            self._trainer = Trainer(self._loaded, self.config)
        return self._trainer

    def _adapter(self, step: int) -> Adapter:
        return Adapter(str(self.folder / f"step-{step}"), step)

    def _served(self) -> dict[str, Any]:
        """The name and the step of what is served."""
        step = self.model.step
        return {"model": f"{self.model.name}@{step}" if step in self.model.kept else "base", "step": step}


def _copy(adapter: Path, adapters: Path, name: str) -> None:
    """Copy an adapter into a new folder of adapters, whole or not at all. Raises `FileExistsError` if it is there."""
    adapters.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=adapters.parent) as draft:
        shutil.copytree(adapter, Path(draft) / "adapters" / name)
        try:
            (Path(draft) / "adapters").rename(adapters)
        except OSError as error:  # a folder with files in it
            raise FileExistsError(adapters) from error
