"""The model that is served: its engine, the names that requests may give, and the rollouts that it records."""

import copy
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import anyio

from mcprl.config import RolloutConfig
from mcprl.engines import Engine
from mcprl.models.load import LoadedModel
from mcprl.serving.metrics import Metrics
from mcprl.serving.refusals import Refusal
from mcprl.serving.rollouts import Rollouts
from mcprl.serving.slots import AdapterSlots
from mcprl.types import Adapter, Completion, CompletionRequest

BASE, LATEST = "base", "latest"


class ServedModel:
    """A policy on an engine that others sample.

    Requests name `latest` (or `name`), which is the newest adapter, `base` (or `name@0`), which has none, or
    `name@step`, a kept one. While it is `updating` they are answered with the old adapter, or `requests_wait` and are
    answered with the new one.
    """

    def __init__(
        self,
        name: str,
        loaded: LoadedModel,
        engine: Engine,
        rollout: RolloutConfig,
        kept: Sequence[Adapter] = (),
        latest: Adapter | None = None,
        requests_wait: bool = False,
    ) -> None:
        self.name, self.engine, self.rollout, self.base = name, engine, rollout, loaded.name
        self.tokenizer: Any = copy.deepcopy(loaded.tokenizer)  # the engine's thread uses the other
        self.end_ids = loaded.end_ids
        self.metrics, self.rollouts = Metrics(), Rollouts()
        self.kept = {adapter.step: adapter for adapter in (*kept, *([latest] if latest else []))}
        self.latest = latest
        self._slots = AdapterSlots(engine)
        self._requests_wait, self._open = requests_wait, anyio.Event()
        self._open.set()

    @property
    def step(self) -> int:
        """The training step of `latest`; 0 if that is the base model."""
        return self.latest.step if self.latest else 0

    def names(self) -> dict[str, int]:
        """The names that requests may give, with the training step of each."""
        kept = {f"{self.name}@{step}": step for step in sorted(self.kept)}
        return {LATEST: self.step, self.name: self.step, BASE: 0} | kept

    def find(self, name: str) -> Adapter | None:
        """The adapter that a request's `model` names, `None` for the base model. Raises `Refusal`."""
        if name == f"{self.name}@0" and 0 not in self.kept:
            return None
        if name not in self.names():
            known = ", ".join(map(repr, self.names()))
            raise Refusal(404, f"there is no model {name[:80]!r}; there are {known}", "model", "model_not_found")
        if name in (LATEST, self.name):
            return self.latest
        return None if name == BASE else self.kept[self.names()[name]]

    async def open(self) -> None:
        """Wait until requests are answered."""
        while not self._open.is_set():
            await self._open.wait()

    @contextmanager
    def updating(self) -> Generator[None]:
        """A context in which an update is computed and its adapter made `latest`."""
        if self._requests_wait:
            self._open = anyio.Event()
        try:
            yield
        finally:
            self._open.set()

    async def complete(self, request: CompletionRequest, adapter: Adapter | None) -> Completion:
        """Sample one turn. Raises `EngineError`."""
        async with self._slots.using(adapter):
            completion = await self.engine.complete(replace(request, adapter=adapter.name if adapter else None))
        self.metrics.sampled(len(completion.prompt_ids), len(completion.completion_ids))
        return completion

    async def serve(self, adapter: Adapter) -> None:
        """Make the adapter `latest`, from the next request on. Raises `EngineError` if the engine does not take it."""
        async with self._slots.using(adapter):
            self.kept[adapter.step] = self.latest = adapter
        self.metrics.step.set(adapter.step)
