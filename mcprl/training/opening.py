"""A trainer for a loaded model, wherever its weights are: in this process, or on a server of the Tinker API."""

from functools import partial
from pathlib import Path

from mcprl.config import TrainingConfig
from mcprl.events import Emit, ignore
from mcprl.models.adapters import load_adapter_weights, save_adapter
from mcprl.models.load import LoadedModel
from mcprl.models.tinker.model import RemoteModel
from mcprl.training.remote import RemoteTrainer, recovering
from mcprl.training.trainer import Trainer

AnyTrainer = Trainer | RemoteTrainer


def open_trainer(loaded: LoadedModel, config: TrainingConfig, steps: int = 100, emit: Emit = ignore) -> AnyTrainer:
    """A fresh trainer that begins with the model's weights, for a phase of `steps`. Raises as `Trainer` does."""
    if isinstance(loaded, RemoteModel):
        return RemoteTrainer(loaded, config, steps, emit)
    return Trainer(loaded, config, steps)


def load_weights(loaded: LoadedModel, folder: str | Path) -> None:
    """Give a model the weights of a saved adapter. Raises `ModelError` if it does not fit."""
    if isinstance(loaded, RemoteModel):
        recovering(loaded, partial(loaded.load, Path(folder), optimizer=False))
    else:
        load_adapter_weights(loaded, folder)


def save_weights(loaded: LoadedModel, folder: str | Path) -> None:
    """Write a model's adapter to a folder. Raises `ModelError` if it cannot be written."""
    if isinstance(loaded, RemoteModel):
        recovering(loaded, partial(loaded.save, Path(folder)))
    else:
        save_adapter(loaded, folder)
