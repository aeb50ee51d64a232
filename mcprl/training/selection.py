"""Which step's adapter is tested, and when training stops: by the scores of the validations, by step."""

import shutil
from collections.abc import Container, Mapping

from mcprl.runs.journal import Journal


def best_step(scores: Mapping[int, float], within: float = 0.0) -> int:
    """The last step that validated as well as the best, or `within` so much of it: a later step has seen more."""
    best = max(scores.values())
    return max(step for step, score in scores.items() if score >= best - within)


def has_stalled(scores: Mapping[int, float], patience: int) -> bool:
    """Whether the last `patience` validations brought nothing better than an earlier one."""
    best = max(scores, key=lambda step: (scores[step], -step))
    return sum(step > best for step in scores) >= patience


def prune_adapters(journal: Journal, kept: Container[int]) -> None:
    """Delete the adapters of steps that are neither `kept` nor among the newest two."""
    saved = sorted((each.adapter for each in journal.adapters("train")), key=lambda adapter: adapter.step)
    for adapter in saved[:-2]:
        if adapter.step not in kept:
            shutil.rmtree(adapter.path, ignore_errors=True)
