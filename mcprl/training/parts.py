"""The parts of a causal language model of transformers, and how its layers are computed. `model` is untyped, since no
type is common to all of them."""

from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any


def parts(model: Any) -> tuple[Any, Any]:
    """The decoder without its output layer, and the output layer, of a causal LM or a PeftModel around one."""
    whole = causal(model)
    return whole.get_decoder(), whole.get_output_embeddings()


def causal(model: Any) -> Any:
    """The causal LM inside a PeftModel, or the model itself."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model


def checkpointed_layers(model: Any) -> list[Any]:
    """The layers of which backward computes each again, with the forward pass's attention, instead of keeping its
    activations: those whose `gradient_checkpointing` is then true, and at first none. Empty if the model has no such
    layers.

    transformers does so only in training mode: the layers are put into it, but not the modules inside them (dropout).
    """
    config = parts(model)[0].config

    def contexts() -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
        return nullcontext(), with_attention(model, config._attn_implementation)

    renamed = getattr(model, "activation_checkpointing_enable", None)  # its name since transformers 5.23
    enable = renamed or model.gradient_checkpointing_enable
    try:
        enable({"use_reentrant": False, "context_fn": contexts})
    except ValueError:  # "does not support gradient checkpointing"
        return []
    layers = [module for module in model.modules() if getattr(module, "gradient_checkpointing", False)]
    for layer in layers:
        layer.training, layer.gradient_checkpointing = True, False
    return layers


@contextmanager
def with_attention(model: Any, name: str) -> Generator[None]:
    """Sets the model's attention implementation for the duration of the block."""
    config = parts(model)[0].config
    before = config._attn_implementation
    config._attn_implementation = name
    try:
        yield
    finally:
        config._attn_implementation = before
