"""The embedded engine against transformers and peft themselves, on a tiny random model."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
import torch
from peft import PeftModel

from mcprl.config import ModelConfig
from mcprl.engines.embedded import EmbeddedEngine
from mcprl.errors import EngineError
from mcprl.models.peft import LoadedModel, load, load_adapter_weights, save_adapter
from mcprl.types import Adapter, Completion, CompletionRequest, Message, Tool

pytestmark = pytest.mark.anyio

TOOLS = tuple(
    Tool(
        name, f"Look up {name}.", {"type": "object", "properties": {"id": {"type": "integer", "description": "Which."}}}
    )
    for name in ("get_order", "get_customer", "list_items")
)
SYSTEM: Message = {"role": "system", "content": "You answer questions about the shop."}


@pytest.fixture(scope="module")
def loaded(tiny_model: Path) -> LoadedModel:
    return load(ModelConfig(name=str(tiny_model), lora_rank=4))


@asynccontextmanager
async def running(loaded: LoadedModel, **options: Any) -> AsyncIterator[EmbeddedEngine]:
    engine = EmbeddedEngine(loaded, **options)
    try:
        yield engine
    finally:
        await engine.close()


def ask(text: str, **options: Any) -> CompletionRequest:
    return CompletionRequest((SYSTEM, {"role": "user", "content": text}), TOOLS, **options)


async def complete_all(engine: EmbeddedEngine, requests: list[CompletionRequest]) -> list[Completion]:
    done: dict[int, Completion] = {}

    async def one(n: int) -> None:
        done[n] = await engine.complete(requests[n])

    async with anyio.create_task_group() as tasks:
        for n in range(len(requests)):
            tasks.start_soon(one, n)
    return [done[n] for n in range(len(requests))]


def reference_logprobs(model: Any, completion: Completion, temperature: float = 1.0) -> torch.Tensor:
    """log softmax(logits / temperature) of the sampled ids, from one plain forward over prompt and completion."""
    ids = torch.tensor([completion.prompt_ids + completion.completion_ids])
    with torch.no_grad():
        logits = model(input_ids=ids).logits[0, len(completion.prompt_ids) - 1 : -1]
    return (logits / temperature).log_softmax(-1).gather(1, ids[0, len(completion.prompt_ids) :, None])[:, 0]


def assert_exact(model: Any, completion: Completion, temperature: float = 1.0) -> None:
    reference = reference_logprobs(model, completion, temperature)
    torch.testing.assert_close(torch.tensor(completion.logprobs), reference, atol=1e-4, rtol=0)


async def test_logprobs_equal_an_unbatched_forward_of_transformers(loaded: LoadedModel) -> None:
    requests = [
        ask(f"question {n % 3}", seed=n, max_tokens=5 + 3 * n, temperature=(1.0, 0.7, 1.6)[n % 3]) for n in range(12)
    ]
    async with running(loaded) as engine:
        for request, completion in zip(requests, await complete_all(engine, requests), strict=True):
            assert len(completion.completion_ids) == len(completion.logprobs) <= request.max_tokens
            assert_exact(loaded.model, completion, request.temperature)
