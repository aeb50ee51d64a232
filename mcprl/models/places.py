"""Where a model is: the folder or the Hugging Face id that its name stands for. Neither torch nor transformers is
needed to know that."""

from functools import cache
from pathlib import Path

from mcprl.errors import ModelError
from mcprl.models import BEHIND_AN_API, gguf, packaged

NANO = Path(__file__).parent / "nano"
"""The folder of the model that ships with this package."""

HUB_S = 10.0
"""Seconds that the hub may take to answer."""


def locate(name: str) -> str:
    """The folder or Hugging Face id that a model's name stands for. A GGUF file stands for a folder of the cache, into
    which it is converted on first use.

    Raises `ModelError` if it can be none of these, or is a packaged model that was not set up.
    """
    if name.startswith(BEHIND_AN_API):
        raise ModelError(f"{name} is behind an API: mcprl eval and mcprl bench test it, nothing trains it")
    if name == "nano":
        if not (NANO / "config.json").exists():
            raise ModelError(f"the nano policy's weights are missing from {NANO}; name another model")
        return str(NANO)
    if name in packaged.MODELS:
        return str(packaged.require(name))
    if Path(name).is_dir():
        return name
    if gguf.is_gguf(name):
        return str(gguf.converted(Path(name)))
    if name.count("/") == 1 and not name.startswith((".", "/", "~")):
        return name
    known = ", ".join(map(repr, ("nano", *packaged.MODELS)))
    raise ModelError(f"model {name!r} is none of {known}, no folder or GGUF file, and no Hugging Face id (owner/name)")


@cache
def offline_unless_reachable() -> None:
    """Have the hub's library take what is in its cache where the hub cannot be reached, and fail at once on what is
    not: it would ask five times for every file, which takes half a minute each. Asks once in a process."""
    import httpx
    from huggingface_hub import constants, get_session

    try:
        get_session().head(constants.ENDPOINT, timeout=HUB_S)
    except (httpx.HTTPError, OSError):
        constants.HF_HUB_OFFLINE = True
