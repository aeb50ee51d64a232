"""Compose the tasks of one split: how many of which kind, on which states of the server, none twice, and each one
executed again in another session, since what does not repeat cannot be asked for.
"""

import json
from collections import Counter
from collections.abc import Sequence

import anyio

from mcprl.config import ScenarioConfig
from mcprl.errors import ServerError
from mcprl.judges.checks import holds
from mcprl.scenarios.fields import usable
from mcprl.scenarios.kinds import Kind, fill, kinds, write
from mcprl.scenarios.knowledge import Knowledge, State
from mcprl.scenarios.planner import Planner, call_of
from mcprl.scenarios.probe import read_around
from mcprl.types import Fact, SaysMissing, Scenario, Split, Tool, ToolServer


class Composer:
    """Makes the tasks of one split. Of `known`, only what proves to change by itself is added to."""

    def __init__(self, server: ToolServer, known: Knowledge, split: Split, seed: int, config: ScenarioConfig) -> None:
        self._server, self._known, self._config = server, known, config
        self._planner = Planner(known, split, seed, config.max_calls)
        self._rng = self._planner.rng
        self._requests: set[str] = set()
        self._meanings: Counter[str] = Counter()

    async def compose(self, target: int) -> list[Scenario]:
        """About `target` tasks; fewer where the server does not hold enough different things."""
        known, made = self._known, list[Scenario]()
        writes = known.writes()
        empty = bool(known.creators) and sum(len(values) for values in known.base.pool.values()) < 12
        share = 0.0 if not writes else 0.35 if empty else 0.2
        readers = target - round(target * share)
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

    async def _new_state(self) -> State | None:
        """A state of its own: a few calls of a writing tool that works on a fresh session, with invented values."""
        known = self._known
        bound = [trip.write for trip in known.round_trips if trip.bind and trip.write in known.creators]
        tool = known.tools[self._rng.choice(bound or known.creators)]
        fillings = [fill(self._planner, tool, State(), references=False) for _ in range(self._rng.randint(2, 4))]
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
        """Tasks that read, of each kind its share; a kind is given up once it has failed far more often than not."""
        if target <= 0:
            return []
        shares = kinds(self._config.max_calls)
        drafts: list[Scenario] = []
        made, failed = Counter[Kind](), Counter[Kind]()
        began = anyio.current_time()
        async with self._server.session(state.setup) as session:
            while shares and len(drafts) < target * 1.1:
                kind = min(shares, key=lambda kind: (made[kind] + self._rng.random()) / shares[kind])
                scenario = await kind(self._planner, session, state)
                if scenario is not None and self._is_new(scenario):
                    made[kind] += 1
                    drafts.append(scenario)
                    continue
                failed[kind] += 1
                if failed[kind] > 40 + 12 * made[kind]:
                    del shares[kind]
            if state is self._known.base:
                await anyio.sleep(max(0.0, began + self._config.repeat_after_s - anyio.current_time()))
            # The first session stays open, so that a pool has to give another process with its own clocks and counters.
            return (await self._repeatable(state, drafts))[:target]

    async def _repeatable(self, state: State, drafts: Sequence[Scenario]) -> list[Scenario]:
        """The drafts whose plan gives the same facts in another session. What differed once is not asked for again."""
        kept: list[Scenario] = []
        async with self._server.session(state.setup) as session:
            for scenario in drafts:
                results = [await session.call(call.tool, call.arguments) for call in scenario.plan]
                facts = [check for check in scenario.checks if isinstance(check, Fact)]
                last = scenario.plan[-1].tool
                changed = {(last, f.name) for f in facts if not any(holds(r.text, f.value) for r in results)}
                failing = any(isinstance(check, SaysMissing) for check in scenario.checks)
                if changed and usable(results[-1]):
                    self._known.volatile |= changed
                elif failing == (not usable(results[-1])):
                    kept.append(scenario)
        return kept

    async def _writes(self, state: State, writes: Sequence[Tool], target: int) -> list[Scenario]:
        """Tasks that write, one writing tool after the other.

        All are made in one session, since starting a process for each would cost more than everything else together.
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
        """Whether a task is worth keeping beside those made: a test asks for a fact once, training at most in two
        wordings.
        """
        plan = [[call.tool, call.arguments] for call in scenario.plan]
        meaning = json.dumps(plan + [str(check) for check in scenario.checks])
        most = 2 if scenario.split == "train" else 1
        if scenario.request in self._requests or self._meanings[meaning] >= most:
            return False
        self._requests.add(scenario.request)
        self._meanings[meaning] += 1
        return True
