"""Rollouts: the policy works on scenarios on the live server, many at once."""

import hashlib
import time
from collections import defaultdict
from collections.abc import Callable, Container, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio

from mcprl.chat.prompts import opening_messages
from mcprl.config import Config, EvalConfig, RolloutConfig
from mcprl.engines import Engine
from mcprl.engines.conversation import Conversation
from mcprl.errors import EngineError, EngineLost, NotAlone, ServerError
from mcprl.events import Emit, Note, Repeated, Sampled, ignore
from mcprl.runs.journal import Journal
from mcprl.runs.ledger import TOO_FEW, discard, issued_again
from mcprl.servers.effects import turn_on, writes
from mcprl.servers.injecting import injected
from mcprl.servers.rewards import look, reward
from mcprl.text import counted
from mcprl.types import (
    Adapter,
    CachesReads,
    Call,
    Group,
    Scenario,
    Session,
    StateHolds,
    StopReason,
    ToolResult,
    ToolServer,
    Trajectory,
)

LOSSES = 3
"""How often a rollout that lost the engine is repeated beyond its retries: a dying server takes all turns with it, and
no rollout is to blame. `engine.restarts` says how often it is started again."""

Converse = Callable[..., Conversation]
"""Makes the conversation of a rollout from what `Conversation` takes."""


@dataclass(frozen=True)
class Sampler:
    """Samples rollouts of scenarios on a live server, many at once. With a journal, each is recorded as soon as it is
    complete, and those that the journal holds are not sampled again. `converse` leads their conversations."""

    config: Config
    server: ToolServer
    engine: Engine
    journal: Journal | None = None
    emit: Emit = ignore
    converse: Converse = Conversation

    async def groups(
        self,
        phase: str,
        step: int,
        scenarios: Sequence[Scenario],
        group_size: int,
        adapter: Adapter | None,
        given_calls: Mapping[str, int] | None = None,
    ) -> list[Group]:
        """A group of `group_size` rollouts for each scenario (P), sampled from `adapter`, or from the base model.

        Phase, step, scenario and the rollout's number in its group give the trajectory's id and its seed. Held-out
        phases sample at `eval.temperature`. `given_calls` has, by scenario id, how many calls of its plan are made for
        the policy; 0 by default. In training, what did not finish of a group is issued again, once, if too little of it
        did. Raises `ServerError` if most rollouts broke, and `EngineError` if none had a turn in time.
        """
        recorded = self._recorded(phase, step)
        turns = 0

        def on_turn() -> None:
            nonlocal turns
            turns += 1
            told()

        def told() -> None:
            self.emit(Sampled(phase, len(trajectories), group_size * len(scenarios), turns))

        play = self._play(phase, adapter, on_turn)
        limiter = anyio.CapacityLimiter(self.config.engine.max_batch)
        trajectories: dict[tuple[int, int], Trajectory] = {}
        missing = [(p, g) for p in range(len(scenarios)) for g in range(group_size)]

        async def sample(p: int, g: int, again: Container[str]) -> None:
            name, count = _name(phase, step, scenarios[p], g), (given_calls or {}).get(scenarios[p].id, 0)
            async with limiter:
                if name not in recorded:
                    seed = self.config.seed + (name in again)  # what did not finish is not drawn alike again
                    recorded[name] = await play(scenarios[p], name=name, seed=seed, given_calls=count)
                    if self.journal:
                        self.journal.write_trajectories(phase, step, [recorded[name]])
            trajectories[p, g] = recorded[name]
            told()

        while missing:
            if adapter and not self.is_sampled(phase, step, scenarios, group_size):
                await self.load(adapter)
            again = issued_again(self.journal, step) if self.journal and phase == "train" else set[str]()
            async with anyio.create_task_group() as tasks:
                for p, g in missing:
                    tasks.start_soon(sample, p, g, again)
            note = check_finished(list(trajectories.values()), self.config.rollout)
            missing = self._issue_again(step, trajectories) if phase == "train" else []
            for member in missing:
                recorded.pop(trajectories.pop(member).id, None)
            if note and not missing:
                self.emit(Note(note))
        members = ((scenario, range(group_size)) for scenario in scenarios)
        return [Group(scenario, tuple(trajectories[p, g] for g in G)) for p, (scenario, G) in enumerate(members)]

    def _play(
        self, phase: str, adapter: Adapter | None, on_turn: Callable[[], None]
    ) -> partial[Coroutine[Any, Any, Trajectory]]:
        """`rollout` with what all rollouts of a phase share. Its reads of the server are cached if that is allowed."""
        server = self.server
        if self.config.tools.cache_reads and isinstance(server, CachesReads):
            server = server.caching_reads()
        return partial(
            rollout,
            server=server,
            engine=self.engine,
            config=self.config.rollout,
            adapter=adapter.name if adapter else None,
            temperature=(self.config.rollout if phase in ("train", "difficulty") else self.config.eval).temperature,
            emit=self.emit,
            converse=self.converse,
            on_turn=on_turn,
        )

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

    def _issue_again(self, step: int, trajectories: Mapping[tuple[int, int], Trajectory]) -> list[tuple[int, int]]:
        """The members (p, g) to sample once more, which are discarded: those that did not finish, of groups in which
        fewer than half did, or fewer than two, and that no judge has scored. The journal knows who was issued again, so
        that a resumed run does not do it twice."""
        if not self.journal:
            return []
        known = issued_again(self.journal, step)
        known |= {each.trajectory_id for each in self.journal.outcomes("train", step) if each.value is not None}
        groups_P: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for p, g in sorted(trajectories):
            groups_P[p].append((p, g))
        again: list[tuple[int, int]] = []
        for members in groups_P.values():
            unfinished = [member for member in members if trajectories[member].stop in ("error", "deadline")]
            enough = len(members) - len(unfinished) >= max(2, len(members) / 2)
            if not enough and known.isdisjoint(trajectories[member].id for member in members):
                again += unfinished
        if again:
            discard(self.journal, "train", step, [trajectories[member].id for member in again], TOO_FEW)
            groups = f"{len({p for p, _ in again})} of {counted(len(groups_P), 'group')} of step {step}"
            rollouts = counted(len(again), "rollout")
            self.emit(Note(f"too few rollouts finished in {groups}: {rollouts} issued again"))
        return again


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
        count = f"{len(broken)} of {counted(len(trajectories), 'rollout')}"
        raise ServerError(f"{count} broke; the last: {broken[-1].error}")
    late = [trajectory for trajectory in trajectories if trajectory.stop == "deadline"]
    if late and len(late) == len(trajectories) and not any(trajectory.turns for trajectory in trajectories):
        raise EngineError(
            f"none of {counted(len(late), 'rollout')} had its first turn within {config.deadline_s:g} seconds; give "
            "them more (--deadline-s), or take a smaller model or a faster engine"
        )
    if len(late) <= len(trajectories) / 10:
        return ""
    count = f"{len(late)} of {counted(len(trajectories), 'rollout')}"
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
    emit: Emit = ignore,
    converse: Converse = Conversation,
    given_calls: int = 0,
    on_turn: Callable[[], None] | None = None,
) -> Trajectory:
    """One rollout of a scenario; the first `given_calls` calls of its plan are made for the policy.

    What the server, the engine or the policy does wrong is data: a rollout that broke is repeated in a fresh session
    (`retries`, `LOSSES`), and has `stop == "error"` if it breaks again. One that would write what others read, though
    its task only reads, begins again in a turn of its own. Raises `EngineError` only if the engine failed for good."""
    temperature = config.temperature if temperature is None else temperature
    attempt, losses, writing = 0, 0, writes(scenario, server.tools)
    while True:
        await engine.ready()  # the wait for an engine that starts does not count towards the deadline
        seed_of_attempt = _seed(seed, name, attempt)
        turn = turn_on(server, writing)  # nor does the wait for it
        messages = opening_messages(scenario.request, server.instructions)
        conversation = converse(engine, config, server.tools, messages, seed_of_attempt, adapter, temperature)
        conversation.on_turn = on_turn
        attempted = _Rollout(scenario, server, conversation, scenario.plan[:given_calls])
        began, error = time.perf_counter(), ""
        try:
            async with turn:
                began = time.perf_counter()
                await attempted.run(config.deadline_s)
        except NotAlone:
            writing = True
            continue
        except (ServerError, EngineError) as failure:
            error, attempted.stop = f"{type(failure).__name__}: {failure}", "error"
            losses += isinstance(failure, EngineLost)
        if attempted.stop != "error" or attempt >= config.retries + min(losses, LOSSES):
            return attempted.trajectory(name, time.perf_counter() - began, error)
        emit(Repeated(name, error))
        attempt += 1


