"""What a long piece of work reports while it goes on: typed events, and the one function type that takes them.

A function that works for long takes `emit: Emit` and calls it with an event. The command line prints events; the
journal keeps those that are `recorded`, under their `kind`.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import ClassVar


@dataclass(frozen=True)
class Event:
    """The base of every event. `kind` is its name in the journal."""

    kind: ClassVar[str]
    recorded: ClassVar[bool] = False


Emit = Callable[[Event], None]


def ignore(event: Event) -> None:
    """The `Emit` of a caller that wants no events."""


@dataclass(frozen=True)
class Note(Event):
    """A sentence for the user."""

    kind = "note"
    recorded = True
    text: str


@dataclass(frozen=True)
class GeneratingTasks(Event):
    """The server is probed and tasks are written."""

    kind = "generating"
    recorded = True


@dataclass(frozen=True)
class Probing(Event):
    """Probing has made `done` of at most `total` calls; `working` of `tools` tools gave something."""

    kind = "probing"
    done: int
    total: int
    working: int
    tools: int


@dataclass(frozen=True)
class Composing(Event):
    """Up to `count` tasks of the split are made and proved by execution."""

    kind = "composing"
    split: str
    count: int


@dataclass(frozen=True)
class QualityMeasured(Event):
    """What the tasks are worth, as a table of a few lines (`scenarios.packs.quality.as_table`)."""

    kind = "quality"
    recorded = True
    table: str


@dataclass(frozen=True)
class TasksReady(Event):
    """The number of tasks in each split."""

    kind = "scenarios"
    recorded = True
    train: int
    val: int
    test: int


@dataclass(frozen=True)
class EngineStarting(Event):
    """The engine's server has been starting for `seconds`."""

    kind = "serving"
    seconds: float


@dataclass(frozen=True)
class WarmStartBegan(Event):
    """The warm start begins; it takes `steps` supervised steps."""

    kind = "warming"
    recorded = True
    steps: int


@dataclass(frozen=True)
class WarmStartStep(Event):
    """A supervised step of the warm start is complete."""

    kind = "warm"
    step: int
    steps: int
    metrics: Mapping[str, float]


@dataclass(frozen=True)
class WarmStartEnded(Event):
    """The warm start is the adapter of supervised step `step` (0: the base model), with its score in validation."""

    kind = "warmed"
    recorded = True
    step: int
    score: float


@dataclass(frozen=True)
class StepComplete(Event):
    """A step of RL is complete and in the journal; `steps` is their number at most.

    `by_tool` has, of each tool that its tasks need, the successful rollouts and all; `no_signal` counts the groups that
    taught nothing, by the reason.
    """

    kind = "step"
    step: int
    steps: int
    metrics: Mapping[str, float]
    by_tool: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    no_signal: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True)
class Sampled(Event):
    """Of the `total` rollouts of a phase and step, `done` are complete. `turns` were sampled since it began."""

    kind = "sampled"
    phase: str
    done: int
    total: int
    turns: int = 0


@dataclass(frozen=True)
class Repeated(Event):
    """The rollout broke for this reason and is made again in a fresh session: what it leaves is of a later attempt."""

    kind = "repeated"
    recorded = True
    rollout: str
    reason: str


@dataclass(frozen=True)
class Evaluated(Event):
    """Held-out tasks were tested under `phase`: `success` is the mean success rate of `n` tasks."""

    kind = "evaluated"
    recorded = True
    phase: str
    step: int
    n: int
    success: float
    seconds: float


@dataclass(frozen=True)
class BenchTaken(Event):
    """A benchmark made by others was taken by `model` ("base" or "trained"): by what was measured, the number of tasks
    and the fraction that passed.
    """

    kind = "benched"
    bench: str
    model: str
    passed: Mapping[str, tuple[int, float]]
    seconds: float


@dataclass(frozen=True)
class BestChosen(Event):
    """The adapter of `step` is tested (0: RL's starting point), with its mean score in validation: the best of all, or
    a control's last.
    """

    kind = "best"
    recorded = True
    step: int
    score: float


@dataclass(frozen=True)
class RunComplete(Event):
    """The trained model was tested; the report can be written."""

    kind = "done"
    recorded = True


@dataclass(frozen=True)
class InstallStep(Event):
    """An installation runs its step `name`, since `seconds`."""

    kind = "install"
    name: str
    seconds: float = 0.0


def recording(write: Callable[..., None], emit: Emit) -> Emit:
    """An `emit` that gives recorded events to `write(kind, **fields)` before it passes them on."""

    def record(event: Event) -> None:
        if event.recorded:
            write(event.kind, **asdict(event))
        emit(event)

    return record
