"""The trunk of a step: what all its rows begin with, computed once for all bins.

A step's rows share the system prompt and the list of tools, often thousands of tokens, more than a bin may hold. The
trunk is computed without gradients. The bins attend to its keys and values as to constants, whose gradients are summed;
when all bins have run backward, the trunk is computed once more and the sums are taken through it. By the chain rule
that gives the gradient of the rows computed whole. The activations of the trunk and of a bin are never held at once.
"""

from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from mcprl.text import common_prefix

KeysValues = tuple[Float[Tensor, "1 kv_heads K D"], Float[Tensor, "1 kv_heads K D"]]


def trunk_length(ids_B: Sequence[tuple[int, ...]], first_B: Sequence[int]) -> int:
    """The number of tokens that all rows begin with, up to the first that predicts a trained one.

    `first_B[row]` is the place of the row's first trained token.
    """
    lowest, highest = min(ids_B), max(ids_B)  # what these share, all between them share
    return min(common_prefix(lowest, highest), min(first_B) - 1)


class StepTrunk:
    """The keys and values of a step's first `length` tokens, by layer: constants in float32, in which the gradients of
    many bins are summed."""

    def __init__(self, length: int, computed: Mapping[int, KeysValues]) -> None:
        self.length = length
        self._constants = {layer: (_constant(key), _constant(value)) for layer, (key, value) in computed.items()}

    def before(self, layer: int) -> KeysValues:
        """The keys and values that a layer's tokens in a bin attend to besides those of the bin."""
        return self._constants[layer]

    def backward(self, computed: Mapping[int, KeysValues]) -> None:
        """Take the gradients that the bins left through the same keys and values, computed once more with gradients."""
        pairs = [
            (tensor, constant.grad.to(tensor.dtype))
            for layer, constants in self._constants.items()
            for tensor, constant in zip(computed[layer], constants, strict=True)
            if tensor.requires_grad and constant.grad is not None
        ]
        if pairs:
            tensors, gradients = zip(*pairs, strict=True)
            torch.autograd.backward(tensors, gradients)


def _constant(tensor: Tensor) -> Tensor:
    return tensor.detach().float().requires_grad_() if torch.is_grad_enabled() else tensor
