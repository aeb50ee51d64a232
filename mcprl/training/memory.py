"""How much memory a run needs, whether that is free, and the nearest settings that fit.

    base weights + LoRA (weight, gradient, two moments) + what backward keeps of one bin of tokens + what sampling takes

An engine that forgets keys and values before an update needs but the larger of the last two. What backward keeps is
good to about a tenth (tested against what torch keeps). A bin counts as full. A report has this estimate and the peak.
"""

import math
import resource
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import product
from pathlib import Path
from typing import Any

import psutil
import torch
from torch import nn
from transformers import AutoConfig, AutoModelForCausalLM

from mcprl.chat.families import family
from mcprl.config import Config, ModelConfig
from mcprl.errors import ConfigError
from mcprl.models.load import find_device, load_error, lora_targets
from mcprl.models.packing import LARGE
from mcprl.models.places import locate
from mcprl.types import Placement

GIB = 2**30
BYTES = {"float32": 4, "bfloat16": 2}
QUANTIZED = {"int8": 1.01, "nf4": 0.52}
"""Bytes for each quantized weight, its block's scale included (doubly quantized for nf4: QLoRA, arXiv 2305.14314)."""
LORA = 16
"""Bytes for each LoRA parameter: itself in float32, its gradient, AdamW's two moments."""
KEPT = {"float32": (16.5, 16.2, 19.2, 6.2), "bfloat16": (28.4, 10.3, 15.2, 6.2)}
"""Bytes that backward keeps for each token and layer, by unit of the hidden size, the MLP's width, and the width of
queries and of keys: measured with transformers 5.23 and peft 0.21 on Qwen3 (peft casts a LoRA's input to float32)."""
KEPT_SHARED = (11.9, 8.0, 12.3, 4.1)
"""The same in bfloat16 where the base is kept once, whose layers cast nothing (`models.packing.SharedLora`)."""
KEPT_A_RANK = 28
"""The same by unit of the LoRA's rank, for the seven linear modules of a layer."""
HEAD = 3 * 4 * 2**23
"""Bytes of one chunk of the output layer (`lm_head`)."""
CACHE = 2 * GIB
"""The most bytes of keys and values that the embedded engine keeps, for the base model and for the adapter each."""
PROCESS = GIB // 2
"""Bytes that a process takes, of a GPU or of the memory, before it does anything."""
SERVER = 3 * GIB // 2
"""Bytes of a vLLM server besides weights, keys and values; most of it stays during sleep (H100: 1.3, 1.1 GiB)."""
LEFT = 3 * GIB // 2
"""Bytes that a trainer still holds between updates, besides what it always needs (there, in nf4: 1.4 GiB)."""
_CGROUP = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Size:
    """A model's parameter counts and shape. `linear`: parameters in linear layers; `adapted`: those under the LoRA;
    `lora`: LoRA parameters for each unit of rank; `head`: parameters of the output layer, which may be the embeddings;
    `queries` and `keys`: the width of all heads together."""

    parameters: int
    linear: int
    adapted: int
    lora: int
    head: int
    layers: int
    hidden: int
    intermediate: int
    queries: int
    keys: int


@dataclass(frozen=True)
class Settings:
    """The settings of a configuration that memory depends on, by their names there. `pipelined`: the embedded engine
    samples during updates; `gpu`: a GPU trains. `place`: sampling by the embedded engine; or by a vLLM server on the
    same GPU that is paused during updates (`paused`) or is not (`awake`), or on a device of its own (`apart`).
    """

    dtype: str = "float32"
    quantization: str = "none"
    lora_rank: int = 16
    gradient_checkpointing: bool = False
    bin_tokens: int = 8192
    max_total_tokens: int = 4096
    max_batch: int = 64
    place: Placement = "embedded"
    pipelined: bool = False
    gpu: bool = False


@dataclass(frozen=True)
class Need:
    """Peak bytes: `train` where it trains, `serve` on the engine's own device (0: none); `floor` whatever the tasks."""

    train: float
    serve: float
    floor: float


# --- the estimate -----------------------------------------------------------------------------------------------------


def need(size: Size, settings: Settings) -> Need:
    """The memory that a run needs."""
    lora = LORA * size.lora * settings.lora_rank
    always = PROCESS + base_weights(size, settings) + lora
    update = HEAD + activations(size, settings)
    if settings.place == "embedded":
        copy = merged_copy(size, settings)
        sampling = 2 * (copy + min(CACHE, cache(size, settings)))  # the next adapter is loaded beside the last one
        peak = update + sampling if settings.pipelined else max(update, sampling)
        return Need(always + peak, 0, always + copy)
    weights = BYTES[settings.dtype] * size.parameters
    # Half a cache: a sequence reaches its full length only at its end, and a server stores shared prefixes once.
    server = SERVER + weights + cache(size, settings) / 2
    if settings.place == "apart":
        return Need(always + update, server, always)
    peak = max(SERVER + update, LEFT + server) if settings.place == "paused" else update + server
    return Need(always + peak, 0, always + weights)


