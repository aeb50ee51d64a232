"""The card beside an adapter: the base that it was trained on, and the settings that it must be sampled with."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mcprl.config import Config, ModelConfig

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
    return Path(name).name if Path(name).exists() else name


def with_card(config: Config, folder: Path) -> tuple[Config, str]:
    """The configuration with what the card beside the adapter says of prompts and of how calls are read, unless it is
    stated otherwise, and a sentence if the adapter was trained on another base. An adapter without a card was trained
    without prompts, on calls as the template writes them."""
    about: Mapping[str, Any] = {}
    for name in (CARD, "mcprl.json"):  # an export's has the same keys
        if (folder / name).is_file():
            about = json.loads((folder / name).read_text())
            break
    made: Mapping[str, Any] = about.get("model", {})
    kept = {name: made.get(name, ModelConfig.model_fields[name].default) for name in PROMPTED}
    stated = config.model.model_fields_set
    model = config.model.model_copy(update={name: kept[name] for name in PROMPTED if name not in stated})
    base, own = str(about.get("base_model", "")), public_name(config.model.name)
    other = f"the adapter in {folder} was trained on {base}, and is put on {own}: another policy" if base else ""
    return config.model_copy(update={"model": model}), other if base != own else ""
