"""The models that the embedded engine decodes with: the base model without its LoRA, and a copy with one merged in."""

import copy
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from mcprl.engines.embedded.attention import ATTENTION
from mcprl.engines.embedded.decoder import SHORTEST_TRUNK, Decoder
from mcprl.engines.embedded.linear import Adapted, is_tiny
from mcprl.engines.embedded.plain import PlainDecoder
from mcprl.engines.embedded.streams import Stream
from mcprl.errors import EngineError, ModelError
from mcprl.models.adapters import PREFIX, rank_and_scale, read_adapter
from mcprl.models.packing import Packed, can_pack

LAYERS = {"full_attention", "sliding_attention"}
SMALL_WINDOW = 6


def bare_model(model: Any) -> Any:
    """A model without LoRA for `Decoder`, with its attention. It shares its weights with `model`, except a tiny model's
    matrices, which it stores by columns.

    Raises `EngineError` if `Decoder` cannot decode the model.
    """
    bare = _without_lora(model)
    others = {*(getattr(bare.config.get_text_config(), "layer_types", None) or ())} - LAYERS
    if others:
        raise EngineError(f"the embedded engine cannot batch a {type(bare).__name__}: it has {min(others)} layers")
    if is_tiny(bare):
        _by_columns(bare)
    bare.config._attn_implementation = ATTENTION
    if why := _fault(bare, Decoder(bare, (), 1, 2**26)):
        raise EngineError(f"the embedded engine cannot batch a {type(bare).__name__}: {why}")
    return bare


def plain_model(model: Any) -> Any:
    """A model without LoRA for `PlainDecoder`. It shares its weights with `model`. Raises `EngineError` if that cannot
    decode it either."""
    bare = _without_lora(model)
    if why := _fault(bare, PlainDecoder(bare, ())):
        raise EngineError(f"the embedded engine cannot decode a {type(bare).__name__}: {why}")
    return bare


def _without_lora(model: Any) -> Any:
    base = model.get_base_model() if hasattr(model, "peft_config") else model
    bare = copy.deepcopy(base, _shared_weights(base))
    for name, module in list(bare.named_modules()):
        if hasattr(module, "lora_A") and hasattr(module, "base_layer"):
            bare.set_submodule(name, module.base_layer)
    if any(hasattr(module, "lora_A") for module in bare.modules()):
        raise EngineError(f"a {type(base).__name__} has a LoRA on what is no linear layer; set --lora-targets")
    return bare.eval()


def merged_model(base: Any, folder: str) -> Any:
    """A copy of `base` with the adapter in `folder` merged into the weights that it changes; all others are shared.

    A merged weight is W + scale * B A (LoRA, arXiv 2106.09685, eq. 3), its rows then scaled to the adapter's magnitudes
    if it has any (DoRA, arXiv 2402.09353, eq. 5). Only float32 weights are merged: rounding to a lower precision would
    lose most of the update, so there the LoRA is computed beside the weight. So it is where the base is kept once.

    Raises `EngineError` if there is no LoRA in `folder`, or it does not fit.
    """
    try:
        config, weights = read_adapter(folder)
    except ModelError as error:
        raise EngineError(str(error)) from error
    merged = copy.deepcopy(base, _shared_weights(base))
    for key in sorted(key for key in weights if key.endswith(".lora_A.weight")):
        name = key.removeprefix(PREFIX).removesuffix(".lora_A.weight")
        up = rank_and_scale(config, name)[1] * weights[key.replace(".lora_A.", ".lora_B.")].float()
        magnitude = weights.get(f"{PREFIX}{name}.lora_magnitude_vector")
        try:
            merged.set_submodule(name, _with_lora(merged.get_submodule(name), up, weights[key].float(), magnitude))
        except (AttributeError, RuntimeError) as error:
            made_for = config.get("base_model_name_or_path")
            raise EngineError(
                f"the adapter in {folder}, made for {made_for}, does not fit a {type(base).__name__} at {name}: {error}"
            ) from error
    return merged


