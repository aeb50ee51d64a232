"""Training rows as the Tinker API's data, so that its losses have our gradient.

A row of N ids becomes N - 1 inputs with the ids that follow as targets. What our loss weighs a token with goes into its
advantage, scaled by how a server adds up what its tokens lose (`Sum`):

    tokens   sum over all tokens                                       (the API as Thinking Machines describe it)
    rows     mean over rows of sum(w l) / sum(w), w the weights        (SkyRL on JAX)
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal

from mcprl.models.tinker.service import model_input
from mcprl.types import Row

Sum = Literal["tokens", "rows"]
"""How a server adds up the losses of tokens."""
PROBE = (1, 2, 3, 4, 5, 6, 7, 8)
"""Ids of the rows by which a server is asked how it sums; every model has them."""


def datum(row: Row, advantages_T: Sequence[float], summed: Sum, rows: int) -> dict[str, Any]:
    """A row of N ids as a datum. `advantages_T` (N) holds weight times advantage of each trained token, 0 elsewhere;
    `rows` is how many rows the step has."""
    trained = sum(row.mask)
    scale = 1.0 if summed == "tokens" else trained * rows
    inputs = {
        "target_tokens": _tensor(row.ids[1:], "int64"),
        "logprobs": _tensor(row.logprobs[1:], "float32"),
        "advantages": _tensor([scale * value for value in advantages_T[1:]], "float32"),
    }
    if summed == "rows":
        inputs["weights"] = _tensor([float(value) for value in row.mask[1:]], "float32")
    return {"model_input": model_input(row.ids[:-1]), "loss_fn_inputs": inputs}


def trained_values(row: Row, values: Sequence[float]) -> list[float]:
    """Of a value for each target (N - 1), those of the trained tokens (T_trained)."""
    return [value for value, trained in zip(values, row.mask[1:], strict=True) if trained]


def find_sum(grad_norm: Callable[[list[dict[str, Any]]], float]) -> Sum | None:
    """How a server sums, by the norms of the gradients of the same row once and twice; `None` if by neither way.

    Twice the row is twice the gradient where tokens are added, and the same where rows are averaged. A server that
    tells no norm (0) is taken to add tokens, as the API is described.
    """
    row = Row("probe", PROBE, (False, *(True,) * (len(PROBE) - 1)), (0.0,) * len(PROBE))
    one = datum(row, [1.0] * len(PROBE), "tokens", 1)
    once, twice = grad_norm([one]), grad_norm([one, one])
    if not once or abs(twice - 2 * once) < 0.01 * once:
        return "tokens"
    return "rows" if abs(twice - once) < 0.01 * once else None


def _tensor(values: Sequence[float], dtype: str) -> dict[str, Any]:
    return {"data": list(values), "dtype": dtype, "shape": [len(values)]}
