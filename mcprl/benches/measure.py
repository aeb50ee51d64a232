"""How a model, or an adapter on it, does on a benchmark: `mcprl bench ...`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import anyio

from mcprl.benches import Assessment, Bench, Played, Steps, Task, open_bench
from mcprl.config import Config
from mcprl.engines import Engine
from mcprl.engines.conversation import Conversation
from mcprl.engines.machine import resolve
from mcprl.errors import EngineError, ModelError
from mcprl.events import Emit, Note, Sampled, ignore
from mcprl.llm.agent import open_policy
from mcprl.runs.attempts import PassRate, pass_rates
from mcprl.text import counted
from mcprl.types import Adapter, Call, Session


@dataclass(frozen=True)
class Attempt:
    """One task, what the policy did and the benchmark's verdict. `error` is set if the engine broke or
    the time ran out: it did not pass."""

    task: Task
    played: Played
    verdict: Assessment
    error: str = ""


@dataclass(frozen=True)
class Measurement:
    """The attempts of the base model, those of the adapter (in the same order), and the rates by what was measured."""

    model: str
    base: tuple[Attempt, ...]
    trained: tuple[Attempt, ...]
    rates: Mapping[str, PassRate]


async def measure(
    config: Config,
    name: str,
    categories: Sequence[str] = (),
    limit: int = 0,
    adapter: Path | None = None,
    emit: Emit = ignore,
) -> Measurement:
    """Have the configured model, and with `adapter` that as well, do the tasks of a benchmark's categories, or of all.

    With a `limit`, that many tasks of each category are drawn by the seed. Raises `BenchError`, `ConfigError`,
    `ModelError` or `EngineError`.
    """
    if adapter is not None and not (adapter / "adapter_model.safetensors").is_file():
        raise ModelError(f"{adapter} holds no adapter; a run keeps its adapters in runs/NAME/adapters/step-N")
    bench = open_bench(name)
    tasks = [task for category in categories or bench.categories for task in drawn(bench, category, limit, config.seed)]
    config = resolve(config)
    async with open_policy(config, Path(config.runs_dir) / "bench-vllm.log", emit) as engine:
        base = await attempts(config, bench, tasks, engine, None, emit)
        trained: tuple[Attempt, ...] = ()
        if adapter:
            loaded = Adapter(str(adapter), 1)
            await engine.load_adapter(loaded)
            trained = await attempts(config, bench, tasks, engine, loaded.name, emit)
    verdicts = ([attempt.verdict.passed for attempt in attempts] for attempts in (base, trained))
    return Measurement(config.model.name, base, trained, pass_rates(*verdicts))


def drawn(bench: Bench, category: str, limit: int, seed: int) -> list[Task]:
    """`limit` tasks of a category, or all if it is 0, in the benchmark's order."""
    tasks = bench.tasks(category)
    if not limit or limit >= len(tasks):
        return tasks
    chosen = sorted(Random(f"{seed}:{category}").sample(range(len(tasks)), limit))
    return [tasks[index] for index in chosen]


async def attempts(
    config: Config,
    bench: Bench,
    tasks: Sequence[Task],
    engine: Engine,
    adapter: str | None,
    emit: Emit = ignore,
    keep: Callable[[Attempt], None] = lambda attempt: None,
) -> tuple[Attempt, ...]:
    """One attempt at each task, many at once, at the temperature of tests. `keep` gets each as soon as it is made."""
    limiter = anyio.CapacityLimiter(config.engine.max_batch)
    done: dict[str, Attempt] = {}
    await engine.ready()

    async def attempt(task: Task) -> None:
        async with limiter:
            done[task.id] = await _attempt(config, bench, task, engine, adapter)
        keep(done[task.id])
        emit(Sampled("trained" if adapter else "base", len(done), len(tasks)))

    async with anyio.create_task_group() as group:
        for task in tasks:
            group.start_soon(attempt, task)
    if broken := [each.error for each in done.values() if each.error]:
        emit(Note(f"{len(broken)} of {counted(len(tasks), 'task')} broke, counted as failed; the last: {broken[-1]}"))
    return tuple(done[task.id] for task in tasks)


async def _attempt(config: Config, bench: Bench, task: Task, engine: Engine, adapter: str | None) -> Attempt:
    episode = bench.begin(task)
    limits = config.rollout.model_copy(update={"max_turns": task.steps})
    conversation = Conversation(engine, limits, task.tools, [], config.seed, adapter, config.eval.temperature)
    turns: list[Steps] = []
    error = ""
    try:
        with anyio.move_on_after(limits.deadline_s * len(task.messages)) as scope:
            await _converse(task, conversation, episode, turns)
        if scope.cancelled_caught:
            error = f"ran out of {limits.deadline_s:g} s a message; --deadline-s gives more"
    except EngineError as failure:
        error = f"{type(failure).__name__}: {failure}"
    last = conversation.messages[-1] if conversation.messages else {}
    answer = str(last.get("content") or "") if last.get("role") == "assistant" else ""
    played = Played(tuple(turns), answer)
    verdict = episode.verdict(played)
    if error:
        verdict = Assessment(dict.fromkeys(verdict.passed, False), error)
    return Attempt(task, played, verdict, error)


async def _converse(task: Task, conversation: Conversation, episode: Session, turns: list[Steps]) -> None:
    """Play the task; `turns` gets the policy's steps after each of the user's turns, if it ended by itself.

    One that used up its steps has ended, too, if it has but one: a static task, whose calls are not made.
    """
    for messages in task.messages:
        conversation.messages.extend(messages)
        began, calls = len(conversation.turns), len(conversation.calls)
        stop = await conversation.answer(episode)
        steps: list[list[Call]] = [[] for _ in conversation.turns[began:]]
        for record in conversation.calls[calls:]:
            if record.arguments is not None:
                steps[record.turn].append(Call(record.tool, record.arguments))
        turns.append(tuple(tuple(step) for step in steps))
        if stop == "max_tokens" or (stop == "max_turns" and task.steps > 1):
            return


def as_record(attempt: Attempt) -> dict[str, Any]:
    """The attempt as JSON."""
    turns = [[[[call.tool, call.arguments] for call in calls] for calls in steps] for steps in attempt.played.turns]
    return {
        "id": attempt.task.id,
        "category": attempt.task.category,
        "calls": turns,
        "answer": attempt.played.answer,
        "passed": dict(attempt.verdict.passed),
        "why": attempt.verdict.why,
    }
