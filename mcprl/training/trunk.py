"""The trunk of a step: what all its rows begin with, computed once for all bins.

A step's rows share the system prompt and the list of tools, often thousands of tokens, more than a bin may hold. The
bins attend to the trunk's keys and values as to constants, whose gradients are summed; when all bins have run backward,
one backward pass takes the sums through the trunk. By the chain rule that is the gradient of the rows computed whole.
Memory holds the trunk beside one bin, as much as a bin that computes its own.
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


class Trunk:
    """The first `length` tokens of a step's rows. `computed` are their keys and values by layer, with their graph; what
    a bin attends to are constants, in float32, in which the bins' gradients are summed.
    """

    def __init__(self, length: int, computed: Mapping[int, KeysValues]) -> None:
        self.length = length
        self._computed = computed
        self._constants = {layer: (_constant(key), _constant(value)) for layer, (key, value) in computed.items()}

    def before(self, layer: int) -> KeysValues:
        """The keys and values that a layer's tokens in a bin attend to besides those of the bin."""
        return self._constants[layer]

    def backward(self) -> None:
        """Take the gradients that the bins left through the trunk; nothing if they left none."""
        pairs = [
            (tensor, constant.grad.to(tensor.dtype))
            for layer, computed in self._computed.items()
            for tensor, constant in zip(computed, self._constants[layer], strict=True)
            if constant.grad is not None
        ]
        if pairs:
            tensors, gradients = zip(*pairs, strict=True)
            torch.autograd.backward(tensors, gradients)


def _constant(tensor: Tensor) -> Tensor:
    return tensor.detach().float().requires_grad_(tensor.requires_grad)
