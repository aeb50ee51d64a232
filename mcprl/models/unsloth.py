"""A base model loaded through unsloth, which replaces parts of it by ones made for training a LoRA on a GPU.

Of unsloth only `FastModel` is used. It leaves the attention to transformers, where prefix sharing takes part in it;
`FastLanguageModel` has one of its own, with which every row would be computed whole. What a run adds to the base (LoRA,
gradient checkpointing, optimizer) is ours, the same as with transformers alone.
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
    """Whether the model is loaded through unsloth: said so, or it is installed and there is a GPU for its kernels.

    Raises `MissingExtra` where it is asked for and not installed.
    """
    there = find_spec("unsloth") is not None
    if config.loader == "unsloth" and not there:
        raise MissingExtra("unsloth", "unsloth")
    return config.loader == "unsloth" or (config.loader == "auto" and there and device.type == "cuda")


def load_base(path: str, shape: Any, config: ModelConfig, device: torch.device) -> Any:
    """The causal LM at `path`, whose transformers config is `shape`, on `device`; what unsloth prints goes to the log.

    Raises `ModelError` where unsloth does not run here, or loads it otherwise than asked.
    """
    os.environ.setdefault("UNSLOTH_DISABLE_STATISTICS", "1")  # no call to a hub that nobody asked for
    os.environ.setdefault("UNSLOTH_COMPILE_LOCATION", str(cache_folder() / "unsloth"))  # not the working directory
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it wants to be imported first; but `FastModel` patches what it loads
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
        _log.info("%s", said.getvalue())
    dtype = model.get_input_embeddings().weight.dtype  # it takes another one where the device lacks what was asked for
    if dtype != getattr(torch, config.dtype):
        raise _refused(config, f"it came as {dtype}, not as {config.dtype}")
    if config.quantization != "none" and getattr(model, "quantization_method", None) is None:
        raise _refused(config, f"it came without {config.quantization}")
    return model


def _refused(config: ModelConfig, reason: str) -> ModelError:
    return ModelError(f"unsloth cannot load {config.name!r}: {reason}; --loader transformers does without it")
