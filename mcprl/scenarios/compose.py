"""Compose the tasks of one split and suite: how many of which kind, on which states of the server, and none twice.

Each task is played again before it is kept (`replays`).
"""

import json
import math
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import anyio

from mcprl.config import ScenarioConfig
from mcprl.errors import ServerError
from mcprl.judges.checks import holds
from mcprl.scenarios.brief import Brief, brief, lacking
from mcprl.scenarios.catalog import Catalog
from mcprl.scenarios.derivable import derivable
from mcprl.scenarios.kinds import (
    MakeTask,
    WriteTask,
    edit,
    has_rows,
    reading_kinds,
    table_kinds,
    table_write,
    write,
    writes_sql,
    writing_kinds,
)
from mcprl.scenarios.planner import Composed, Planner, word
from mcprl.scenarios.probing.draws import replacement
from mcprl.scenarios.probing.knowledge import Knowledge, State
from mcprl.scenarios.probing.probe import read_around
from mcprl.scenarios.probing.sessions import Renewed
from mcprl.scenarios.probing.tables import schema_reads
from mcprl.scenarios.probing.writing import can_write
from mcprl.scenarios.replays import Replays
from mcprl.scenarios.steps import Grounded, call_of
from mcprl.servers.effects import is_reset, turn_on
from mcprl.types import Scenario, Session, Split, Suite, Tool, ToolServer

_MOST = {
    "missing": 0.12,
    "asks": 0.08,
    "declines": 0.08,
    "action": 0.12,
    "count": 0.2,
    "each": 0.12,
    "compare": 0.1,
    "combine": 0.12,
    "both": 0.2,
}
"""The largest share of kinds that are made easily: without it they would be all that some servers get."""


_AFTER_RESET = 8
"""Draws of a task that writes after one reset of a shared state."""


_HOPE = 10
"""Draws in vain after which a kind of write is given up for a tool; each task that it gives makes up for as many."""
_USED, _STUCK = 12, 6
"""Tasks that write after which a session is used up, and draws in vain for each writing tool: an order that was
cancelled cannot be changed."""


def _holds_little(known: Knowledge) -> bool:
    return sum(len(values) for values in known.base.pool.values()) < 12


def _reads_what_was_written(known: Knowledge) -> bool:
    """Whether all reads that work show only what was written before: the documents that a session makes."""
    return bool(known.round_trips) and not any(known.examples.get(tool.name) for tool in known.reads())


def _without_surplus(scenarios: Sequence[Scenario]) -> list[Scenario]:
    """The tasks with no more of those that need no call than their share: they can be made where little else can."""
    kinds = Counter[str]()
    kept: list[Scenario] = []
    for scenario in scenarios:
        kinds[scenario.kind] += 1
        if scenario.plan or kinds[scenario.kind] <= math.ceil(_MOST.get(scenario.kind, 1.0) * len(scenarios)):
            kept.append(scenario)
    return kept


