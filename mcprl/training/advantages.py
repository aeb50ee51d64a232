"""From a group's scores to its advantages."""

import math
from collections.abc import Sequence
from statistics import fmean, pstdev


def advantages(scores_G: Sequence[float], scale: str = "none", tolerance: float = 1e-3) -> list[float] | None:
    """How much better each member of a group did than the group's mean: A_i = (s_i - mean(s)) / scale.

    `none`: 1, the gradient of the mean score (Dr. GRPO, arXiv 2503.20783, section 3.1).
    `std`: the population standard deviation (GRPO, arXiv 2402.03300, section 4.1.2): tasks solved rarely or mostly
    weigh more, and so does the noise of a near-tie.
    `mean`: the mean score, but at least 1 / G: the gradient of the score's logarithm (MaxRL, arXiv 2602.02710), which
    does not let what is right mostly drown what is right rarely.

    `None` where the scores lie no further apart than `tolerance`: such a group says nothing, it is dropped and counted.
    Raises `ValueError` on a score that is not finite: a judge's failure is never a score.
    """
    if not all(map(math.isfinite, scores_G)):
        raise ValueError(f"scores must be finite numbers, got {list(scores_G)}")
    if not scores_G or max(scores_G) - min(scores_G) <= tolerance:
        return None
    mean = fmean(scores_G)
    match scale:
        case "none":
            by = 1.0
        case "std":
            by = pstdev(scores_G)
        case "mean":
            by = max(mean, 1 / len(scores_G))
        case _:
            raise ValueError(f"unknown scale {scale!r}; expected none, std or mean")
    return [(score - mean) / by for score in scores_G]
