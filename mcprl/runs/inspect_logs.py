"""A run's test as logs of inspect_ai, one for each tested model. The only module that imports inspect_ai.

`inspect view` filters, sorts and shows them. A log's samples are the rollouts that the report compares.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from mcprl.errors import JournalError, MissingExtra
from mcprl.files import require_writable
from mcprl.runs.comparison import MODELS, Model, TaskResult
from mcprl.runs.journal import Journal
from mcprl.runs.proof import Tested
from mcprl.runs.records import Outcome
from mcprl.types import Message, Score, Trajectory

NAMES: Final[dict[Model, str]] = {"base": "base", "start": "start", "warm": "supervised", "trained": "trained"}
"""The name of each model's log."""


def write_logs(run: Path, out: Path) -> list[Path]:
    """Write the logs into the folder `out`; those of an earlier call are replaced. Returns their paths.

    Raises `MissingExtra` without inspect_ai, `JournalError` if no task was tested, `ConfigError` if `out` cannot be
    written.
    """
    if find_spec("inspect_ai") is None:
        raise MissingExtra("inspect_ai", "inspect")
    require_writable(out, "--inspect")
    with Journal.open(run) as journal:
        tested = Tested(journal)
        if not tested.tasks:
            raise JournalError(f"{run} has no test to write as logs yet; it is made at the end of mcprl train")
        out.mkdir(parents=True, exist_ok=True)
        return [_write(journal, tested, model, out) for model in MODELS if model in tested.outcomes]


def _write(journal: Journal, tested: Tested, model: Model, out: Path) -> Path:
    log: Any = import_module("inspect_ai.log")
    step = max(outcome.step for outcome in tested.outcomes[model])
    trajectories = {each.id: each for each in journal.trajectories(f"test:{model}", step)}
    scores = {score.trajectory_id: score for score in journal.scores(f"test:{model}", step)}
    samples = [
        _sample(task, epoch, outcome, trajectories[outcome.trajectory_id], scores.get(outcome.trajectory_id))
        for task in tested.tasks
        for epoch, outcome in enumerate(task.rollouts[model], 1)
    ]
    epochs = max(len(task.rollouts[model]) for task in tested.tasks)
    begun = datetime.fromtimestamp(journal.events("opened")[0].at, UTC).isoformat()
    name = f"{tested.name} ({NAMES[model]})"
    written = log.EvalLog(
        status="success",
        eval=log.EvalSpec(
            created=begun,
            task=name,
            model=f"{tested.head['model']}/{NAMES[model]}",
            dataset=log.EvalDataset(name=tested.head["server"], samples=len(tested.tasks)),
            config=log.EvalConfig(epochs=epochs),
            metadata={"tool_hash": tested.head["tool_hash"], "step": step, "status": tested.head["status"]},
        ),
        results=_results(tested.tasks, model, len(samples)),
        samples=samples,
    )
    path = out / f"{NAMES[model]}.eval"
    log.write_eval_log(written, str(path))
    return path


def _results(tasks: Iterable[TaskResult], model: Model, samples: int) -> Any:
    """The accuracy of each suite, as the report has it: the mean over tasks of each task's success."""
    log: Any = import_module("inspect_ai.log")
    by_suite: dict[str, list[float]] = {}
    for task in tasks:
        by_suite.setdefault(task.scenario.suite, []).append(task.success[model])
    scores = [
        log.EvalScore(
            name=suite,
            scorer="success",
            scored_samples=len(success),
            metrics={"accuracy": log.EvalMetric(name="accuracy", value=fmean(success))},
        )
        for suite, success in by_suite.items()
    ]
    return log.EvalResults(total_samples=samples, completed_samples=samples, scores=scores)


def _sample(task: TaskResult, epoch: int, outcome: Outcome, trajectory: Trajectory, score: Score | None) -> Any:
    """A rollout. Its score is 1 or 0 as the report counts it; without a judgement it has none."""
    log: Any = import_module("inspect_ai.log")
    scorer: Any = import_module("inspect_ai.scorer")
    scenario, scores = task.scenario, {}
    if outcome.counts_as is not None:
        why = trajectory.error or (score.explanation if score else "")
        scores["success"] = scorer.Score(value=int(outcome.counts_as), answer=trajectory.answer, explanation=why)
    if score:
        scores["score"] = scorer.Score(value=score.value, explanation=score.explanation)
    broken = {"message": trajectory.error, "traceback": "", "traceback_ansi": ""}
    return log.EvalSample(
        id=scenario.id,
        epoch=epoch,
        input=scenario.request,
        target=scenario.answer,
        messages=_messages(trajectory.messages),
        scores=scores,
        metadata={
            "suite": scenario.suite,
            "form": scenario.form,
            "kind": scenario.kind,
            "difficulty": scenario.difficulty,
            "stop": trajectory.stop,
        },
        error=log.EvalError(**broken) if trajectory.error else None,
        total_time=trajectory.seconds,
    )


def _messages(messages: Iterable[Message]) -> list[Any]:
    model: Any = import_module("inspect_ai.model")
    kinds = {"system": model.ChatMessageSystem, "user": model.ChatMessageUser}
    converted: list[Any] = []
    tools: dict[str, str] = {}
    for message in messages:
        role, content = message["role"], str(message.get("content") or "")
        if role == "assistant":
            calls = [_call(call) for call in message.get("tool_calls") or ()]
            tools |= {call.id: call.function for call in calls}
            converted.append(model.ChatMessageAssistant(content=content, tool_calls=calls or None))
        elif role == "tool":
            name = str(message.get("tool_call_id") or "")
            converted.append(model.ChatMessageTool(content=content, tool_call_id=name, function=tools.get(name)))
        else:
            converted.append(kinds[role](content=content))
    return converted


def _call(call: Mapping[str, Any]) -> Any:
    """A call. Arguments that are no JSON object are kept as the text that the model wrote."""
    tool: Any = import_module("inspect_ai.tool")
    name, text = call["function"]["name"], call["function"]["arguments"]
    try:
        arguments = json.loads(text)
        wrong = None if isinstance(arguments, dict) else "the arguments are not an object"
    except ValueError as error:
        arguments, wrong = None, str(error)
    return tool.ToolCall(
        id=str(call.get("id") or ""),
        function=name,
        arguments={"arguments": text} if wrong else arguments,
        parse_error=wrong,
    )