class _Rollout:
    """One rollout while it runs. If a deadline ends it, what it has so far is the trajectory."""

    def __init__(
        self, scenario: Scenario, server: ToolServer, conversation: Conversation, given: Sequence[Call]
    ) -> None:
        self.scenario, self.server, self.conversation, self.given = scenario, server, conversation, given
        self.before: list[ToolResult] = []
        self.state: list[ToolResult] = []
        self.reward: float | None = None
        self.stop: StopReason = "deadline"

    async def run(self, deadline_s: float) -> None:
        """The rollout, cut off at its deadline. The server scores it as it stands then."""
        async with self.server.session(self.scenario.setup) as session:
            with anyio.move_on_after(deadline_s):
                await self._look(session, self.before)
                seen = injected(session, self.scenario)
                await self.conversation.give(seen, self.given)
                stop = await self.conversation.answer(seen)
                await self._look(session, self.state)
                self.stop = stop
            if check := self.scenario.reward_check:
                self.reward = await reward(session, check)

    async def _look(self, session: Session, results: list[ToolResult]) -> None:
        """Append the result of each of the scenario's `StateHolds` reads. Raises `ServerError` if one has none."""
        for check in self.scenario.checks:
            if isinstance(check, StateHolds):
                results.append(await look(session, check.tool, check.arguments))
                if results[-1].unanswered:
                    raise ServerError(f"the state cannot be read: {results[-1].text}")

    def trajectory(self, name: str, seconds: float, error: str) -> Trajectory:
        return Trajectory(
            name,
            self.scenario.id,
            tuple(self.conversation.messages),
            tuple(self.conversation.turns),
            tuple(self.conversation.calls),
            tuple(self.state),
            self.stop,
            error,
            seconds,
            tuple(self.before),
            self.reward,
        )


def _name(phase: str, step: int, scenario: Scenario, member: int) -> str:
    return f"{phase}/{step}/{scenario.id}/{member}"


def _seed(seed: int, name: str, attempt: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}:{name}:{attempt}".encode()).digest()[:6])
