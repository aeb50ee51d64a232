"""Any transformers causal LM with a fresh LoRA on it, and adapters on disk as safetensors."""

import json
import logging
import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig
from transformers.utils import logging as transformers_logging

from mcprl.chat.families import Family, dialect, end_tokens, family
from mcprl.chat.prompts import render
from mcprl.config import ModelConfig
from mcprl.errors import MissingExtra, ModelError
from mcprl.models import unsloth
from mcprl.text import first_line
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


def load_model(config: ModelConfig, seed: int = 0) -> LoadedModel:
    """Load a model by name (`nano`, a folder or a Hugging Face id) and put a LoRA on it: B is zero, A follows `seed`.

    Raises `ModelError` where it is missing or its chat template cannot show tools.
    """
    tokenizer, known, model, path = load_base(config)
    targets = lora_targets(config, known)
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
            raise ModelError(f"lora_targets {targets!r} do not fit {config.name!r}: {first_line(error)}") from error
    if not isinstance(policy, PeftModel):
        raise ModelError(f"peft cannot wrap a {type(model).__name__}")
    return LoadedModel(policy, tokenizer, _end_ids(model, tokenizer), config.name, path)


def load_base(config: ModelConfig) -> tuple[Any, Family | None, Any, str]:
    """The tokenizer, the family, the model without a LoRA, on its device, and the path or id it was loaded from. Raises
    as `load` does, and `MissingExtra` where it is to be quantized without bitsandbytes."""
    tokenizer, known, shape = read_tokenizer(config)
    path = locate(config.name)
    transformers_logging.disable_progress_bar()  # weights load in a moment; ours is the only progress to see
    place = find_device(config.device)
    options: dict[str, Any] = {"dtype": getattr(torch, config.dtype), "device_map": {"": place}}
    if config.quantization != "none":
        options["quantization_config"] = _quantization(config)
    try:
        if unsloth.wanted(config, place):
            model: Any = unsloth.load_base(path, shape, config, place)
        else:
            model = AutoModelForCausalLM.from_pretrained(path, **options)
    except (OSError, ValueError) as error:
        raise not_loaded(config, error) from error
    for module in model.modules():  # before a copy shares its weights: the first to compute takes them over
        if hasattr(module, "init_8bit_state"):
            module.init_8bit_state()
        if hasattr(module, "support_avx512bf16_for_cpu"):
            # On CPUs with bfloat16 a 4-bit layer repacks its weights at the first forward without gradients, for a
            # kernel that has no backward (bitsandbytes 0.50): LoRA's gradients came out 0.97 off, relatively.
            module.support_avx512bf16_for_cpu = False
    return tokenizer, known, model, path


def read_tokenizer(config: ModelConfig) -> tuple[Any, Family | None, Any]:
    """A model's tokenizer with the chat template that is used, its family and its transformers config; no weights.

    Raises `ModelError` where it is missing, or its chat template cannot show tools or write calls that can be read.
    """
    path = locate(config.name)
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(path)
        model: Any = AutoConfig.from_pretrained(path)
    except (OSError, ValueError) as error:
        raise not_loaded(config, error) from error
    known = family(config.name, str(getattr(model, "model_type", "")))
    if known and known.chat_template:
        tokenizer.chat_template = known.chat_template
    for option, value in config.template_options.items():  # in the template, so that it is saved and served with it
        tokenizer.chat_template = f"{{%- set {option} = {_literal(value)} -%}}{tokenizer.chat_template or ''}"
    _check_template(tokenizer, config.name)
    return tokenizer, known, model


def lora_targets(config: ModelConfig, known: Family | None) -> str:
    """The configured targets, or those of the model's family."""
    if config.lora_targets != "auto":
        return config.lora_targets
    return known.lora_targets if known else "all-linear"


def find_device(name: str) -> torch.device:
    """The device that `model.device` names. Raises `ModelError` where this machine has none such."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        found = torch.device(name)
    except RuntimeError:
        raise ModelError(f"model.device {name!r} is no device; expected auto, cpu, cuda or cuda:N") from None
    if found.type == "cuda" and (found.index or 0) >= torch.cuda.device_count():
        raise ModelError(f"model.device is {name!r}, but torch sees {torch.cuda.device_count()} CUDA devices here")
    return found


def _quantization(config: ModelConfig) -> BitsAndBytesConfig:
    """QLoRA's settings (arXiv 2305.14314, section 3), or LLM.int8's (arXiv 2208.07339)."""
    if find_spec("bitsandbytes") is None:
        raise MissingExtra("bitsandbytes", "quant")
    if config.dora:
        raise ModelError("model.dora measures the base's weights, model.quantization hides them; choose one of the two")
    logging.getLogger("bitsandbytes.autograd._functions").setLevel(logging.ERROR)  # a line for each product
    if config.quantization == "int8":
        return BitsAndBytesConfig(load_in_8bit=True)
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=getattr(torch, config.dtype),
    )


def not_loaded(config: ModelConfig, error: Exception) -> ModelError:
    return ModelError(f"model {config.name!r} cannot be loaded from {locate(config.name)}: {first_line(error)}")


def locate(name: str) -> str:
    """The folder or Hugging Face id that a model's name stands for. Raises `ModelError` where it can be neither."""
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
        raise ModelError(f"the chat template of {name!r} fails: {first_line(error)}") from error
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
