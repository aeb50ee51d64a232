"""Parts that need the `train` extra, imported when a command needs them."""

import os
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from mcprl.errors import MissingExtra


def with_torch(module: str) -> ModuleType:
    """A module that needs the `train` extra. Raises `MissingExtra` with what to install for it."""
    for package in ("torch", "transformers", "peft"):
        if find_spec(package) is None:
            raise MissingExtra(package, "train")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")  # our own lines say what goes on
    return import_module(module)
