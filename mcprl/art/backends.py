"""Where a model is sampled and trained: in this process, or at an address where `mcprl serve TARGET` runs.

Both are the same app, spoken to over HTTP; in this process no socket is in between.
"""

import io
import json
import secrets
import tarfile
from collections.abc import AsyncGenerator, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import anyio
import anyio.to_thread
import httpx2

from mcprl.art.groups import TrajectoryGroup
from mcprl.config import Config, TrainingConfig
from mcprl.engines.machine import resolve
from mcprl.errors import ConfigError, EngineError
from mcprl.serving.app import create_app
from mcprl.serving.host import open_served
from mcprl.serving.jobs import ALIVE_S
from mcprl.serving.learner import Learner
from mcprl.serving.origin import Origin

_DEADLINE = httpx2.Timeout(600, connect=30)
_FOLLOWING = httpx2.Timeout(600, connect=30, read=4 * ALIVE_S)
"""A stream of training that is silent for longer than this is dead, though nobody said so: a network was left, say."""
_RECONNECTS = 600
"""How often in a row, a second apart, such a stream may not be found again. Time is no measure: laptops sleep."""


@dataclass
class ModelConnection:
    """A served model. `name` is what it is called there, `base_model` what it was trained from, `address` where others
    reach it, if they can."""

    client: httpx2.AsyncClient
    name: str
    base_model: str
    address: str = ""
    key: str = ""
    learner: Learner | None = None
    closing: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def get(self, path: str) -> Any:
        """What a route answers. Raises as `checked` does."""
        return checked(await self._request("GET", path)).json()

    async def delete(self, path: str) -> None:
        checked(await self._request("DELETE", path))

    async def unpack(self, path: str, folder: Path) -> None:
        """Put the files of a tar that a route answers with into a new folder."""
        packed = checked(await self._request("GET", path)).content
        await anyio.to_thread.run_sync(_unpack, packed, folder)

    async def _request(self, method: str, path: str) -> httpx2.Response:
        try:
            return await self.client.request(method, path)
        except httpx2.TransportError as error:
            raise no_answer(self, error) from error

    async def lines(self, path: str, body: dict[str, Any], job: str) -> AsyncGenerator[dict[str, Any]]:
        """The events of an update that a route begins, to the last. A connection that breaks or falls silent is made
        again, for ten minutes at least, and the update followed from where it broke; it is begun once. Raises as
        `checked` does."""
        at = failed = 0
        content = json.dumps(body | {"job": job}).encode()
        while True:
            sent = ("POST", path, content) if at == 0 else ("GET", f"/_jobs/{job}?start={at}", None)
            try:
                async with self._streamed(*sent) as answer:
                    if answer.is_error:
                        await answer.aread()
                    lines, failed = checked(answer).aiter_lines(), 0
                    async for line in lines:
                        at += 1
                        yield json.loads(line)
                return
            except httpx2.TransportError as error:
                failed += 1
                if failed > _RECONNECTS:
                    raise no_answer(self, error) from error
                await anyio.sleep(1)

    def _streamed(self, method: str, path: str, content: bytes | None) -> AbstractAsyncContextManager[httpx2.Response]:
        headers = {"Content-Type": "application/json"}
        return self.client.stream(method, path, content=content, headers=headers, timeout=_FOLLOWING)

    async def close(self) -> None:
        await self.client.aclose()
        await self.closing.aclose()


def checked(answer: httpx2.Response) -> httpx2.Response:
    """The answer. Raises `ConfigError` for what a request could cure, `EngineError` for the rest, with the server's own
    words."""
    if answer.is_success:
        return answer
    try:
        message = str(answer.json()["error"]["message"])
    except (ValueError, LookupError, TypeError):
        message = f"the server answered {answer.status_code}"
    raise (ConfigError if answer.status_code < 500 else EngineError)(message)


