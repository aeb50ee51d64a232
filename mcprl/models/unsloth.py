"""A base model loaded through unsloth, which replaces parts of it by ones made for training a LoRA on a GPU.

Only unsloth's `FastModel` is used. It leaves the attention to transformers, into which prefix sharing plugs;
`FastLanguageModel` has its own attention, with which every row would be computed whole. What a run adds to the base
(LoRA, gradient checkpointing, optimizer) is ours, the same as with transformers alone.
"""

import contextlib
import io
import logging
import os
import warnings
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import torch

from mcprl.config import ModelConfig
from mcprl.errors import MissingExtra, ModelError
from mcprl.files import cache_folder
from mcprl.text import first_line

_log = logging.getLogger(__name__)


def wanted(config: ModelConfig, device: torch.device) -> bool:
    """Whether the model is loaded through unsloth: the configuration says so, or leaves it open (`auto`) and unsloth is
    installed and there is a GPU for its kernels.

    Raises `MissingExtra` if it is named but not installed.
    """
    installed = find_spec("unsloth") is not None
    if config.loader == "unsloth" and not installed:
        raise MissingExtra("unsloth", "unsloth")
    return config.loader == "unsloth" or (config.loader == "auto" and installed and device.type == "cuda")


def load_base(path: str, shape: Any, config: ModelConfig, device: torch.device) -> Any:
    """The causal LM at `path`, whose transformers config is `shape`, on `device`. unsloth's output goes to the log.

    Raises `ModelError` if unsloth does not run here, or does not load the model as configured.
    """
    os.environ.setdefault("UNSLOTH_DISABLE_STATISTICS", "1")  # it calls the hub otherwise
    os.environ.setdefault("UNSLOTH_COMPILE_LOCATION", str(cache_folder() / "unsloth"))  # not the working directory
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it wants to be imported first, but `FastModel` patches what it loads
            model, _ = import_module("unsloth").FastModel.from_pretrained(
                path,
                max_seq_length=shape.get_text_config().max_position_embeddings,
                dtype=getattr(torch, config.dtype),
                load_in_4bit=config.quantization == "nf4",
                load_in_8bit=config.quantization == "int8",
                load_in_16bit=config.quantization == "none",
                device_map={"": str(device)},
                use_exact_model_name=True,  # these weights, not the hub's quantized copy of them
                use_gradient_checkpointing=False,
                offload_embedding=False,
            )
    except (ImportError, NotImplementedError, RuntimeError) as error:
        raise _refused(config, first_line(error)) from error
    finally:
        _log.info("%s", output.getvalue())
    dtype = model.get_input_embeddings().weight.dtype  # another one if the device lacks the configured one
    if dtype != getattr(torch, config.dtype):
        raise _refused(config, f"its dtype is {dtype}, not {config.dtype}")
    if config.quantization != "none" and getattr(model, "quantization_method", None) is None:
        raise _refused(config, f"it is not quantized to {config.quantization}")
    return model


def _refused(config: ModelConfig, reason: str) -> ModelError:
    return ModelError(f"unsloth cannot load {config.name!r}: {reason}; --loader transformers loads it without unsloth")
