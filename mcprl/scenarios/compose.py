"""Compose the tasks of one split: how many of which kind, on which states of the server, and none twice.

Each task that reads is executed again in another session. A task whose facts change is dropped.
"""

import json
from collections import Counter
from collections.abc import Sequence

import anyio

from mcprl.config import ScenarioConfig
from mcprl.errors import ServerError
from mcprl.judges.checks import holds
from mcprl.scenarios.fields import usable
from mcprl.scenarios.kinds import MakeTask, reading_kinds, write
from mcprl.scenarios.knowledge import Knowledge, State
from mcprl.scenarios.planner import Planner, call_of
from mcprl.scenarios.probe import read_around
from mcprl.types import Fact, SaysMissing, Scenario, Session, Split, Tool, ToolServer


class Composer:
    """Makes the tasks of one split. It adds to `known.volatile` and otherwise only reads `known`."""

    def __init__(self, server: ToolServer, known: Knowledge, split: Split, seed: int, config: ScenarioConfig) -> None:
        self._server = server
        self._known = known
        self._config = config
        self._planner = Planner(known, split, seed, config.max_calls)
        self._rng = self._planner.rng
        self._requests: set[str] = set()
        self._meanings: Counter[str] = Counter()

    async def compose(self, target: int) -> list[Scenario]:
        """About `target` tasks; fewer if the server does not hold enough different values.

        An empty server is one that holds almost nothing until something is created (a memory, a notebook). Most of its
        tasks are set in states of their own.
        """
        known = self._known
        writes = known.writes()
        empty = bool(known.creators) and sum(len(values) for values in known.base.pool.values()) < 12
        readers = target - round(target * self._share_of_writes(empty))
        made: list[Scenario] = []
        if not empty or any(not self._planner.needs(tool) for tool in known.reads()):
            made += await self._reads(known.base, target // 4 if empty else readers)
        for _ in range(target if known.creators else 0):
            if len(made) >= readers:
                break
            state = await self._new_state()
            if state is None:
                continue
            made += await self._reads(state, min(8, readers - len(made)))
            if writes and empty:
                made += await self._writes(state, writes, 4)
        made += await self._writes(known.base, writes, target - len(made))
        if not empty:
            made += await self._reads(known.base, target - len(made))
        self._rng.shuffle(made)
        return made[:target]

    def _share_of_writes(self, empty: bool) -> float:
        """The share of the tasks that write."""
        if not self._known.writes():
            return 0.0
        return 0.35 if empty else 0.2

    async def _new_state(self) -> State | None:
        """A state of its own: a few calls of a creator with invented values. `None` if they cannot be made or fail.

        Creators whose values a read can be called with come first.
        """
        known = self._known
        readable = [trip.write for trip in known.round_trips if trip.bind and trip.write in known.creators]
        tool = known.tools[self._rng.choice(readable or known.creators)]
        fillings = [self._planner.fill_write(tool, State(), references=False) for _ in range(self._rng.randint(2, 4))]
        calls = [call_of(tool, filled) for filled in fillings if filled]
        if not calls:
            return None
        state = State(setup=tuple(calls))
        try:
            async with self._server.session(state.setup) as session:
                for call in calls:
                    state.harvest(tool.name, call.arguments)
                await read_around(known, state, session, self._rng)
        except ServerError:
            return None
        return state

    async def _reads(self, state: State, target: int) -> list[Scenario]:
        """Tasks that read, each kind with its share. All are executed again `repeat_after_s` later."""
        if target <= 0:
            return []
        began = anyio.current_time()
        async with self._server.session(state.setup) as session:
            scenarios = await self._draw_reads(session, state, target * 1.1)
            if state is self._known.base:
                await anyio.sleep(max(0.0, began + self._config.repeat_after_s - anyio.current_time()))
            # The first session stays open, so that a pool has to give another process with its own clocks and counters.
            return (await self._repeatable(state, scenarios))[:target]

    async def _draw_reads(self, session: Session, state: State, target: float) -> list[Scenario]:
        """Tasks that read, until there are `target`. A kind is given up after 40 failures and 12 more a success."""
        shares = reading_kinds(self._config.max_calls)
        scenarios: list[Scenario] = []
        made = Counter[MakeTask]()
        failed = Counter[MakeTask]()
        while shares and len(scenarios) < target:
            kind = min(shares, key=lambda kind: (made[kind] + self._rng.random()) / shares[kind])
            scenario = await kind(self._planner, session, state)
            if scenario is not None and self._is_new(scenario):
                made[kind] += 1
                scenarios.append(scenario)
                continue
            failed[kind] += 1
            if failed[kind] > 40 + 12 * made[kind]:
                del shares[kind]
        return scenarios

    async def _repeatable(self, state: State, scenarios: Sequence[Scenario]) -> list[Scenario]:
        """The scenarios whose plan gives the same facts in another session.

        Facts that changed are added to `known.volatile`: no later task asks for them.
        """
        kept: list[Scenario] = []
        async with self._server.session(state.setup) as session:
            for scenario in scenarios:
                results = [await session.call(call.tool, call.arguments) for call in scenario.plan]
                facts = [check for check in scenario.checks if isinstance(check, Fact)]
                last = scenario.plan[-1].tool
                changed = {(last, f.name) for f in facts if not any(holds(r.text, f.value) for r in results)}
                must_fail = any(isinstance(check, SaysMissing) for check in scenario.checks)
                if changed and usable(results[-1]):
                    self._known.volatile |= changed
                elif must_fail != usable(results[-1]):
                    kept.append(scenario)
        return kept

    async def _writes(self, state: State, writes: Sequence[Tool], target: int) -> list[Scenario]:
        """Tasks that write, the writing tools in turn.

        All are made in one session: a process for each would cost more than everything else together.
        """
        made: list[Scenario] = []
        if target <= 0 or not writes:
            return made
        async with self._server.session(state.setup) as clean, self._server.session(state.setup) as written:
            for attempt in range(target * 3):
                if len(made) >= target:
                    break
                scenario = await write(self._planner, clean, written, state, writes[attempt % len(writes)])
                if scenario is not None and self._is_new(scenario):
                    made.append(scenario)
        return made

    def _is_new(self, scenario: Scenario) -> bool:
        """Whether no task like this was made. Training tasks may ask for a fact in two wordings, others in one."""
        plan = [[call.tool, call.arguments] for call in scenario.plan]
        meaning = json.dumps(plan + [str(check) for check in scenario.checks])
        wordings = 2 if scenario.split == "train" else 1
        if scenario.request in self._requests or self._meanings[meaning] >= wordings:
            return False
        self._requests.add(scenario.request)
        self._meanings[meaning] += 1
        return True
