"""Whose answers a judge preferred, of a run without a server: what the journal holds of the blind comparison."""

from dataclasses import dataclass

from mcprl.runs.clusters import clusterings
from mcprl.runs.comparison import Interval
from mcprl.runs.intervals import widest_rate
from mcprl.runs.journal import Journal

PREFERRED = "preferred"
"""The event of an input: its `task`, and the `choice`: 1 the trained model's answer, -1 the base model's, 0 neither."""


@dataclass(frozen=True)
class Preferences:
    """Counts of the held-out inputs by whose answer `judge` preferred in both orders. `share`: of the trained model's,
    those without a preference as halves, with its 95 % interval."""

    judge: str
    trained: int
    base: int
    neither: int
    share: float
    ci95: Interval

    @property
    def n(self) -> int:
        return self.trained + self.base + self.neither


def preferences(journal: Journal) -> Preferences | None:
    """The preferences that a run's journal holds; `None` without any."""
    chosen = {event.data["task"]: int(event.data["choice"]) for event in journal.events(PREFERRED)}
    compared = [scenario for scenario in journal.scenarios("test") if scenario.id in chosen] if chosen else []
    if not compared:
        return None
    choices = [chosen[scenario.id] for scenario in compared]
    shares = [(1 + choice) / 2 for choice in choices]
    low, high, _ = widest_rate(shares, clusterings(compared))
    share = sum(shares) / len(shares)
    judge = journal.config.judge.model
    return Preferences(judge, choices.count(1), choices.count(-1), choices.count(0), share, (low, high))
