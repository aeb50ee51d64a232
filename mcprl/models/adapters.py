"""LoRA adapters on disk, as safetensors."""

import json
import math
import shutil
from dataclasses import fields
from pathlib import Path
from typing import Any

from peft import LoraConfig
from peft.utils.other import get_pattern_key
from peft.utils.save_and_load import set_peft_model_state_dict
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from mcprl.errors import ModelError
from mcprl.files import whole_folder
from mcprl.models.load import LoadedModel
from mcprl.runs.cards import CARD, card
from mcprl.text import first_line

PREFIX = "base_model.model."
"""Before the name of a module, in an adapter's file."""
_SCALED_BY = {"r": "rank", "lora_alpha": "lora_alpha", "use_rslora": "use_rslora", "use_dora": "use_dora"}
_DEFAULTS = LoraConfig()
_FIELDS = {field.name for field in fields(LoraConfig) if field.init}
_PLAIN = {
    *("peft_type", "peft_version", "auto_mapping", "base_model_name_or_path", "revision", "task_type"),
    *("inference_mode", "r", "lora_alpha", "lora_dropout", "use_rslora", "use_dora", "rank_pattern", "alpha_pattern"),
    *("target_modules", "exclude_modules", "layers_to_transform", "layers_pattern", "init_lora_weights", "eva_config"),
    *("fan_in_fan_out", "bias", "modules_to_save", "loftq_config", "corda_config", "lora_ga_config", "velora_config"),
    *("megatron_config", "megatron_core", "qalora_group_size", "ensure_weight_tying", "runtime_config"),
    "target_parameters",  # whose weights no module has: they are refused by name
}
"""Fields of peft's configuration that leave a LoRA what it is; what some add to the file is refused by its name."""
_LEAVES_THE_BASE = ("gaussian", "eva", "orthogonal")
"""How a LoRA may begin; PiSSA, OLoRA, CorDA, LoftQ and LoRA-GA subtract from the base what they begin with."""


def save_adapter(loaded: LoadedModel, folder: str | Path) -> Path:
    """Write the LoRA into `folder`, whole or not at all. Raises `ModelError` if it cannot be written."""
    folder = Path(folder)
    try:
        with whole_folder(folder) as draft:
            write_adapter(loaded, draft)
    except (OSError, SafetensorError) as error:
        raise unwritable(folder, error) from error
    return folder


def unwritable(folder: Path, error: OSError | SafetensorError) -> ModelError:
    """The error of one line for an adapter that could not be written."""
    cause = (error.strerror if isinstance(error, OSError) else "") or first_line(error)
    return ModelError(f"the adapter cannot be written to {folder}: {cause}")


def write_adapter(loaded: LoadedModel, folder: Path) -> None:
    """Write the LoRA's files into `folder`, in peft's layout, and its card. Raises `OSError` or `SafetensorError`."""
    loaded.model.save_pretrained(str(folder), save_embedding_layers=False)
    (folder / CARD).write_text(json.dumps(card(loaded.settings), indent=2, ensure_ascii=False) + "\n")


def copy_adapter(source: str | Path, folder: str | Path) -> None:
    """Copy a saved LoRA and what lies beside it, whole or not at all. Raises `ModelError`."""
    try:
        with whole_folder(Path(folder)) as draft:
            shutil.copytree(source, draft, dirs_exist_ok=True)
    except OSError as error:
        raise unwritable(Path(folder), error) from error


def load_adapter_weights(loaded: LoadedModel, folder: str | Path) -> None:
    """Load a saved LoRA's weights into the model, to train them further or to evaluate them.

    Raises `ModelError` if they cannot be read or do not fit the model's LoRA.
    """
    config, weights = read_adapter(folder)
    if patterns := [name for name in ("rank_pattern", "alpha_pattern") if config.get(name)]:
        raise ModelError(
            f"the adapter in {folder} has a {patterns[0]}, which training does not keep: it can be tested and served, "
            "not trained further"
        )
    own = loaded.model.peft_config["default"]
    for key, name in _SCALED_BY.items():
        if config.get(key, False) != (expected := getattr(own, key, None)):
            raise ModelError(f"the adapter in {folder} has {name} {config.get(key)}, the model's LoRA has {expected}")
    misfit = f"the adapter in {folder}, made for {config.get('base_model_name_or_path')}, does not fit {loaded.name!r}"
    try:
        result = set_peft_model_state_dict(loaded.model, weights)
    except RuntimeError as error:  # of another width
        raise ModelError(f"{misfit}: {first_line(error)}") from error
    if result.unexpected_keys:
        raise ModelError(f"{misfit}: {result.unexpected_keys[0]}")


def read_adapter(folder: str | Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The configuration and the weights of the LoRA in a folder, which are whole and of the ranks that it states.

    Raises `ModelError` if they cannot be read or are not, and for variants of LoRA whose update is no product beside
    the base's own weight, or not on all tokens.
    """
    try:
        weights = load_file(Path(folder) / "adapter_model.safetensors")
        config: dict[str, Any] = json.loads((Path(folder) / "adapter_config.json").read_text())
        stated = LoraConfig(**{name: config[name] for name in _FIELDS if name in config})
    except (OSError, SafetensorError, KeyError, ValueError, TypeError, AttributeError) as error:
        raise ModelError(f"no LoRA adapter can be read from {folder}: {first_line(error)}") from error
    start = stated.init_lora_weights
    if not isinstance(start, bool) and start not in _LEAVES_THE_BASE:
        raise ModelError(f"the adapter in {folder} began with init_lora_weights {start!r}, which changes the base")
    if others := [name for name in _FIELDS - _PLAIN if getattr(stated, name) != getattr(_DEFAULTS, name)]:
        raise ModelError(f"the adapter in {folder} is no plain LoRA: it has {min(others)}")
    for key in sorted(weights):
        module, _, part = key.removeprefix(PREFIX).rpartition(".lora_")
        if part not in ("A.weight", "B.weight", "magnitude_vector"):
            raise ModelError(f"the adapter in {folder} holds {key}, which is not a plain LoRA weight")
        parts = {name: weights.get(f"{PREFIX}{module}.lora_{name}") for name in ("A.weight", "B.weight")}
        if lacking := [name for name, tensor in parts.items() if tensor is None]:
            raise ModelError(f"the adapter in {folder} lacks lora_{lacking[0]} of {module}")
        if stated.use_dora != (f"{PREFIX}{module}.lora_magnitude_vector" in weights):
            held = "lacks" if stated.use_dora else "has"
            raise ModelError(f"the adapter in {folder} {held} magnitudes of {module}; use_dora is {stated.use_dora}")
        rank, held = rank_and_scale(config, module)[0], int(weights[f"{PREFIX}{module}.lora_A.weight"].shape[0])
        if held != rank:
            raise ModelError(f"the adapter in {folder} has rank {held} at {module}; its configuration says {rank}")
    return config, weights


def rank_and_scale(config: dict[str, Any], name: str) -> tuple[int, float]:
    """The rank of the LoRA of a module, and what its product is multiplied with: peft's `rank_pattern` and
    `alpha_pattern` say so of modules, where they match, and `r` and `lora_alpha` of the others."""
    ranks: dict[str, int] = config.get("rank_pattern") or {}
    alphas: dict[str, float] = config.get("alpha_pattern") or {}
    rank: int = ranks.get(get_pattern_key([*ranks], name)) or config["r"]
    alpha: float = alphas.get(get_pattern_key([*alphas], name), float(config["lora_alpha"]))
    return rank, alpha / (math.sqrt(rank) if config.get("use_rslora") else rank)
