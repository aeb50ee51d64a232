"""What a run prints for each step."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from mcprl.cli.progress import TrainingProgress
from mcprl.events import StepComplete

METRICS: dict[str, Any] = {
    "rollout_s": 2.0,
    "judge_s": 1.0,
    "train_s": 1.0,
    "sampled_tokens": 800,
    "score": 0.5,
    "success": 0.25,
    "dropped_groups": 3,
    "groups": 8,
    "judge_failures": 0,
}


def line(**judged: float) -> str:
    """The line of the second of four steps."""
    progress = TrainingProgress(Path("runs/x"))
    progress.screen = Console(file=io.StringIO(), width=200)
    progress(StepComplete(2, 4, METRICS | judged))
    return progress.screen.file.getvalue().rstrip()  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    ("judged", "end"),
    [
        ({}, "ETA 0:08"),
        ({"judge_order": 0.625, "judge_kappa": -0.1}, "ETA 0:08  judge's order +0.62  judge's kappa -0.10"),
        ({"judge_kappa": 0.4, "judge_cost": 0.25}, "ETA 0:08  judge $0.25  judge's kappa +0.40"),
    ],
)
def test_a_steps_line_has_the_judges_agreement_as_far_as_the_step_shows_it(judged: dict[str, float], end: str) -> None:
    text = line(**judged)
    assert text.startswith("step   2/4   score 0.50  success  25%  dropped 3/8")
    assert text.endswith(end)
