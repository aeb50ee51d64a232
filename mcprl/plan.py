"""How much memory a run needs, and the nearest settings that need no more than there is: numbers in, numbers out.

    base weights + LoRA (weight, gradient, two moments) + what backward keeps of one bin of tokens + what sampling takes

Estimates, good to about a tenth for what backward keeps (tested against what torch keeps); a bin is taken to be full.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any, Literal

GIB = 2**30
BYTES = {"float32": 4, "bfloat16": 2}
QUANTIZED = {"int8": 1.01, "nf4": 0.52}
"""Bytes a quantized weight, its block's scale included (doubly quantized for nf4: QLoRA, arXiv 2305.14314)."""
LORA = 16
"""Bytes a LoRA parameter: in float32 itself, its gradient, AdamW's two moments."""
KEPT = {"float32": (16.5, 16.2, 19.2, 6.2), "bfloat16": (28.4, 10.3, 15.2, 6.2)}
"""Bytes that backward keeps for each token and layer, by unit of the hidden size, the MLP's width, and the width of
queries and of keys: measured with transformers 5.23 and peft 0.21 on Qwen3 (peft casts a LoRA's input to float32)."""
KEPT_A_RANK = 28
"""The same by unit of the LoRA's rank, for seven layers."""
HEAD = 3 * 4 * 2**23
"""Bytes of one chunk of the output layer (`mcprl.head`)."""
CACHE = 2 * GIB
"""The most that the embedded engine keeps of keys and values, of the base model and the adapter each."""
CONTEXT = GIB // 2
"""What a process takes of a GPU before it does anything."""
SERVER = 2 * GIB
"""What a vLLM server takes beside weights, keys and values: its process, its graphs, its working memory."""


@dataclass(frozen=True)
class Size:
    """What of a model counts: its parameters, those in linear layers and those under the LoRA, LoRA parameters for each
    unit of rank, and its shape (`queries` and `keys` are all heads wide)."""

    parameters: int
    linear: int
    adapted: int
    lora: int
    layers: int
    hidden: int
    intermediate: int
    queries: int
    keys: int


Place = Literal["embedded", "asleep", "awake", "apart"]


@dataclass(frozen=True)
class Settings:
    """What of a configuration counts, under the names that it has there.

    `place`: sampling by the embedded engine; or by a vLLM server on the same GPU that sleeps during updates (`asleep`)
    or does not (`awake`), or on a GPU of its own (`apart`).
    """

    dtype: str = "float32"
    quantization: str = "none"
    lora_rank: int = 16
    gradient_checkpointing: bool = False
    bin_tokens: int = 8192
    max_total_tokens: int = 4096
    max_batch: int = 64
    place: Place = "embedded"
    gpu: bool = False


@dataclass(frozen=True)
class Need:
    """Bytes at the peak, on the device that trains and on the engine's own (0 where it has none), and the `floor`: what
    the training device must hold whatever the tasks are."""

    train: float
    serve: float
    floor: float


def need(size: Size, settings: Settings) -> Need:
    """What a run takes."""
    weights = base_weights(size, settings)
    adapter = LORA * size.lora * settings.lora_rank
    held = weights + adapter + (CONTEXT if settings.gpu else 0)
    update = HEAD + activations(size, settings)
    if settings.place == "embedded":
        copies = merged_copies(size, settings)
        cached = 2 * min(CACHE, cache(size, settings))
        return Need(held + update + copies + cached, 0, held + copies / 2)
    # A sequence is as long as it may be only at its end, and a server keeps what sequences share once.
    server = SERVER + BYTES[settings.dtype] * size.parameters + cache(size, settings) / 2
    if settings.place == "apart":
        return Need(held + update, server, held)
    if settings.place == "asleep":
        return Need(held + max(update, server), 0, held + BYTES[settings.dtype] * size.parameters)
    return Need(held + update + server, 0, held + BYTES[settings.dtype] * size.parameters)


def base_weights(size: Size, settings: Settings) -> float:
    """Bytes of the base model: embeddings and norms are never quantized."""
    whole = BYTES[settings.dtype]
    linear = QUANTIZED.get(settings.quantization, whole)
    return linear * size.linear + whole * (size.parameters - size.linear)


def activations(size: Size, settings: Settings) -> float:
    """Bytes that backward keeps of the largest bin, and of one layer again for the gradients on their way.

    A row longer than a bin has one of its own. With gradient checkpointing that is each layer's input, and one layer.
    """
    tokens = max(settings.bin_tokens, settings.max_total_tokens)
    widths = (size.hidden, size.intermediate, size.queries, size.keys)
    layer = sum(bytes_ * width for bytes_, width in zip(KEPT[settings.dtype], widths, strict=True))
    layer += KEPT_A_RANK * settings.lora_rank
    inputs = BYTES[settings.dtype] * size.hidden
    kept = inputs * size.layers + layer if settings.gradient_checkpointing else layer * size.layers
    return tokens * (kept + layer)


def cache(size: Size, settings: Settings) -> float:
    """Bytes of keys and values of as many sequences as are decoded at once, each as long as it may be."""
    token = 2 * BYTES[settings.dtype] * size.keys * size.layers
    return token * settings.max_batch * settings.max_total_tokens


def merged_copies(size: Size, settings: Settings) -> float:
    """Bytes of the weights under the LoRA with it merged in: the adapter that samples, and the next one beside it.
    Quantized weights are not merged."""
    return 0 if settings.quantization in QUANTIZED else 2 * BYTES[settings.dtype] * size.adapted


def nearest(size: Size, settings: Settings, free: float, free_apart: float = 0) -> Settings | None:
    """The settings that fit with the fewest changes, or `None`: of as many changes, those that cost the least come
    first (time, then throughput, then precision, then the length of what can be learnt)."""

    def distance(choice: tuple[int, ...]) -> tuple[int, int, tuple[int, ...]]:
        return sum(map(bool, choice)), sum(choice), tuple(-n for n in choice)

    options = list(_options(settings))
    for choice in sorted(product(*(range(len(values)) for _, values in options)), key=distance):
        changes = {name: values[n] for n, (name, values) in zip(choice, options, strict=True)}
        found = replace(settings, **changes)
        needed = need(size, found)
        if needed.train <= free and needed.serve <= free_apart:
            return found
    return None


def _options(settings: Settings) -> Iterator[tuple[str, list[Any]]]:
    """Each setting that saves memory: as it is, and what it can be, the mildest first."""
    yield "gradient_checkpointing", [True] if settings.gradient_checkpointing else [False, True]
    yield "max_batch", _halves(settings.max_batch, 8)
    yield "bin_tokens", _halves(settings.bin_tokens, 1024)
    yield "dtype", [settings.dtype, "bfloat16"] if settings.dtype == "float32" else ["bfloat16"]
    yield "quantization", [settings.quantization, *(["nf4"] if settings.quantization != "nf4" else [])]
    yield "max_total_tokens", _halves(settings.max_total_tokens, 1024)


def _halves(value: int, least: int) -> list[int]:
    values = [value]
    while values[-1] // 2 >= least:
        values.append(values[-1] // 2)
    return values


def changes(before: Settings, after: Settings) -> dict[str, Any]:
    """What differs, by the names of the settings."""
    pairs = ((field.name, getattr(before, field.name), getattr(after, field.name)) for field in fields(before))
    return {name: new for name, old, new in pairs if new != old}
