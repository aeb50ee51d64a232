"""What a command prints while it works: plain lines, and on a terminal what goes on now below them.

Where there is no terminal, what goes on is said as soon as nothing was printed for five seconds.
"""

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, Self

from rich.console import Console, RenderableType
from rich.live import Live
from rich.spinner import Spinner

from mcprl.cli.output import VERBOSE, progress_console, wrapped
from mcprl.cli.panel import Panel, clock
from mcprl.events import (
    BenchTaken,
    BestChosen,
    Composing,
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
from mcprl.text import counted

SILENT_S = 5.0
"""The longest that nothing is printed."""


class Progress:
    """Prints events; a context manager, whose instances are called with each event. `status` is shown at first."""

    shown: "ClassVar[Progress | None]" = None
    """The one whose status is on the terminal now."""

    def __init__(self, status: str = "", screen: Console | None = None) -> None:
        self.screen = screen or progress_console()
        self._status, self._began = status, time.monotonic()
        self._printed = self._began
        self._spinner = Spinner("dots", status)
        self._live = Live(get_renderable=self.view, console=self.screen, refresh_per_second=4, transient=True)
        self._over = threading.Event()

    def __enter__(self) -> Self:
        if self.screen.is_terminal:
            self._live.start()
        else:
            threading.Thread(target=self._speak_up, daemon=True).start()
        Progress.shown = self
        return self

    def __exit__(self, *error: object) -> None:
        Progress.shown = None
        self._over.set()
        self._live.stop()

    @contextmanager
    def hidden(self) -> Generator[None]:
        """Take the status off the terminal meanwhile."""
        self._live.stop()
        try:
            yield
        finally:
            if self.screen.is_terminal:
                self._live.start()

    def view(self) -> RenderableType:
        """What stands below the lines on a terminal."""
        return self._spinner

    def _speak_up(self) -> None:
        while not self._over.wait(0.5):
            self.break_silence()

    def break_silence(self) -> None:
        """Print what goes on, and for how long, if nothing was printed for `SILENT_S`."""
        now = time.monotonic()
        if now - self._printed >= SILENT_S and self._status:
            self.say(f"{self._status} ({clock(now - self._began)})")

    def say(self, line: str, markup: bool = False) -> None:
        """Print a line."""
        self._printed = time.monotonic()
        text = line if markup else wrapped(line, self.screen)
        self.screen.print(text, markup=markup, soft_wrap=not self.screen.is_terminal)

    def now(self, status: str) -> None:
        """What goes on from now on."""
        if status.partition(":")[0] != self._status.partition(":")[0]:
            self._began = time.monotonic()
        self._status = status
        self._spinner.update(text=status)

    def __call__(self, event: Event) -> None:
        match event:
            case Note():
                self.say(event.text)
            case EngineStarting():
                self.now(f"vLLM is starting: {event.seconds:.0f} s")
            case Probing():
                calls = f"{event.done} of at most {counted(event.total, 'call')}"
                self.now(f"probing the server: {calls}, {event.working} of {counted(event.tools, 'tool')} work")
            case Composing():
                self.now(f"writing and proving up to {counted(event.count, 'task')} for {event.split}")
            case Sampled():
                learnt = event.phase == "train" and event.done == event.total
                count = f"{event.done} of {counted(event.total, 'rollout')}"
                if event.turns and not event.done:
                    count += f", {counted(event.turns, 'turn')} so far"
                self.now(f"{event.phase}: {count}{', which are judged and learnt from' if learnt else ''}")
            case InstallStep(name=name, seconds=0.0):
                self.line(name, name)
            case InstallStep():
                self.now(f"{event.name} ({event.seconds:.0f} s)")
            case _:
                pass

    def line(self, line: str, status: str) -> None:
        """Print a line; from now on `status` goes on."""
        self.say(line)
        self.now(status)


@contextmanager
def without_status() -> Generator[None]:
    """Keep the terminal to the caller: a question stands there until it is answered."""
    if Progress.shown is None:
        yield
        return
    with Progress.shown.hidden():
        yield


class TrainingProgress(Progress):
    """Prints a line for each step, test and note of a run in `folder`; on a terminal its panel stands below."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.panel = folder, Panel(folder.name)
        super().__init__("loading the model and connecting")

    def view(self) -> RenderableType:
        return self.panel.render(self._status) or super().view()

    def __call__(self, event: Event) -> None:
        self.panel.take(event)
        match event:
            case Note():
                self.say(f"note         {event.text}")
            case GeneratingTasks():
                self.now("probing the server and generating tasks")
            case QualityMeasured():
                self.say(event.table)
            case TasksReady():
                counts = f"{event.train} train, {event.val} val, {event.test} test"
                self.line(f"tasks        {counts}; the run is {self._folder}", "testing the base model")
            case Evaluated():
                step = f" after step {event.step}" if event.step else ""
                result = f"success {event.success:.1%} of {counted(event.n, 'task')}{step}  {event.seconds:.1f} s"
                self.line(f"{event.phase:<12} {result}", "training")
            case WarmStartBegan():
                self.now("warm start")
            case WarmStartStep():
                loss, speed = event.metrics["loss"], event.metrics["tokens_per_s"]
                place = f"warm start {event.step:>3}/{event.steps:<3}"
                line = f"{place} loss {loss:.3f}  {speed:4.0f} tok/s  ETA {clock(self.panel.left_s)}"
                self.line(line, f"warm start: step {event.step} of {event.steps} is done")
            case WarmStartEnded():
                self.line(f"warm start   step {event.step}, validation score {event.score:.3f}", "testing")
            case StepComplete():
                self._step(event)
            case BenchTaken():
                rates = ", ".join(f"{name} {rate:.1%} of {n}" for name, (n, rate) in event.passed.items())
                line = f"{event.bench + ':' + event.model:<12} {rates}  {event.seconds:.1f} s"
                self.line(line, "taking the benchmarks")
            case BestChosen():
                line = f"best         step {event.step}, validation score {event.score:.3f}"
                self.line(line, "testing the best adapter")
            case _:
                super().__call__(event)

    def _step(self, event: StepComplete) -> None:
        metrics = event.metrics
        seconds = metrics["rollout_s"] + metrics["judge_s"] + metrics["train_s"]
        speed = metrics["sampled_tokens"] / metrics["rollout_s"]
        judge = f"  judge ${metrics['judge_cost']:.2f}" if metrics.get("judge_cost") else ""
        judge += "".join(
            f"  judge's {name} {metrics[key]:+.2f}"
            for name, key in (("order", "judge_order"), ("kappa", "judge_kappa"))
            if key in metrics
        )
        judge += f"  unjudged {metrics['judge_failures']}" if metrics["judge_failures"] else ""
        solved = "with given calls alone"
        if "score" in metrics:
            solved = f"score {metrics['score']:.2f} success {metrics['success']:4.0%}"
        self.line(
            f"step {event.step:>3}/{event.steps:<3} {solved} dropped {metrics['dropped_groups']}/{metrics['groups']} "
            f"{speed:5.0f} tok/s {seconds:5.1f} s ETA {clock(self.panel.left_s)}{judge}",
            f"step {event.step + 1} of {event.steps}" if event.step < event.steps else "the last validation",
        )
        if VERBOSE.get():
            self.say("  " + "  ".join(f"{name} {value:.4g}" for name, value in sorted(metrics.items())))
