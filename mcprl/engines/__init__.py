"""The seam for engines: something that samples model turns. `embedded` in this process, `vllm` on a server.

Each engine's libraries are imported when it is opened.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Protocol

from mcprl.config import Config
from mcprl.engines.vllm import environment
from mcprl.types import Adapter, Completion, CompletionRequest, Placement

Show = Callable[[str, dict[str, Any]], None]
"""Told what an engine does while it starts or recovers: a kind of event and its data."""


class Engine(Protocol):
    """Samples model turns, many at once; `EngineError` where it cannot."""

    async def ready(self) -> None:
        """Wait until turns can be sampled, however long the engine takes to start; `EngineError` if they never can."""
        ...

    async def complete(self, request: CompletionRequest) -> Completion:
        """Sample one turn. Safe to call from many tasks; cancelling the task gives the turn up."""
        ...

    async def load_adapter(self, adapter: Adapter) -> None:
        """Make requests that name this adapter possible. It replaces the one before; the base model stays available."""
        ...

    def paused(self) -> AbstractAsyncContextManager[None]:
        """While nobody wants a turn: what the engine holds of a GPU is the update's meanwhile, if so configured."""
        ...

    async def close(self) -> None:
        """Give up what is running and free everything."""
        ...


class Policy(Protocol):
    """What engines need of a loaded model: a `PeftModel` (or a plain causal LM), its tokenizer, what ends a turn."""

    @property
    def model(self) -> Any: ...
    @property
    def tokenizer(self) -> Any: ...
    @property
    def end_ids(self) -> tuple[int, ...]: ...


def uses_vllm(config: Config) -> bool:
    """Whether the configured engine is vLLM: `auto` is, where there is a GPU and its environment has been set up, or
    where a server is named."""
    engine = config.engine
    if engine.kind == "auto":
        return bool(engine.base_url or (environment.gpus() and environment.find(engine.environment)))
    return engine.kind == "vllm"


def server_device() -> str:
    """The device of the run's vLLM server: the first visible GPU, else the CPU."""
    return "cuda:0" if environment.gpus() else "cpu"


def placement(config: Config, device: Any) -> Placement:
    """Where turns are sampled, for a trainer on `device` (a `torch.device`)."""
    if not uses_vllm(config):
        return "embedded"
    kind, _, index = server_device().partition(":")
    if config.engine.base_url or (device.type, device.index or 0) != (kind, int(index or 0)):
        return "apart"
    return "asleep" if config.engine.sleep and kind == "cuda" else "awake"


def open_engine(config: Config, loaded: Policy, path: str, log: Path, show: Show = lambda *_: None) -> Engine:
    """The configured engine for a loaded model that lies at `path`; a server's log goes to `log`.

    To be called in the event loop that uses the engine.
    """
    if uses_vllm(config):
        from mcprl.engines.vllm.engine import VllmEngine

        return VllmEngine(config, loaded, path, log, show)
    from mcprl.engines.embedded.engine import EmbeddedEngine

    return EmbeddedEngine(loaded, max_batch=config.engine.max_batch)
