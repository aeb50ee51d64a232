"""The panel of a run on a terminal: its phase, rollouts, speed, validations, tools, cost and the time that is left."""

import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from statistics import fmean, stdev

from rich.box import ROUNDED
from rich.console import Group, RenderableType
from rich.panel import Panel as Frame
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from mcprl.events import Evaluated, Event, Sampled, StepComplete, WarmStartBegan, WarmStartEnded, WarmStartStep
from mcprl.text import counted

_BARS = "▁▂▃▄▅▆▇█"
_MOST_BARS = 40
_MOST_TOOLS = 12
_RECENT = 10
"""Steps whose mean is the time of the next one, and whose rollouts count for the tools and for the rates."""


class Panel:
    """The state of a run as its events tell it. `left_s`: seconds of the steps that may be left, with their validations
    and the test at the end, as far as these have been timed."""

    def __init__(self, name: str) -> None:
        self._name, self._began = name, time.monotonic()
        self.left_s = 0.0
        self._stepped = self._began
        self._seconds: deque[float] = deque(maxlen=_RECENT)
        self._tools: deque[Mapping[str, tuple[int, int]]] = deque(maxlen=_RECENT)
        self._sampled: Sampled | None = None
        self._step: StepComplete | None = None
        self._success: list[float] = []
        self._signal: deque[tuple[float, float]] = deque(maxlen=_RECENT)
        self._validated: list[float] = []
        self._validation_s: list[float] = []
        self._test_s = 0.0

    def take(self, event: Event) -> None:
        """Learn from an event."""
        match event:
            case Sampled():
                self._sampled = event
            case WarmStartBegan():
                self._stepped = time.monotonic()
            case WarmStartStep():
                now = time.monotonic()
                self._seconds.append(now - self._stepped)
                self._stepped = now
                self.left_s = fmean(self._seconds) * (event.steps - event.step)
            case WarmStartEnded():
                self._seconds.clear()
                self.left_s = 0.0
            case StepComplete():
                self._take_step(event)
            case Evaluated():
                self._take_evaluation(event)
            case _:
                pass

    def _take_step(self, event: StepComplete) -> None:
        metrics = event.metrics
        self._step = event
        self._tools.append(event.by_tool)
        if "success" in metrics:
            self._success.append(metrics["success"])
        self._signal.append((metrics["groups"] - metrics["dropped_groups"], metrics["groups"]))
        self._seconds.append(metrics["rollout_s"] + metrics["judge_s"] + metrics["train_s"])
        validations = len(self._validation_s) / max(1, event.step)  # a step
        each = fmean(self._seconds) + validations * fmean(self._validation_s or [0.0])
        self.left_s = each * (event.steps - event.step) + self._test_s

    def _take_evaluation(self, event: Evaluated) -> None:
        if event.phase.startswith("val"):
            self._validated.append(event.success)
            if event.phase == "val" and event.step:
                self._validation_s.append(event.seconds)
        else:
            self._test_s = event.seconds

    def render(self, status: str) -> RenderableType | None:
        """The panel, as wide as the terminal; `None` while there is nothing to show."""
        if not (content := self._rows()):
            return None
        rows = Table.grid(padding=(0, 2, 0, 0))
        rows.add_column(style="dim", width=10)
        rows.add_column(ratio=1)
        for title, value in content:
            rows.add_row(title, value)
        title, gone = Text(f" {self._name}: {status} "), clock(time.monotonic() - self._began)
        frame = Frame(rows, title=title, title_align="left", subtitle=f" {gone} ", subtitle_align="right", box=ROUNDED)
        return Group(frame, Text())  # below a full line the ^C of a terminal would move what is to be erased

    def _rows(self) -> list[tuple[str, RenderableType]]:
        rows: list[tuple[str, RenderableType]] = []
        if sampled := self._sampled:
            line = Table.grid(padding=(0, 2, 0, 0))
            count = f"{sampled.done} of {sampled.total} ({sampled.phase})"
            line.add_row(Text(count), ProgressBar(total=sampled.total, completed=sampled.done, width=20))
            rows.append(("rollouts", line))
        if self._validated:
            best, last = max(self._validated), self._validated[-1]
            rows.append(("validation", Text(f"{sparkline(self._validated)}  {last:.0%}, best {best:.0%}")))
        if self._success:
            rows.append(("training", Text(f"{sparkline(self._success)}  {_mean_and_band(self._success[-_RECENT:])}")))
        if step := self._step:
            metrics = step.metrics
            speed = metrics["sampled_tokens"] / metrics["rollout_s"]
            cost = f", judge ${metrics['judge_cost']:.2f}" if metrics.get("judge_cost") else ""
            rows.append(("speed", Text(f"{speed:.0f} tokens/s, {fmean(self._seconds):.1f} s a step{cost}")))
            varies = f"{metrics['turns']:.1f} turns, {metrics['rollout_tokens']:.0f} tokens"
            rows.append(("a rollout", Text(f"{varies}, {metrics['rollout_entropy']:.1f} nats of entropy")))
            rows.append(("tools", Text(self._by_tool())))
            with_signal, groups = map(sum, zip(*self._signal, strict=True))
            share = f"{with_signal / max(1, groups):.0%} of {counted(int(groups), 'recent group')}"
            rows.append(("signal", Text(f"{share}; none in {_reasons(step)}")))
        if self.left_s:
            until = "with the test at the end" if self._step else "of the warm start"
            rows.append(("time left", Text(f"{clock(self.left_s)} at most, {until}")))
        return rows

    def _by_tool(self) -> str:
        """The success of the recent steps' rollouts by the tool that their tasks need, the lowest first."""
        solved: Counter[str] = Counter()
        scored: Counter[str] = Counter()
        for counts in self._tools:
            for tool, (successes, rollouts) in counts.items():
                solved[tool] += successes
                scored[tool] += rollouts
        rates = sorted((solved[tool] / scored[tool], tool) for tool in scored)
        more = f"  and {len(rates) - _MOST_TOOLS} more" if len(rates) > _MOST_TOOLS else ""
        return "  ".join(f"{tool} {rate:.0%}" for rate, tool in rates[:_MOST_TOOLS]) + more or "-"


def _reasons(step: StepComplete) -> str:
    """How many of a step's groups taught nothing, and why."""
    groups = f"{sum(step.no_signal.values())} of {counted(int(step.metrics['groups']), 'group')}"
    reasons = ", ".join(f"{count} {reason}" for reason, count in step.no_signal.items())
    return f"{groups}: {reasons}" if reasons else groups


def _mean_and_band(values: Sequence[float]) -> str:
    """The mean of the newest steps' success with its 95 % band."""
    told = f"{fmean(values):.0%} of the last {counted(len(values), 'step')}"
    return f"{told}, ±{1.96 * stdev(values) / len(values) ** 0.5:.0%}" if len(values) > 1 else told


def sparkline(values: Sequence[float]) -> str:
    """The values as bars, the lowest of them the lowest bar, the newest on the right."""
    low, high = min(values), max(values)
    heights = [(value - low) / (high - low) if high > low else 0.0 for value in values[-_MOST_BARS:]]
    return "".join(_BARS[round(height * (len(_BARS) - 1))] for height in heights)


def clock(seconds: float) -> str:
    """Minutes and seconds: `3:07`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"