def base_weights(size: Size, settings: Settings) -> float:
    """Bytes of the base model: embeddings and norms are never quantized."""
    whole = BYTES[settings.dtype]
    return QUANTIZED.get(settings.quantization, whole) * size.linear + whole * (size.parameters - size.linear)


def activations(size: Size, settings: Settings) -> float:
    """Bytes that backward keeps of the largest bin, and as much as one layer keeps for the gradients in flight.

    With gradient checkpointing backward keeps each layer's input, and one layer; so it does of a row that is longer
    than `bin_tokens` by itself.
    """
    widths = (size.hidden, size.intermediate, size.queries, size.keys)
    kept = KEPT_SHARED if _is_shared(size, settings) and settings.dtype == "bfloat16" else KEPT[settings.dtype]
    layer = sum(bytes_ * width for bytes_, width in zip(kept, widths, strict=True))
    layer += KEPT_A_RANK * settings.lora_rank
    recomputed = BYTES[settings.dtype] * size.hidden * size.layers + 2 * layer
    bin_ = settings.bin_tokens * (recomputed if settings.gradient_checkpointing else layer * (size.layers + 1))
    return max(bin_, settings.max_total_tokens * recomputed)


def cache(size: Size, settings: Settings) -> float:
    """Bytes of keys and values of `max_batch` sequences of `max_total_tokens` each."""
    token = 2 * BYTES[settings.dtype] * size.keys * size.layers
    return token * settings.max_batch * settings.max_total_tokens


def merged_copy(size: Size, settings: Settings) -> float:
    """Bytes of the weights that sample: on a GPU those merged, in float32 alone; on a CPU all linear layers, packed, or
    the output layer alone where the base is kept once (`models.packing`)."""
    if settings.quantization in QUANTIZED or (settings.gpu and settings.dtype != "float32"):
        return 0
    if _is_shared(size, settings):
        return BYTES[settings.dtype] * size.head / 2  # of two copies, for the base and an adapter, there is one
    return BYTES[settings.dtype] * (size.adapted if settings.gpu else size.linear)


def _is_shared(size: Size, settings: Settings) -> bool:
    """Whether trainer and sampler have one copy of the base."""
    return not settings.gpu and settings.quantization == "none" and size.parameters >= LARGE


# --- the size of a model ----------------------------------------------------------------------------------------------


def model_size(config: ModelConfig) -> Size:
    """The size of a configured model, by its config alone, without weights. Raises `ModelError` if that fails."""
    try:
        shape: Any = AutoConfig.from_pretrained(locate(config.name))
        with torch.device("meta"):
            model: Any = AutoModelForCausalLM.from_config(shape)
    except (OSError, ValueError) as error:
        raise load_error(config, error) from error
    return size_of(model, lora_targets(config, family(config.name, str(getattr(shape, "model_type", ""))), shape))


def size_of(model: Any, targets: str = "all-linear") -> Size:
    """The size of a causal LM with a LoRA on `targets`."""
    head = model.get_output_embeddings()
    linear = {n: m for n, m in model.named_modules() if isinstance(m, nn.Linear) and m is not head}
    names = [name.strip() for name in targets.split(",")]
    adapted = [
        module
        for name, module in linear.items()
        if targets == "all-linear" or any(name == target or name.endswith(f".{target}") for target in names)
    ]
    shape = model.config.get_text_config()
    head_width = getattr(shape, "head_dim", None) or shape.hidden_size // shape.num_attention_heads
    return Size(
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        linear=sum(module.weight.numel() for module in linear.values()),
        adapted=sum(module.weight.numel() for module in adapted),
        head=head.weight.numel(),
        lora=sum(module.in_features + module.out_features for module in adapted),
        layers=shape.num_hidden_layers,
        hidden=shape.hidden_size,
        intermediate=shape.intermediate_size,
        queries=shape.num_attention_heads * head_width,
        keys=shape.num_key_value_heads * head_width,
    )


# --- what fits on this machine ----------------------------------------------------------------------------------------


def nearest(size: Size, settings: Settings, free: float, free_apart: float = 0) -> Settings | None:
    """The settings that fit with the fewest changes, or `None`. Among as many changes, the cheapest come first (time,
    then throughput, then precision, then the length of what can be learnt)."""

    def distance(choice: tuple[int, ...]) -> tuple[int, int, tuple[int, ...]]:
        return sum(map(bool, choice)), sum(choice), tuple(-n for n in choice)

    options = list(_options(settings))
    for choice in sorted(product(*(range(len(values)) for _, values in options)), key=distance):
        changes = {name: values[n] for n, (name, values) in zip(choice, options, strict=True)}
        candidate = replace(settings, **changes)
        needed = need(size, candidate)
        if needed.train <= free and needed.serve <= free_apart:
            return candidate
    return None


