"""The small writer: a LoRA on SmolLM2 that was taught to say what a brief asks for (`recipes/nano/writer.py`).

It draws several requests for a brief, and tells how likely a request is under a brief. Nothing leaves the machine.
"""

import math
import random
from collections.abc import Sequence
from pathlib import Path

import anyio
import anyio.to_thread
import torch

from mcprl.config import ModelConfig
from mcprl.engines.embedded.engine import EmbeddedEngine
from mcprl.events import Emit, ignore
from mcprl.models.adapters import load_adapter_weights
from mcprl.models.load import load_model
from mcprl.scenarios.brief import Brief, written_for
from mcprl.training.demonstrations import demonstration
from mcprl.training.forward import Forward
from mcprl.training.rows import training_rows
from mcprl.types import Adapter, CompletionRequest, Message, Row

BASE = "smollm2"
RANK = 16
"""The rank of the writer's LoRA."""
LONGEST = 80
"""Tokens of a request."""
STYLES = {
    "lookup": {"short casual": 31, "medium casual": 27, "medium careful": 20, "short careful": 11, "long careful": 10},
    "chain": {"medium casual": 34, "medium careful": 23, "long careful": 20, "long casual": 9, "short casual": 9},
    "write": {"medium casual": 43, "long careful": 15, "long casual": 14, "medium careful": 14, "short casual": 11},
    "list": {"medium casual": 40, "medium careful": 23, "short casual": 17, "long careful": 10, "short careful": 5},
    "missing": {"short casual": 47, "medium casual": 20, "medium careful": 14, "short careful": 13, "long careful": 4},
}
"""In how many of a hundred requests people write so, by kind (`recipes/nano/written`, `brief.style_of`)."""


def settings(base: str = BASE) -> ModelConfig:
    """The model that the writer's LoRA fits."""
    return ModelConfig(name=base, lora_rank=RANK, lora_alpha=2 * RANK)


def asking(brief: str, style: str) -> tuple[Message, ...]:
    """The prompt for a brief in the writer's words."""
    return ({"role": "user", "content": f"{brief}\nstyle: {style}"},)


class SmallWriter:
    """Writes with the LoRA in `adapter`. Raises `ModelError` if SmolLM2 was not set up or the LoRA cannot be read."""

    name = "small"

    def __init__(self, seed: int, adapter: Path, emit: Emit = ignore) -> None:
        self._seed, self._adapter, self._emit = seed, Adapter(str(adapter), 0), emit
        self._loaded = load_model(settings())
        load_adapter_weights(self._loaded, adapter)
        self._forward: Forward | None = None

    async def write(self, briefs: Sequence[Brief], k: int) -> list[list[str]]:
        """`k` requests for each brief; those that came to no end are empty."""
        return await self.draw([(brief.id, brief.kind, written_for(brief)) for brief in briefs], k)

    async def draw(self, briefs: Sequence[tuple[str, str, str]], k: int) -> list[list[str]]:
        """The same for briefs of which only the id, the kind and the text are there. Each draw has its own style."""
        engine = EmbeddedEngine(self._loaded, max_batch=48)
        drawn: list[list[str]] = [[""] * k for _ in briefs]

        async def draw(n: int, at: int) -> None:
            name, kind, text = briefs[n]
            rng = random.Random(f"{self._seed} {name} {at}")
            styles = STYLES.get(kind, STYLES["lookup"])
            prompt = asking(text, rng.choices([*styles], [*styles.values()])[0])
            seed, adapter = rng.randrange(2**31), self._adapter.name
            turn = await engine.complete(CompletionRequest(prompt, (), (), LONGEST, 0.7, seed, adapter, top_p=0.9))
            if turn.finish_reason == "stop":
                drawn[n][at] = str(turn.message.get("content") or "").strip()

        try:
            await engine.load_adapter(self._adapter)
            async with anyio.create_task_group() as tasks:
                for n in range(len(briefs)):
                    for at in range(k):
                        tasks.start_soon(draw, n, at)
        finally:
            await engine.close()
        return drawn

    async def margins(self, contrasts: Sequence[tuple[str, Sequence[str]]]) -> list[float]:
        """By how many nats per token each request is likelier under its first brief than under any other; how likely it
        is, where there is no other."""
        pairs = [(brief, request) for request, briefs in contrasts for brief in briefs]
        likely = iter(await anyio.to_thread.run_sync(self._likelihoods, pairs))
        found: list[float] = []
        for _, briefs in contrasts:
            own, *others = (next(likely) for _ in briefs)
            found.append(own - max(others) if others else own)
        return found

    @torch.no_grad()
    def _likelihoods(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        self._forward = self._forward or Forward(self._loaded.model)
        rows: list[Row] = []
        for brief, request in pairs:
            told = (*asking(brief, "medium casual"), {"role": "assistant", "content": request})
            rows += training_rows(demonstration(self._loaded.tokenizer, told))
        found = [0.0] * len(rows)
        for part in self._forward.bins(rows):
            for index, values in zip(part.indices, part.logprobs_B, strict=True):
                found[index] = math.fsum(values.tolist()) / len(values)
        return found
