"""How far a run has come: its phase, its curve and its last steps, as the first page shows them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from mcprl.runs.database import is_written
from mcprl.runs.journal import FILE, Journal
from mcprl.runs.learning import PARTS, Point, trained, validated
from mcprl.runs.records import Metric

_MOST_STEPS, _MOST_NOTES = 30, 6
_WINDOW = 5
"""Steps of training that make one point of its line: one step has few tasks."""
_WIDTH, _HEIGHT, _LEFT = 600, 180, 56


@dataclass(frozen=True)
class Series:
    """A line of the curve: its name, the class of its colour, its points and its band as SVG has them."""

    name: str
    colour: str
    points: str
    band: str
    dots: Sequence[tuple[float, float, str]]


@dataclass(frozen=True)
class RunProgress:
    """What the first page shows. `running`: a process is writing to the run; `finished`: it has come to its end."""

    running: bool
    finished: bool
    phase: str
    counts: Mapping[str, int]
    tested: Sequence[tuple[str, int, float]]
    series: Sequence[Series]
    last_x: int
    steps: Sequence[tuple[int, Mapping[str, Metric]]]
    notes: Sequence[tuple[str, str]]


def progress(journal: Journal) -> RunProgress:
    """The run as far as it has come."""
    counts: dict[str, int] = dict(journal.db.read("select phase, count(*) from trajectory group by phase"))
    latest = journal.db.read("select phase from trajectory where rowid = (select max(rowid) from trajectory)")
    events = journal.events()
    finished = any(event.kind == "done" for event in events)
    phase = PARTS.get(latest[0][0], "at work") if latest else "making tasks"
    warm, val = validated(journal, "val:warm"), validated(journal, "val")
    start = max((step for step, *_ in warm), default=0)
    sampled = trained(journal, _WINDOW)
    last = max([1, start, *(start + step for step, *_ in (*val, *sampled))])
    notes = [(_clock(event.at), str(event.data["text"])) for event in events if event.kind == "note"]
    return RunProgress(
        running=is_written(journal.folder / FILE),
        finished=finished,
        phase="finished" if finished else phase,
        counts={f"{PARTS.get(phase, phase)} ({phase})": count for phase, count in counts.items()},
        tested=_tested(journal),
        series=_series(warm, val, sampled, start, last),
        last_x=last,
        steps=[(step.step, step.metrics) for step in journal.steps()[: -_MOST_STEPS - 1 : -1]],
        notes=notes[: -_MOST_NOTES - 1 : -1],
    )


def _tested(journal: Journal) -> list[tuple[str, int, float]]:
    """Of each tested model: its name, its scored rollouts, and how many of these succeeded (0..1)."""
    rows = journal.db.read(
        """select phase, count(*), avg(success) from score where phase like 'test:%' and success is not null
        group by phase order by min(rowid)"""
    )
    return [(PARTS[phase], count, rate) for phase, count, rate in rows if phase in PARTS]


def _series(
    warm: Sequence[Point], val: Sequence[Point], sampled: Sequence[Point], start: int, last: int
) -> list[Series]:
    """The lines of the curve. RL's steps stand behind those of the warm start."""
    drawn: list[Series] = []
    lines = (
        ("training's rollouts of five steps", "grey", sampled, start),
        ("validation, supervised steps", "green", warm, 0),
        ("validation, RL", "blue", val, start),
    )
    for name, colour, points, before in lines:
        if points:
            places = [(_x(before + step, last), *map(_y, rates)) for step, *rates in points]
            band = [(x, high) for x, _, _, high in places] + [(x, low) for x, _, low, _ in reversed(places)]
            words = [f"{name}, step {step}: {rate:.0%} ({low:.0%} to {high:.0%})" for step, rate, low, high in points]
            dots = [(x, y, told) for (x, y, *_), told in zip(places, words, strict=True)]
            drawn.append(Series(name, colour, _polygon([(x, y) for x, y, *_ in places]), _polygon(band), dots))
    return drawn


def _x(step: int, last: int) -> float:
    return round(_LEFT + (_WIDTH - _LEFT - 10) * step / last, 1)


def _y(rate: float) -> float:
    return round(10 + (_HEIGHT - 30) * (1 - rate), 1)


def _polygon(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in points)


def _clock(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%H:%M:%S")
