"""The life of a vLLM server: started in its own environment, watched, started again when it dies, ended with the run.

A server of our own listens on no port: its socket lies in a folder that only this user can enter, which takes the place
of a key and of a list of routes (vLLM's --api-key guards some routes only). `keeper.py` ends it when this process is
gone, however it went.
"""

import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from signal import SIGKILL
from tempfile import TemporaryDirectory

import anyio
from anyio.abc import Process

from mcprl.config import Config
from mcprl.engines.vllm import keeper
from mcprl.engines.vllm.environment import Environment, default_folder, find
from mcprl.errors import ConfigError, EngineError, MissingExtra
from mcprl.events import Emit, EngineStarting, Note

try:
    import httpx
    import openai
except ImportError:
    raise MissingExtra("openai", "vllm") from None

BASE = "base"
ADAPTERS = 2  # on the server at once: the newest, and the one before, on which turns may still run
LORA_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)  # those vLLM takes
PROBE_S = 1.0  # between looks at whether the server lives
SILENCE_S = 60.0  # without any answer before a server is taken for dead; a busy one answers within a second


class VllmServer:
    """The vLLM server of a run, or the one at `engine.base_url`, and a client of it.

    It starts at once, in the background; `ready` waits for it. `started` is called whenever it has (re)started, before
    anyone else may use it. `base` is the name of the model without adapters, `limit` the tokens it reads at most. To be
    made in a running event loop, and closed. Raises `EngineError` where vLLM is not set up.
    """

    def __init__(
        self,
        config: Config,
        path: str,
        longest: int,
        log: Path,
        emit: Emit,
        started: Callable[[], Awaitable[None]],
    ) -> None:
        environment = None if config.engine.base_url else _environment(config)
        self.base, self.limit = BASE, longest
        self._engine, self._log, self._emit, self._started = config.engine, log.absolute(), emit, started
        self._private = TemporaryDirectory(prefix="mcprl-")  # mode 0700
        self._socket = Path(self._private.name) / "vllm.sock"
        self._command = _command(config, environment, path, longest, self._socket) if environment else []
        self.sleep_level = None  # as vLLM counts: 1 gives memory back, 0 only pauses
        if config.engine.sleep and environment:
            self.sleep_level = 1 if environment.build == "cuda" else 0
        self._variables = _variables(config, environment, path, self._private.name) if environment else {}
        limits = httpx.Limits(max_connections=None)
        transport = None if self.is_foreign else httpx.AsyncHTTPTransport(uds=str(self._socket), limits=limits)
        self._http = httpx.AsyncClient(transport=transport, limits=limits, timeout=httpx.Timeout(None, connect=10))
        key = os.environ.get(self._engine.api_key_env) if self.is_foreign else None
        url = self._engine.base_url or "http://vllm/v1"  # the name is not looked up: the socket is the address
        self.client = openai.AsyncOpenAI(base_url=url, api_key=key or "none", max_retries=0, http_client=self._http)
        self._up, self._doubt = anyio.Event(), anyio.Event()
        self._failure: EngineError | None = None
        self._process: Process | None = None
        self._keeping = asyncio.create_task(self._keep())

    @property
    def is_foreign(self) -> bool:
        """Whether the server is somebody else's, to be used and left alone."""
        return bool(self._engine.base_url)

    @property
    def is_up(self) -> bool:
        return self._up.is_set() and not self._failure

    @property
    def root(self) -> str:
        """The address above `/v1`, where vLLM's own routes are."""
        return str(self.client.base_url).rstrip("/").removesuffix("/v1")

    async def ready(self) -> None:
        """Wait until the server takes requests. Raises `EngineError` where it never will."""
        await self._up.wait()
        if self._failure:
            raise self._failure

    def lost(self, error: openai.OpenAIError) -> EngineError:
        """The error for a caller whose request failed. Where the server may be gone, others wait till it is known."""
        if isinstance(error, openai.APIStatusError) and error.status_code < 500:
            return EngineError(f"vLLM refused: {error}")
        self._go_down()
        self._doubt.set()
        return EngineError(f"vLLM failed: {error} (its log is {self._log})")

    async def close(self) -> None:
        """End the server, if it is ours; whoever still waits gets an `EngineError`."""
        self._keeping.cancel()
        with anyio.CancelScope(shield=True):
            with suppress(asyncio.CancelledError):
                await self._keeping
            await self.client.close()
        self._fail(EngineError("the engine was closed before the turn was done"))
        self._private.cleanup()

    def _go_down(self) -> None:
        """Let requests wait. An event that some wait for already is kept, else they would wait for ever."""
        if self.is_up:
            self._up = anyio.Event()

    def _fail(self, error: EngineError) -> None:
        self._failure = self._failure or error
        self._up.set()

    # --- start, watch, start again ------------------------------------------------------------------------------------

    async def _keep(self) -> None:
        try:
            for left in range(self._engine.restarts, -1, -1):
                async with self._running():
                    await self._start()
                    self._up.set()
                    why = await self._watch()
                    self._go_down()
                    self._doubt = anyio.Event()
                    if not left:
                        raise EngineError(f"{why}, after {self._engine.restarts} restarts")
                self._emit(Note(f"{why}; it is started again"))
        except EngineError as error:
            self._fail(error)
        except Exception as error:
            self._fail(EngineError(f"vLLM cannot be run: {error!r}"))

    @asynccontextmanager
    async def _running(self) -> AsyncGenerator[None]:
        """The process while it is needed, in a group of its own that ends with it; nothing for a server of others."""
        if self.is_foreign:
            yield
            return
        self._socket.unlink(missing_ok=True)
        command = [sys.executable, "-I", "-S", keeper.__file__, *self._command]
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("ab") as log:
            process = self._process = await anyio.open_process(
                command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=self._variables, start_new_session=True
            )
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                assert process.stdin
                await process.stdin.aclose()  # the keeper's sign to end the group
                with anyio.move_on_after(keeper.GRACE_S + 5):
                    await process.wait()
                with suppress(ProcessLookupError):  # nothing is left of the group, as it should be
                    os.killpg(process.pid, SIGKILL)
                await process.wait()

    async def _start(self) -> None:
        """Wait until the server answers. Raises `EngineError` where it ends or takes too long."""
        began = time.monotonic()
        if not self.is_foreign:
            self._emit(Note(f"vLLM starts, which takes a minute or two; its log is {self._log}"))
        while not await self._lives():
            if self._process and self._process.returncode is not None:
                raise EngineError(f"vLLM did not start; {self._last_words()}")
            seconds = time.monotonic() - began
            if seconds > self._engine.start_timeout_s:
                where = f"at {self._engine.base_url}" if self.is_foreign else f"({self._last_words()})"
                raise EngineError(f"no vLLM server answered within {self._engine.start_timeout_s:.0f} s {where}")
            self._emit(EngineStarting(seconds))
            await anyio.sleep(PROBE_S)
        try:
            models = (await self.client.models.list()).data
        except openai.OpenAIError as error:
            hint = "; put its key into $" + self._engine.api_key_env if self.is_foreign else ""
            raise EngineError(f"the vLLM server does not list its models: {error}{hint}") from error
        served = next(model for model in models if not getattr(model, "parent", None))  # adapters have a parent
        self.base, self.limit = served.id, int(getattr(served, "max_model_len", None) or self.limit)
        await self._started()
        self._emit(Note(f"vLLM serves after {time.monotonic() - began:.0f} s"))

    async def _watch(self) -> str:
        """Returns when the server has died, with what is known of it."""
        heard = time.monotonic()
        while time.monotonic() - heard < SILENCE_S:
            with anyio.move_on_after(PROBE_S):
                await self._doubt.wait()
            doubted = self._doubt.is_set()
            if doubted:
                await anyio.sleep(PROBE_S)  # what dies may answer once more
            if self._process and self._process.returncode is not None:
                return f"vLLM has died; {self._last_words()}"
            with suppress(httpx.TimeoutException):
                if not await self._lives():
                    return f"vLLM has died; {self._last_words()}"
                heard = time.monotonic()
                if doubted:
                    self._doubt = anyio.Event()
                    self._up.set()
        return f"vLLM has given no answer for {SILENCE_S:.0f} s; {self._last_words()}"

    async def _lives(self) -> bool:
        """Whether the server and its engine are well. Raises `httpx.TimeoutException` where it does not say."""
        try:
            return (await self._http.get(f"{self.root}/health", timeout=10)).is_success
        except httpx.TimeoutException:
            raise
        except httpx.HTTPError:
            return False

    def _last_words(self) -> str:
        """The last error in the server's log, else its last line."""
        if self.is_foreign:
            return f"it is the server at {self._engine.base_url}"
        lines = [line for line in _lines(self._log) if line]
        errors = [line for line in lines if re.search(r"\w(Error|Exception)\b:", line)]
        return f"its last words: {(errors or lines or ['none'])[-1][:300]} (its log is {self._log})"


def _environment(config: Config) -> Environment:
    """The environment to start vLLM in. Raises `EngineError` where there is none, `ConfigError` where vLLM cannot."""
    if config.model.lora_rank > LORA_RANKS[-1]:
        raise ConfigError(f"model.lora_rank = {config.model.lora_rank}: vLLM serves ranks up to {LORA_RANKS[-1]}")
    if (environment := find(config.engine.environment)) is None:
        where = config.engine.environment or default_folder()
        raise EngineError(f"vLLM is not set up in {where}; run: mcprl setup vllm")
    return environment


def _command(config: Config, environment: Environment, path: str, longest: int, socket: Path) -> list[str]:
    engine = config.engine
    rank = next(rank for rank in LORA_RANKS if rank >= config.model.lora_rank)
    command = [str(environment.python), "-m", "vllm.entrypoints.openai.api_server", *engine.args]
    command += ["--model", path, "--served-model-name", BASE, "--uds", str(socket), "--disable-uvicorn-access-log"]
    command += ["--dtype", config.model.dtype, "--max-model-len", str(longest)]
    command += ["--max-num-seqs", str(engine.max_batch)]
    command += ["--enable-lora", "--max-lora-rank", str(rank), "--max-loras", str(ADAPTERS)]
    # The model's own sampling defaults (top-k, penalties), and log-probabilities from before the temperature, would not
    # be what the trainer computes.
    command += ["--generation-config", "vllm", "--logprobs-mode", "processed_logprobs"]
    if environment.build == "cuda":
        command += ["--enable-sleep-mode"] if engine.sleep else []
        return [*command, "--gpu-memory-utilization", str(engine.gpu_memory)]
    # vLLM 0.32 on a CPU dies of a request with a seed whose prompt it computes in parts ("CPU Generator does not use
    # offset").
    return [*command, "--enforce-eager", "--no-enable-chunked-prefill", "--max-num-batched-tokens", str(2 * longest)]


def _variables(config: Config, environment: Environment, path: str, private: str) -> dict[str, str]:
    """The server's environment variables: ours without what is meant for our own Python."""
    variables = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    variables |= {"VLLM_ALLOW_RUNTIME_LORA_UPDATING": "True", "VLLM_RPC_BASE_PATH": private}
    variables |= {"VLLM_HOST_IP": "127.0.0.1", "VLLM_NO_USAGE_STATS": "1"}
    if config.engine.sleep:
        variables["VLLM_SERVER_DEV_MODE"] = "1"  # it has the routes for it; nobody else reaches the socket
    if Path(path).is_dir():
        variables["HF_HUB_OFFLINE"] = "1"
    if environment.build == "cpu":  # compiling, at the first request, takes 13 s and a C++ compiler
        variables |= {"TORCHDYNAMO_DISABLE": "1", "VLLM_CPU_KVCACHE_SPACE": str(config.engine.cpu_cache_gib)}
    return variables


def _lines(log: Path) -> list[str]:
    """A log's last lines, without vLLM's own marks (process, level, time, source)."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 20_000))
            text = file.read().decode(errors="replace")
    except OSError:
        return []
    marks = re.compile(r"^(\(.*? pid=\d+\) )?([A-Z]+ [\d-]+ [\d:]+ \[.*?\] )?")
    return [marks.sub("", line).strip() for line in text.splitlines()]
