"""`mcprl doctor`: whether this machine can run a configuration. Each check is a line, with what to do if it fails."""

import os
import resource
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal
from urllib.error import URLError
from urllib.request import Request, urlopen

import anyio
from packaging.requirements import Requirement

from mcprl import engines
from mcprl.cli.consent import assuming, remembered
from mcprl.cli.extras import with_torch
from mcprl.config import POLICY, Config
from mcprl.engines.vllm import environment as vllm_environment
from mcprl.errors import ConfigError, McprlError
from mcprl.judges import open_judge
from mcprl.models import BEHIND_AN_API, context_limit
from mcprl.runs.journal import Journal
from mcprl.servers.permission import ToolStatus
from mcprl.servers.server import connect
from mcprl.text import counted, visible

NEWEST_PYTHON = (3, 14)
CUDA_DRIVER = 580  # the first that runs CUDA 13, for which torch 2.13 is built
RUN_GIB = 2.0  # for a run's journal and adapters
SOCKET_PATH_BYTES = 100  # Linux allows 107


@dataclass(frozen=True)
class Finding:
    """The result of one check: `fail` stops the configured run from working, `warn` may."""

    name: str
    state: Literal["ok", "warn", "fail"]
    text: str


def examine(config: Config) -> Iterator[Finding]:
    """Run every check, the quick ones first. Never raises: an error in a check becomes a finding that fails."""
    checks: list[tuple[str, Callable[[Config], Iterator[Finding]]]] = [
        ("python", _python),
        ("packages", _packages),
        ("gpu", _gpu),
        ("disk", _disk),
        ("sockets", _sockets),
        ("model", _model),
        ("memory", _memory),
        ("trial", _trial),
        ("vllm", _vllm),
        ("server", _server),
        ("judge", _judge),
        ("bench", _bench),
    ]
    for name, check in checks:
        try:
            yield from check(config)
        except Exception as error:
            text = str(error) if isinstance(error, McprlError) else repr(error)
            yield Finding(name, "fail", text)


def require(config: Config) -> None:
    """Raise what is wrong with the place of a new run or with its judge, which is asked one tiny question if it is a
    model behind an API: nothing is written yet, and a run would notice after its first test. Raises `McprlError`."""
    Journal.require_new(Path(config.runs_dir) / config.name)
    for check in (_disk, _judge) if config.judge.model not in ("", POLICY) else (_disk,):
        for finding in check(config):
            if finding.state == "fail":
                raise ConfigError(f"{finding.name}: {finding.text}")


def _python(config: Config) -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] > NEWEST_PYTHON:
        yield Finding("python", "warn", f"{version}; tested up to {'.'.join(map(str, NEWEST_PYTHON))}")
    else:
        yield Finding("python", "ok", version)


def _packages(config: Config) -> Iterator[Finding]:
    """The installed packages against the requirements of mcprl[train], and of the other extras that are used."""
    extras = ["", "train"]
    if config.model.name.lower().endswith(".gguf"):
        extras.append("gguf")
    if config.engine.kind == "vllm" or config.engine.base_url:
        extras.append("vllm")
    if config.model.loader == "unsloth" or (config.model.loader == "auto" and find_spec("unsloth")):
        extras.append("unsloth")
    if config.judge.model not in ("", POLICY) or config.scenarios.writer.startswith("llm:"):
        extras.append("llm")
    if config.model.quantization != "none":
        extras.append("quant")
    versions: dict[str, str] = {}
    problems: list[str] = []
    for requirement in map(Requirement, metadata.requires("mcprl") or ()):
        if requirement.marker and not any(requirement.marker.evaluate({"extra": extra}) for extra in extras):
            continue
        try:
            version = metadata.version(requirement.name)
        except metadata.PackageNotFoundError:
            problems.append(f"{requirement.name} is missing")
            continue
        versions[requirement.name] = version
        if not requirement.specifier.contains(version.partition("+")[0], prereleases=True):
            problems.append(f"{requirement.name} is {version}, not {requirement.specifier}")
    if problems:
        needed = ",".join(filter(None, extras))
        yield Finding("packages", "fail", f"{'; '.join(problems)}: run pip install 'mcprl[{needed}]'")
    else:
        names = ("mcp", "torch", "transformers", "peft", "openai", "unsloth")
        yield Finding("packages", "ok", ", ".join(f"{name} {versions[name]}" for name in names if name in versions))


def _gpu(config: Config) -> Iterator[Finding]:
    gpus = vllm_environment.gpus()
    if not gpus:
        yield Finding("gpu", "ok", "no NVIDIA GPU (nvidia-smi gave no answer): everything runs on the CPU")
    for gpu in gpus:
        about = f"{gpu.name}, {gpu.free:.0f} of {gpu.total:.0f} GiB free, driver {gpu.driver}"
        if int(gpu.driver.partition(".")[0]) < CUDA_DRIVER:
            yield Finding("gpu", "warn", f"{about}: CUDA 13 needs driver {CUDA_DRIVER} or later; update it")
        elif gpu.free < 0.9 * gpu.total:
            yield Finding("gpu", "warn", f"{about}: other processes use the rest; nvidia-smi lists them")
        else:
            yield Finding("gpu", "ok", about)


