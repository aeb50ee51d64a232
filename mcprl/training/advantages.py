"""A group's scores as advantages."""

import math
from collections.abc import Sequence
from statistics import fmean, pstdev


def most_varied(scores_G: Sequence[float], count: int) -> list[int]:
    """The places, in order, of the `count` scores of the highest variance: some of the lowest and some of the highest
    (max-variance down-sampling, arXiv 2504.13818, section 3.2). All places if there are no more."""
    if len(scores_G) <= count:
        return list(range(len(scores_G)))
    ranked = sorted(range(len(scores_G)), key=scores_G.__getitem__)
    parts = [ranked[: count - high] + ranked[len(ranked) - high :] for high in range(count + 1)]
    return sorted(max(parts, key=lambda part: pstdev(scores_G[place] for place in part)))


def advantages(scores_G: Sequence[float], scale: str = "none", tolerance: float = 1e-3) -> list[float] | None:
    """Each member's score relative to the group's mean: A_i = (s_i - mean(s)) / divisor. `scale` chooses the divisor.

    `none`: 1, the gradient of the mean score (Dr. GRPO, arXiv 2503.20783, section 3.1).
    `std`: the population standard deviation (GRPO, arXiv 2402.03300, section 4.1.2). Tasks that are rarely or mostly
    solved weigh more, and so does the noise of a near-tie.
    `mean`: the mean score, at least 1 / G: the gradient of the score's logarithm (MaxRL, arXiv 2602.02710), which keeps
    tasks that are mostly solved from outweighing tasks that are rarely solved. Made for scores of 0 and 1; of scores
    between, a task whose failures earn half of the points counts as half solved.
    `best`: no difference but 1 for the highest score and 0 for the others, so that only the best is imitated (rejection
    sampling; RAFT, arXiv 2304.06767).

    Returns `None` if the scores differ by at most `tolerance`: such a group has no signal, and the caller drops it.
    Raises `ValueError` if a score is not finite (a judge's failure is never a score) or `scale` is unknown.
    """
    if not all(map(math.isfinite, scores_G)):
        raise ValueError(f"scores must be finite numbers, got {list(scores_G)}")
    if not scores_G or max(scores_G) - min(scores_G) <= tolerance:
        return None
    mean = fmean(scores_G)
    match scale:
        case "best":
            return [float(score >= max(scores_G) - tolerance) for score in scores_G]
        case "none":
            divisor = 1.0
        case "std":
            divisor = pstdev(scores_G)
        case "mean":
            divisor = max(mean, 1 / len(scores_G))
        case _:
            raise ValueError(f"unknown scale {scale!r}; expected none, std, mean or best")
    return [(score - mean) / divisor for score in scores_G]
