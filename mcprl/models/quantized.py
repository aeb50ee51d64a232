"""A base in 4 bits with whole weights, for engines that cannot compute with quantized ones."""

import copy
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import save_torch_state_dict
from torch import Tensor
from transformers.integrations.bitsandbytes import dequantize_bnb_weight

from mcprl.errors import ModelError
from mcprl.models.load import LoadedModel


@contextmanager
def whole_weights(loaded: LoadedModel, folder: Path) -> Generator[str]:
    """The base of a model in 4 bits in `folder`, in the number type that it computes in: the very values that its
    layers multiply with. The folder is there in this context only, and takes as much as the model does unquantized.

    Raises `ModelError` if it cannot be written.
    """
    shutil.rmtree(folder, ignore_errors=True)  # what a killed run has left
    try:
        try:
            _write(loaded, folder)
        except OSError as error:
            raise ModelError(f"{folder}: whole weights cannot be written there: {error.strerror or error}") from error
        yield str(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _write(loaded: LoadedModel, folder: Path) -> None:
    base: Any = loaded.model.get_base_model()
    config = copy.deepcopy(base.config)
    vars(config).pop("quantization_config", None)
    for part in (config, base.generation_config, loaded.tokenizer):
        part.save_pretrained(str(folder))
    save_torch_state_dict(_whole(base), folder)


@torch.no_grad()
def _whole(base: Any) -> dict[str, Tensor]:
    """The weights by the names that they have without a LoRA, in main memory."""
    return {
        name.replace(".base_layer.", "."): dequantize_bnb_weight(parameter).detach().to("cpu", base.dtype)
        for name, parameter in base.named_parameters()
        if "lora_" not in name
    }
