"""A proof in rows of numbers, which the page and the table on the screen share."""

from collections.abc import Iterator, Mapping
from typing import Final

from mcprl.runs.comparison import MODELS, Comparison, Interval, Model
from mcprl.runs.proof import Proof
from mcprl.text import counted

RESULT_COLUMNS: Final = ("success", "95 % interval", "mean over forms")
LEARNING_COLUMNS: Final = ("took", "success after it", "over the model before it (95 %)")
NAMES: Final[dict[Model, str]] = {
    "base": "base model",
    "start": "what training began from",
    "warm": "after the warm start",
    "trained": "trained model",
}


def percent(fraction: float | None) -> str:
    return "-" if fraction is None else f"{100 * fraction:.1f} %"


def points(difference: float | None) -> str:
    return "-" if difference is None else f"{100 * difference:+.1f}"


def minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} min"


def results(test: Comparison) -> Iterator[tuple[str, str, str, str]]:
    """The rows of the main table: name, value, interval, and the same as a mean over forms."""
    for model, rate in zip(MODELS, (test.base, test.start, test.warm, test.trained), strict=True):
        if rate:
            low, high = rate.ci95
            yield NAMES[model], percent(rate.success), f"{100 * low:.1f} to {100 * high:.1f} %", percent(rate.macro)
    due_to_rl = test.over_before if test.warm else None
    for name, gain in (("gain", test.over_base), ("due to this run", test.over_start), ("due to RL", due_to_rl)):
        if gain:
            label = f"{name} ({gain.lost} lost, {gain.won} won)"
            yield label, f"{points(gain.mean)} points", " to ".join(map(points, gain.ci95)), points(gain.macro)


def learning(proof: Proof) -> Iterator[tuple[str, str, str, str]]:
    """What learning owes to what: for what it began from, for the warm start and for RL the time, the success after it
    and its part of the gain."""
    test, spent = proof.test, proof.learning
    if not (test.base and test.trained and test.over_before):
        return
    yield NAMES["base"], "-", percent(test.base.success), "-"
    if test.start and (gain := test.start_over_base):
        yield NAMES["start"], "-", percent(test.start.success), _with_interval(gain.mean, gain.ci95)
    if test.warm and (gain := test.warm_over_before):
        yield "warm start", minutes(spent.warm_s), percent(test.warm.success), _with_interval(gain.mean, gain.ci95)
    last = _with_interval(test.over_before.mean, test.over_before.ci95)
    if spent.rl_steps:
        yield f"RL ({counted(round(spent.rl_steps), 'step')})", minutes(spent.rl_s), percent(test.trained.success), last
    elif spent.warm_s and not test.warm:
        yield "supervised steps", minutes(spent.warm_s), percent(test.trained.success), last


def parts(title: str, comparisons: Mapping[str, Comparison]) -> list[tuple[str, ...]]:
    """A table with a row for each part under a header that begins with `title`; empty without parts. Runs without both
    a warm start and RL have no columns that tell these apart."""
    if not comparisons:
        return []
    both = any(part.warm for part in comparisons.values())
    header = (title, "tasks", "base", *(["warm"] * both), "trained", "gain (95 %)", *(["due to RL (95 %)"] * both))
    return [(*header, "lost", "won"), *(_part(name, part, both) for name, part in comparisons.items())]


def _part(name: str, part: Comparison, both: bool) -> tuple[str, ...]:
    base, warm, trained = (percent(rate.success if rate else None) for rate in (part.base, part.warm, part.trained))
    gain = _with_interval(part.gain, part.gain_ci95)
    due_to_rl = _with_interval(part.rl_gain, part.rl_gain_ci95)
    counts = (str(part.over_base.lost), str(part.over_base.won)) if part.over_base else ("-", "-")
    rates = (base, warm, trained, gain, due_to_rl) if both else (base, trained, gain)
    return (name, str(part.n), *rates, *counts)


def _with_interval(gain: float | None, interval: Interval | None) -> str:
    return f"{points(gain)} ({' to '.join(map(points, interval))})" if interval else "-"