def no_answer(connection: ModelConnection, error: Exception) -> EngineError:
    where = connection.address or "the model in this process"
    return EngineError(f"{where} does not answer ({type(error).__name__}: {error}); is mcprl serve running there?")


class ModelBackend(Protocol):
    """Where models are sampled and trained."""

    async def connect(self, name: str, config: Config, folder: Path) -> ModelConnection:
        """The model of that name, ready to be sampled; `folder` is for what is kept of it on this machine."""
        ...


@dataclass(frozen=True)
class TrainResult:
    """What a step of training came to: the model's `step` after it, and the step's metrics."""

    step: int
    metrics: dict[str, float]


class Trained(Protocol):
    """The part of `TrainableModel` that a backend's `train` needs."""

    config: Config

    async def register(self, backend: ModelBackend) -> None: ...
    async def get_step(self) -> int: ...
    async def train(
        self, groups: Iterable[TrajectoryGroup | None], config: TrainingConfig | None = None
    ) -> dict[str, float]: ...


class _Training:
    """`backend.train(model, groups)`, as ART has it from 0.5.23 on: `model.train(groups)` at this backend."""

    async def train(
        self: ModelBackend,
        model: Trained,
        trajectory_groups: Iterable[TrajectoryGroup | None],
        *,
        learning_rate: float | None = None,
        config: TrainingConfig | None = None,
    ) -> TrainResult:
        """One step of GRPO on the groups' rewards. `config` has the settings of this update, by default the model's
        own. Raises as `TrainableModel.train` does."""
        if learning_rate is not None:
            config = (config or model.config.training).model_copy(update={"learning_rate": learning_rate})
        await model.register(self)
        metrics = await model.train(trajectory_groups, config)
        return TrainResult(await model.get_step(), metrics)


class LocalBackend(_Training):
    """Samples and trains in this process, on the engine that the model's settings name. Adapters are kept below `path`,
    by default the `runs_dir` of the model. Requests made during an update are answered with the adapter before it, or
    `requests_wait` and are answered with its own."""

    def __init__(self, path: str | Path | None = None, requests_wait: bool = False) -> None:
        self.path, self.requests_wait = Path(path) if path is not None else None, requests_wait

    async def connect(self, name: str, config: Config, folder: Path) -> ModelConnection:
        stack = AsyncExitStack()
        resolved = await anyio.to_thread.run_sync(resolve, config)
        learner = await stack.enter_async_context(
            open_served(Origin(name, resolved), folder, requests_wait=self.requests_wait)
        )
        key = secrets.token_urlsafe()
        transport = httpx2.ASGITransport(create_app(learner.model, key, learner), raise_app_exceptions=False)
        client = httpx2.AsyncClient(transport=transport, base_url="http://in-process", headers=_with(key), timeout=None)
        return ModelConnection(client, name, config.model.name, key=key, learner=learner, closing=stack)


class RemoteBackend(_Training):
    """Samples and trains where `mcprl serve TARGET` runs: `url` and `key` are what it printed."""

    def __init__(self, url: str, key: str) -> None:
        self.url, self.key = url.rstrip("/").removesuffix("/v1"), key

    async def connect(self, name: str, config: Config, folder: Path) -> ModelConnection:
        client = httpx2.AsyncClient(base_url=self.url, headers=_with(self.key), timeout=_DEADLINE)
        connection = ModelConnection(client, name, "", f"{self.url}/v1", self.key)
        try:
            known = await connection.get("/_checkpoints")
            connection.name, connection.base_model = known["model"], known["base_model"]
        except BaseException:
            await connection.close()
            raise
        return connection


def _unpack(packed: bytes, folder: Path) -> None:
    try:
        folder.mkdir(parents=True)
    except FileExistsError:  # two at once
        raise ConfigError(f"{folder} is there already; fork to another name") from None
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:  # tarfile's own filters came with Python 3.11.4
        for member in archive:
            if file := archive.extractfile(member):
                (folder / Path(member.name).name).write_bytes(file.read())


def _with(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}
