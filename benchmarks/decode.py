"""How fast the embedded engine decodes beside transformers' `generate`: same weights, same prompts, runs interleaved.

    python benchmarks/decode.py [--model FOLDER] [--runs 5] [--sequences 16] [--prompt 1000] [--new 64]
        [--conversations 64]

A random Qwen3 of the nano policy's shape (4 layers, 192 wide, 2,048 tokens), or the model of `--model`. Both sample at
temperature 1 and may not stop early. The first line is one turn of concurrent sequences whose prompts share all but the
question; the engine starts each run without anything kept. The second is what a training step asks of the engine:
conversations, eight to a question, of three turns with tool results between. Medians, also of each run's ratio; tokens
are sampled tokens.
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
from mcprl.config import ModelConfig
from mcprl.engines.embedded.engine import EmbeddedEngine
from mcprl.models.load import load_base
from mcprl.models.places import NANO
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


def pretrained(name: str) -> Policy:
    base = load_base(ModelConfig(name=name))
    return Policy(base.model.eval(), base.info.tokenizer)


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


def against_generate(policy: Policy, requests: list[CompletionRequest], runs: int) -> str:
    """The two measured in turn, once more than `runs`, since the first run warms up."""
    pairs = [(with_generate(policy, requests), anyio.run(with_engine, policy, requests)) for _ in range(runs + 1)][1:]
    generate, engine = (statistics.median(seconds) for seconds in zip(*pairs, strict=True))
    ratios = sorted(theirs / ours for theirs, ours in pairs)
    prompt, new = len(prompts.prompt_ids(policy.tokenizer, requests[0].messages)), requests[0].max_tokens
    count = len(requests) * new
    return (
        f"{len(requests)} sequences, prompts of {prompt} tokens, {new} new tokens each:\n"
        f"  engine {count / engine:,.0f} tokens/s, generate {count / generate:,.0f} tokens/s: "
        f"{statistics.median(ratios):.1f} times ({ratios[0]:.1f} to {ratios[-1]:.1f})"
    )


async def a_training_step(policy: Policy, conversations: int) -> tuple[float, int]:
    """Seconds and sampled tokens of conversations of three turns."""
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
            for n in range(conversations):
                tasks.start_soon(converse, n)
        return time.perf_counter() - began, sum(sampled)
    finally:
        await engine.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("runs", 5), ("sequences", 16), ("prompt", 1000), ("new", 64), ("conversations", 64)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--model")
    options = parser.parse_args()
    policy = pretrained(options.model) if options.model else random_policy(AutoTokenizer.from_pretrained(NANO))
    requests = [
        CompletionRequest(
            tuple(conversation(policy.tokenizer, options.prompt, n)), max_tokens=options.new, temperature=1.0, seed=n
        )
        for n in range(options.sequences)
    ]
    print(against_generate(policy, requests, options.runs))
    if options.conversations:
        steps = [anyio.run(a_training_step, policy, options.conversations) for _ in range(options.runs)]
        spent = statistics.median(taken for taken, _ in steps)
        rate = steps[0][1] / spent
        print(f"{options.conversations} conversations of three turns: engine {spent:.2f} s, {rate:,.0f} tokens/s")


if __name__ == "__main__":
    main()
