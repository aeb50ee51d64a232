"""How fast the embedded engine decodes beside transformers' `generate`: same weights, same prompts, runs interleaved.

    python benchmarks/decode.py [--runs 5] [--sequences 16] [--prompt 1000] [--new 64]

A random Qwen3 of the nano policy's shape (4 layers, 192 wide, 2,048 tokens). Both sample at temperature 1 and may not
stop early. The first line is one turn of concurrent sequences whose prompts share all but the question; the engine
starts each run without anything kept. The second is what a training step asks of the engine: 64 conversations, eight to
a question, of three turns with tool results between. Medians; tokens are sampled tokens.
"""

import argparse
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import torch
from transformers import AutoTokenizer, PreTrainedTokenizerFast

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.models import random_model

from mcprl.chat import prompts
from mcprl.engines.embedded.engine import EmbeddedEngine
from mcprl.models.load import NANO
from mcprl.types import Completion, CompletionRequest, Message


@dataclass(frozen=True)
class Policy:
    model: Any
    tokenizer: Any
    end_ids: tuple[int, ...] = ()  # no turn ends before its length


def random_policy(tokenizer: PreTrainedTokenizerFast) -> Policy:
    model = random_model(
        vocab_size=len(tokenizer),
        hidden_size=192,
        intermediate_size=512,
        num_hidden_layers=4,
        head_dim=32,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
    )
    return Policy(model.eval(), tokenizer)


def conversation(tokenizer: Any, length: int, question: int) -> list[Message]:
    """A system message that fills the prompt up, and a question."""
    text = " ".join(f"tool_{n}(id: int, name?: str)" for n in range(length))
    system = tokenizer.decode(tokenizer.encode(text, add_special_tokens=False)[: length - 30])
    return [{"role": "system", "content": system}, {"role": "user", "content": f"Where is order {100 + question}?"}]


async def with_engine(policy: Policy, requests: list[CompletionRequest]) -> float:
    engine = EmbeddedEngine(policy)
    try:
        began = time.perf_counter()
        async with anyio.create_task_group() as tasks:
            for request in requests:
                tasks.start_soon(engine.complete, request)
        return time.perf_counter() - began
    finally:
        await engine.close()


def with_generate(policy: Policy, requests: list[CompletionRequest]) -> float:
    began = time.perf_counter()
    asked = [list(prompts.prompt_ids(policy.tokenizer, request.messages)) for request in requests]
    width, new = max(map(len, asked)), requests[0].max_tokens
    ids = torch.tensor([[0] * (width - len(prompt)) + prompt for prompt in asked])
    mask = torch.tensor([[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in asked])
    policy.model.generate(
        input_ids=ids, attention_mask=mask, do_sample=True, max_new_tokens=new, min_new_tokens=new, pad_token_id=0
    )
    return time.perf_counter() - began


async def a_training_step(policy: Policy) -> tuple[float, int]:
    """Seconds and sampled tokens of 64 conversations of three turns."""
    engine = EmbeddedEngine(policy)
    sampled: list[int] = []

    async def converse(n: int) -> None:
        messages = conversation(policy.tokenizer, 600, n // 8)
        said: list[Completion] = []
        for turn in range(3):
            context = (*said[-1].prompt_ids, *said[-1].completion_ids) if said else ()
            request = CompletionRequest(tuple(messages), (), context, max_tokens=20 + (n * 7 + turn * 13) % 40, seed=n)
            said.append(await engine.complete(request))
            sampled.append(len(said[-1].completion_ids))
            result = " ".join(f"{key}={n * key}" for key in range(10 + n % 20))
            messages += [said[-1].message, {"role": "tool", "tool_call_id": "call", "content": result}]

    try:
        began = time.perf_counter()
        async with anyio.create_task_group() as tasks:
            for n in range(64):
                tasks.start_soon(converse, n)
        return time.perf_counter() - began, sum(sampled)
    finally:
        await engine.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("runs", 5), ("sequences", 16), ("prompt", 1000), ("new", 64)):
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
    policy = random_policy(AutoTokenizer.from_pretrained(NANO))
    requests = [
        CompletionRequest(
            tuple(conversation(policy.tokenizer, options.prompt, n)), max_tokens=options.new, temperature=1.0, seed=n
        )
        for n in range(options.sequences)
    ]
    seconds: dict[str, list[float]] = {"engine": [], "generate": []}
    for _ in range(options.runs + 1):
        seconds["generate"].append(with_generate(policy, requests))
        seconds["engine"].append(anyio.run(with_engine, policy, requests))
    count = options.sequences * options.new
    rates = {name: count / statistics.median(values[1:]) for name, values in seconds.items()}  # the first run warms up
    prompt = len(prompts.prompt_ids(policy.tokenizer, requests[0].messages))
    faster = rates["engine"] / rates["generate"]
    print(f"{options.sequences} sequences, prompts of {prompt} tokens, {options.new} new tokens each:")
    print(f"  engine {rates['engine']:,.0f} tokens/s, generate {rates['generate']:,.0f} tokens/s: {faster:.1f} times")
    steps = [anyio.run(a_training_step, policy) for _ in range(options.runs)]
    spent = statistics.median(taken for taken, _ in steps)
    print(f"64 conversations of three turns: engine {spent:.2f} s, {steps[0][1] / spent:,.0f} tokens/s")


if __name__ == "__main__":
    main()
