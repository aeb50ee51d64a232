"""Journals of runs that were never made: rollouts of numbered tasks whose outcomes a function decides."""

import math
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any, TypeVar

import pytest

from mcprl.runs.journal import Journal
from mcprl.runs.records import load_gaps
from mcprl.types import (
    Call,
    CallRecord,
    Completion,
    Fact,
    Scenario,
    Score,
    Split,
    StopReason,
    ToolResult,
    Trajectory,
)

T = TypeVar("T")
TOOLS = ["get_order", "list_orders", "get_product"]
N = 60


def some(value: T | None) -> T:
    assert value is not None
    return value


def scenario(number: int, split: Split = "test") -> Scenario:
    plan = (Call(TOOLS[number % 3], {"id": number}),)
    if number % 4 == 0:
        plan = (Call("list_orders"), *plan)
    kind = "missing" if number % 5 == 0 else "lookup"
    return Scenario(
        f"{split}-{number}",
        f"What is the total of order {number}?",
        (Fact(12.5, "total"),),
        plan,
        split=split,
        kind=kind,
    )


def trajectory(task: Scenario, name: str, good: bool, stop: StopReason = "answered") -> Trajectory:
    call = {"id": "c", "type": "function", "function": {"name": task.plan[-1].tool, "arguments": '{"id":1}'}}
    messages = (
        {"role": "system", "content": "You have tools."},
        {"role": "user", "content": task.request},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": '{"total":12.5} ``` <b>|'},
        {"role": "assistant", "content": "It is 12.50." if good else "It is 99."},
    )
    turns = (Completion(messages[-1], (1, 2), (3,), (-0.5,), "stop"),)
    record = CallRecord(0, task.plan[-1].tool, {"id": 1}, ToolResult('{"total":12.5}'))
    return Trajectory(
        name, task.id, messages, turns, (record,), stop=stop, error="SessionLost" if stop == "error" else ""
    )


def gaps_of(journal: Journal, step: int) -> list[float]:
    """The gaps of all sampled tokens that a step measured."""
    rows = journal.db.read("select gaps from trajectory where phase = 'train' and step = ? and gaps notnull", step)
    return [gap for (stored,) in rows for gap in load_gaps(stored) if not math.isnan(gap)]


def assert_gaps_have_the_steps_mean(journal: Journal) -> int:
    """Of every step that trained. Returns how many these are."""
    trained = [step for step in journal.steps() if "sampler_gap_mean" in step.metrics]
    for step in trained:
        gaps, metrics = gaps_of(journal, step.step), step.metrics
        assert len(gaps) == metrics["trained_tokens"]
        assert fmean(gaps) == pytest.approx(metrics["sampler_gap_mean"], rel=1e-3, abs=1e-7)  # half precision
        assert max(gaps) == pytest.approx(metrics["sampler_gap_max"], rel=1e-3, abs=1e-7)
    return len(trained)


def played(
    journal: Journal,
    phase: str,
    step: int,
    tasks: Sequence[Scenario],
    success: Callable[[int, int], Any],
    rollouts: int = 1,
) -> None:
    """Rollouts of tasks; `success(task number, member)` is True, False, "error" or "unjudged"."""
    made: list[Trajectory] = []
    scores: list[Score] = []
    for number, task in enumerate(tasks):
        for member in range(rollouts):
            how, name = success(number, member), f"{phase}/{step}/{task.id}/{member}"
            made.append(trajectory(task, name, how is True, "error" if how == "error" else "answered"))
            if isinstance(how, bool):
                why = f"outcome {float(how):.2f}: {'+' if how else '-'} total 12.5"
                scores.append(Score(name, 0.95 if how else 0.25, how, why))
    journal.write_trajectories(phase, step, made)
    journal.write_scores(phase, step, scores)
