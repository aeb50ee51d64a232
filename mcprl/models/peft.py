"""Any transformers causal LM with a fresh LoRA on it, and adapters on disk as safetensors."""

import json
import os
import shutil
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from peft.utils.save_and_load import set_peft_model_state_dict
from safetensors import SafetensorError
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging as transformers_logging

from mcprl.config import ModelConfig
from mcprl.errors import ModelError
from mcprl.families import Family, dialect, end_tokens, family
from mcprl.tokens import render
from mcprl.types import Tool

NANO = Path(__file__).parent / "nano"
"""The policy that ships with this package: weights, tokenizer, template, the recipe that made them."""


@dataclass(frozen=True)
class LoadedModel:
    """A policy ready to train: `model` is a `PeftModel` whose LoRA changes nothing yet, `end_ids` end a turn."""

    model: PeftModel
    tokenizer: Any
    end_ids: tuple[int, ...]
    name: str
    path: str


def load(config: ModelConfig, seed: int = 0) -> LoadedModel:
    """Load a model by name (`nano`, a folder or a Hugging Face id) and put a LoRA on it: B is zero, A follows `seed`.

    Raises `ModelError` where it is missing or its chat template cannot show tools.
    """
    path = _locate(config.name)
    transformers_logging.disable_progress_bar()  # weights load in a moment; ours is the only progress to see
    tokenizer, known, _ = read_tokenizer(config)
    try:
        model: Any = AutoModelForCausalLM.from_pretrained(path, dtype=getattr(torch, config.dtype))
    except (OSError, ValueError) as error:
        raise ModelError(f"model {config.name!r} cannot be loaded from {path}: {_first_line(error)}") from error
    targets = config.lora_targets
    if targets == "auto":
        targets = known.lora_targets if known else "all-linear"
    lora = LoraConfig(
        r=config.lora_rank,
        lora_alpha=config.lora_alpha,  # pyright: ignore[reportArgumentType]  a float scales as well as an int
        target_modules=targets if targets == "all-linear" else [name.strip() for name in targets.split(",")],
        task_type="CAUSAL_LM",
        use_rslora=config.rslora,
        use_dora=config.dora,
    )
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # peft 0.21 reads a name that transformers 5 has deprecated
        torch.manual_seed(seed)
        try:
            policy = get_peft_model(model, lora)
        except ValueError as error:
            raise ModelError(f"lora_targets {targets!r} do not fit {config.name!r}: {_first_line(error)}") from error
    if not isinstance(policy, PeftModel):
        raise ModelError(f"peft cannot wrap a {type(model).__name__}")
    return LoadedModel(policy, tokenizer, _end_ids(model, tokenizer), config.name, path)


def read_tokenizer(config: ModelConfig) -> tuple[Any, Family | None, Any]:
    """A model's tokenizer with the chat template that is used, its family and its transformers config; no weights.

    Raises `ModelError` where it is missing, or its chat template cannot show tools or write calls that can be read.
    """
    path = _locate(config.name)
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(path)
        model: Any = AutoConfig.from_pretrained(path)
    except (OSError, ValueError) as error:
        raise ModelError(f"model {config.name!r} cannot be loaded from {path}: {_first_line(error)}") from error
    known = family(config.name, str(getattr(model, "model_type", "")))
    if known and known.chat_template:
        tokenizer.chat_template = known.chat_template
    for option, value in config.template_options.items():  # in the template, so that it is saved and served with it
        tokenizer.chat_template = f"{{%- set {option} = {_literal(value)} -%}}{tokenizer.chat_template or ''}"
    _check_template(tokenizer, config.name)
    return tokenizer, known, model


def save_adapter(loaded: LoadedModel, folder: str | Path) -> Path:
    """Write the LoRA into `folder`, whole or not at all: a temporary neighbour is filled, synced and renamed."""
    folder = Path(folder)
    partial = folder.with_name(f".{folder.name}.partial")
    try:
        shutil.rmtree(partial, ignore_errors=True)
        loaded.model.save_pretrained(str(partial), save_embedding_layers=False)
        for file in partial.iterdir():
            sync(file)
        sync(partial)
        if folder.exists():
            shutil.rmtree(folder)
        partial.rename(folder)
        sync(folder.parent)
    except OSError as error:
        raise ModelError(f"the adapter cannot be written to {folder}: {error.strerror or error}") from error
    return folder


def sync(path: Path) -> None:
    """Make what was written to a file or folder survive a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def load_adapter_weights(loaded: LoadedModel, folder: str | Path) -> None:
    """Put a saved LoRA's weights into the model, to train on or to evaluate."""
    try:
        weights = load_file(Path(folder) / "adapter_model.safetensors")
        rank = json.loads((Path(folder) / "adapter_config.json").read_text())["r"]
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise ModelError(f"no LoRA adapter can be read from {folder}: {_first_line(error)}") from error
    own = loaded.model.peft_config["default"]
    if rank != getattr(own, "r", rank):
        raise ModelError(f"the adapter in {folder} has rank {rank}, the model's LoRA has {getattr(own, 'r', None)}")
    result = set_peft_model_state_dict(loaded.model, weights)
    if result.unexpected_keys:
        raise ModelError(f"the adapter in {folder} does not fit {loaded.name!r}: {result.unexpected_keys[0]}")


def _locate(name: str) -> str:
    if name == "nano":
        if not (NANO / "config.json").exists():
            raise ModelError(f"the nano policy's weights are missing from {NANO}; name another model")
        return str(NANO)
    if Path(name).is_dir():
        return name
    if name.count("/") == 1 and not name.startswith((".", "/", "~")):
        return name
    raise ModelError(f"model {name!r} is neither 'nano', nor a folder that exists, nor a Hugging Face id (owner/name)")


def _check_template(tokenizer: Any, name: str) -> None:
    if not getattr(tokenizer, "chat_template", None):
        raise ModelError(f"model {name!r} has no chat template; add chat_template.jinja to its folder")
    tool = Tool("probe_tool", "A tool.")
    try:
        text = render(tokenizer, [{"role": "user", "content": "hello"}], [tool])
    except Exception as error:  # Jinja's own errors, and whatever the template calls
        raise ModelError(f"the chat template of {name!r} fails: {_first_line(error)}") from error
    if tool.name not in text:
        raise ModelError(f"the chat template of {name!r} does not show tools; use a model made for tool calling")
    dialect(tokenizer)


def _end_ids(model: Any, tokenizer: Any) -> tuple[int, ...]:
    configured = getattr(model.generation_config, "eos_token_id", None)
    ids = {*(configured if isinstance(configured, list) else [configured]), tokenizer.eos_token_id}
    ids |= {tokenizer.get_added_vocab()[end] for end in end_tokens(tokenizer, dialect(tokenizer))}
    return tuple(sorted(int(end_id) for end_id in ids if end_id is not None))


def _literal(value: str) -> str:
    """A template option's value in Jinja: JSON as it is, anything else as a string."""
    try:
        return json.dumps(json.loads(value))
    except ValueError:
        return json.dumps(value)


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
