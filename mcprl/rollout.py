"""Rollouts: the policy works on scenarios on the live server, many at once, each turn with the ids that were sampled.

A bad tool call is not an error: the policy reads what went wrong and goes on.
"""

import hashlib
import json
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import anyio

from mcprl.chat.prompts import opening_messages
from mcprl.config import Config, EvalConfig, RolloutConfig
from mcprl.engines import Engine
from mcprl.errors import EngineError, ServerError
from mcprl.events import Emit, Note, Sampled, ignore
from mcprl.runs.journal import Journal
from mcprl.runs.ledger import discard
from mcprl.servers.effects import writes
from mcprl.types import (
    Adapter,
    CachesReads,
    CallRecord,
    Completion,
    CompletionRequest,
    Group,
    Scenario,
    Session,
    StateHolds,
    StopReason,
    TakesTurns,
    ToolResult,
    ToolServer,
    Trajectory,
)


@dataclass(frozen=True)
class Sampler:
    """Samples rollouts of scenarios on a live server, many at once. With a journal, each is recorded as soon as it is
    complete, and those that the journal holds are not sampled again."""

    config: Config
    server: ToolServer
    engine: Engine
    journal: Journal | None = None
    emit: Emit = ignore

    async def groups(
        self, phase: str, step: int, scenarios: Sequence[Scenario], group_size: int, adapter: Adapter | None
    ) -> list[Group]:
        """A group of `group_size` rollouts for each scenario (P), sampled from `adapter`, or from the base model.

        Phase, step, scenario and the rollout's number in its group give the trajectory's id and its seed. Held-out
        phases sample at `eval.temperature`. Raises `ServerError` if most rollouts broke, and `EngineError` if none had
        a turn in time.
        """
        recorded = self._recorded(phase, step)
        if adapter and not self.is_sampled(phase, step, scenarios, group_size):
            await self.load(adapter)
        temperature = (self.config.rollout if phase in ("train", "difficulty") else self.config.eval).temperature
        limiter = anyio.CapacityLimiter(self.config.engine.max_batch)
        trajectories: dict[tuple[int, int], Trajectory] = {}
        server = self.server
        if self.config.tools.cache_reads and isinstance(server, CachesReads):
            server = server.caching_reads()

        async def sample(p: int, g: int) -> None:
            name = _name(phase, step, scenarios[p], g)
            async with limiter:
                trajectories[p, g] = recorded.get(name) or await self._sample(
                    server, scenarios[p], name, phase, step, adapter, temperature
                )
            self.emit(Sampled(phase, len(trajectories), group_size * len(scenarios)))

        async with anyio.create_task_group() as tasks:
            for p in range(len(scenarios)):
                for g in range(group_size):
                    tasks.start_soon(sample, p, g)
        if note := check_finished(list(trajectories.values()), self.config.rollout):
            self.emit(Note(note))
        members = ((scenario, range(group_size)) for scenario in scenarios)
        return [Group(scenario, tuple(trajectories[p, g] for g in G)) for p, (scenario, G) in enumerate(members)]

    async def load(self, adapter: Adapter) -> None:
        """Have the engine take the adapter. Raises `EngineError` if it does not within the deadline of a rollout."""
        with anyio.move_on_after(self.config.rollout.deadline_s):
            return await self.engine.load_adapter(adapter)
        raise EngineError(
            f"the engine took no adapter in {self.config.rollout.deadline_s:g} s; --deadline-s gives more"
        )

    def is_sampled(self, phase: str, step: int, scenarios: Sequence[Scenario], group_size: int) -> bool:
        """Whether the journal holds every rollout of these groups, so that no adapter is needed."""
        recorded = {each.trajectory_id for each in self.journal.outcomes(phase, step)} if self.journal else set[str]()
        return all(_name(phase, step, scenario, g) in recorded for scenario in scenarios for g in range(group_size))

    def _recorded(self, phase: str, step: int) -> dict[str, Trajectory]:
        """The journal's rollouts by id. If so many broke that they stopped the run, those are discarded, to be sampled
        anew."""
        if not self.journal:
            return {}
        recorded = {each.id: each for each in self.journal.trajectories(phase, step)}
        try:
            check_finished(list(recorded.values()), self.config.rollout)
        except (ServerError, EngineError) as error:
            failed = [name for name, each in recorded.items() if each.stop == "error" or not each.turns]
            discard(self.journal, phase, step, failed, str(error))
            recorded = {name: each for name, each in recorded.items() if name not in failed}
        return recorded

    async def _sample(
        self,
        server: ToolServer,
        scenario: Scenario,
        name: str,
        phase: str,
        step: int,
        adapter: Adapter | None,
        temperature: float,
    ) -> Trajectory:
        trajectory = await rollout(
            scenario,
            server,
            self.engine,
            self.config.rollout,
            name=name,
            seed=self.config.seed,
            adapter=adapter.name if adapter else None,
            temperature=temperature,
        )
        if self.journal:
            self.journal.write_trajectories(phase, step, [trajectory])
        return trajectory


def equal_rollouts(config: EvalConfig) -> str:
    """A sentence about several greedy rollouts of each test task, empty if they are not greedy or not several."""
    if config.rollouts == 1 or config.temperature > 0:
        return ""
    return (
        f"{config.rollouts} rollouts of each test task at temperature 0 are alike: they take {config.rollouts} times "
        "as long as one and show hardly more; set eval.temperature above 0"
    )


