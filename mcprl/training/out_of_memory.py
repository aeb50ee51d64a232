"""Work on a step's rows that begins again in smaller bins if the memory runs out."""

import gc
import re
from collections.abc import Callable, Sequence
from typing import TypeVar

import torch

from mcprl.errors import TrainingError
from mcprl.training.forward import Forward
from mcprl.types import Row

T = TypeVar("T")
_SAYS_SO = re.compile(r"out of memory|can(?:'t|not) allocate memory|ALLOC_FAILED", re.IGNORECASE)


def is_out_of_memory(error: BaseException) -> bool:
    """CUDA raises `torch.OutOfMemoryError`, Python `MemoryError`, torch's allocator for the CPU and the libraries of a
    GPU a `RuntimeError` that says so."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and _SAYS_SO.search(str(error)) is not None


def in_smaller_bins(forward: Forward, rows: Sequence[Row], work: Callable[[], T]) -> T:
    """What `work` returns, which takes `forward.bins(rows)` one after the other and can begin again.

    Out of memory halves `forward.max_tokens`, for all later work too, until these rows are in more bins. Raises
    `TrainingError` if each row has a bin of its own already.
    """
    while True:
        try:
            return work()
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            cause = " ".join(str(error).split())[:200] or type(error).__name__
        # Here the error is gone, and with it the frames that held the bin's tensors.
        if not forward.halve(rows):
            longest = max(len(row.ids) for row in rows)
            raise TrainingError(
                f"not even one rollout at a time fits into memory; the longest has {longest} tokens ({cause}). Turn on "
                "training.gradient_checkpointing or set model.dtype to bfloat16; a new run can also lower "
                "rollout.max_total_tokens"
            )
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