def _disk(config: Config) -> Iterator[Finding]:
    runs = Path(config.runs_dir).absolute()
    folder = next(folder for folder in (runs, *runs.parents) if folder.exists())
    free = shutil.disk_usage(folder).free / 2**30
    if not os.access(folder, os.W_OK):
        yield Finding("disk", "fail", f"{folder} cannot be written to; choose another folder with --runs-dir")
    elif free < RUN_GIB:
        text = f"{free:.1f} GiB free in {folder}, a run needs up to {RUN_GIB:.0f} GiB; make room"
        yield Finding("disk", "fail", text)
    else:
        yield Finding("disk", "ok", f"{free:.0f} GiB free for runs in {folder}")


def _sockets(config: Config) -> Iterator[Finding]:
    """Whether mcprl's own servers can listen: on a loopback port, and on a socket in a temporary folder."""
    with socket.socket() as port:
        port.bind(("127.0.0.1", 0))
    with TemporaryDirectory(prefix="mcprl-") as folder, socket.socket(socket.AF_UNIX) as unix_socket:
        path = f"{folder}/vllm.sock"
        if len(path) > SOCKET_PATH_BYTES:
            text = f"{path} is too long for a socket; set TMPDIR to a short path, such as /tmp"
            yield Finding("sockets", "fail", text)
            return
        unix_socket.bind(path)
    yield Finding("sockets", "ok", "loopback ports are free, and sockets can be made in the temporary folder")


def _model(config: Config) -> Iterator[Finding]:
    """A model's chat template, its tool-call parser and its context limit. Loads no weights."""
    from mcprl.chat.families import dialect
    from mcprl.engines.machine import resolve
    from mcprl.models.load import read_info

    settings = resolve(config).model
    info = read_info(settings)
    family, parser = info.family, dialect(info.tokenizer)
    about = f"{family.name} family" if family else "of no known family"
    note = f"; {family.note}" if family and family.note else ""
    yield Finding("model", "ok", f"{config.model.name} ({about}): its template takes tools{note}")
    calls = "several calls a turn" if parser.parallel else "one call a turn"
    vllm = f"vLLM {family.min_vllm} or later," if family and family.min_vllm else "vLLM"
    reasoning = f" --reasoning-parser {family.reasoning}" if family and family.reasoning else ""
    serve = f"{vllm} --tool-call-parser {parser.vllm}{reasoning}"
    forms = ", fences and bare JSON" if settings.call_form == "any" else ""
    yield Finding("parser", "ok", f"{parser.name}{forms}, {calls}; to serve it: {serve}")
    for fault in info.mended:
        yield Finding("template", "ok", fault)
    limit = context_limit(info.config)
    longest = config.rollout.max_total_tokens
    if longest > limit:
        text = f"the model reads {limit} tokens, rollout.max_total_tokens is {longest}; lower it"
        yield Finding("tokens", "warn", text)
    else:
        yield Finding("tokens", "ok", f"the model reads {limit} tokens, a rollout has at most {longest}")


def _trial(config: Config) -> Iterator[Finding]:
    """Which form the model's calls have, and with which wording it answers after a result; of a model that is named."""
    if "name" not in config.model.model_fields_set or config.model.name.startswith(BEHIND_AN_API):
        return
    if engines.uses_tinker(config):  # whose server a run asks
        return
    trial = with_torch("mcprl.engines.trial")
    count = f"{counted(len(trial.TASKS), 'little task')} with up to {counted(len(trial.WORDINGS), 'wording')}"
    yield Finding("trial", "ok", f"{config.model.name} does {count}; a large model on a CPU takes minutes")
    if config.model.model_fields_set & {"system_prompt", "after_result"}:
        yield Finding("trial", "ok", "none, since prompts are stated")
        return
    config = with_torch("mcprl.engines.machine").resolve(config)
    model = with_torch("mcprl.models.load").load_model(config.model)
    results = anyio.run(partial(trial.run_trials, model, config.rollout, anew=True))
    for result in results:
        speed = f"{result.tokens / max(result.seconds, 0.1):.1f} tokens a second, prompts included"
        yield Finding("trial", "ok", f"{trial.named(result.wording)}: {trial.described(result)}; {speed}")
    gib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    chosen = trial.summary(config.model.name, results, model.mended)
    if config.model.call_form == "template":
        chosen = f"{config.model.name} keeps its own prompts and reads calls as its template writes them"
    state = "ok" if trial.choose(results).answers else "warn"
    yield Finding("wording", state, f"{chosen}. The process took {gib:.1f} GiB at most")


def _memory(config: Config) -> Iterator[Finding]:
    """Whether a run fits, by the same estimate as at its beginning."""
    if engines.uses_tinker(config):
        return
    resolved = with_torch("mcprl.engines.machine").resolve(config)
    device = with_torch("mcprl.models.load").find_device(resolved.model.device)
    memory = with_torch("mcprl.training.memory")
    _, line = memory.fitted(resolved, engines.placement(resolved, device), engines.server_device())
    yield Finding("memory", "warn" if "may run out" in line else "ok", line)


