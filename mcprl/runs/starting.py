"""The adapter that training begins from, where it does not begin from the base model."""

import json
from pathlib import Path
from typing import Any, Final

from mcprl.config import Config
from mcprl.errors import ConfigError
from mcprl.runs.cards import with_card
from mcprl.runs.journal import FILE, Journal
from mcprl.runs.proof import chosen_adapter

_LORA: Final = "adapter_config.json"
_SETTINGS: Final = {"lora_rank": "r", "lora_alpha": "lora_alpha", "rslora": "use_rslora", "dora": "use_dora"}
"""The settings of `model` that an adapter's own file states, by their names in it."""


def with_start(config: Config) -> Config:
    """The configuration with the folder of the adapter that `training.start` names, and with that LoRA's settings.

    Raises `ConfigError` if there is no such adapter, or if the configuration states another LoRA; `JournalError` if it
    is a run without a tested adapter.
    """
    name = config.training.start
    if not name:
        return config
    folder = _find(name, config.runs_dir)
    try:
        lora: dict[str, Any] = json.loads((folder / _LORA).read_text())
        settings = {setting: lora[key] for setting, key in _SETTINGS.items()}
    except (OSError, ValueError, LookupError) as error:
        raise ConfigError(f"the start {name!r}: {folder / _LORA} is no LoRA's: {error}") from error
    for setting in config.model.model_fields_set & settings.keys():
        if (stated := getattr(config.model, setting)) != settings[setting]:
            raise ConfigError(f"the start {name!r} has {setting} {settings[setting]}, and {stated} is asked for")
    model = config.model.model_copy(update=settings)
    training = config.training.model_copy(update={"start": str(folder)})
    return config.model_copy(update={"model": model, "training": training})


def as_started(config: Config) -> Config:
    """The configuration with the prompts of the adapter that `training.start` names, and with how its calls are read.
    Raises as `with_start` does."""
    return with_card(config, _find(config.training.start, config.runs_dir)) if config.training.start else config


def _find(name: str, runs_dir: str) -> Path:
    for folder in (Path(runs_dir) / name, Path(name)):
        if (folder / FILE).is_file():
            with Journal.open(folder) as journal:
                return Path(chosen_adapter(journal).path).absolute()
        if (folder / _LORA).is_file():
            return folder.absolute()
    raise ConfigError(f"the start {name!r} is no run in {runs_dir} and no folder of an adapter ({_LORA})")
