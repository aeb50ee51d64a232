"""Whether vLLM samples and reads a model's first calls as the embedded engine does: greedy, float32, one machine.

    python benchmarks/vllm_alike.py [--model qwen2.5-coder-0.5b] [--requests 40]

It asks both engines for the first turn of people's requests to the example shop. Where turns differ it prints the first
token that does, and the difference of the two tokens' logits as transformers computes them: near 0, rounding decides.
Needs `mcprl setup model NAME` and `mcprl setup vllm`.
"""

import argparse
import random
from pathlib import Path
from typing import Any

import anyio
import torch

from mcprl.chat.prompts import opening_messages
from mcprl.config import Config, EngineConfig, ModelConfig, ScenarioConfig, ServerConfig
from mcprl.engines import Engine, open_engine
from mcprl.engines.machine import resolve
from mcprl.engines.trial import load_worded
from mcprl.scenarios.prepare import read_test_pack
from mcprl.servers.server import connect
from mcprl.text import common_prefix
from mcprl.types import Completion, CompletionRequest

PEOPLE = Path(__file__).parents[1] / "scenarios" / "people" / "shop.jsonl"


async def main(model: str, count: int) -> None:
    settings = ModelConfig(name=model, dtype="float32")
    turns: dict[str, list[Completion]] = {}
    async with connect([ServerConfig(target="demo:shop")]) as server:
        scenarios = list(read_test_pack(ScenarioConfig(test_pack=str(PEOPLE)), server.tools))
        random.Random(0).shuffle(scenarios)
        asked = [scenario.request for scenario in scenarios[:count]]
        prompts = [tuple(opening_messages(request, server.instructions)) for request in asked]
        config = resolve(Config(model=settings, servers=(ServerConfig(target="demo:shop"),)))
        config, loaded = await load_worded(config, print)
        requests = [CompletionRequest(prompt, tuple(server.tools), (), 160, 0.0, 0) for prompt in prompts]
        for kind in ("embedded", "vllm"):
            here = config.model_copy(update={"engine": EngineConfig(kind=kind, max_batch=16)})
            async with open_engine(here, loaded, Path("runs/vllm_alike.log"), print) as engine:
                await engine.ready()
                turns[kind] = await sampled(engine, requests)
    report(loaded, asked, turns["embedded"], turns["vllm"])


async def sampled(engine: Engine, requests: list[CompletionRequest]) -> list[Completion]:
    found: dict[int, Completion] = {}

    async def one(n: int) -> None:
        found[n] = await engine.complete(requests[n])

    async with anyio.create_task_group() as tasks:
        for n in range(len(requests)):
            tasks.start_soon(one, n)
    return [found[n] for n in range(len(requests))]


def report(loaded: Any, asked: list[str], embedded: list[Completion], vllm: list[Completion]) -> None:
    """The counts, and each difference with its margin."""
    alike = read_alike = 0
    for request, one, other in zip(asked, embedded, vllm, strict=True):
        assert one.prompt_ids == other.prompt_ids
        alike += one.completion_ids == other.completion_ids
        read_alike += calls(one) == calls(other)
        at = common_prefix(one.completion_ids, other.completion_ids)
        if one.completion_ids == other.completion_ids:
            continue
        pair = [ids[at] if at < len(ids) else None for ids in (one.completion_ids, other.completion_ids)]
        words = [loaded.tokenizer.decode([token]) if token is not None else "(end)" for token in pair]
        text = f"{request!r}: token {at}, {words[0]!r} and {words[1]!r}"
        if None not in pair:
            with torch.inference_mode():
                ids = torch.tensor([[*one.prompt_ids, *one.completion_ids[:at]]])
                logits = loaded.model(input_ids=ids).logits[0, -1].float()
            text += f", logits {float(logits[pair[0]] - logits[pair[1]]):+.4f} apart"
        print(f"{text}; calls {'alike' if calls(one) == calls(other) else f'{calls(one)} and {calls(other)}'}")
    called = sum(bool(calls(one)) for one in embedded)
    print(f"{len(asked)} first turns, {called} with calls: {alike} the same tokens, {read_alike} the same calls")


def calls(turn: Completion) -> list[tuple[str, str]]:
    return [(call["function"]["name"], call["function"]["arguments"]) for call in turn.message.get("tool_calls", ())]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="qwen2.5-coder-0.5b")
    parser.add_argument("--requests", type=int, default=40)
    given = parser.parse_args()
    anyio.run(main, given.model, given.requests)
