"""The card beside an adapter: the base that it was trained on, and the settings that it must be sampled with."""

import json
from pathlib import Path
from typing import Any

from mcprl.config import Config, ModelConfig
from mcprl.errors import ModelError
from mcprl.text import first_line

CARD = "card.json"
MADE_WITH = (
    "rslora",
    "dora",
    "lora_targets",
    "quantization",
    "template_options",
    "call_form",
    "system_prompt",
    "after_result",
)
"""Settings of the model that an adapter is trained and served with, besides its name and the LoRA's rank and scale."""
PROMPTED = ("call_form", "system_prompt", "after_result")
"""Those that say what the model reads and how it is read."""


def card(settings: ModelConfig) -> dict[str, Any]:
    """The content of an adapter's card."""
    return {"base_model": public_name(settings.name), "model": {name: getattr(settings, name) for name in MADE_WITH}}


def public_name(name: str) -> str:
    """A model's name without this machine's folders."""
    is_path = name.startswith(("/", ".", "~")) or name.lower().endswith(".gguf") or Path(name).exists()
    return Path(name).name if is_path else name


def with_card(config: Config, folder: Path) -> Config:
    """The configuration with what the card beside the adapter says of prompts and of how calls are read, unless it is
    stated otherwise. An adapter without a card was trained without prompts, on calls as the template writes them.

    Raises `ModelError` if the card is damaged, or names another base than the configured one.
    """
    file = next((folder / name for name in (CARD, "mcprl.json") if (folder / name).is_file()), None)
    try:  # an export's card has the same keys
        about: dict[str, Any] = json.loads(file.read_text()) if file else {}
        made = dict[str, Any](about.get("model", {}))
        kept = ModelConfig.model_validate({name: made[name] for name in PROMPTED if name in made})
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise ModelError(f"{file} cannot be read as an adapter's card: {first_line(error)}") from error
    _require_base(str(about.get("base_model", "")), config.model.name, file or folder / CARD)
    stated = config.model.model_fields_set
    model = config.model.model_copy(update={name: getattr(kept, name) for name in PROMPTED if name not in stated})
    return config.model_copy(update={"model": model})


def _require_base(base: str, name: str, card: Path) -> None:
    """Raise `ModelError` if an adapter of the model `base`, of which its `card` tells, is put on the model `name`."""
    if base and base != (own := public_name(name)):
        raise ModelError(
            f"the adapter in {card.parent} was trained on {base}, and is put on {own}; "
            f"if these are the same weights, write {own!r} as base_model into {card}"
        )
