"""How a model, or an adapter on it, does on a benchmark: `mcprl bench ...`."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import anyio

from mcprl.benches import Assessment, Bench, Played, Steps, Talking, TalkingBench, Task, open_bench
from mcprl.config import Config
from mcprl.engines import Engine
from mcprl.engines.conversation import Conversation
from mcprl.engines.machine import resolve
from mcprl.errors import BudgetError, ConfigError, EngineError, LlmError, ModelError
from mcprl.events import Emit, Note, Sampled, ignore
from mcprl.files import AUTO, find_cache
from mcprl.llm import LanguageModel, open_llm
from mcprl.llm.agent import open_policy
from mcprl.llm.policy import PolicyLlm
from mcprl.runs.attempts import PassRate, pass_rates
from mcprl.runs.cards import with_card
from mcprl.text import counted
from mcprl.types import Adapter, Call, Message, Session

MESSAGES = 30
"""Messages of a user who is played, at most."""


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
    user: str = "",
    emit: Emit = ignore,
) -> Measurement:
    """Have the configured model, and with `adapter` that as well, do the tasks of a benchmark's categories, or of all.

    With a `limit`, that many tasks of each category are drawn by the seed. The language model `user` (litellm's name,
    or "policy") plays the users, whose messages are the tasks' own otherwise. Raises `BenchError`, `ConfigError`,
    `LlmError`, `ModelError` or `EngineError`.
    """
    if adapter is not None and not (adapter / "adapter_model.safetensors").is_file():
        raise ModelError(f"{adapter} holds no adapter; a run keeps its adapters in runs/NAME/adapters/step-N")
    bench = open_bench(name)
    if user and not isinstance(bench, TalkingBench):
        raise ConfigError(f"{name} has no users to play; leave out --user-model {user}")
    tasks = [task for category in categories or bench.categories for task in drawn(bench, category, limit, config.seed)]
    config = resolve(with_card(config, adapter) if adapter else config)
    async with open_policy(config, Path(config.runs_dir) / "bench-vllm.log", emit) as engine:
        player = _player(config, user, PolicyLlm(engine)) if user else None
        base = await attempts(config, bench, tasks, engine, None, emit, user=player)
        trained: tuple[Attempt, ...] = ()
        if adapter:
            loaded = Adapter(str(adapter), 1)
            await engine.load_adapter(loaded)
            trained = await attempts(config, bench, tasks, engine, loaded.name, emit, user=player)
    verdicts = ([attempt.verdict.passed for attempt in attempts] for attempts in (base, trained))
    return Measurement(config.model.name, base, trained, pass_rates(*verdicts))


def _player(config: Config, user: str, policy: PolicyLlm) -> LanguageModel:
    """The language model that plays users, greedily. Raises as `LanguageModel.require`."""
    player = open_llm(
        user,
        "--user-model",
        policy,
        max_cost=config.engine.max_cost,
        cache=find_cache(AUTO, "agents"),
        extra={"temperature": 0.0},
        limit="--max-model-cost",
    )
    player.require()
    return player


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
    user: LanguageModel | None = None,
) -> tuple[Attempt, ...]:
    """One attempt at each task, many at once, at the temperature of tests. `keep` gets each as soon as it is made.
    `user` plays the users of a `TalkingBench`."""
    limiter = anyio.CapacityLimiter(config.engine.max_batch)
    done: dict[str, Attempt] = {}
    await engine.ready()

    async def attempt(task: Task) -> None:
        async with limiter:
            talk = bench.talk(task, user) if user and isinstance(bench, TalkingBench) else None
            done[task.id] = await _attempt(config, bench, task, engine, adapter, talk)
        keep(done[task.id])
        emit(Sampled("trained" if adapter else "base", len(done), len(tasks)))

    async with anyio.create_task_group() as group:
        for task in tasks:
            group.start_soon(attempt, task)
    if broken := [each.error for each in done.values() if each.error]:
        emit(Note(f"{len(broken)} of {counted(len(tasks), 'task')} broke, counted as failed; the last: {broken[-1]}"))
    return tuple(done[task.id] for task in tasks)


async def _attempt(
    config: Config, bench: Bench, task: Task, engine: Engine, adapter: str | None, talk: Talking | None
) -> Attempt:
    episode = talk or bench.begin(task)
    limits = config.rollout.model_copy(update={"max_turns": task.steps})
    conversation = Conversation(engine, limits, task.tools, [], config.seed, adapter, config.eval.temperature)
    turns: list[Steps] = []
    error = ""
    try:
        with anyio.move_on_after(limits.deadline_s * (MESSAGES if talk else len(task.messages))) as scope:
            await _converse(_messages(task, conversation, talk), task, conversation, episode, turns)
        if scope.cancelled_caught:
            error = f"ran out of {limits.deadline_s:g} s a message; --deadline-s gives more"
    except BudgetError:
        raise
    except (EngineError, LlmError) as failure:
        error = f"{type(failure).__name__}: {failure}"
    played = Played(tuple(turns), _answer(conversation))
    verdict = episode.verdict(played)
    if error:
        verdict = Assessment(dict.fromkeys(verdict.passed, False), error)
    return Attempt(task, played, verdict, error)


async def _messages(task: Task, conversation: Conversation, talk: Talking | None) -> AsyncIterator[tuple[Message, ...]]:
    """The messages that begin each turn of the user: the task's own, or those of the user who is played."""
    if not talk:
        for messages in task.messages:
            yield messages
        return
    said: str | None = await talk.says("")
    before = task.messages[0][:-1]
    for _ in range(MESSAGES):
        if said is None:
            return
        yield (*before, {"role": "user", "content": said})
        before = ()
        said = await talk.says(_answer(conversation))


async def _converse(
    messages: AsyncIterator[tuple[Message, ...]],
    task: Task,
    conversation: Conversation,
    episode: Session,
    turns: list[Steps],
) -> None:
    """Play a task; `turns` gets the policy's steps after each of the user's turns, if it ended by itself.

    One that used up its steps has ended, too, if it has but one: a static task, whose calls are not made.
    """
    async for opening in messages:
        if offered := task.later.get(len(turns)):
            conversation.offer(offered)
        conversation.messages.extend(opening)
        began, calls = len(conversation.turns), len(conversation.calls)
        stop = await conversation.answer(episode)
        made: list[list[Call]] = [[] for _ in conversation.turns[began:]]
        for record in conversation.calls[calls:]:
            if record.arguments is not None:
                made[record.turn].append(Call(record.tool, record.arguments))
        turns.append(tuple(tuple(step) for step in made))
        if stop == "max_tokens" or (stop == "max_turns" and task.steps > 1):
            return


def _answer(conversation: Conversation) -> str:
    """The policy's last words, if the conversation ends with them."""
    last = conversation.messages[-1] if conversation.messages else {}
    return str(last.get("content") or "") if last.get("role") == "assistant" else ""


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
