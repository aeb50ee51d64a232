"""LoRA adapters on disk, as safetensors."""

import json
import math
import shutil
from pathlib import Path
from typing import Any

from peft.utils.other import get_pattern_key
from peft.utils.save_and_load import set_peft_model_state_dict
from safetensors import SafetensorError
from safetensors.torch import load_file

from mcprl.errors import ModelError
from mcprl.files import whole_folder
from mcprl.models.load import LoadedModel
from mcprl.runs.cards import CARD, card
from mcprl.text import first_line


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
    try:
        weights = load_file(Path(folder) / "adapter_model.safetensors")
        config = json.loads((Path(folder) / "adapter_config.json").read_text())
        rank = config["r"]
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise ModelError(f"no LoRA adapter can be read from {folder}: {first_line(error)}") from error
    if patterns := [name for name in ("rank_pattern", "alpha_pattern") if config.get(name)]:
        raise ModelError(
            f"the adapter in {folder} has a {patterns[0]}, which training does not keep: it can be tested and served, "
            "not trained further"
        )
    expected = getattr(loaded.model.peft_config["default"], "r", rank)
    if rank != expected:
        raise ModelError(f"the adapter in {folder} has rank {rank}, the model's LoRA has {expected}")
    try:
        result = set_peft_model_state_dict(loaded.model, weights)
    except RuntimeError as error:  # of another width
        raise ModelError(f"the adapter in {folder} does not fit {loaded.name!r}: {first_line(error)}") from error
    if result.unexpected_keys:
        raise ModelError(f"the adapter in {folder} does not fit {loaded.name!r}: {result.unexpected_keys[0]}")


def rank_and_scale(config: dict[str, Any], name: str) -> tuple[int, float]:
    """The rank of the LoRA of a module, and what its product is multiplied with: peft's `rank_pattern` and
    `alpha_pattern` say so of modules, where they match, and `r` and `lora_alpha` of the others."""
    ranks: dict[str, int] = config.get("rank_pattern") or {}
    alphas: dict[str, float] = config.get("alpha_pattern") or {}
    rank: int = ranks.get(get_pattern_key([*ranks], name)) or config["r"]
    alpha: float = alphas.get(get_pattern_key([*alphas], name), float(config["lora_alpha"]))
    return rank, alpha / (math.sqrt(rank) if config.get("use_rslora") else rank)
