"""The engine for real model sizes: a vLLM server in its own process and environment, used through its OpenAI API.

Token in, token out: `chat.prompts` renders the conversation, the request sends its token ids, and vLLM returns the ids
and log-probabilities that it sampled. vLLM renders and parses nothing, so the trainer sees the same tokens.
"""

import json
import secrets
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import openai
import torch

from mcprl.chat import families, forms, prompts
from mcprl.config import POLICY, Config
from mcprl.engines import ADAPTERS, Policy, in_time, written_at
from mcprl.engines.vllm.server import PROBE_S, VllmServer
from mcprl.errors import ConfigError, EngineError, EngineLost, PromptTooLong
from mcprl.events import Emit, ignore
from mcprl.models import context_limit
from mcprl.types import Adapter, Completion, CompletionRequest

_SUSPICION_S = 3 * PROBE_S
"""Seconds in which a server that is well says so after a request has failed."""
_UNMATCHED = ("Qwen3_5ForConditionalGeneration", "Qwen3_5MoeForConditionalGeneration")
"""Architectures with vision whose text model is trained alone, and in which vLLM 0.32 does not look for the text
model's names (its issue 48019)."""
_FENCES = 32
"""Fences of a turn at which sampling stops to look for a call; each takes a request."""
NEUTRAL = {"top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0}  # only the temperature may change the distribution


@dataclass(frozen=True)
class _Served:
    """A loaded adapter, when its file was written, and its name on the server, which is new for every load."""

    adapter: Adapter
    modified_ns: int
    name: str


class VllmEngine:
    """Samples turns on a vLLM server: one of its own, or the one at `engine.base_url`.

    The server starts in the background; `ready` waits for it. Create the engine in a running event loop, and close it.
    Raises `ConfigError` if vLLM cannot serve the configuration.
    """

    def __init__(self, config: Config, loaded: Policy, path: str, log: Path, emit: Emit = ignore) -> None:
        if config.model.dora:
            raise ConfigError("model.dora = true: vLLM serves no DoRA adapters; leave it out, or use --engine embedded")
        if config.model.quantization == "int8":
            raise ConfigError(
                'model.quantization = "int8" rounds what goes through the layers, too, which vLLM does not: it would '
                "sample another model than is trained; choose nf4, or --engine embedded"
            )
        if (whole := _architecture(path)) in _UNMATCHED:
            raise ConfigError(
                f"vLLM serves {config.model.name} as a {whole}, in which it finds none of the LoRA's layers: it would "
                "sample the base model without a word; use --engine embedded"
            )
        if config.engine.sleep and (config.training.pipeline == "on" or config.engine.base_url):
            other = "engine.base_url" if config.engine.base_url else 'training.pipeline = "on"'
            raise ConfigError(
                f"engine.sleep = true does not go with {other}: only a server that the run started can sleep, and "
                "only while nothing is sampled; leave one of them out"
            )
        self._tokenizer = loaded.tokenizer
        self._end_ids = loaded.end_ids
        self._rendering = anyio.CapacityLimiter(1)  # a tokenizer is not safe in several threads at once
        self._adapters: dict[str, _Served] = {}  # by the adapter's own name, the oldest load first
        self._name_prefix = secrets.token_hex(4)  # a shared server may have a "step-1" of another run
        self._loads = 0
        self._running: Counter[str] = Counter()  # turns being sampled, by name on the server
        longest = min(context_limit(loaded.model.config), _longest_context(config))
        self._server = VllmServer(config, path, longest, log, emit, self._reload_adapters)

    async def ready(self) -> None:
        """Wait until the server takes requests. Raises `EngineError` if it fails to start."""
        await self._server.ready()

    async def complete(self, request: CompletionRequest) -> Completion:
        """Sample one turn. Its log-probabilities are log softmax(logits / temperature), at temperature 1 if greedy.

        Raises `EngineError` if the server is down, the prompt is too long or the request fails.
        """
        with anyio.move_on_after(_SUSPICION_S):  # another request may have failed by itself
            await self._server.ready()
        if not self._server.is_up:
            raise EngineLost("the vLLM server is not up")
        name, step = self._served_name(request.adapter)
        conversation = (request.messages, request.tools, request.context_ids)
        prompt = await anyio.to_thread.run_sync(
            prompts.prompt_ids, self._tokenizer, *conversation, limiter=self._rendering
        )
        room = self._server.context_limit - len(prompt)
        if room < 1:
            longest = self._server.context_limit - 1
            raise PromptTooLong(f"the prompt has {len(prompt)} tokens; vLLM reads {longest} at most")
        ids: list[int] = []
        logprobs: list[float] = []
        self._running[name] += 1
        try:
            finish, most = "fence", min(request.max_tokens, room)
            while finish == "fence" and len(ids) < most:
                finish = await self._extend(name, request, prompt, ids, logprobs, most)
                if finish == "fence" and families.ends_turn(self._tokenizer, ids, request.offered):
                    finish = "stop"
        except openai.OpenAIError as error:
            raise self._server.request_failed(error) from error
        finally:
            self._running[name] -= 1
        message, malformed = families.reply(self._tokenizer, ids, self._end_ids, request)
        called = bool(message.get("tool_calls"))
        reason = "length" if finish != "stop" else "tool_calls" if called else "stop"
        return Completion(message, prompt, tuple(ids), tuple(logprobs), reason, step, malformed)

    async def _extend(
        self,
        name: str,
        request: CompletionRequest,
        prompt: tuple[int, ...],
        ids: list[int],
        logprobs: list[float],
        most: int,
    ) -> str:
        """Sample on from what a turn has, until it ends, or up to the next fence if calls may stand in fences. Returns
        vLLM's reason to finish, or `fence`. Raises `OpenAIError`, and `EngineError` if vLLM hides what it sampled."""
        schema = {"structured_outputs": {"json": request.schema}} if request.schema else {}
        fences = not request.schema and families.reads_any_form(self._tokenizer)
        fences = fences and str(self._tokenizer.decode(ids)).count(forms.FENCE) < _FENCES
        answer = await self._server.client.completions.create(
            model=name,
            prompt=[*prompt, *ids],
            max_tokens=most - len(ids),
            temperature=request.temperature,
            top_p=request.top_p,
            seed=request.seed + len(ids),
            logprobs=0,
            stop=[forms.FENCE] if fences else None,
            extra_body={**NEUTRAL, **schema, "stop_token_ids": list(self._end_ids), "return_token_ids": True},
        )
        choice: Any = answer.choices[0]
        sampled = getattr(choice, "token_ids", None)
        values = choice.logprobs and choice.logprobs.token_logprobs
        read = tuple(choice.prompt_token_ids or ())
        if not sampled or not values or len(sampled) != len(values) or read != (*prompt, *ids):
            raise EngineError("vLLM did not return this turn's token ids and log-probabilities; use 0.10.2 or later")
        ids += sampled
        logprobs += map(float, values)
        return "fence" if fences and getattr(choice, "stop_reason", None) == forms.FENCE else choice.finish_reason

    @property
    def is_up(self) -> bool:
        """Whether the server takes requests."""
        return self._server.is_up

    def expect(self, adapter: Adapter) -> None:
        """Have a server that is not up load this adapter when it is."""
        self._loads += 1
        name = f"{self._name_prefix}-{self._loads}-{adapter.name}"
        self._adapters.pop(adapter.name, None)
        self._adapters[adapter.name] = _Served(adapter, written_at(adapter), name)
        for old in [*self._adapters][:-ADAPTERS]:
            del self._adapters[old]

    async def load_adapter(self, adapter: Adapter) -> None:
        """Serve this adapter under a new name, because vLLM reuses what it cached for a name (vLLM issue 42125).

        Turns on other adapters are sampled to their end. Raises `EngineError` if the adapter cannot be read or loaded.
        """
        modified_ns = written_at(adapter)
        previous = self._adapters.get(adapter.name)
        if previous and (previous.adapter, previous.modified_ns) == (adapter, modified_ns):
            self._adapters[adapter.name] = self._adapters.pop(adapter.name)
            return
        self._loads += 1
        served = _Served(adapter, modified_ns, f"{self._name_prefix}-{self._loads}-{adapter.name}")
        await self.ready()
        try:
            await self._load(served)
        except EngineError:
            if self._server.is_up:
                raise
            await self.ready()  # the server died and was restarted
            await self._load(served)
        self._adapters.pop(adapter.name, None)
        self._adapters[adapter.name] = served
        for old in list(self._adapters.values())[:-ADAPTERS]:
            if not self._running[old.name]:
                del self._adapters[old.adapter.name]
                await self._post("/unload_lora_adapter", {"lora_name": old.name})

    @asynccontextmanager
    async def paused(self) -> AsyncGenerator[None]:
        """With `engine.sleep`, the server frees its GPU memory in this context: it moves the weights to main memory and
        drops the KV cache. On a CPU it only pauses."""
        if self._server.sleep_level is None:
            yield
            return
        await self.ready()
        await in_time(self._post_control(f"sleep?level={self._server.sleep_level}&mode=wait"))
        try:
            yield
        finally:
            torch.cuda.empty_cache()  # vLLM needs the memory that the update used; does nothing without a GPU
            await in_time(self._post_control("wake_up"))
            await self.ready()

    async def close(self) -> None:
        """End the server if the run started it. Pending requests raise `EngineError`."""
        await self._server.close()

    def _served_name(self, adapter: str | None) -> tuple[str, int]:
        """The name on the server and the training step of an adapter, or of the base model."""
        if adapter is None:
            return self._server.base_name, 0
        if adapter not in self._adapters:
            raise EngineError(f"adapter {adapter!r} is not loaded; loaded: {', '.join(self._adapters) or 'none'}")
        served = self._adapters[adapter]
        return served.name, served.adapter.step

    async def _reload_adapters(self) -> None:
        """Load the adapters into a server that has just started, except those whose folder was deleted."""
        for name, served in list(self._adapters.items()):
            if await anyio.Path(served.adapter.path).is_dir():
                await self._load(served)
            else:
                del self._adapters[name]

    async def _load(self, served: _Served) -> None:
        folder = await anyio.Path(served.adapter.path).absolute()
        await self._post("/load_lora_adapter", {"lora_name": served.name, "lora_path": str(folder)})

    async def _post_control(self, route: str) -> None:
        """Post to a route above `/v1`. An error of a dead server is ignored, because a restarted one is awake."""
        try:
            await self._post(f"{self._server.root}/{route}")
        except EngineError:
            if self._server.is_up:
                raise

    async def _post(self, route: str, body: dict[str, str] | None = None) -> None:
        try:
            await self._server.client.post(route, body=body, cast_to=str)
        except openai.NotFoundError as error:
            needs = "--enable-lora, VLLM_ALLOW_RUNTIME_LORA_UPDATING=True and access to the run's folder"
            raise EngineError(f"the server takes no adapters ({error}); it needs {needs}") from error
        except openai.OpenAIError as error:
            raise self._server.request_failed(error) from error


def _longest_context(config: Config) -> int:
    """The tokens of the longest context: a rollout's, or a whole group's if the policy itself judges. One more
    rollout's length is left to spare."""
    rollouts = 1
    if config.judge.model == POLICY:
        rollouts = config.training.group_size + len(config.judge.anchors)
    return (rollouts + 1) * config.rollout.max_total_tokens


def _architecture(path: str) -> str:
    """The architecture that a model's folder names, empty if it names none."""
    with suppress(OSError, ValueError, LookupError, TypeError):
        return str(json.loads((Path(path) / "config.json").read_text())["architectures"][0])
    return ""
