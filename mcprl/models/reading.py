"""A model of a folder, read tensor by tensor.

transformers maps whole files and keeps the maps while it loads: of Qwen2.5-Coder-1.5B, 7 GB in float32, the process has
10.5 GiB at the peak, and 3.7 if each tensor is mapped by itself and kept as bfloat16.
"""

import copy
import json
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from torch import Tensor
from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, GenerationConfig

WHOLE, INDEX = "model.safetensors", "model.safetensors.index.json"
LARGE = 2**30
"""Bytes of weights from which on they are read so."""


def is_worth_it(folder: Path, shape: Any) -> bool:
    """Whether a folder has weights so large that their peak matters, in safetensors, for a causal language model of
    that transformers config. Small ones transformers loads twice as fast."""
    if type(shape) not in MODEL_FOR_CAUSAL_LM_MAPPING or not any((folder / name).is_file() for name in (WHOLE, INDEX)):
        return False
    return sum(file.stat().st_size for file in folder.glob("*.safetensors")) >= LARGE


def read_model(folder: Path, shape: Any, dtype: torch.dtype) -> Any:
    """The model with its weights in `dtype`, in main memory. Raises `OSError`, `ValueError` or `SafetensorError`."""
    kind: Any = MODEL_FOR_CAUSAL_LM_MAPPING[type(shape)]
    state = {name: _tensor(file, name, dtype) for name, file in _places(folder).items()}
    model = kind.from_pretrained(None, config=copy.deepcopy(shape), state_dict=state, dtype=dtype)
    if (folder / "generation_config.json").is_file():
        model.generation_config = GenerationConfig.from_pretrained(str(folder))
    model.name_or_path = model.config._name_or_path = str(folder)
    return model


def _places(folder: Path) -> dict[str, Path]:
    """The file of each tensor."""
    if (folder / INDEX).is_file():
        index: dict[str, str] = json.loads((folder / INDEX).read_text())["weight_map"]
        return {name: folder / file for name, file in index.items()}
    with safe_open(folder / WHOLE, framework="pt") as file:
        return dict.fromkeys(file.keys(), folder / WHOLE)


def _tensor(file: Path, name: str, dtype: torch.dtype) -> Tensor:
    with safe_open(file, framework="pt") as opened:  # closed at once: mapped pages count as the process's
        tensor: Tensor = opened.get_tensor(name)
        return tensor.to(dtype if tensor.is_floating_point() else tensor.dtype, copy=True)
