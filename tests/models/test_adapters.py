"""Adapters that mcprl did not make: what it would compute otherwise than peft does is refused, and says why."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from mcprl.config import ModelConfig
from mcprl.engines.embedded.weights import bare_model, merged_model
from mcprl.errors import EngineError, ModelError
from mcprl.models.adapters import load_adapter_weights, save_adapter
from mcprl.models.load import LoadedModel, load_model

Weights = dict[str, Tensor]


@pytest.fixture(scope="module")
def loaded() -> LoadedModel:
    return load_model(ModelConfig())


def changed(
    loaded: LoadedModel, folder: Path, about: dict[str, Any], edit: Callable[[Weights], Weights] = lambda held: held
) -> Path:
    """A saved adapter with other fields in its configuration, and with edited weights."""
    save_adapter(loaded, folder)
    settings, weights = folder / "adapter_config.json", folder / "adapter_model.safetensors"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | about))
    save_file(edit(load_file(weights)), weights)
    return folder


def without(part: str) -> Callable[[Weights], Weights]:
    return lambda held: {key: tensor for key, tensor in held.items() if part not in key}


def wider(held: Weights) -> Weights:
    return {key: torch.cat([tensor, tensor], 1) if "lora_A" in key else tensor for key, tensor in held.items()}


def renamed(held: Weights) -> Weights:
    return {key.replace("self_attn", "attention"): tensor for key, tensor in held.items()}


@pytest.mark.parametrize(
    ("about", "edit", "why"),
    [
        ({"r": 4}, dict, r"has rank 16 at .*; its configuration says 4"),
        ({}, without("q_proj.lora_B"), r"lacks lora_B\.weight of model\.layers\.0\.self_attn\.q_proj"),
        (
            {},
            lambda held: held | {"base_model.model.lm_head.weight": torch.zeros(2)},
            "which is not a plain LoRA weight",
        ),
        ({"use_dora": True}, dict, r"lacks magnitudes of .*; use_dora is True"),
        (
            {"init_lora_weights": "pissa_niter_4"},
            dict,
            "began with init_lora_weights 'pissa_niter_4', which changes the",
        ),
        ({"alora_invocation_tokens": [5, 6]}, dict, "is no plain LoRA: it has alora_invocation_tokens"),
        ({"base_model_name_or_path": "acme/wide"}, wider, r"made for acme/wide, does not fit"),
        ({"base_model_name_or_path": "acme/other"}, renamed, r"made for acme/other, does not fit"),
    ],
)
def test_a_wrong_adapter_is_neither_sampled_with_nor_trained_on(
    loaded: LoadedModel, about: dict[str, Any], edit: Callable[[Weights], Weights], why: str, tmp_path: Path
) -> None:
    folder = changed(loaded, tmp_path / "wrong", about, edit)
    with pytest.raises(EngineError, match=why):
        merged_model(bare_model(loaded.model), str(folder))
    with pytest.raises(ModelError, match=why):
        load_adapter_weights(loaded, folder)


def test_an_adapter_of_another_scale_is_not_trained_on(loaded: LoadedModel, tmp_path: Path) -> None:
    folder = changed(loaded, tmp_path / "doubled", {"lora_alpha": 64})
    with pytest.raises(ModelError, match=r"has lora_alpha 64, the model's LoRA has 32"):
        load_adapter_weights(loaded, folder)
