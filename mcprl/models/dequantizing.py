"""What a GGUF file holds, read by transformers: tokenizer and model, the weights dequantized to float32."""

import io
from collections.abc import Generator
from contextlib import contextmanager, redirect_stderr
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import pre_tokenizers
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging as transformers_logging

from mcprl.errors import ModelError

_DIGITS_APART = {"codeshell", "command-r", "exaone", "refact", "smollm", "starcoder"}
"""Values of `tokenizer.ggml.pre` for which llama.cpp (src/llama-vocab.cpp) splits off each digit before GPT-2's own
expression splits the rest. transformers 5.23 takes only the latter, which cuts "  1" elsewhere."""


def read(file: Path) -> tuple[Any, Any]:
    """The tokenizer and the model, both ready to be saved. Raises `ModelError` if weights are missing or have other
    shapes than the model's, and whatever transformers meets in a damaged file."""
    with _quietly():
        return _read_tokenizer(file), _read_model(file)


@contextmanager
def _quietly() -> Generator[None]:
    """Without transformers' warnings, whose content our errors have, and its progress bars."""
    level = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    try:
        with redirect_stderr(io.StringIO()):  # one progress bar that no setting switches off
            yield
    finally:
        transformers_logging.set_verbosity(level)


def _read_tokenizer(file: Path) -> Any:
    tokenizer: Any = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    if _pre_tokenizer(file) in _DIGITS_APART:
        parts = [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
        tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(parts)
    return tokenizer


def _pre_tokenizer(file: Path) -> str:
    field = import_module("gguf").GGUFReader(file).fields.get("tokenizer.ggml.pre")
    return str(field.contents()) if field else ""


def _read_model(file: Path) -> Any:
    """The causal LM with all its weights in float32. Raises `ModelError` if the file lacks some or has other shapes."""
    options: dict[str, Any] = {"gguf_file": file.name, "dtype": torch.float32, "output_loading_info": True}
    options["ignore_mismatched_sizes"] = True  # they are told below, in one line
    if hasattr(transformers, "GgufConfig"):  # since it exists, transformers keeps some architectures' weights packed
        options["quantization_config"] = transformers.GgufConfig(dequantize=True)
    loaded: Any = AutoModelForCausalLM.from_pretrained(file.parent, **options)
    model, info = loaded
    if missing := sorted(info["missing_keys"]):
        raise ModelError(f"{file} lacks {len(missing)} weights of a {type(model).__name__}, such as {missing[0]}")
    if others := sorted(info["mismatched_keys"]):
        name, found, expected = others[0]
        shapes = f"{tuple(found)}, where transformers expects {tuple(expected)}"
        raise ModelError(f"{file} has weights of other shapes than its metadata says: {name} is {shapes}")
    model.hf_quantizer = None  # transformers does not save what was quantized, though it is not now
    vars(model.config).pop("quantization_config", None)
    return model
