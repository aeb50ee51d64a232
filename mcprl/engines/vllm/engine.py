"""The engine for real sizes: a vLLM server in its own process and environment, driven through its OpenAI API.

Token in, token out: prompts are sent as ids that our own code made of the conversation (`chat.prompts`), and what comes
back is the ids and log-probabilities that vLLM sampled, so that nothing is rendered or parsed differently there.
"""

import secrets
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import openai
import torch

from mcprl.chat import families, prompts
from mcprl.config import POLICY, Config
from mcprl.engines import Policy
from mcprl.engines.vllm.server import ADAPTERS, VllmServer
from mcprl.errors import ConfigError, EngineError
from mcprl.events import Emit, ignore
from mcprl.types import Adapter, Completion, CompletionRequest

NEUTRAL = {"top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0}  # nothing but the temperature may shape what is sampled


@dataclass(frozen=True)
class _Served:
    """A loaded adapter: the name it has on the server, which is new for every load."""

    adapter: Adapter
    written: int
    name: str


class VllmEngine:
    """Samples turns on a vLLM server: one of its own, or the one at `engine.base_url`.

    The server starts at once, in the background; `ready` waits for it. To be made in a running event loop, and closed.
    """

    def __init__(self, config: Config, loaded: Policy, path: str, log: Path, emit: Emit = ignore) -> None:
        if config.model.dora:
            raise ConfigError("model.dora = true: vLLM serves no DoRA adapters; leave it out, or use --engine embedded")
        if config.engine.sleep and (config.training.pipeline == "on" or config.engine.base_url):
            other = "engine.base_url" if config.engine.base_url else 'training.pipeline = "on"'
            raise ConfigError(
                f"engine.sleep = true does not go with {other}: only a server of the run's own sleeps, and "
                "only while nothing is sampled; leave one of them out"
            )
        self._tokenizer, self._end_ids = loaded.tokenizer, loaded.end_ids
        self._rendering = anyio.CapacityLimiter(1)  # a tokenizer is not for several threads at once
        self._adapters: dict[str, _Served] = {}
        self._mark = secrets.token_hex(4)  # a server that others use, too, may know a "step-1" of another run
        self._loads = 0
        self._running: Counter[str] = Counter()
        readable = int(getattr(loaded.model.config.get_text_config(), "max_position_embeddings", 2**31))
        longest = min(readable, _longest(config))
        self._server = VllmServer(config, path, longest, log, emit, self._load_again)

    async def ready(self) -> None:
        """Wait until the server takes requests. Raises `EngineError` where it never will."""
        await self._server.ready()

    async def complete(self, request: CompletionRequest) -> Completion:
        """Sample one turn. Its log-probabilities are log softmax(logits / temperature), of greedy turns at 1."""
        if not self._server.is_up:
            raise EngineError("the vLLM server is not up")
        name, step = self._name(request.adapter)
        conversation = (request.messages, request.tools, request.context_ids)
        prompt = await anyio.to_thread.run_sync(
            prompts.prompt_ids, self._tokenizer, *conversation, limiter=self._rendering
        )
        room = self._server.limit - len(prompt)
        if room < 1:
            raise EngineError(f"the prompt has {len(prompt)} tokens; vLLM reads {self._server.limit - 1} at most")
        held = {"structured_outputs": {"json": request.schema}} if request.schema else {}
        self._running[name] += 1
        try:
            answer = await self._server.client.completions.create(
                model=name,
                prompt=list(prompt),
                max_tokens=min(request.max_tokens, room),
                temperature=request.temperature,
                top_p=1.0,
                seed=request.seed,
                logprobs=0,
                extra_body={**NEUTRAL, **held, "stop_token_ids": list(self._end_ids), "return_token_ids": True},
            )
        except openai.OpenAIError as error:
            raise self._server.lost(error) from error
        finally:
            self._running[name] -= 1
        return self._completion(request, prompt, answer.choices[0], step)

    async def load_adapter(self, adapter: Adapter) -> None:
        """Serve this adapter, under a name that was never used: vLLM would reuse what it computed under an old one
        (vLLM issue 42125). What runs on another adapter runs on to its end."""
        written = _written(adapter)
        known = self._adapters.get(adapter.name)
        if known and (known.adapter, known.written) == (adapter, written):
            return
        self._loads += 1
        served = _Served(adapter, written, f"{self._mark}-{self._loads}-{adapter.name}")
        await self.ready()
        try:
            await self._load(served)
        except EngineError:
            if self._server.is_up:
                raise
            await self.ready()  # it died; another one is there
            await self._load(served)
        self._adapters.pop(adapter.name, None)
        self._adapters[adapter.name] = served
        for old in list(self._adapters.values())[:-ADAPTERS]:
            if not self._running[old.name]:
                del self._adapters[old.adapter.name]
                await self._post("/unload_lora_adapter", {"lora_name": old.name})

    @asynccontextmanager
    async def paused(self) -> AsyncGenerator[None]:
        """With `engine.sleep`, the server gives its GPU memory back meanwhile: weights wait in main memory, keys and
        values are dropped. On a CPU, where vLLM has none to give, it only pauses."""
        if self._server.sleep_level is None:
            yield
            return
        await self.ready()
        await self._tell(f"sleep?level={self._server.sleep_level}&mode=wait")
        try:
            yield
        finally:
            torch.cuda.empty_cache()  # what the update no longer needs must be vLLM's again; nothing where no GPU is
            await self._tell("wake_up")
            await self.ready()

    async def close(self) -> None:
        """End the server, if it is ours; whoever still waits gets an `EngineError`."""
        await self._server.close()

    def _name(self, adapter: str | None) -> tuple[str, int]:
        if adapter is None:
            return self._server.base, 0
        if adapter not in self._adapters:
            raise EngineError(f"adapter {adapter!r} is not loaded; loaded: {', '.join(self._adapters) or 'none'}")
        return self._adapters[adapter].name, self._adapters[adapter].adapter.step

    def _completion(self, request: CompletionRequest, prompt: tuple[int, ...], choice: Any, step: int) -> Completion:
        ids, logprobs = getattr(choice, "token_ids", None), choice.logprobs and choice.logprobs.token_logprobs
        if not ids or not logprobs or len(ids) != len(logprobs) or tuple(choice.prompt_token_ids) != prompt:
            raise EngineError("vLLM returned other ids and log-probabilities than it sampled; use 0.10.2 or later")
        message, malformed = families.reply(self._tokenizer, ids, self._end_ids, request)
        ended = choice.finish_reason == "stop"
        reason = "length" if not ended else "tool_calls" if message.get("tool_calls") else "stop"
        return Completion(message, prompt, tuple(ids), tuple(map(float, logprobs)), reason, step, malformed)

    async def _load_again(self) -> None:
        """Give a server that has just started the adapters that the last one had."""
        for name, served in list(self._adapters.items()):
            if await anyio.Path(served.adapter.path).is_dir():
                await self._load(served)
            else:
                del self._adapters[name]

    async def _load(self, served: _Served) -> None:
        folder = await anyio.Path(served.adapter.path).absolute()
        await self._post("/load_lora_adapter", {"lora_name": served.name, "lora_path": str(folder)})

    async def _tell(self, route: str) -> None:
        """Ask what is above `/v1`. A server that dies meanwhile needs not be told: the one in its place is awake."""
        try:
            await self._post(f"{self._server.root}/{route}")
        except EngineError:
            if self._server.is_up:
                raise

    async def _post(self, route: str, body: dict[str, str] | None = None) -> None:
        try:
            await self._server.client.post(route, body=body, cast_to=str)
        except openai.NotFoundError as error:
            needs = "--enable-lora, VLLM_ALLOW_RUNTIME_LORA_UPDATING=True and the run's folder"
            raise EngineError(f"the server takes no adapters ({error}); it needs {needs}") from error
        except openai.OpenAIError as error:
            raise self._server.lost(error) from error


def _longest(config: Config) -> int:
    """The tokens of the longest context: of a rollout, or of a group's tries where the run's own model judges them."""
    asked = (config.judge.model, config.scenarios.generator.removeprefix("llm:"))
    tries = config.training.group_size + len(config.judge.anchors) if POLICY in asked else 1
    return (tries + 1) * config.rollout.max_total_tokens


def _written(adapter: Adapter) -> int:
    try:
        return (Path(adapter.path) / "adapter_model.safetensors").stat().st_mtime_ns
    except OSError as error:
        raise EngineError(f"no LoRA adapter can be read from {adapter.path}: {error.strerror}") from None
