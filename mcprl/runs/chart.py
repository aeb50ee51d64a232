"""What a chart of runs shows: each one's base, warm-started and trained model, with what 1,000 tasks cost."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mcprl.errors import ConfigError, JournalError
from mcprl.runs.comparison import Interval
from mcprl.runs.learning import Part
from mcprl.runs.proof import build
from mcprl.types import Suite


@dataclass(frozen=True)
class Bar:
    """A model's success in a test (0..1) with its 95 % interval, and US dollars for 1,000 such tasks, if priced."""

    model: str
    success: float
    ci95: Interval
    cost: float | None = None


@dataclass(frozen=True)
class ChartedRun:
    """A run's bars, on `tasks` tasks of its leading suite."""

    name: str
    suite: Suite
    tasks: int
    bars: tuple[Bar, ...]


def charted(folders: Sequence[Path], price: str = "") -> list[ChartedRun]:
    """The runs as a chart shows them. `price` is what a million tokens cost in US dollars, read and sampled: `0.1/0.4`.

    Raises `ConfigError` for another price, and `JournalError` for a run without a tested model.
    """
    per_token = _per_token(price) if price else None
    return [_charted(folder, per_token) for folder in folders]


def _charted(folder: Path, per_token: tuple[float, float] | None) -> ChartedRun:
    report = build(folder)
    test, last = report.test, "trained" if report.steps else "supervised"
    tested = (
        ("base", test.base, "test of the base model"),
        ("began from", test.start, "test of what training began from"),
        ("supervised", test.warm, "test after the warm start"),
        (last, test.trained, "test of the trained model"),
    )
    spent = {part.name: part for part in report.spent}
    bars = (
        Bar(name, rate.success, rate.ci95, _cost(spent.get(part), per_token)) for name, rate, part in tested if rate
    )
    charted_run = ChartedRun(report.name, report.lead, test.n, tuple(bars))
    if not charted_run.bars:
        raise JournalError(f"{report.name} has no tested model to draw ({report.status})")
    return charted_run


def _cost(part: Part | None, per_token: tuple[float, float] | None) -> float | None:
    """US dollars for 1,000 rollouts like those of the test."""
    if not (per_token and part and part.rollouts):
        return None
    return 1_000 * (part.read * per_token[0] + part.sampled * per_token[1]) / part.rollouts


def _per_token(price: str) -> tuple[float, float]:
    match = re.fullmatch(r"(\d*\.?\d+)/(\d*\.?\d+)", price)
    if not match:
        raise ConfigError(f"--price {price!r} is no price; give dollars per million tokens read and sampled: 0.1/0.4")
    return float(match[1]) / 1e6, float(match[2]) / 1e6
