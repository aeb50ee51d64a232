"""What a run spent on learning: the seconds of its warm start and of RL, from the times in its journal."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Final, Literal, Self

from mcprl.runs.journal import Journal

Phase = Literal["warm", "rl", "other"]

_ENDS: Final[dict[str, Phase]] = {
    **dict.fromkeys(("scenarios", "difficulty", "test:base", "test:warm", "test:trained", "done"), "other"),
    **dict.fromkeys(("warming", "val:warm", "adapter:supervised", "warmed", "adapter:warm"), "warm"),
    **dict.fromkeys(("train", "anchor", "judged", "step", "adapter:train", "adapter:best", "best"), "rl"),
}
"""The records that say which phase made them. The time before any other, say a note or a validation, belongs to the
phase of the next one of these."""


@dataclass(frozen=True)
class Learning:
    """Seconds of the warm start and of RL, validations included, and the number of RL's steps. Of several runs all
    three are means."""

    warm_s: float
    rl_s: float
    rl_steps: float

    @classmethod
    def mean(cls, runs: Sequence[Self]) -> Self:
        return cls(fmean(r.warm_s for r in runs), fmean(r.rl_s for r in runs), fmean(r.rl_steps for r in runs))


def measure(journal: Journal) -> Learning:
    """What the run has spent so far. Pauses before it was resumed count nowhere, starting it again does."""
    times = journal.db.read(
        """select at, phase from trajectory union all select at, 'step' from step
        union all select at, 'adapter:' || kind from adapter
        union all select at, case kind when 'evaluated' then json_extract(data, '$.phase') else kind end from event
        order by 1"""
    )
    seconds: dict[Phase, float] = {"warm": 0.0, "rl": 0.0, "other": 0.0}
    waiting = 0.0
    for (before, _), (at, record) in pairwise(times):
        waiting += 0.0 if record == "opened" else at - before
        if phase := _ENDS.get(record):
            seconds[phase] += waiting
            waiting = 0.0
    return Learning(seconds["warm"], seconds["rl"], len(journal.steps()))


def rl_minutes(journal: Journal) -> float:
    """The minutes of RL that the run has taken in all its sessions."""
    return measure(journal).rl_s / 60
