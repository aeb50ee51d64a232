"""What a command prints while it works: plain lines, and on a terminal a status line with what goes on."""

import time
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import ClassVar, Self

from rich.console import Console

from mcprl.cli.tables import console
from mcprl.events import (
    BestChosen,
    EngineStarting,
    Evaluated,
    Event,
    GeneratingTasks,
    InstallStep,
    Note,
    Probing,
    QualityMeasured,
    Sampled,
    StepComplete,
    TasksReady,
    WarmStartBegan,
    WarmStartEnded,
    WarmStartStep,
)

TELL_EVERY_S = 60.0


class Progress:
    """Prints events; a context manager, whose instances are called with each event. `status` is shown at first."""

    shown: "ClassVar[Progress | None]" = None
    """The one whose status line is on the terminal now."""

    def __init__(self, status: str = "", screen: Console | None = None) -> None:
        self.screen = screen or console()
        self._status = self.screen.status(status, refresh_per_second=4)
        self._told = time.monotonic()

    def __enter__(self) -> Self:
        self._status.start()
        Progress.shown = self
        return self

    def __exit__(self, *error: object) -> None:
        Progress.shown = None
        self._status.stop()

    @contextmanager
    def hidden(self) -> Generator[None]:
        """Take the status line off the terminal meanwhile."""
        self._status.stop()
        try:
            yield
        finally:
            self._status.start()

    def __call__(self, event: Event) -> None:
        match event:
            case Note():
                self.screen.print(event.text, markup=False)
            case EngineStarting():
                self._status.update(f"vLLM is starting: {event.seconds:.0f} s")
            case Probing():
                calls = f"{event.done} of at most {event.total} calls"
                self._status.update(f"probing the server: {calls}, {event.working} of {event.tools} tools work")
            case Sampled():
                self._sampled(event)
            case InstallStep(name=name, seconds=0.0):
                self._line(name, name)
            case InstallStep():
                self._status.update(f"{event.name} ({event.seconds:.0f} s)")
            case _:
                pass

    def _sampled(self, event: Sampled) -> None:
        """On a terminal the count of rollouts is the status, elsewhere a line a minute."""
        text = f"{event.phase}: {event.done} of {event.total} rollouts"
        self._status.update(text)
        if not self.screen.is_terminal and time.monotonic() - self._told > TELL_EVERY_S:
            self._told = time.monotonic()
            self.screen.print(text, markup=False)

    def _line(self, line: str, status: str) -> None:
        """Print a line; from now on the status line shows `status`."""
        self.screen.print(line, markup=False)
        self._status.update(status)


@contextmanager
def without_status() -> Generator[None]:
    """Keep the terminal to the caller: a question stands there until it is answered."""
    if Progress.shown is None:
        yield
        return
    with Progress.shown.hidden():
        yield


class TrainingProgress(Progress):
    """Prints a line for each step, test and note of a run in `folder`."""

    def __init__(self, folder: Path) -> None:
        super().__init__("loading the model and connecting")
        self._folder = folder
        self._seconds: deque[float] = deque(maxlen=10)  # of the last steps

    def __call__(self, event: Event) -> None:
        match event:
            case Note():
                self.screen.print(f"note         {event.text}", markup=False)
            case GeneratingTasks():
                self._status.update("probing the server and generating tasks")
            case QualityMeasured():
                self.screen.print(event.table, markup=False)
            case TasksReady():
                counts = f"{event.train} train, {event.val} val, {event.test} test"
                self._line(f"tasks        {counts}; the run is {self._folder}", "testing the base model")
            case Evaluated():
                step = f" after step {event.step}" if event.step else ""
                result = f"success {event.success:.1%} of {event.n} tasks{step}  {event.seconds:.1f} s"
                self._line(f"{event.phase:<12} {result}", "training")
            case WarmStartBegan():
                self._status.update("warm start")
            case WarmStartStep():
                loss, speed = event.metrics["loss"], event.metrics["tokens_per_s"]
                line = f"warm start {event.step:>3}/{event.steps:<3} loss {loss:.3f}  {speed:.0f} tok/s"
                self._line(line, f"warm start: step {event.step}")
            case WarmStartEnded():
                self._line(f"warm start   step {event.step}, validation score {event.score:.3f}", "testing")
            case StepComplete():
                self._step(event)
            case BestChosen():
                line = f"best         step {event.step}, validation score {event.score:.3f}"
                self._line(line, "testing the best adapter")
            case _:
                super().__call__(event)

    def _step(self, event: StepComplete) -> None:
        metrics = event.metrics
        seconds = metrics["rollout_s"] + metrics["judge_s"] + metrics["train_s"]
        self._seconds.append(seconds)
        left = fmean(self._seconds) * (event.steps - event.step)
        speed = metrics["sampled_tokens"] / metrics["rollout_s"]
        judge = f"  judge ${metrics['judge_cost']:.2f}" if metrics.get("judge_cost") else ""
        judge += "".join(
            f"  judge's {name} {metrics[key]:+.2f}"
            for name, key in (("order", "judge_order"), ("kappa", "judge_kappa"))
            if key in metrics
        )
        judge += f"  unjudged {metrics['judge_failures']}" if metrics["judge_failures"] else ""
        self._line(
            f"step {event.step:>3}/{event.steps:<3} score {metrics['score']:.2f}  success {metrics['success']:4.0%}  "
            f"dropped {metrics['dropped_groups']}/{metrics['groups']}  {speed:5.0f} tok/s  "
            f"{seconds:4.1f} s  ETA {left // 60:.0f}:{left % 60:02.0f}{judge}",
            f"step {event.step + 1}",
        )
