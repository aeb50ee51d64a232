"""How a run learned: its curve, and the time and tokens of its parts, from the times in its journal."""

import zlib
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Final, Literal, Self

from mcprl.runs import intervals
from mcprl.runs.journal import Journal
from mcprl.runs.records import Outcome, success_by_task
from mcprl.text import counted

Phase = Literal["warm", "rl", "other"]

_ENDS: Final[dict[str, Phase]] = {
    **dict.fromkeys(("scenarios", "difficulty", "bench", "done"), "other"),
    **dict.fromkeys(("test:base", "test:start", "test:warm", "test:trained"), "other"),
    **dict.fromkeys(("warming", "val:warm", "adapter:supervised", "warmed", "adapter:warm"), "warm"),
    **dict.fromkeys(("train", "anchor", "judged", "step", "adapter:train", "adapter:best", "best"), "rl"),
}
"""The records that say which phase made them. The time before any other, say a note or a validation, belongs to the
phase of the next one of these."""


Point = tuple[int, float, float, float]
"""A validation: the step, the success there (0..1), and its 95 % interval."""


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


@dataclass(frozen=True)
class Curve:
    """Learning by step. `warm` and `val` have (step, success on the validation tasks, low, high) with the 95 %
    interval, of the warm start and of RL; `train` has (step, mean score of the training rollouts).
    """

    warm: list[Point]
    val: list[Point]
    train: list[tuple[int, float]]


@dataclass(frozen=True)
class Part:
    """A part of a run's work: its seconds, the number of its rollouts, and the tokens that these read and sampled.

    A turn reads its whole prompt, so a conversation's beginning counts once a turn. `asked`: requests to the language
    model that judges, `dollars` their cost in US dollars, 0 where litellm has no price. Both stand at RL and count up
    to the last group that it judged; a test whose tasks have checks asks nothing.
    """

    name: str
    seconds: float
    rollouts: int
    read: int
    sampled: int
    asked: int = 0
    dollars: float = 0.0


PARTS: Final = {
    "scenarios": "making tasks",
    "difficulty": "measuring how hard the tasks are",
    "demonstration": "warm start",
    "val:warm": "warm start",
    "warm": "warm start",
    "rl": "RL",
    "train": "RL",
    "anchor": "RL",
    "val": "RL",
    "test:base": "test of the base model",
    "test:start": "test of what training began from",
    "test:warm": "test after the warm start",
    "test:trained": "test of the trained model",
    "bench": "benchmarks made by others",
    "done": "the rest",
}
"""The part that a record's time, or a phase's rollouts, belong to."""


def parts_of(journal: Journal) -> list[Part]:
    """What each part of the run took so far, in the order of the work. Demonstrations are rollouts of no model."""
    seconds: defaultdict[str, float] = defaultdict(float)
    for record, spent in _intervals(journal):
        part = PARTS.get(record) or PARTS[_ENDS[record]]
        seconds[part] += spent
    tokens: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    query = "select phase, body, tokens from trajectory where phase <> 'demonstration'"
    for phase, body, packed in journal.db.read(query):
        turns = len(journal.db.json(body)["turns"])  # not by SQLite, which takes no NaN for JSON
        lengths = array("I", zlib.decompressobj().decompress(packed, 12 * turns)) if turns else array("I")
        counts = tokens[PARTS.get(phase, "the rest")]
        for at, number in enumerate((1, sum(lengths[0::3]), sum(lengths[1::3]))):
            counts[at] += number
    names = [name for name in dict.fromkeys(PARTS.values()) if seconds[name] or name in tokens]
    judged = [event.data for event in journal.events("judged")]
    paid = {"RL": (int(judged[-1]["calls"]), round(float(judged[-1]["cost"]), 6))} if judged else {}
    return [Part(name, round(seconds[name], 1), *tokens[name], *paid.get(name, ())) for name in names]


def measure(journal: Journal) -> Learning:
    """What the run has spent so far. Pauses before it was resumed count nowhere, starting it again does."""
    seconds: dict[Phase, float] = {"warm": 0.0, "rl": 0.0, "other": 0.0}
    for record, spent in _intervals(journal):
        seconds[_ENDS[record]] += spent
    return Learning(seconds["warm"], seconds["rl"], len(journal.steps()))


def _intervals(journal: Journal) -> Iterator[tuple[str, float]]:
    """The seconds up to each record that says which phase made it."""
    times = journal.db.read(
        """select at, phase from trajectory union all select at, 'step' from step
        union all select at, 'adapter:' || kind from adapter union all select at, 'bench' from attempt
        union all select at, case kind when 'evaluated' then json_extract(data, '$.phase') else kind end from event
        order by 1"""
    )
    waiting = 0.0
    for (before, _), (at, record) in pairwise(times):
        waiting += 0.0 if record == "opened" else at - before
        if record in _ENDS:
            yield record, waiting
            waiting = 0.0


def rl_minutes(journal: Journal) -> float:
    """The minutes of RL that the run has taken in all its sessions."""
    return measure(journal).rl_s / 60


def wall_s(journal: Journal) -> float:
    """Seconds of work on this run: the time between its records, without the pauses before a writer opened it."""
    times = journal.db.read(
        """select at, 0 from trajectory union all select at, 0 from step union all select at, 0 from adapter
        union all select at, 0 from attempt union all select at, kind = 'opened' from event order by 1"""
    )
    return sum(b - a for (a, _), (b, opened) in pairwise(times) if not opened)


def taken(journal: Journal) -> str:
    """The steps that the run has taken: those of RL, before them the supervised ones that were validated."""
    supervised = max((saved.adapter.step for saved in journal.adapters("supervised")), default=0)
    rl = journal.last_step() or 0
    return f"{counted(rl, 'step')} of RL" if rl or not supervised else counted(supervised, "supervised step")


def learning_curve(journal: Journal) -> Curve:
    """The run's learning curve, as far as it has come. In training, rollouts with given calls do not count."""
    scored = {
        step: [outcome.value for outcome in outcomes if outcome.value is not None and not outcome.given_calls]
        for step, outcomes in _by_step(journal.outcomes("train")).items()
    }
    train = [(step, fmean(values)) for step, values in scored.items() if values]
    return Curve(validated(journal, "val:warm"), validated(journal, "val"), train)


def validated(journal: Journal, phase: str) -> list[Point]:
    """The points of a phase that validates: `val:warm` or `val`."""
    return _points(_by_step(journal.outcomes(phase)))


def trained(journal: Journal, window: int) -> list[Point]:
    """The success of the training rollouts without given calls, a point for each `window` steps at the last of them,
    as `validated` has it."""
    windows: defaultdict[int, list[Outcome]] = defaultdict(list)
    for outcome in journal.outcomes("train"):
        if not outcome.given_calls:
            windows[(outcome.step - 1) // window].append(outcome)
    return _points({max(each.step for each in outcomes): outcomes for _, outcomes in sorted(windows.items())})


def _points(outcomes_by_step: Mapping[int, Sequence[Outcome]]) -> list[Point]:
    rates_by_step = {step: success_by_task(outcomes) for step, outcomes in outcomes_by_step.items()}
    return [
        (step, fmean(rates.values()), *intervals.wilson(sum(rates.values()), len(rates)))
        for step, rates in rates_by_step.items()
        if rates
    ]


def _by_step(outcomes: Iterable[Outcome]) -> dict[int, list[Outcome]]:
    steps: defaultdict[int, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        steps[outcome.step].append(outcome)
    return dict(sorted(steps.items()))
