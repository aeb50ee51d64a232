"""GGUF files, the format of llama.cpp, as folders of transformers' format, which everything else here loads and serves.

A file is converted once, into the user's cache: the weights are dequantized to float32, exactly.
"""

from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from safetensors import SafetensorError

from mcprl.errors import MissingExtra, ModelError
from mcprl.events import Emit, InstallStep, ignore
from mcprl.files import cache_folder, locked, whole_folder
from mcprl.text import first_line


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
    from mcprl.models.dequantizing import read  # torch and transformers: whoever asks where a model is needs neither

    try:
        tokenizer, model = read(file)
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
