"""Whether a run fits into the memory that is free, said before it begins; the arithmetic is `mcprl.plan`'s."""

import math
from pathlib import Path

import psutil
import torch

from mcprl import engines, plan, vllm_env
from mcprl.config import Config
from mcprl.errors import ConfigError
from mcprl.models import peft
from mcprl.plan import GIB, Settings, Size

_CGROUP = Path("/sys/fs/cgroup")


def check(config: Config) -> str:
    """What the run needs of what is free, in one line; where it may not fit, with the nearest settings that do.

    Raises `ConfigError` where it surely does not fit, and `ModelError` where there is no such model or device.
    """
    device = peft.device(config.model.device)
    given = settings(config, device)
    apart = free(serving()) if given.place == "apart" and not config.engine.base_url else math.inf
    return verdict(peft.size(config.model), given, free(device), str(device), apart)


def verdict(size: Size, given: Settings, there: float, device: str, apart: float = math.inf) -> str:
    """The line for what is there, and `apart` for a server on a device of its own. Raises `ConfigError` where not even
    the weights fit."""
    needed = plan.need(size, given)
    line = (
        f"a model of {_parameters(size.parameters)} needs about {_gib(needed.train)} of {_gib(there)} free ({device})"
    )
    if apart < math.inf:
        line += f", and vLLM about {_gib(needed.serve)} of {_gib(apart)}"
    if needed.train <= there and needed.serve <= apart:
        return line
    near = plan.nearest(size, given, there, apart)
    advice = f"it would fit with {_flags(given, near)}" if near else "no setting makes it fit; take a smaller model"
    if needed.floor > there:
        raise ConfigError(f"{line}, {_gib(needed.floor)} of it before the first token; {advice}")
    return f"{line} and may run out of it; {advice}"


def serving() -> torch.device:
    """Where the run's vLLM server is: on the first GPU that is visible."""
    return torch.device("cuda", 0) if vllm_env.gpus() else torch.device("cpu")


def place(config: Config, device: torch.device) -> plan.Place:
    """Where turns are sampled, seen from the device that trains."""
    if not engines.uses_vllm(config):
        return "embedded"
    server = serving()
    if config.engine.base_url or (device.type, device.index or 0) != (server.type, server.index or 0):
        return "apart"
    return "asleep" if config.engine.sleep and server.type == "cuda" else "awake"


def settings(config: Config, device: torch.device) -> Settings:
    """What of a configuration counts."""
    model, training = config.model, config.training
    return Settings(
        dtype=model.dtype,
        quantization=model.quantization,
        lora_rank=model.lora_rank,
        gradient_checkpointing=training.gradient_checkpointing,
        bin_tokens=training.bin_tokens,
        max_total_tokens=config.rollout.max_total_tokens,
        max_batch=config.engine.max_batch,
        place=place(config, device),
        gpu=device.type == "cuda",
    )


def free(device: torch.device) -> float:
    """Bytes that can be had: of a GPU what no process holds, of a machine what it calls available, within the limit of
    this container."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    available = psutil.virtual_memory().available
    try:
        limit, used = ((_CGROUP / f"memory.{kind}").read_text().strip() for kind in ("max", "current"))
    except OSError:
        return available
    return available if limit == "max" else min(available, int(limit) - int(used))


def _flags(before: Settings, after: Settings) -> str:
    """The changes as flags of `mcprl train`."""
    named = ((name.replace("_", "-"), value) for name, value in plan.changes(before, after).items())
    return " ".join(f"--{name}" if value is True else f"--{name} {value}" for name, value in named)


def _gib(count: float) -> str:
    return f"{count / GIB:.1f} GiB"


def _parameters(count: int) -> str:
    return f"{count / 1e9:.1f} B parameters" if count >= 1e9 else f"{count / 1e6:.0f} M parameters"
