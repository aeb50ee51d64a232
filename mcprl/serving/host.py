"""The app of a served model on an address of this machine."""

import gc
import os
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path

import anyio

from mcprl.engines import open_engine, uses_tinker
from mcprl.engines.trial import load_worded
from mcprl.errors import ConfigError, MissingExtra
from mcprl.events import Emit, Note, ignore
from mcprl.serving.app import create_app
from mcprl.serving.learner import Learner
from mcprl.serving.model import ServedModel
from mcprl.serving.origin import Origin, as_trained, claimed

try:
    import uvicorn
except ImportError:
    raise MissingExtra("uvicorn", "serve") from None

_END_S = 5
"""Seconds that requests may take to end when the server does."""
_IDLE_S = 90
"""Seconds after which an idle connection is closed: long after clients close theirs (httpx2 and so openai at 5), which
would otherwise send a request on a connection that is being closed, and lose it (7 of 1,929, 2026-11-23)."""


@asynccontextmanager
async def open_served(
    origin: Origin, folder: Path, emit: Emit = ignore, requests_wait: bool = False
) -> AsyncGenerator[Learner]:
    """The model on its engine, ready to be sampled and trained. The adapters that training makes are kept in `folder`,
    and the newest of those goes before the origin's. `requests_wait`: they do during updates. Raises what loading
    and `claimed` raise, and `ConfigError` for an engine that sleeps."""
    config = origin.config
    if uses_tinker(config):
        raise ConfigError('engine.kind = "tinker": serve needs the weights here; use --engine vllm or embedded')
    if config.engine.sleep:
        raise ConfigError("engine.sleep = true: a server that sleeps during updates answers nobody; leave it out")
    await anyio.Path(folder).mkdir(parents=True, exist_ok=True)
    async with AsyncExitStack() as stack:
        stack.enter_context(claimed(folder, origin))
        config, loaded = await load_worded(as_trained(origin, folder / "adapters"), emit)
        if loaded.note:
            emit(Note(loaded.note))
        engine = await stack.enter_async_context(open_engine(config, loaded, folder / "vllm.log", emit))
        await engine.ready()
        model = ServedModel(origin.name, loaded, engine, config.rollout, origin.kept, requests_wait=requests_wait)
        learner = Learner(model, loaded, config.training, folder / "adapters")
        if origin.latest:
            await model.serve(origin.latest)
        await learner.resume()
        try:
            yield learner
        finally:
            await learner.jobs.close()


def listen(host: str, port: int) -> socket.socket:
    """A socket on the address; port 0 is a free one. Raises `ConfigError` if it is taken or is not this machine's."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, OverflowError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
        raise ConfigError(
            f"cannot listen on {host} port {port}: {reason}; choose another with --host, --port"
        ) from None


async def serve(learner: Learner, key: str, listening: socket.socket) -> None:
    """Answer requests until cancelled. What was loaded up to here is never collected: looking through it (at each
    update, and whenever Python likes) would keep all requests waiting for 0.2 to 0.4 s."""
    gc.collect()
    gc.freeze()
    settings = uvicorn.Config(
        create_app(learner.model, key, learner),
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=_END_S,
        timeout_keep_alive=_IDLE_S,
        lifespan="off",
    )
    server = _Server(settings)
    try:
        await server.serve([listening])
    except BaseException:
        with anyio.CancelScope(shield=True):
            await server.shutdown([listening])
        raise


class _Server(uvicorn.Server):
    """Leaves signals to the program."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield
