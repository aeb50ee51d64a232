"""Runs a vLLM server: starts it in its own environment, watches it, restarts it if it dies, and ends it with the run.

The run's own server listens on no port but on a socket in a folder that only this user can enter. A key would protect
less: vLLM's --api-key guards some routes only. `keeper.py` ends the server if this process dies in any way.
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
from mcprl.engines import ADAPTERS
from mcprl.engines.vllm import keeper
from mcprl.engines.vllm.environment import Environment, default_folder, find, served_rank
from mcprl.errors import EngineError, EngineLost, MissingExtra, RequestRefused
from mcprl.events import Emit, EngineStarting, Note

try:
    import httpx2
    import openai
except ImportError:
    raise MissingExtra("openai", "vllm") from None

BASE = "base"
PROBE_S = 1.0  # between health checks
HEALTH_S = 10.0  # for one
SILENCE_S = 60.0  # without any answer, after which a server counts as dead; a busy one answers within a second


class VllmServer:
    """The run's own vLLM server, or the external one at `engine.base_url`, and a client of it.

    It starts in the background; `ready` waits for it. `on_start` is awaited after each start and restart, before any
    request is let through. `base_name` is the served name of the model without adapters, `context_limit` the number of
    tokens that it can read. Create it in a running event loop; close it. Raises `EngineError` if vLLM is not set up.
    """

    def __init__(
        self,
        config: Config,
        path: str,
        context_limit: int,
        log: Path,
        emit: Emit,
        on_start: Callable[[], Awaitable[None]],
    ) -> None:
        environment = None if config.engine.base_url else _environment(config)
        self.base_name = BASE
        self.context_limit = context_limit
        self._engine = config.engine
        self._log = log.absolute()
        self._emit = emit
        self._on_start = on_start
        self._private = TemporaryDirectory(prefix="mcprl-")  # mode 0700
        self._socket = Path(self._private.name) / "vllm.sock"
        self._command = _command(config, environment, path, context_limit, self._socket) if environment else []
        self._variables = _variables(config, environment, path, self._private.name) if environment else {}
        self.sleep_level = None  # vLLM's: 1 frees GPU memory, 0 only pauses
        if config.engine.sleep and environment:
            self.sleep_level = 1 if environment.build == "cuda" else 0
        limits = httpx2.Limits(max_connections=None, keepalive_expiry=2.0)  # vLLM ends idle connections after 5 s
        transport = None if self.is_external else httpx2.AsyncHTTPTransport(uds=str(self._socket), limits=limits)
        self._http = httpx2.AsyncClient(transport=transport, limits=limits, timeout=httpx2.Timeout(None, connect=10))
        key = os.environ.get(self._engine.api_key_env) if self.is_external else None
        url = self._engine.base_url or "http://vllm/v1"  # the socket is the address; the host name is never resolved
        self.client = openai.AsyncOpenAI(base_url=url, api_key=key or "none", max_retries=0, http_client=self._http)
        self._up_or_failed = anyio.Event()
        self._suspected = anyio.Event()  # a request failed, so the server may be dead
        self._failure: EngineError | None = None
        self._process: Process | None = None
        self._supervisor = asyncio.create_task(self._supervise())

    @property
    def is_external(self) -> bool:
        """Whether the server was started by someone else, so that the run neither starts nor ends it."""
        return bool(self._engine.base_url)

    @property
    def is_up(self) -> bool:
        return self._up_or_failed.is_set() and not self._failure

    @property
    def root(self) -> str:
        """The address without `/v1`, under which vLLM has its control routes."""
        return str(self.client.base_url).rstrip("/").removesuffix("/v1")

    async def ready(self) -> None:
        """Wait until the server takes requests. Raises `EngineError` if it failed for good."""
        await self._up_or_failed.wait()
        if self._failure:
            raise self._failure

    def request_failed(self, error: openai.OpenAIError) -> EngineError:
        """The error for the failed request's caller. If the server may be dead, `ready` waits until that is known."""
        if isinstance(error, openai.APIStatusError) and error.status_code < 500:
            return RequestRefused(f"vLLM refused: {error}")
        self._block_requests()
        self._suspected.set()
        return EngineLost(f"vLLM failed: {error} (its log is {self._log})")

    async def close(self) -> None:
        """End the server unless it is external. Callers that still wait for it get an `EngineError`."""
        self._supervisor.cancel()
        with anyio.CancelScope(shield=True):
            with suppress(asyncio.CancelledError):
                await self._supervisor
            await self.client.close()
        self._fail(EngineError("the engine was closed before the turn was done"))
        self._private.cleanup()

    def _block_requests(self) -> None:
        """Make `ready` wait. An event that is not set yet is kept, because its waiters would never wake."""
        if self.is_up:
            self._up_or_failed = anyio.Event()

    def _fail(self, error: EngineError) -> None:
        self._failure = self._failure or error
        self._up_or_failed.set()

    # --- start, watch, restart ----------------------------------------------------------------------------------------

    async def _supervise(self) -> None:
        try:
            for restarts_left in range(self._engine.restarts, -1, -1):
                async with self._process_running():
                    await self._wait_until_ready()
                    self._up_or_failed.set()
                    reason = await self._wait_until_dead()
                    self._block_requests()
                    self._suspected = anyio.Event()
                    if not restarts_left:
                        raise EngineError(f"{reason}, after {self._engine.restarts} restarts")
                self._emit(Note(f"{reason}; it is {'waited for' if self.is_external else 'started again'}"))
        except EngineError as error:
            self._fail(error)
        except Exception as error:
            self._fail(EngineError(f"vLLM cannot be run: {error!r}"))

    @asynccontextmanager
    async def _process_running(self) -> AsyncGenerator[None]:
        """The server's process in a group of its own, which ends with this context. External servers have none."""
        if self.is_external:
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
                await process.stdin.aclose()  # tells the keeper to end the group
                with anyio.move_on_after(keeper.GRACE_S + 5):
                    await process.wait()
                with suppress(ProcessLookupError):  # the keeper has ended the whole group
                    os.killpg(process.pid, SIGKILL)
                await process.wait()

    async def _wait_until_ready(self) -> None:
        """Wait until the server answers, then call `on_start`. Raises `EngineError` if it ends or takes too long."""
        began = time.monotonic()
        if not self.is_external:
            self._emit(Note(f"vLLM starts, which takes a minute or two; its log is {self._log}"))
        while not await self._is_healthy():
            if self._process and self._process.returncode is not None:
                raise EngineError(f"vLLM did not start; {self._diagnosis()}")
            seconds = time.monotonic() - began
            if seconds > self._engine.start_timeout_s:
                limit_s = self._engine.start_timeout_s
                raise EngineError(f"no vLLM server answered within {limit_s:.0f} s; {self._diagnosis()}")
            self._emit(EngineStarting(seconds))
            await anyio.sleep(PROBE_S)
        try:
            models = (await self.client.models.list()).data
        except openai.OpenAIError as error:
            hint = f"; put its key into ${self._engine.api_key_env}" if self.is_external else ""
            raise EngineError(f"the vLLM server does not list its models: {error}{hint}") from error
        base = next(model for model in models if not getattr(model, "parent", None))  # adapters have a parent
        self.base_name = base.id
        self.context_limit = int(getattr(base, "max_model_len", None) or self.context_limit)
        await self._on_start()
        self._emit(Note(f"vLLM serves after {time.monotonic() - began:.0f} s"))

    async def _wait_until_dead(self) -> str:
        """Watch the server until it dies. Returns the reason, a sentence."""
        answered = time.monotonic()
        while time.monotonic() - answered < SILENCE_S:
            with anyio.move_on_after(PROBE_S):
                await self._suspected.wait()
            suspected = self._suspected.is_set()
            if suspected:
                await anyio.sleep(PROBE_S)  # a dying server may answer once more
            if self._process and self._process.returncode is not None:
                return f"vLLM has died; {self._diagnosis()}"
            healthy = await self._is_healthy()
            if healthy is False:
                return f"vLLM has died; {self._diagnosis()}"
            if healthy:
                answered = time.monotonic()
                if suspected:
                    self._suspected = anyio.Event()
                    self._up_or_failed.set()
        return f"vLLM has given no answer for {SILENCE_S:.0f} s; {self._diagnosis()}"

    async def _is_healthy(self) -> bool | None:
        """Whether the server and its engine report that they are well; `None` if there is no answer in time."""
        with suppress(httpx2.TimeoutException):
            for _ in range(2):  # a connection may end as it is used
                with suppress(httpx2.NetworkError, httpx2.ProtocolError):
                    return (await self._http.get(f"{self.root}/health", timeout=HEALTH_S)).is_success
            return False
        return None

    def _diagnosis(self) -> str:
        """The last error in the server's log, else the log's last line; for an external server its address."""
        if self.is_external:
            return f"it is the server at {self._engine.base_url}"
        lines = [line for line in _last_lines(self._log) if line]
        errors = [line for line in lines if re.search(r"\w(Error|Exception)\b:", line)]
        name = "last error" if errors else "last line"
        return f"{name} in its log: {(errors or lines or ['none'])[-1][:300]} (its log is {self._log})"


def _environment(config: Config) -> Environment:
    """The environment to start vLLM in.

    Raises `EngineError` if there is none, `ConfigError` if vLLM cannot serve the configured rank.
    """
    served_rank(config.model.lora_rank)
    environment = find(config.engine.environment)
    if environment is None:
        folder = config.engine.environment or default_folder()
        raise EngineError(f"vLLM is not set up in {folder}; run: mcprl setup vllm")
    return environment


def _command(config: Config, environment: Environment, path: str, context_limit: int, socket: Path) -> list[str]:
    engine = config.engine
    rank = served_rank(config.model.lora_rank)
    command = [str(environment.python), "-m", "vllm.entrypoints.openai.api_server", *engine.args]
    command += ["--model", path, "--served-model-name", BASE, "--uds", str(socket), "--disable-uvicorn-access-log"]
    command += ["--dtype", config.model.dtype, "--max-model-len", str(context_limit)]
    command += ["--max-num-seqs", str(engine.max_batch)]
    command += ["--enable-lora", "--max-lora-rank", str(rank), "--max-loras", str(ADAPTERS)]
    # The trainer computes log-probabilities after the temperature and without the model's own sampling defaults (top-k,
    # penalties).
    command += ["--generation-config", "vllm", "--logprobs-mode", "processed_logprobs"]
    # What is held to a schema is held as in the embedded engine: by llguidance, and without spaces to go on with.
    command += ["--structured-outputs-config", '{"backend": "guidance", "disable_any_whitespace": true}']
    if environment.build == "cuda":
        command += ["--enable-sleep-mode"] if engine.sleep else []
        return [*command, "--gpu-memory-utilization", str(engine.gpu_memory)]
    # vLLM 0.32 on a CPU crashes on a request with a seed if it prefills the prompt in chunks ("CPU Generator does not
    # use offset").
    command += ["--enforce-eager", "--no-enable-chunked-prefill"]
    return [*command, "--max-num-batched-tokens", str(2 * context_limit)]


def _variables(config: Config, environment: Environment, path: str, private: str) -> dict[str, str]:
    """The server's environment variables: this process's without those that would change the server's Python path."""
    variables = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    variables |= {"VLLM_ALLOW_RUNTIME_LORA_UPDATING": "True", "VLLM_RPC_BASE_PATH": private}
    variables |= {"VLLM_HOST_IP": "127.0.0.1", "VLLM_NO_USAGE_STATS": "1"}
    if config.engine.sleep:
        variables["VLLM_SERVER_DEV_MODE"] = "1"  # adds the sleep routes; only this user can reach the socket
    if Path(path).is_dir():
        variables["HF_HUB_OFFLINE"] = "1"
    if environment.build == "cpu":  # compiling at the first request takes 13 s and needs a C++ compiler
        variables |= {"TORCHDYNAMO_DISABLE": "1", "VLLM_CPU_KVCACHE_SPACE": str(config.engine.cpu_cache_gib)}
    return variables


def _last_lines(log: Path) -> list[str]:
    """A log's last 20,000 bytes as lines, without vLLM's prefixes (process, level, time, source)."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 20_000))
            text = file.read().decode(errors="replace")
    except OSError:
        return []
    prefix = re.compile(r"^(\(.*? pid=\d+\) )?([A-Z]+ [\d-]+ [\d:]+ \[.*?\] )?")
    return [prefix.sub("", line).strip() for line in text.splitlines()]
