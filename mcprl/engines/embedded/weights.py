"""The weights that the embedded engine decodes with: the base model without its LoRA, and a copy with one merged in."""

import copy
import json
import math
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from mcprl.engines.embedded.attention import ATTENTION
from mcprl.engines.embedded.decoder import check, is_tiny
from mcprl.errors import EngineError


def bare_model(model: Any) -> Any:
    """A decoding model without LoRA that attends as `Decoder` says. It shares every weight with `model`, but for a tiny
    one's matrices, which it has by columns."""
    base = model.get_base_model() if hasattr(model, "peft_config") else model
    bare = copy.deepcopy(base, _weights(base))
    for name, module in list(bare.named_modules()):
        if hasattr(module, "lora_A") and hasattr(module, "base_layer"):
            bare.set_submodule(name, module.base_layer)
    if any(kind != "full_attention" for kind in getattr(bare.config, "layer_types", None) or ()):
        raise EngineError(f"the embedded engine decodes full attention only, {type(base).__name__} has other layers")
    if is_tiny(bare):
        _by_columns(bare)
    bare.config._attn_implementation = ATTENTION
    check(bare.eval())
    return bare


def merged_model(base: Any, folder: str) -> Any:
    """A copy of a bare model with W + scale * B A (LoRA, arXiv 2106.09685, eq. 3) for the weights that the adapter
    touches, brought to the adapter's row lengths where it has some (DoRA, arXiv 2402.09353, eq. 5); all others are
    shared. Quantized weights stay as they are, with the LoRA beside them."""
    try:
        config = json.loads((Path(folder) / "adapter_config.json").read_text())
        weights = load_file(Path(folder) / "adapter_model.safetensors")
    except (OSError, ValueError, SafetensorError) as error:
        raise EngineError(f"no LoRA adapter can be read from {folder}: {error}") from error
    merged = copy.deepcopy(base, _weights(base))
    scale = config["lora_alpha"] / (math.sqrt(config["r"]) if config.get("use_rslora") else config["r"])
    for key in sorted(key for key in weights if key.endswith(".lora_A.weight")):
        name = key.removeprefix("base_model.model.").removesuffix(".lora_A.weight")
        up, down = weights.pop(key.replace(".lora_A.", ".lora_B.")).float(), weights.pop(key).float()
        try:
            module = merged.get_submodule(name)
            if not module.weight.is_floating_point():
                merged.set_submodule(name, _Adapted(module, up, down, scale))
                continue
            weight = module.weight.float() + scale * (up @ down).to(module.weight.device)
            if (length := weights.pop(f"base_model.model.{name}.lora_magnitude_vector", None)) is not None:
                weight = weight * (length.to(weight.device) / weight.norm(dim=1))[:, None]
            module.weight = nn.Parameter(weight.to(module.weight.dtype), False)
        except (AttributeError, RuntimeError) as error:
            raise EngineError(f"the adapter in {folder} does not fit the model at {name}: {error}") from error
    if weights:
        raise EngineError(f"the adapter in {folder} holds {min(weights)}, which is not a plain LoRA weight")
    return merged


def _by_columns(model: Any) -> None:
    """Store each linear layer's weight (out, in) column by column, as a product with a few rows reads it: that takes a
    quarter less time where the matrix has to come from a far cache (`benchmarks/decode.py`)."""
    embedding = model.get_input_embeddings().weight
    for module in model.modules():
        if type(module) is nn.Linear and module.weight is not embedding:
            module.weight = nn.Parameter(module.weight.detach().mT.contiguous().mT, False)


class _Adapted(nn.Module):
    """A quantized layer and the LoRA beside it, computed as the trainer does."""

    def __init__(self, base: nn.Module, up: Tensor, down: Tensor, scale: float) -> None:
        super().__init__()
        self.base, self.scale = base, scale
        device = next(base.parameters()).device
        self.up, self.down = nn.Parameter(up.to(device), False), nn.Parameter(down.to(device), False)

    def forward(self, hidden: Tensor) -> Tensor:
        out = self.base(hidden)
        return out + (hidden.float() @ self.down.mT @ self.up.mT * self.scale).to(out.dtype)


def _weights(model: Any) -> dict[int, Tensor]:
    """What copies of a model share, as `deepcopy` takes it: the parameters, and what LLM.int8 keeps beside them."""
    states = [module.state for module in model.modules() if hasattr(module, "init_8bit_state")]
    beside = [tensor for state in states for tensor in (state.CB, state.SCB) if tensor is not None]
    return {id(tensor): tensor for tensor in (*model.parameters(), *beside)}
