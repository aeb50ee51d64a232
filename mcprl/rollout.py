"""Rollouts: the policy tries scenarios on the live server, many at once, each turn with the ids that were sampled.

A try that breaks because the server or the engine broke is made again in a fresh session, and is data with
`stop == "error"` if that does not help. A bad call is not an error: the policy reads what went wrong and goes on.
"""

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import anyio

from mcprl.chat.prompts import opening_messages
from mcprl.config import RolloutConfig
from mcprl.engines import Engine
from mcprl.errors import EngineError, ServerError
from mcprl.types import (
    CallRecord,
    Completion,
    CompletionRequest,
    Scenario,
    Session,
    StateHolds,
    StopReason,
    ToolResult,
    ToolServer,
    Trajectory,
)


async def rollouts(
    scenarios: Sequence[Scenario],
    tries: int,
    server: ToolServer,
    engine: Engine,
    config: RolloutConfig,
    *,
    label: str,
    seed: int,
    adapter: str | None,
    temperature: float | None = None,
    limit: int = 64,
    recorded: Mapping[str, Trajectory] | None = None,
    done: Callable[[Trajectory], None] = lambda _: None,
) -> list[list[Trajectory]]:
    """`tries` rollouts of each scenario, at most `limit` at a time, as trajectories_P_G.

    `label` names the step; with the scenario and the number of the try it gives the trajectory's id and its seed, so
    that the same step samples the same numbers. `done` is called with each trajectory as soon as it is there; those in
    `recorded` (by id) are not made again.
    """
    limiter = anyio.CapacityLimiter(limit)
    found: dict[tuple[int, int], Trajectory] = {}

    async def one(p: int, g: int) -> None:
        async with limiter:
            name = f"{label}/{scenarios[p].id}/{g}"
            if recorded and name in recorded:
                found[p, g] = recorded[name]
                return
            found[p, g] = await rollout(
                scenarios[p], server, engine, config, name=name, seed=seed, adapter=adapter, temperature=temperature
            )
            done(found[p, g])

    async with anyio.create_task_group() as group:
        for p in range(len(scenarios)):
            for g in range(tries):
                group.start_soon(one, p, g)
    return [[found[p, g] for g in range(tries)] for p in range(len(scenarios))]


def unfinished(tries: Sequence[Trajectory], config: RolloutConfig) -> str:
    """What is to be said of tries that were cut short: nothing where that were few.

    Raises `ServerError` where most broke, and `EngineError` where time ran out before the first turn of every one.
    """
    broken = [tried for tried in tries if tried.stop == "error"]
    if len(broken) > len(tries) / 2:
        raise ServerError(f"{len(broken)} of {len(tries)} rollouts broke; the last: {broken[-1].error}")
    late = [tried for tried in tries if tried.stop == "deadline"]
    if late and len(late) == len(tries) and not any(tried.turns for tried in tries):
        raise EngineError(
            f"none of {len(tries)} rollouts had its first turn within {config.deadline_s:g} seconds; give them more "
            "(--deadline-s), or take a smaller model or a faster engine"
        )
    if len(late) <= len(tries) / 10:
        return ""
    return f"{len(late)} of {len(tries)} rollouts ran out of time and count as they stood; --deadline-s gives them more"


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
    """One try of a scenario. What the server, the engine or the policy does wrong is data; `EngineError` is raised only
    where there is no engine any more."""
    error = ""
    for attempt in range(config.retries + 1):
        await engine.ready()  # the wait for an engine that starts is not the try's
        began = time.perf_counter()
        live = _Conversation(scenario, server, engine, config, _seed(seed, name, attempt), adapter, temperature)
        try:
            with anyio.move_on_after(config.deadline_s):
                await live.run()
        except (ServerError, EngineError) as broken:
            error, live.stop = f"{type(broken).__name__}: {broken}", "error"
        trajectory = live.trajectory(name, time.perf_counter() - began, error if live.stop == "error" else "")
        if live.stop != "error" or attempt == config.retries:
            return trajectory
    raise AssertionError("unreachable: the last attempt always returns")


class _Conversation:
    """One try while it runs. What it has when a deadline cuts it short is the trajectory."""

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
        self.state: list[ToolResult] = []
        self.stop: StopReason = "deadline"

    async def run(self) -> None:
        async with self.server.session(self.scenario.setup) as session:
            stop = await self._converse(session)
            for check in self.scenario.checks:
                if isinstance(check, StateHolds):
                    self.state.append(await session.call(check.tool, check.arguments))
            self.stop = stop

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
        """Make the calls of a turn and append what came back; false where the turn made none and so is the answer."""
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
        )


def _seed(seed: int, name: str, attempt: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}:{name}:{attempt}".encode()).digest()[:6])