def check_finished(trajectories: Sequence[Trajectory], config: RolloutConfig) -> str:
    """A sentence about rollouts that ran out of time, empty if few did.

    Raises `ServerError` if most rollouts broke, and `EngineError` if none had its first turn in time.
    """
    broken = [trajectory for trajectory in trajectories if trajectory.stop == "error"]
    if len(broken) > len(trajectories) / 2:
        raise ServerError(f"{len(broken)} of {len(trajectories)} rollouts broke; the last: {broken[-1].error}")
    late = [trajectory for trajectory in trajectories if trajectory.stop == "deadline"]
    if late and len(late) == len(trajectories) and not any(trajectory.turns for trajectory in trajectories):
        raise EngineError(
            f"none of {len(late)} rollouts had its first turn within {config.deadline_s:g} seconds; give them more "
            "(--deadline-s), or take a smaller model or a faster engine"
        )
    if len(late) <= len(trajectories) / 10:
        return ""
    count = f"{len(late)} of {len(trajectories)} rollouts"
    return f"{count} ran out of time: tests count them as they stood, training leaves them out; --deadline-s gives more"


async def rollout(
    scenario: Scenario,
    server: ToolServer,
    engine: Engine,
    config: RolloutConfig,
    *,
    name: str,
    seed: int,
    adapter: str | None,
    temperature: float | None = None,
) -> Trajectory:
    """One rollout of a scenario. What the server, the engine or the policy does wrong is data: a rollout that broke is
    repeated in a fresh session, and has `stop == "error"` if it breaks again. Raises `EngineError` only if the
    engine failed for good."""
    attempt = 0
    while True:
        await engine.ready()  # the wait for an engine that starts does not count towards the deadline
        seed_of_attempt = _seed(seed, name, attempt)
        # The wait for a turn on a shared state does not count towards the deadline either.
        turn = server.turn(writes(scenario, server.tools)) if isinstance(server, TakesTurns) else nullcontext()
        conversation = _Conversation(scenario, server, engine, config, seed_of_attempt, adapter, temperature)
        began, error = time.perf_counter(), ""
        try:
            async with turn:
                began = time.perf_counter()
                with anyio.move_on_after(config.deadline_s):
                    await conversation.run()
        except (ServerError, EngineError) as failure:
            error, conversation.stop = f"{type(failure).__name__}: {failure}", "error"
        if conversation.stop != "error" or attempt == config.retries:
            return conversation.trajectory(name, time.perf_counter() - began, error)
        attempt += 1


class _Conversation:
    """One rollout while it runs. If a deadline ends it, what it has so far is the trajectory."""

    def __init__(
        self,
        scenario: Scenario,
        server: ToolServer,
        engine: Engine,
        config: RolloutConfig,
        seed: int,
        adapter: str | None,
        temperature: float | None,
    ) -> None:
        self.scenario, self.server, self.engine, self.config = scenario, server, engine, config
        self.seed, self.adapter = seed, adapter
        self.temperature = config.temperature if temperature is None else temperature
        self.messages = opening_messages(scenario.request, server.instructions)
        self.turns: list[Completion] = []
        self.calls: list[CallRecord] = []
        self.before: list[ToolResult] = []
        self.state: list[ToolResult] = []
        self.stop: StopReason = "deadline"

    async def run(self) -> None:
        async with self.server.session(self.scenario.setup) as session:
            await self._look(session, self.before)
            stop = await self._converse(session)
            await self._look(session, self.state)
            self.stop = stop

    async def _look(self, session: Session, results: list[ToolResult]) -> None:
        """Append the result of each of the scenario's `StateHolds` reads."""
        for check in self.scenario.checks:
            if isinstance(check, StateHolds):
                results.append(await session.call(check.tool, check.arguments))

    async def _converse(self, session: Session) -> StopReason:
        for turn in range(self.config.max_turns):
            context = (*self.turns[-1].prompt_ids, *self.turns[-1].completion_ids) if self.turns else ()
            if len(context) >= self.config.max_total_tokens:
                return "max_tokens"
            completion = await self.engine.complete(
                CompletionRequest(
                    tuple(self.messages),
                    tuple(self.server.tools),
                    context,
                    min(self.config.max_tokens, self.config.max_total_tokens - len(context)),
                    self.temperature,
                    self.seed + turn,
                    self.adapter,
                )
            )
            self.turns.append(completion)
            self.messages.append(completion.message)
            if completion.finish_reason == "length":
                return "max_tokens"
            if not await self._answer_calls(session, turn, completion):
                return "answered"
        return "max_turns"

    async def _answer_calls(self, session: Session, turn: int, completion: Completion) -> bool:
        """Make the calls of a turn and append their results; false if it made none and so is the answer."""
        requested: list[dict[str, Any]] = completion.message.get("tool_calls") or []
        for call in requested:
            arguments = json.loads(call["function"]["arguments"])
            result = await session.call(call["function"]["name"], arguments)
            self.calls.append(CallRecord(turn, call["function"]["name"], arguments, result))
            self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": result.text})
        for problem in completion.malformed:
            self.calls.append(CallRecord(turn, "", None, ToolResult(problem, is_error=True)))
        if completion.malformed:
            self.messages.append({"role": "user", "content": "Error: " + "; ".join(completion.malformed)})
        return bool(requested or completion.malformed)

    def trajectory(self, name: str, seconds: float, error: str) -> Trajectory:
        return Trajectory(
            name,
            self.scenario.id,
            tuple(self.messages),
            tuple(self.turns),
            tuple(self.calls),
            tuple(self.state),
            self.stop,
            error,
            seconds,
            tuple(self.before),
        )


def _name(phase: str, step: int, scenario: Scenario, member: int) -> str:
    return f"{phase}/{step}/{scenario.id}/{member}"


def _seed(seed: int, name: str, attempt: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}:{name}:{attempt}".encode()).digest()[:6])
