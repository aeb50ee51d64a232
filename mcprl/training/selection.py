"""Which step's adapter is tested, and when training stops: by the scores of the validations, by step."""

from collections.abc import Mapping


def best_step(scores: Mapping[int, float]) -> int:
    """The step that validated best; of equal scores the later step, which has seen more."""
    return max(scores, key=lambda step: (scores[step], step))


def has_stalled(scores: Mapping[int, float], patience: int) -> bool:
    """Whether the last `patience` validations brought nothing better than an earlier one."""
    best = max(scores, key=lambda step: (scores[step], -step))
    return sum(step > best for step in scores) >= patience
