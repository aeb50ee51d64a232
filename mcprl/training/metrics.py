"""The numbers that a step of training reports, from those of its tokens and of its optimizer steps."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from jaxtyping import Float
from torch import Tensor


def off_policy(
    log_ratio: Float[Tensor, " T"],
    ratio: Float[Tensor, " T"],
    advantages: Float[Tensor, " T"],
    low: float,
    high: float,
    one_sided: bool,
) -> dict[str, float]:
    """How far the trainer was from the sampler, and the fraction of tokens whose ratio the loss clipped: those beyond
    1 + `high`, unless `one_sided` also those below 1 - `low`, and only where the clip lowers the gain (PPO)."""
    clipped = ratio > 1 + high
    if not one_sided:
        clipped = (clipped & (advantages > 0)) | ((ratio < 1 - low) & (advantages < 0))
    return {
        "ratio_mean": float(ratio.mean()),
        "ratio_max": float(ratio.max()),
        "clipped": float(clipped.float().mean()),
        "sampler_gap_mean": float(log_ratio.abs().mean()),
        "sampler_gap_max": float(log_ratio.abs().max()),
    }


def combined(steps: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The metrics of several optimizer steps as those of one: token counts summed, maxima kept, the rest averaged."""
    total: dict[str, float] = {}
    for name in steps[0]:
        values = [metrics[name] for metrics in steps]
        if name.endswith("_tokens"):
            total[name] = sum(values)
        elif name.endswith("_max"):
            total[name] = max(values)
        else:
            total[name] = fmean(values)
    return total
