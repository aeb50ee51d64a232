"""What goes on, while it goes on."""

from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any, Self

from rich.console import Console
from rich.status import Status

from mcprl.cli.tables import console


class Progress:
    """Prints what `train` tells it: a short line for each step; on a terminal also what goes on now."""

    def __init__(self, folder: Path) -> None:
        self._screen = console()
        self._status = self._screen.status("loading the model and connecting", refresh_per_second=4)
        self._folder = folder
        self._seconds: deque[float] = deque(maxlen=10)

    def __enter__(self) -> Self:
        self._status.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._status.stop()

    def __call__(self, kind: str, data: Mapping[str, Any]) -> None:
        match kind:
            case "generating":
                self._status.update("probing the server and generating tasks")
            case "scenarios":
                counts = ", ".join(f"{count} {split}" for split, count in data.items())
                self._say(f"tasks        {counts}; the run is {self._folder}", "testing the base model")
            case "evaluated":
                who, n = data["phase"], data["n"]
                step = f" after step {data['step']}" if data["step"] else ""
                self._say(
                    f"{who:<12} success {data['success']:.1%} of {n} tasks{step}  {data['seconds']:.1f} s", "training"
                )
            case "note":
                self._screen.print(f"note         {data['text']}", markup=False)
            case "serving":
                self._status.update(f"vLLM is starting: {data['seconds']:.0f} s")
            case "warm":
                self._status.update(f"warm start: step {data['step']}")
            case "step":
                self._step(data)
            case "best":
                self._say(
                    f"best         step {data['step']}, validation score {data['score']:.3f}",
                    "testing the best adapter",
                )
            case _:
                self._status.update(kind)

    def _step(self, data: Mapping[str, Any]) -> None:
        seconds = data["rollout_s"] + data["judge_s"] + data["train_s"]
        self._seconds.append(seconds)
        left = fmean(self._seconds) * (data["steps"] - data["step"])
        speed = data["sampled_tokens"] / data["rollout_s"]
        judge = f"  judge ${data['judge_cost']:.2f}" if data.get("judge_cost") else ""
        judge += f"  unjudged {data['judge_failures']}" if data["judge_failures"] else ""
        self._say(
            f"step {data['step']:>3}/{data['steps']:<3} score {data['score']:.2f}  success {data['success']:4.0%}  "
            f"dropped {data['dropped_groups']}/{data['groups']}  {speed:5.0f} tok/s  "
            f"{seconds:4.1f} s  ETA {left // 60:.0f}:{left % 60:02.0f}{judge}",
            f"step {data['step'] + 1}",
        )

    def _say(self, line: str, now: str) -> None:
        self._screen.print(line, markup=False)
        self._status.update(now)


class Steps:
    """Shows the steps of something long: a line for each, and on a terminal how long it has taken."""

    def __init__(self) -> None:
        self._screen = console()
        self._status = self._screen.status("", refresh_per_second=4)
        self._last = ""

    def __enter__(self) -> Self:
        self._status.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._status.stop()

    def __call__(self, text: str) -> None:
        name = text.partition(" (")[0]
        if name != self._last:
            self._screen.print(name, markup=False)
            self._last = name
        self._status.update(text)


def engine_progress(screen: Console, status: Status) -> Callable[[str, Mapping[str, Any]], None]:
    """What shows how an engine starts, beside a status line."""

    def show(kind: str, data: Mapping[str, Any]) -> None:
        if kind == "note":
            screen.print(data["text"], markup=False)
        else:
            status.update(f"vLLM is starting: {data['seconds']:.0f} s")

    return show