def _server(config: Config) -> Iterator[Finding]:
    """Whether each server can be connected to, and which tools may be called. Calls none."""
    if not config.servers:
        return

    async def listed() -> tuple[ToolStatus, ...]:
        async with connect(config.servers, assuming(config, remembered(config)).tools) as server:
            return server.listing

    listing = anyio.run(listed)
    allowed = [visible(status.name) for status in listing if status.allowed]
    about = f"{len(allowed)} of {counted(len(listing), 'tool')} may be called"
    if allowed:
        yield Finding("server", "ok", f"{about}: {', '.join(allowed)}")
    elif any(status.undecided for status in listing):
        yield Finding("server", "warn", f"{about}; mcprl train asks on a terminal, mcprl inspect says what allows them")
    else:
        yield Finding("server", "fail", f"{about}; mcprl inspect says why, and what allows them")


def _judge(config: Config) -> Iterator[Finding]:
    """Whether the judge that reads answers one tiny question."""
    if config.judge.model == POLICY:
        yield Finding("judge", "ok", "the run's own model")
        return
    judge = open_judge(config.judge.model_copy(update={"cache": "", "retries": 0}), ())
    if (model := judge.model) is None:
        yield Finding("judge", "ok", "the verifier, which asks no language model")
        return
    model.require()
    began = time.monotonic()
    anyio.run(model.reply, [{"role": "user", "content": "Answer with the word ok."}])
    yield Finding("judge", "ok", f"{model.name} answers, in {time.monotonic() - began:.1f} s")


def _bench(config: Config) -> Iterator[Finding]:
    """Whether the benchmarks that the run takes are set up."""
    if names := config.training.bench:
        with_torch("mcprl.benches.taking").require_benches(names)
        yield Finding("bench", "ok", f"set up: {', '.join(names)}")


def _vllm(config: Config) -> Iterator[Finding]:
    if engines.uses_tinker(config):
        yield _tinker_server(config)
        return
    if urls := config.engine.base_urls or (config.engine.base_url and (config.engine.base_url,)):
        yield from (_external_server(url, config.engine.api_key_env) for url in urls)
        return
    required = config.engine.kind == "vllm"
    environment = vllm_environment.find(config.engine.environment)
    folder = config.engine.environment or vllm_environment.default_folder()
    if environment is None:
        text = f"not set up in {folder}; run: mcprl setup vllm"
        if required:
            yield Finding("vllm", "fail", text)
        else:
            yield Finding("vllm", "ok", f"{text} (only --engine vllm needs it)")
        return
    tested = vllm_environment.VERSION
    if environment.version != tested:
        yield Finding("vllm", "warn", f"{environment.version} in {folder}; the tested version is {tested}")
    if environment.build == "cuda" and not vllm_environment.gpus():
        text = f"{folder} is the CUDA build, and there is no GPU"
        yield Finding("vllm", "fail" if required else "warn", text)
        return
    yield _import_vllm(environment, folder, required)


def _import_vllm(environment: vllm_environment.Environment, folder: str | Path, required: bool) -> Finding:
    """The versions of vLLM and torch, if they can be imported in vLLM's environment."""
    code = "import vllm, torch; print(vllm.__version__, torch.__version__)"
    variables = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    result = subprocess.run(
        [environment.python, "-c", code], capture_output=True, text=True, timeout=300, env=variables, check=False
    )
    if result.returncode:
        error = (result.stderr.strip().splitlines() or ["no output"])[-1]
        text = f"{folder} is broken ({error}); delete it and run: mcprl setup vllm"
        return Finding("vllm", "fail" if required else "warn", text)
    version, torch = result.stdout.split()[-2:]
    return Finding("vllm", "ok", f"{version} ({environment.build}) with torch {torch} in {folder}")


def _tinker_server(config: Config) -> Finding:
    """Whether a server of the Tinker API is there, and follows the settings."""
    with_torch("mcprl.models.tinker.model").require_settings(config)
    url = config.engine.base_url
    service = with_torch("mcprl.models.tinker.service").Service(url)
    if not service.is_up():
        return Finding(
            "tinker", "fail", f"no server of the Tinker API answers at {url}; docs/cluster.md says how to start one"
        )
    return Finding("tinker", "ok", f"a server answers at {url}; it trains and has the memory that this takes")


def _external_server(url: str, variable: str) -> Finding:
    request = Request(f"{url.rstrip('/')}/models")
    if key := os.environ.get(variable):
        request.add_header("Authorization", f"Bearer {key}")
    try:
        with urlopen(request, timeout=10) as response:
            response.read()
    except (URLError, OSError, ValueError) as error:
        text = f"no vLLM server answers at {url} ({error}); is it running, and is its key in ${variable}?"
        return Finding("vllm", "fail", text)
    return Finding("vllm", "ok", f"a server answers at {url}")
