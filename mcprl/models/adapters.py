"""LoRA adapters on disk, as safetensors."""

import json
import shutil
from pathlib import Path

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
        rank = json.loads((Path(folder) / "adapter_config.json").read_text())["r"]
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise ModelError(f"no LoRA adapter can be read from {folder}: {first_line(error)}") from error
    expected = getattr(loaded.model.peft_config["default"], "r", rank)
    if rank != expected:
        raise ModelError(f"the adapter in {folder} has rank {rank}, the model's LoRA has {expected}")
    try:
        result = set_peft_model_state_dict(loaded.model, weights)
    except RuntimeError as error:  # of another width
        raise ModelError(f"the adapter in {folder} does not fit {loaded.name!r}: {first_line(error)}") from error
    if result.unexpected_keys:
        raise ModelError(f"the adapter in {folder} does not fit {loaded.name!r}: {result.unexpected_keys[0]}")
