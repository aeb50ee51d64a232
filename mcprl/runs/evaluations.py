"""What `mcprl eval --json` printed, read back, to stand beside a run that was tested on the same tasks."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ValidationError

from mcprl.errors import JournalError
from mcprl.text import first_line


class _TestedTask(BaseModel):
    id: str
    request: str
    success: float | None


class _Printed(BaseModel):
    model: str
    cost: float | None
    rollouts: int
    tasks: list[_TestedTask]


@dataclass(frozen=True)
class ReadEvaluation:
    """A model's success (0..1) by the task's id, the tasks' requests, and what 1,000 rollouts cost in US dollars, if
    that is known. Tasks that nothing scored are left out."""

    model: str
    success: Mapping[str, float]
    requests: Mapping[str, str]
    cost: float | None


def read_evaluation(path: Path) -> ReadEvaluation:
    """Raises `JournalError` if the file is not what `mcprl eval --json` prints."""
    try:
        printed = _Printed.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise JournalError(f"{path} is not what mcprl eval --json prints: {first_line(error)}") from None
    scored = {task.id: task.success for task in printed.tasks if task.success is not None}
    cost = None if printed.cost is None else 1_000 * printed.cost / max(1, printed.rollouts)
    return ReadEvaluation(printed.model, scored, {task.id: task.request for task in printed.tasks}, cost)
