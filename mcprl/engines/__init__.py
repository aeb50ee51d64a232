"""The seam for engines, which sample model turns: `embedded` in this process, `vllm` and `tinker` on a server.

The libraries of an engine are imported when it is opened.
"""

from collections.abc import AsyncGenerator, Awaitable
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import anyio

from mcprl.config import Config
from mcprl.engines.vllm import environment
from mcprl.errors import EngineError, MissingExtra
from mcprl.events import Emit, Note, ignore
from mcprl.files import allow_open_files
from mcprl.types import Adapter, Completion, CompletionRequest, Placement

if TYPE_CHECKING:
    from mcprl.models.load import LoadedModel


ADAPTERS = 2
"""Adapters that an engine has at once: the newest, and the one before, on which turns may still run."""


PAUSE_S = 180.0
"""Seconds in which an engine makes room for an update, or takes the room back; moving large weights takes a minute."""


async def in_time(doing: Awaitable[None]) -> None:
    """Await what an engine does to pause or go on. Raises `EngineError` after `PAUSE_S`: it hangs."""
    with anyio.move_on_after(PAUSE_S):
        return await doing
    raise EngineError(f"the engine hangs: it has not paused or gone on in {PAUSE_S:g} s; mcprl train --resume goes on")


class Engine(Protocol):
    """Samples model turns, many at once. Raises `EngineError` if it cannot."""

    async def ready(self) -> None:
        """Wait until turns can be sampled, however long the engine takes to start. Raises `EngineError` if it fails."""
        ...

    async def complete(self, request: CompletionRequest) -> Completion:
        """Sample one turn. Safe to call from many tasks; cancelling the task abandons the turn."""
        ...

    async def load_adapter(self, adapter: Adapter) -> None:
        """Accept requests that name this adapter, besides the last `ADAPTERS` - 1 others and the base model. An adapter
        that is loaded again counts as the newest."""
        ...

    def paused(self) -> AbstractAsyncContextManager[None]:
        """A context in which an update can use the engine's memory: that of a GPU if so configured, and what the
        embedded engine keeps."""
        ...

    async def close(self) -> None:
        """Abandon running turns and free everything."""
        ...


class Policy(Protocol):
    """What engines need of a loaded model: a `PeftModel` (or a plain causal LM), its tokenizer and what ends a turn."""

    @property
    def model(self) -> Any: ...
    @property
    def tokenizer(self) -> Any: ...
    @property
    def end_ids(self) -> tuple[int, ...]: ...


def written_at(adapter: Adapter) -> int:
    """When an adapter's weights were written, in nanoseconds: one that is written again is loaded again.

    Raises `EngineError` if they are not there.
    """
    try:
        return (Path(adapter.path) / "adapter_model.safetensors").stat().st_mtime_ns
    except OSError as error:
        raise EngineError(f"no LoRA adapter can be read from {adapter.path}: {error.strerror}") from None


def uses_vllm(config: Config) -> bool:
    """Whether the configured engine is vLLM. `auto` is vLLM if a server is named, or if there is a GPU and vLLM's
    environment was set up."""
    engine = config.engine
    if engine.kind == "auto":
        named = engine.base_url or engine.base_urls
        return bool(named or (environment.gpus() and environment.find(engine.environment)))
    return engine.kind == "vllm"


def uses_tinker(config: Config) -> bool:
    """Whether a server of the Tinker API samples and trains the model."""
    return config.engine.kind == "tinker"


def require_client(config: Config) -> None:
    """Raise `MissingExtra` if the engine is vLLM and the client of its server is not installed."""
    if uses_vllm(config) and find_spec("openai") is None:
        raise MissingExtra("openai", "vllm")


def server_device() -> str:
    """The device of the run's vLLM server: the first visible GPU, else the CPU."""
    return "cuda:0" if environment.gpus() else "cpu"


def placement(config: Config, device: Any) -> Placement:
    """Where turns are sampled, for a trainer on `device` (a `torch.device`)."""
    if not uses_vllm(config):
        return "embedded"
    kind, _, index = server_device().partition(":")
    if config.engine.base_url or config.engine.base_urls or (device.type, device.index or 0) != (kind, int(index or 0)):
        return "apart"
    return "paused" if config.engine.sleep and kind == "cuda" else "awake"


@asynccontextmanager
async def open_engine(config: Config, loaded: "LoadedModel", log: Path, emit: Emit = ignore) -> AsyncGenerator[Engine]:
    """The configured engine for a loaded model, closed at the end. A vLLM server writes its log to `log`; it starts in
    the background, and `Engine.ready` waits for it. Of a base in 4 bits it serves what the trainer computes with.
    Raises `ConfigError` if the system allows fewer open files than the rollouts at once need."""
    from mcprl.models.tinker.model import RemoteModel

    allow_open_files(config.engine.max_batch)
    with ExitStack() as served:
        engine: Engine
        if isinstance(loaded, RemoteModel):
            from mcprl.engines.tinker import TinkerEngine

            engine = TinkerEngine(config.engine, loaded)
        elif uses_vllm(config):
            from mcprl.engines.vllm.engine import VllmEngine

            path = loaded.path
            if config.model.quantization == "nf4" and not (config.engine.base_url or config.engine.base_urls):
                from mcprl.models.quantized import whole_weights

                path = served.enter_context(whole_weights(loaded, log.with_name(f"{log.stem}-weights")))
            if config.engine.base_urls:
                from mcprl.engines.vllm.replicas import Replicas

                engine = Replicas(config, loaded, path, log, emit)
            else:
                engine = VllmEngine(config, loaded, path, log, emit)
        else:
            from mcprl.engines.embedded.engine import EmbeddedEngine

            engine = EmbeddedEngine(loaded, max_batch=config.engine.max_batch)
            if engine.note:
                emit(Note(engine.note))
        try:
            yield engine
        finally:
            await engine.close()
