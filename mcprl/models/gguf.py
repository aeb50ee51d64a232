"""GGUF files, the format of llama.cpp, as folders of transformers' format, which everything else here loads and serves.

A file is converted once, into the user's cache: the weights are dequantized to float32, exactly.
"""

import io
from collections.abc import Generator
from contextlib import contextmanager, redirect_stderr
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors import SafetensorError
from tokenizers import pre_tokenizers
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging as transformers_logging

from mcprl.errors import MissingExtra, ModelError
from mcprl.events import Emit, InstallStep, ignore
from mcprl.files import cache_folder, locked, whole_folder
from mcprl.text import first_line

_DIGITS_APART = {"codeshell", "command-r", "exaone", "refact", "smollm", "starcoder"}
"""Values of `tokenizer.ggml.pre` for which llama.cpp (src/llama-vocab.cpp) splits off each digit before GPT-2's own
expression splits the rest. transformers 5.23 takes only the latter, which cuts "  1" elsewhere."""


def is_gguf(name: str) -> bool:
    """Whether a model's name is that of a GGUF file."""
    return name.lower().endswith(".gguf")


def converted(file: Path, emit: Emit = ignore) -> Path:
    """The folder in the cache with the file's model. The first call for a file makes it, which takes seconds to
    minutes and four bytes a parameter.

    Raises `ModelError` if there is no such file or it cannot be converted, `MissingExtra` without the package gguf.
    """
    try:
        status = file.stat()
    except OSError as error:
        raise ModelError(f"model {str(file)!r} cannot be read: {error.strerror}") from None
    key = sha256(f"{file.resolve()} {status.st_size} {status.st_mtime_ns}".encode()).hexdigest()[:12]
    models = models_folder()
    folder = models / f"{file.stem}-{key}"
    if not folder.exists():
        emit(InstallStep(f"converting {file}"))
        models.mkdir(parents=True, exist_ok=True)
        with locked(models):
            if not folder.exists():  # converted by another process during the wait
                convert(file, folder)
    return folder


def models_folder() -> Path:
    """The folder of the cache that holds converted models."""
    return cache_folder() / "models"


def require_package() -> None:
    """Raise `MissingExtra` if the package gguf is not installed."""
    if find_spec("gguf") is None:
        raise MissingExtra("gguf", "gguf")


def convert(file: Path, folder: Path) -> None:
    """Write the file's model, dequantized, and its tokenizer into `folder`, whole or not at all. Raises as `converted`
    does."""
    require_package()
    try:
        with _quietly():
            tokenizer, model = _read_tokenizer(file), _read_model(file)
    except ModelError:
        raise
    except Exception as error:  # a damaged file raises whatever its reader meets
        raise ModelError(f"{file} cannot be read as GGUF: {first_line(error)}") from error
    try:
        with whole_folder(folder) as draft:
            tokenizer.save_pretrained(str(draft))
            model.save_pretrained(str(draft))
    except (OSError, SafetensorError) as error:
        cause = (error.strerror if isinstance(error, OSError) else "") or first_line(error)
        raise ModelError(f"{file} cannot be converted into {folder}: {cause}") from error


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
