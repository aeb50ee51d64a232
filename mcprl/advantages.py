"""From a group's scores to its advantages (GRPO, arXiv 2402.03300, section 4.1.2)."""

import math
from collections.abc import Sequence
from statistics import fmean, pstdev


def advantages(scores_G: Sequence[float], normalize_std: bool = False, tolerance: float = 1e-3) -> list[float] | None:
    """How much better each member of a group did than the group's mean: A_i = s_i - mean(s).

    `None` where the scores lie no further apart than `tolerance`: such a group says nothing, it is dropped and counted.
    The spread is left alone by default, since dividing by it makes a near-tie push as hard as a clear win (Dr. GRPO,
    arXiv 2503.20783, section 3.1). `normalize_std` divides by the population standard deviation, as GRPO's equation
    does. Raises `ValueError` on a score that is not finite: a judge's failure is never a score.
    """
    if not all(map(math.isfinite, scores_G)):
        raise ValueError(f"scores must be finite numbers, got {list(scores_G)}")
    if not scores_G or max(scores_G) - min(scores_G) <= tolerance:
        return None
    mean = fmean(scores_G)
    scale = pstdev(scores_G) if normalize_std else 1.0
    return [(score - mean) / scale for score in scores_G]
