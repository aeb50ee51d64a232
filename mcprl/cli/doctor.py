"""`mcprl doctor`: whether this machine can do what a configuration asks. A line for each thing, with what to do."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal
from urllib.error import URLError
from urllib.request import Request, urlopen

from packaging.requirements import Requirement

from mcprl.config import Config
from mcprl.engines.vllm import environment as vllm
from mcprl.errors import McprlError

NEWEST_PYTHON = (3, 14)
CUDA_DRIVER = 580  # the first that runs CUDA 13, for which torch 2.13 is built
RUN_GB = 2.0  # a run's journal and adapters
SOCKET_PATH = 100  # bytes; Linux allows 107


@dataclass(frozen=True)
class Finding:
    """One thing looked at: `fail` keeps the configured run from working, `warn` may."""

    name: str
    state: Literal["ok", "warn", "fail"]
    text: str


def examine(config: Config) -> Iterator[Finding]:
    """Look at everything, the quick things first. Never raises: what breaks a check is what it finds."""
    checks: list[tuple[str, Callable[[Config], Iterator[Finding]]]] = [
        ("python", _python),
        ("packages", _packages),
        ("gpu", _gpu),
        ("disk", _disk),
        ("sockets", _sockets),
        ("model", _model),
        ("vllm", _vllm),
    ]
    for name, check in checks:
        try:
            yield from check(config)
        except Exception as error:
            text = str(error) if isinstance(error, McprlError) else repr(error)
            yield Finding(name, "fail", text)


def _python(config: Config) -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] > NEWEST_PYTHON:
        yield Finding("python", "warn", f"{version}; tested up to {'.'.join(map(str, NEWEST_PYTHON))}")
    else:
        yield Finding("python", "ok", version)


def _packages(config: Config) -> Iterator[Finding]:
    """What `pip install mcprl[train]` asks for (`vllm` and `unsloth`, too, where used) against what is there."""
    extras = ["", "train", *(["vllm"] if config.engine.kind == "vllm" or config.engine.base_url else [])]
    if config.model.loader == "unsloth" or (config.model.loader == "auto" and find_spec("unsloth")):
        extras.append("unsloth")
    found: dict[str, str] = {}
    wrong: list[str] = []
    for requirement in map(Requirement, metadata.requires("mcprl") or ()):
        if requirement.marker and not any(requirement.marker.evaluate({"extra": extra}) for extra in extras):
            continue
        try:
            found[requirement.name] = metadata.version(requirement.name)
        except metadata.PackageNotFoundError:
            wrong.append(f"{requirement.name} is missing")
            continue
        if not requirement.specifier.contains(found[requirement.name].partition("+")[0], prereleases=True):
            wrong.append(f"{requirement.name} is {found[requirement.name]}, not {requirement.specifier}")
    if wrong:
        asked = ",".join(filter(None, extras))
        yield Finding("packages", "fail", f"{'; '.join(wrong)}: run pip install 'mcprl[{asked}]'")
    else:
        shown = ("mcp", "torch", "transformers", "peft", "openai", "unsloth")
        yield Finding("packages", "ok", ", ".join(f"{name} {found[name]}" for name in shown if name in found))


def _gpu(config: Config) -> Iterator[Finding]:
    gpus = vllm.gpus()
    if not gpus:
        yield Finding("gpu", "ok", "no NVIDIA GPU (nvidia-smi does not answer): everything runs on the CPU")
    for gpu in gpus:
        about = f"{gpu.name}, {gpu.free:.0f} of {gpu.total:.0f} GiB free, driver {gpu.driver}"
        if int(gpu.driver.partition(".")[0]) < CUDA_DRIVER:
            yield Finding("gpu", "warn", f"{about}: CUDA 13 needs driver {CUDA_DRIVER} or later; update it")
        elif gpu.free < 0.9 * gpu.total:
            yield Finding("gpu", "warn", f"{about}: something else holds the rest; nvidia-smi shows what")
        else:
            yield Finding("gpu", "ok", about)


def _disk(config: Config) -> Iterator[Finding]:
    runs = Path(config.runs_dir).absolute()
    there = next(folder for folder in (runs, *runs.parents) if folder.exists())
    free = shutil.disk_usage(there).free / 2**30
    if not os.access(there, os.W_OK):
        yield Finding("disk", "fail", f"{there} cannot be written to; name another place with --runs-dir")
    elif free < RUN_GB:
        yield Finding("disk", "fail", f"{free:.1f} GiB free in {there}, a run takes up to {RUN_GB:.0f}; make room")
    else:
        yield Finding("disk", "ok", f"{free:.0f} GiB free for runs in {there}")


def _sockets(config: Config) -> Iterator[Finding]:
    """What servers of our own listen on: a port of the loopback, and a socket in a folder of ours."""
    with socket.socket() as port:
        port.bind(("127.0.0.1", 0))
    with TemporaryDirectory(prefix="mcprl-") as folder, socket.socket(socket.AF_UNIX) as local:
        path = f"{folder}/vllm.sock"
        if len(path) > SOCKET_PATH:
            text = f"{path} is too long for a socket; set TMPDIR to a short path, such as /tmp"
            yield Finding("sockets", "fail", text)
            return
        local.bind(path)
    yield Finding("sockets", "ok", "the loopback has free ports, and sockets can be made in the temporary folder")


def _model(config: Config) -> Iterator[Finding]:
    """The template and the limits of a model, without its weights."""
    from mcprl.chat.families import dialect
    from mcprl.models.load import read_info

    info = read_info(config.model)
    known = info.family
    style = dialect(info.tokenizer)
    family = f"{known.name} family" if known else "of no known family"
    calls = "several calls a turn" if style.parallel else "one call a turn"
    note = f"; {known.note}" if known and known.note else ""
    yield Finding("model", "ok", f"{config.model.name} ({family}): its template takes tools{note}")
    reasoning = f" --reasoning-parser {known.reasoning}" if known and known.reasoning else ""
    vllm = f"vLLM {known.min_vllm} or later," if known and known.min_vllm else "vLLM"
    yield Finding(
        "parser", "ok", f"{style.name}, {calls}; to serve it: {vllm} --tool-call-parser {style.vllm}{reasoning}"
    )
    reads, wanted = int(getattr(info.config.get_text_config(), "max_position_embeddings", 2**31)), config.rollout
    if wanted.max_total_tokens > reads:
        text = f"the model reads {reads} tokens, rollout.max_total_tokens is {wanted.max_total_tokens}; lower it"
        yield Finding("tokens", "warn", text)
    else:
        yield Finding("tokens", "ok", f"the model reads {reads}, a rollout has {wanted.max_total_tokens} at most")


def _vllm(config: Config) -> Iterator[Finding]:
    if config.engine.base_url:
        yield _foreign(config)
        return
    asked = config.engine.kind == "vllm"
    environment = vllm.find(config.engine.environment)
    folder = config.engine.environment or vllm.default_folder()
    if environment is None:
        text = f"not set up in {folder}; run: mcprl setup vllm"
        yield Finding("vllm", "fail" if asked else "ok", text if asked else f"{text} (only --engine vllm needs it)")
        return
    if environment.version != vllm.VERSION:
        yield Finding("vllm", "warn", f"{environment.version} in {folder}; tested is {vllm.VERSION}")
    if environment.build == "cuda" and not vllm.gpus():
        yield Finding("vllm", "fail" if asked else "warn", f"{folder} is the CUDA build, and there is no GPU")
        return
    code = "import vllm, torch; print(vllm.__version__, torch.__version__)"
    clean = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run(
        [environment.python, "-c", code], capture_output=True, text=True, timeout=300, env=clean, check=False
    )
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["no output"])[-1]
        text = f"{folder} is broken ({why}); delete it and run: mcprl setup vllm"
        yield Finding("vllm", "fail" if asked else "warn", text)
        return
    version, torch = done.stdout.split()[-2:]
    yield Finding("vllm", "ok", f"{version} ({environment.build}) with torch {torch} in {folder}")


def _foreign(config: Config) -> Finding:
    url, variable = config.engine.base_url, config.engine.api_key_env
    request = Request(f"{url.rstrip('/')}/models")
    if key := os.environ.get(variable):
        request.add_header("Authorization", f"Bearer {key}")
    try:
        with urlopen(request, timeout=10) as answer:
            answer.read()
    except (URLError, OSError, ValueError) as error:
        text = f"no vLLM server answers at {url} ({error}); is it running, and is its key in ${variable}?"
        return Finding("vllm", "fail", text)
    return Finding("vllm", "ok", f"a server answers at {url}")