class Composer:
    """Makes the tasks of one split and suite, none with a request that stands in `requests`, to which it adds its own.

    It adds to `known.volatile` and otherwise only reads what is known.
    """

    def __init__(
        self,
        server: ToolServer,
        catalog: Catalog,
        split: Split,
        suite: Suite,
        seed: int,
        config: ScenarioConfig,
        requests: set[str],
    ) -> None:
        self._server = server
        self._known = catalog.known
        self._config = config
        self._planner = Planner(catalog, split, suite, seed, config.max_calls)
        self._replays = Replays(server, catalog.known)
        self._rng = self._planner.rng
        self._requests = requests
        self._composed: dict[str, Composed] = {}
        self._meanings: Counter[str] = Counter()
        self._attempts, self._made = Counter[str](), Counter[str]()
        self._vain = Counter[tuple[str, WriteTask]]()

    def brief(self, scenario: Scenario) -> Brief:
        """The brief of a task that was composed."""
        composed = self._composed[scenario.id]
        told = replace(scenario, answer=composed.found)
        return brief(told, self._replays.played.get(scenario.id, ()), self._known.tools, composed.named)

    async def compose(self, target: int) -> list[Scenario]:
        """About `target` tasks; fewer if the server does not hold enough different values.

        An empty server is one that holds almost nothing until something is created (a memory, a notebook). Most of its
        tasks are set in states of their own.
        """
        known = self._known
        writes = known.writes() if can_write(self._server, known) else []
        empty = bool(known.creators) and (_holds_little(known) or _reads_what_was_written(known))
        readers = target - round(target * self._share_of_writes(empty)) if writes else target
        made: list[Scenario] = []
        if not empty or any(not self._planner.catalog.needs(tool) for tool in known.reads()):
            made += await self._reads(known.base, target // 4 if empty else readers)
        barren = 0
        while empty and not known.shared and len(made) < readers and barren < 4:
            state = await self._new_state()
            more = await self._reads(state, min(8, readers - len(made))) if state else []
            if state and writes:
                more += await self._writes(state, writes, 4)
            barren = 0 if more else barren + 1
            made += more
        made += await self._writes(known.base, writes, min(target - len(made), round(0.35 * target)))
        self._rng.shuffle(made)
        return _without_surplus([scenario for scenario in made if self._says_all(scenario)][:target])

    def _says_all(self, scenario: Scenario) -> bool:
        """Whether each value of the plan is said, found by an earlier call, or shown by the server unasked."""
        asked = self.brief(scenario)
        found = "\n".join(record.result.text for record in self._replays.played.get(scenario.id, ())[:-1])
        named = [str(value) for value in self._composed[scenario.id].named if len(str(value)) > 1]
        defaults = [slot.schema.get("default") for call in scenario.plan for slot in self._known.slots[call.tool]]
        for value in (*lacking(scenario.request, asked), *asked.meant):
            short = self._planner.catalog.from_root(value)
            known = isinstance(value, bool) or derivable(short, scenario.request) or value in defaults
            made_of = scenario.kind == "adjust" or any(name in str(value) for name in named)
            if not (known or made_of or holds(found, value) or self._known.is_shown(value)):
                return False
        return True

    def _share_of_writes(self, empty: bool) -> float:
        """The share of the tasks that write."""
        if not self._known.writes():
            return 0.0
        return 0.35 if empty else 0.25

    async def _new_state(self) -> State | None:
        """A state of its own: a few calls of a creator with invented values. `None` if they cannot be made or fail.

        Creators whose values a read can be called with come first.
        """
        known = self._known
        readable = [trip.write for trip in known.round_trips if trip.bind and trip.write in known.creators]
        tool = known.tools[self._rng.choice(readable or known.creators)]
        fillings = [self._planner.filler.fill(tool, State(), references=False) for _ in range(self._rng.randint(2, 4))]
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
        renewed = Renewed(self._server, state.setup, kept=state.results)
        async with turn_on(self._server, writing=False), renewed as session:
            scenarios = await self._draw_reads(session, state, target * 1.1)
            if state is self._known.base:
                await anyio.sleep(max(0.0, began + self._config.repeat_after_s - anyio.current_time()))
            # The first session stays open, so that a pool has to give another process with its own clocks and counters.
            return (await self._replays.steady(state, scenarios))[:target]

    async def _draw_reads(self, session: Session, state: State, target: float) -> list[Scenario]:
        """Tasks that read, until there are `target`. A kind is given up after 60 failures and 12 more a success."""
        shares = reading_kinds(self._config.max_calls)
        if has_rows(self._known):  # what a database is asked is in its tables; the other tools tell of its schema
            shares = {kind: max(2, share // 3) for kind, share in shares.items()} | table_kinds()
        scenarios: list[Scenario] = []
        made = Counter[MakeTask]()
        failed = Counter[MakeTask]()
        kinds = Counter[str]()
        while shares and len(scenarios) < target:
            kind = min(shares, key=lambda kind: (made[kind] + self._rng.random()) / shares[kind])
            scenario = await self._draw(kind, session, state)
            if scenario is not None and self._is_new(scenario):
                made[kind] += 1
                kinds[scenario.kind] += 1
                scenarios.append(scenario)
                if kinds[scenario.kind] >= self._most(scenario.kind) * target:
                    shares.pop(kind)
                continue
            failed[kind] += 1
            if failed[kind] > 60 + 12 * made[kind]:
                del shares[kind]
        return _without_surplus(scenarios)

    async def _draw(self, kind: MakeTask, session: Session, state: State) -> Scenario | None:
        self._planner.choice.begin(kind)
        scenario = self._word(await kind(self._planner, session, state))
        self._planner.choice.end(made=scenario is not None)
        return scenario

    def _word(self, task: Grounded | None) -> Scenario | None:
        """The scenario of a task; `None` if there is no task, or no words for it."""
        composed = word(self._planner.subset, task) if task else None
        if composed is None:
            return None
        if first := schema_reads(self._known, composed.scenario.plan):
            scenario = replace(composed.scenario, plan=(*first, *composed.scenario.plan))
            composed = replace(composed, scenario=scenario)
        self._composed[composed.scenario.id] = composed
        return composed.scenario

    def _most(self, kind: str) -> float:
        """The largest share of a kind. A server whose tools seldom return records gets more plain calls."""
        reads = self._known.reads()
        plain = sum(1 for tool in reads if self._planner.choice.is_plain(tool)) / max(1, len(reads))
        return max(_MOST[kind], plain * 0.7 if kind == "action" else 0.0) if kind in _MOST else 1.0

    async def _writes(self, state: State, writes: Sequence[Tool], target: int) -> list[Scenario]:
        """Tasks that write, the writing tools in turn.

        They share a session, as a process for each would cost more than everything else together. It is renewed now
        and then.
        """
        made: list[Scenario] = []
        if target <= 0 or not writes:
            return made
        if self._known.shared or is_reset(self._server):
            return await self._shared_writes(state, writes, target)
        async with (
            Renewed(self._server, state.setup, kept=state.results) as clean,
            Renewed(self._server, state.setup) as written,
        ):
            fresh, vain = 0, 0  # tasks since the session is new, and draws in vain since the last of them
            for _ in range(4 * target + _STUCK):
                if len(made) >= 1.1 * target:
                    break
                task = await self._write(clean, written, state, self._seldom(writes))
                made += task
                fresh, vain = (fresh + 1, 0) if task else (fresh, vain + 1)
                if fresh == _USED or (vain >= _STUCK * len(writes) and fresh):
                    fresh, vain = 0, 0
                    self._planner.filler.forgive()
                    await written.renew()
        return (await self._replays.independent(lambda: Renewed(self._server, state.setup), made))[:target]

    async def _shared_writes(self, state: State, writes: Sequence[Tool], target: int) -> list[Scenario]:
        """Tasks that write on a server whose state all sessions share: a few after each reset, on different things."""
        made: list[Scenario] = []
        for attempt in range(0, target * 2, _AFTER_RESET):
            last = attempt + _AFTER_RESET if len(made) < target else attempt
            with suppress(ServerError):  # the reset may have failed, or the session was lost
                async with self._alone(state) as session:
                    touched: set[str] = set()
                    for _ in range(attempt, last):
                        for scenario in await self._write(session, session, state, self._seldom(writes)):
                            made += [scenario] if touched.isdisjoint(scenario.values) else []
                            touched |= {*scenario.values}
        return await self._replays.independent(lambda: self._alone(state), made[:target])

    @asynccontextmanager
    async def _alone(self, state: State) -> AsyncGenerator[Renewed]:
        """A session that has the server for itself, after a reset."""
        async with turn_on(self._server, writing=True), Renewed(self._server, state.setup) as session:
            yield session

    def _seldom(self, writes: Sequence[Tool]) -> Tool:
        """The writing tool that has the fewest tasks; attempts count a little, too."""
        return min(writes, key=lambda tool: self._made[tool.name] + self._attempts[tool.name] / 4)

    async def _write(self, clean: Session, written: Session, state: State, tool: Tool) -> list[Scenario]:
        """A new task with this tool, if one could be made."""
        kind = table_write if writes_sql(self._planner, tool) else self._kind_of_write(tool)
        self._attempts[tool.name] += 1
        self._vain[tool.name, kind] += 1
        self._planner.choice.begin(kind)
        scenario = self._word(await kind(self._planner, clean, written, state, tool))
        if scenario is None or not self._is_new(scenario):
            return []
        self._made[tool.name] += 1
        self._vain[tool.name, kind] -= _HOPE
        return [scenario]

    def _kind_of_write(self, tool: Tool) -> WriteTask:
        """A kind by its share, among those that are not in vain for this tool."""
        edits = replacement(tool, self._known.slots[tool.name])
        if edits and self._config.max_calls > 1 and self._vain[tool.name, edit] < _HOPE:
            return edit
        shares = writing_kinds(self._config.max_calls)
        hopeful = [kind for kind in shares if self._vain[tool.name, kind] < _HOPE] or [write]
        return self._rng.choices(hopeful, [shares[kind] for kind in hopeful])[0]

    def _is_new(self, scenario: Scenario) -> bool:
        """Whether no task like this was made. Training tasks may ask for a fact in four wordings, others in one. What
        has no plan is asked back or declined, whatever it is, and differs by its words alone."""
        plan = [[call.tool, call.arguments] for call in scenario.plan]
        meaning = json.dumps(plan + [str(check) for check in scenario.checks]) if plan else scenario.request
        wordings = 4 if scenario.split == "train" else 1
        if scenario.request in self._requests or self._meanings[meaning] >= wordings:
            return False
        self._requests.add(scenario.request)
        self._meanings[meaning] += 1
        return True