def _options(settings: Settings) -> Iterator[tuple[str, list[Any]]]:
    """Each setting that can save memory, with its present value and then those that save more, the mildest first."""
    yield "gradient_checkpointing", [True] if settings.gradient_checkpointing else [False, True]
    yield "max_batch", _halves(settings.max_batch, 8)
    yield "bin_tokens", _halves(settings.bin_tokens, 1024)
    yield "dtype", [settings.dtype, "bfloat16"] if settings.dtype == "float32" else ["bfloat16"]
    yield "quantization", [settings.quantization, *(["nf4"] if settings.quantization != "nf4" else [])]
    yield "max_total_tokens", _halves(settings.max_total_tokens, 1024)


def _halves(value: int, least: int) -> list[int]:
    return [value, *_halves(value // 2, least)] if value // 2 >= least else [value]


def changes(before: Settings, after: Settings) -> dict[str, Any]:
    """The new values of the settings that differ, by name."""
    pairs = ((field.name, getattr(before, field.name), getattr(after, field.name)) for field in fields(before))
    return {name: new for name, old, new in pairs if new != old}


def fitted(config: Config, place: Placement, server: str) -> tuple[Config, str]:
    """The configuration, with gradient checkpointing if that is not stated and makes the run fit; and what the run
    needs and what is free, in one line: if that may be too little, with the nearest settings that fit.

    `server` names the vLLM server's device. Raises `ConfigError` if the run surely does not fit, and `ModelError` if
    there is no such model or device.
    """
    device = find_device(config.model.device)
    size, wanted, room = model_size(config.model), settings(config, device, place), free(device)
    apart = free(torch.device(server)) if wanted.place == "apart" and not config.engine.base_url else math.inf
    saving, needed = replace(wanted, gradient_checkpointing=True), need(size, wanted).train
    if (
        needed <= room
        or "gradient_checkpointing" in config.training.model_fields_set
        or need(size, saving).train > room
    ):
        return config, verdict(size, wanted, room, str(device), apart)
    line = verdict(size, saving, room, str(device), apart)
    line += f"; with gradient checkpointing, without which it is {_gib(needed)}: updates take about a third longer"
    training = config.training.model_copy(update={"gradient_checkpointing": True})
    return config.model_copy(update={"training": training}), line


def planned_and_peak(config: Config, place: Placement) -> dict[str, float] | None:
    """GiB that this process was estimated to need where it trains, and the most that it has had; `None` where a vLLM
    server has its part of the estimate."""
    if place not in ("embedded", "apart"):
        return None
    device = find_device(config.model.device)
    planned = need(model_size(config.model), settings(config, device, place)).train
    if device.type == "cuda":
        peak = torch.cuda.max_memory_reserved(device) + PROCESS
    else:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return {"planned": round(planned / GIB, 2), "peak": round(peak / GIB, 2)}


def settings(config: Config, device: torch.device, place: Placement) -> Settings:
    """The settings of a configuration that memory depends on."""
    model, training = config.model, config.training
    return Settings(
        dtype=model.dtype,
        quantization=model.quantization,
        lora_rank=model.lora_rank,
        gradient_checkpointing=training.gradient_checkpointing,
        bin_tokens=training.bin_tokens,
        max_total_tokens=config.rollout.max_total_tokens,
        max_batch=config.engine.max_batch,
        place=place,
        pipelined=training.pipeline == "on",
        gpu=device.type == "cuda",
    )


def free(device: torch.device) -> float:
    """Free bytes: of a GPU, unallocated ones; of a machine, those it calls available, within the container's limit."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    available = psutil.virtual_memory().available
    try:
        limit, used, stat = ((_CGROUP / f"memory.{kind}").read_text().strip() for kind in ("max", "current", "stat"))
    except OSError:
        return available
    cached = dict(line.split() for line in stat.splitlines()).get("inactive_file", 0)  # given up where it is needed
    return available if limit == "max" else min(available, int(limit) - int(used) + int(cached))


def verdict(size: Size, wanted: Settings, free: float, device: str, apart: float = math.inf) -> str:
    """The line of `fitted` for `free` bytes on the device that trains and `apart` on a vLLM server's own device. Raises
    `ConfigError` if not even the weights fit."""
    needed = need(size, wanted)
    line = f"a model of {_parameters(size.parameters)} needs about {_gib(needed.train)} of {_gib(free)} free ({device})"
    if apart < math.inf:
        line += f", and vLLM about {_gib(needed.serve)} of {_gib(apart)}"
    if needed.train <= free and needed.serve <= apart:
        return line
    near = nearest(size, wanted, free, apart)
    advice = f"it would fit with {_flags(wanted, near)}" if near else "no setting makes it fit; take a smaller model"
    if needed.floor > free:
        raise ConfigError(f"{line}, {_gib(needed.floor)} of it before the first token; {advice}")
    return f"{line} and may run out of it; {advice}"


def _flags(before: Settings, after: Settings) -> str:
    """The changes as flags of `mcprl train`."""
    named = ((name.replace("_", "-"), value) for name, value in changes(before, after).items())
    return " ".join(f"--{name}" if value is True else f"--{name} {value}" for name, value in named)


def _gib(count: float) -> str:
    return f"{count / GIB:.1f} GiB"


def _parameters(count: int) -> str:
    return f"{count / 1e9:.1f} B parameters" if count >= 1e9 else f"{count / 1e6:.0f} M parameters"