def _with_lora(layer: Any, up: Tensor, down: Tensor, magnitude: Tensor | None) -> nn.Module:
    """The layer with its weight W + `up` `down`, the rows then scaled to norms of `magnitude` if there is one."""
    device = layer.weight.device
    up, down = up.to(device), down.to(device)
    rows = None
    if magnitude is not None:
        whole = layer.whole() if isinstance(layer, Packed) else layer.weight
        rows = magnitude.to(device) / (whole.float() + up @ down).norm(dim=1)
    if layer.weight.dtype != torch.float32 or isinstance(layer, Packed):
        return Adapted(layer, up, down, rows)
    weight = layer.weight + up @ down
    layer.weight = nn.Parameter(weight if rows is None else weight * rows[:, None], False)
    return layer


def _fault(model: Any, decoder: Decoder | PlainDecoder) -> str:
    """Why the decoder does not give the model's own log-probabilities, empty if it does: the attention does not go
    through `AttentionInterface`, keys have another shape, or states are not keys and values."""
    vocabulary = model.get_input_embeddings().weight.shape[0]
    prompt = tuple(n % vocabulary for n in range(1, 1 + SHORTEST_TRUNK + 8))
    stream = Stream(prompt, lambda: prompt[:SHORTEST_TRUNK], 4, 0.0, 0)
    try:
        with _small_windows(model):
            expected = _decoded(model, decoder, stream)
    except (AttributeError, RuntimeError, TypeError, KeyError, ValueError) as error:
        return repr(error)
    worst = max(abs(decoded - own) for decoded, own in zip(stream.logprobs, expected, strict=True))
    exact = model.dtype == torch.float32 and not hasattr(model, "quantization_method")
    return "" if worst < (1e-2 if exact else 0.5) else f"log-probabilities are off by {worst:.2g} nats"


def _decoded(model: Any, decoder: Decoder | PlainDecoder, stream: Stream) -> list[float]:
    """Decode a stream. Returns the log-probabilities that the model's own attention gives to its tokens."""
    decoder.waiting.append(stream)
    while decoder.busy:
        decoder.step()
    ids = torch.tensor([[*stream.prompt, *stream.ids]], device=model.device)
    start = len(stream.prompt)
    before, model.config._attn_implementation = model.config._attn_implementation, "eager"
    try:
        with torch.inference_mode():
            logits = model(input_ids=ids, use_cache=False).logits[0, start - 1 : -1].float()
    finally:
        model.config._attn_implementation = before
    return logits.log_softmax(-1).gather(1, ids[0, start:, None])[:, 0].tolist()


@contextmanager
def _small_windows(model: Any) -> Generator[None]:
    """Make the model's sliding windows so small that the prompt of `_check` reaches beyond them."""
    owners: list[Any] = [owner for module in model.modules() for owner in (module, getattr(module, "config", None))]
    windows = {id(owner): (owner, owner.sliding_window) for owner in owners if getattr(owner, "sliding_window", None)}
    for owner, window in windows.values():
        owner.sliding_window = min(window, SMALL_WINDOW)
    try:
        yield
    finally:
        for owner, window in windows.values():
            owner.sliding_window = window


def packed(model: Any) -> Any:
    """A copy of the model that has its linear layers packed where the CPU can, and shares all else. A tiny model is
    returned as it is."""
    if is_tiny(model):
        return model
    copied = copy.deepcopy(model, _shared_weights(model))
    for name, layer in list(copied.named_modules()):
        if type(layer) is nn.Linear and can_pack(layer.weight):
            copied.set_submodule(name, Packed(layer))
    return copied


def _by_columns(model: Any) -> None:
    """Store each linear layer's weight (out, in) column by column, in the order in which a product with few rows reads
    it. That takes a quarter less time if the matrix comes from a far cache (`benchmarks/decode.py`)."""
    embedding = model.get_input_embeddings().weight
    for module in model.modules():
        if type(module) is nn.Linear and module.weight is not embedding:
            module.weight = nn.Parameter(module.weight.detach().mT.contiguous().mT, False)


def _shared_weights(model: Any) -> dict[int, Tensor]:
    """The memo that makes `deepcopy` share a model's parameters, and the tensors that LLM.int8 keeps beside them."""
    states = [module.state for module in model.modules() if hasattr(module, "init_8bit_state")]
    beside = [tensor for state in states for tensor in (state.CB, state.SCB) if tensor is not None]
    return {id(tensor): tensor for tensor in (*model.parameters(), *beside)}
