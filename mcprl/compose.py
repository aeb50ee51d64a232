"""Compose tasks of one split: fill a tool's slots, execute, see what can be asked, put it into words, check that it
repeats.
"""

import hashlib
import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import anyio

from mcprl import wording
from mcprl.checks import Scalar, holds, leaves, says_missing, squash
from mcprl.config import ScenarioConfig
from mcprl.errors import ServerError
from mcprl.grounding import Knowledge, State, fill_write, read_around
from mcprl.invent import invent, stranger
from mcprl.results import Field, record_fields, record_of, result_fields, rows_of, usable
from mcprl.slots import Slot, build, is_read, spoken
from mcprl.types import (
    Call,
    CallMade,
    Check,
    Fact,
    SaysMissing,
    Scenario,
    Session,
    Split,
    StateHolds,
    Tool,
    ToolResult,
    ToolServer,
)

SHARES: dict[Split, float] = {"test": 0.3, "val": 0.15, "train": 0.55}
"""The share of all values that belongs to each split."""

Filled = list[tuple[Slot, Scalar]]


def split_of(seed: int, value: Any) -> Split:
    """The split to which a value belongs, by a hash: the same in every task of a pack."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    fraction = int.from_bytes(hashlib.sha256(f"{seed}:{squash(str(value))}".encode()).digest()[:4]) / 2**32
    for split, share in SHARES.items():
        fraction -= share
        if fraction < 0:
            return split
    return "train"


@dataclass(frozen=True)
class _Step:
    """One executed call of a plan: how its slots were filled and what it gave."""

    tool: Tool
    filled: Filled
    call: Call
    result: ToolResult
    fields: list[Field]

    def given(self) -> list[Scalar]:
        """The values that the call was given, those aside that the schema lists."""
        return [value for slot, value in self.filled if not slot.choices]


class Composer:
    """Makes the tasks of one split. `known` is only read; every method that can fail to make a task returns `None`."""

    def __init__(self, server: ToolServer, known: Knowledge, split: Split, seed: int, config: ScenarioConfig) -> None:
        self.server, self.known, self.seed = server, known, seed
        self.split: Split = split
        self.max_calls, self.repeat_after_s = config.max_calls, config.repeat_after_s
        self.rng = random.Random(f"compose {seed} {split}")
        self.requests: set[str] = set()
        self.meanings: Counter[str] = Counter()
        self.asked: Counter[str] = Counter()

    def allowed(self, value: Any) -> bool:
        return split_of(self.seed, value) == self.split

    async def compose(self, target: int) -> list[Scenario]:
        """About `target` tasks; fewer where the server does not hold enough different things."""
        made: list[Scenario] = []
        base = self.known.base
        writable = [tool for tool in self.known.writes() if not is_read(tool)]
        empty = sum(len(values) for values in base.pool.values()) < 12 and bool(self.known.creators)
        share = 0.0 if not writable else 0.35 if empty else 0.2
        readers = target if not writable else target - round(target * share)
        if not empty or any(not _needs(self.known, tool) for tool in self.known.reads()):
            made += await self._read_tasks(base, target // 4 if empty else readers)
        for _ in range(target if self.known.creators else 0):
            if len(made) >= readers:
                break
            state = await self._new_state()
            if state is None:
                continue
            made += await self._read_tasks(state, min(8, readers - len(made)))
            if writable and empty:
                made += await self._write_tasks(state, writable, 4)
        if writable:
            made += await self._write_tasks(base, writable, max(0, target - len(made)))
        if len(made) < target and not empty:
            made += await self._read_tasks(base, target - len(made))
        self.rng.shuffle(made)
        return made[:target]

    async def _new_state(self) -> State | None:
        """A state of its own: a few calls of a writing tool that works on a fresh session, with invented values."""
        bound = [trip.write for trip in self.known.round_trips if trip.bind and trip.write in self.known.creators]
        tool = self.known.tools[self.rng.choice(bound or self.known.creators)]
        calls: list[Call] = []
        for _ in range(self.rng.randint(2, 4)):
            filled = self._fill_write(tool, State(), references=False)
            if filled:
                calls.append(_call(tool, filled))
        if not calls:
            return None
        state = State(setup=tuple(calls))
        try:
            async with self.server.session(state.setup) as session:
                for call in calls:
                    state.harvest(tool.name, call.arguments)
                await read_around(self.known, state, session, self.rng)
        except ServerError:
            return None
        return state

    # --- reading ------------------------------------------------------------------------------------------------------

    async def _read_tasks(self, state: State, target: int) -> list[Scenario]:
        several = self.max_calls > 1
        kinds: dict[Any, int] = {self._lookup: 40, self._pick: 16, self._missing: 10}
        kinds |= {self._chain: 24, self._both: 10} if several else {}
        drafts: list[Scenario] = []
        made, failed = Counter[Any](), Counter[Any]()
        began = anyio.current_time()
        async with self.server.session(state.setup) as session:
            while kinds and len(drafts) < target * 1.1 and target > 0:
                make = min(kinds, key=lambda kind: (made[kind] + self.rng.random()) / kinds[kind])
                scenario = await make(session, state)
                if scenario is None or not self._new(scenario):
                    failed[make] += 1
                    if failed[make] > 40 + 12 * made[make]:
                        del kinds[make]
                    continue
                made[make] += 1
                drafts.append(scenario)
            if state is self.known.base:
                await anyio.sleep(max(0.0, began + self.repeat_after_s - anyio.current_time()))
            # The first session stays open, so that a pool has to give another process with its own clocks and counters.
            return (await self._repeatable(state, drafts))[:target]

    async def _repeatable(self, state: State, drafts: Sequence[Scenario]) -> list[Scenario]:
        """The drafts whose plan gives the same facts in another session. What differed once is not asked for again."""
        kept: list[Scenario] = []
        async with self.server.session(state.setup) as session:
            for scenario in drafts:
                results = [await session.call(call.tool, call.arguments) for call in scenario.plan]
                facts = [check for check in scenario.checks if isinstance(check, Fact)]
                changed = {
                    (scenario.plan[-1].tool, f.name) for f in facts if not any(holds(r.text, f.value) for r in results)
                }
                failing = any(isinstance(check, SaysMissing) for check in scenario.checks)
                if changed and usable(results[-1]):
                    self.known.volatile |= changed
                elif failing == (not usable(results[-1])):
                    kept.append(scenario)
        return kept

    async def _lookup(self, session: Session, state: State) -> Scenario | None:
        step = await self._read(session, state)
        if step is None:
            return None
        fields = self._choose_fields(step)
        if not fields:
            return None
        labels = [entry.label for entry in fields]
        if (step.filled and self.rng.random() < 0.6) or (fields[0].label != "result" and self.rng.random() < 0.3):
            request = wording.ask(labels, wording.subject(step.tool, step.filled, self.rng), self.rng)
        else:
            request = wording.order(step.tool, step.filled, self.rng, labels)
        return self._scenario("lookup", request, [step], fields, state)

    async def _both(self, session: Session, state: State) -> Scenario | None:
        first = await self._read(session, state)
        if first is None or not first.filled:
            return None
        second = await self._read(session, state, first.tool)
        fields = self._choose_fields(first)[:1]
        if second is None or not fields or second.call == first.call:
            return None
        again = next((entry for entry in second.fields if entry.label == fields[0].label), None)
        if (
            again is None
            or again.values == fields[0].values
            or [s for s, _ in first.filled] != [s for s, _ in second.filled]
        ):
            return None
        both = Field(fields[0].path, fields[0].label, fields[0].values + again.values)
        subjects = [wording.subject(step.tool, step.filled, self.rng) for step in (first, second)]
        return self._scenario(
            "both", wording.ask([both.label], " and ".join(subjects), self.rng), [first, second], [both], state
        )

    async def _pick(self, session: Session, state: State) -> Scenario | None:
        step = await self._read(session, state)
        if step is None or (found := self._row(step)) is None:
            return None
        rows, row, key = found
        fields = [
            entry
            for entry in record_fields(row, {squash(str(row[key]))})
            if len(entry.values) == 1 and not isinstance(entry.values[0], bool)
        ]
        if not fields:
            return None
        entry = self.rng.choice(fields)
        among = wording.argument_phrase(step.filled, self.rng) if step.filled else ""
        request = wording.pick(wording.thing(step.tool), spoken(key), row[key], [entry.label], self.rng, among)
        answer = wording.picked(step.result.text, row, key, entry.path[0], wording.answer({entry.label: entry.values}))
        others = [v for other in rows for e in record_fields(other, set()) if e.path == entry.path for v in e.values]
        rivals = tuple(other for other in dict.fromkeys(others) if not holds(f"{request} {answer}", other))
        checks = (Fact(entry.values[0], entry.label, rivals),)
        values = [*step.given(), row[key]]
        if not all(self.allowed(value) for value in values):
            return None
        return self._finish("pick", request, (step.call,), checks, answer, state, values)

    def _row(self, step: _Step) -> tuple[list[dict[str, Any]], dict[str, Any], str] | None:
        """The rows of a list result, one of them, and an attribute whose value only that row has."""
        rows = rows_of(record_of(step.result))
        if rows is None or "column 0" in rows[1][0]:
            return None
        row = self.rng.choice(rows[1])
        names = [
            name
            for name, value in row.items()
            if isinstance(value, str | int | float)
            and not isinstance(value, bool)
            and 0 < len(str(value)) <= 60
            and sum(other.get(name) == value for other in rows[1]) == 1
            and self.allowed(value)
        ]
        if not names:
            return None
        return rows[1], row, self.rng.choice(names)

    async def _chain(self, session: Session, state: State) -> Scenario | None:
        leads = {
            g[1] for (tool, _), groups in self.known.sources.items() for g in groups if g[0] == "from" and g[1] != tool
        }
        first = self._tool(lambda tool: tool.name in leads)
        step = await self._read(session, state, first) if first else None
        if step is None:
            return None
        steps = [step]
        opening, picked = "", []
        view: Any = record_of(step.result)
        if rows_of(view) is not None:
            if (found := self._row(step)) is None:
                return None
            _, view, key = found
            shown = wording.value_text(view[key], self.rng)
            opening, picked = f"the {wording.thing(step.tool)} whose {spoken(key)} is {shown}", [view[key]]
            if step.filled:
                opening += f" among those with {wording.argument_phrase(step.filled, self.rng)}"
        else:
            opening = wording.subject(step.tool, step.filled, self.rng)
        links: list[str] = []
        while len(steps) < self.max_calls:
            following = await self._follow(session, state, steps, view)
            if following is None:
                break
            steps.append(following)
            links.append(wording.thing(following.tool))
            view = record_of(following.result)
            if self.rng.random() < 0.6:
                break
        if len(steps) == 1:
            return None
        earlier = "\n".join([*(s.result.text for s in steps[:-1]), opening])
        last = [
            entry
            for entry in self._choose_fields(steps[-1])
            if not any(holds(earlier, value) for value in entry.values)
        ]
        if not last:
            return None
        request = wording.chained(opening, links, [entry.label for entry in last], self.rng)
        return self._scenario("chain", request, steps, last, state, picked)

    async def _follow(self, session: Session, state: State, steps: list[_Step], view: Any) -> _Step | None:
        """A call whose key argument is a value of the last result, found where it was seen to work when probed."""
        last = steps[-1]
        found = list(leaves(view))
        places = Counter(
            tuple(part for part in path if isinstance(part, str)) for path, _ in found
        )  # one of many is no lead
        values = [
            (path, value)
            for path, value in found
            if not isinstance(value, bool)
            and self.allowed(value)
            and places[tuple(part for part in path if isinstance(part, str))] == 1
        ]
        self.rng.shuffle(values)
        for path, value in values:
            keys = tuple(part for part in path if isinstance(part, str))
            if keys and any(value == given for _, given in last.filled):
                continue
            for tool in self.known.reads():
                needed = _needs(self.known, tool)
                if len(needed) != 1 or tool.name in {s.tool.name for s in steps} or needed[0].choices:
                    continue
                groups = self.known.sources.get((tool.name, needed[0].path), [])
                if any(
                    group[0] == "from" and group[1] == last.tool.name and group[-1] == (keys[-1] if keys else "")
                    for group in groups
                ):
                    step = await self._execute(session, tool, [(needed[0], value)])
                    if step is not None:
                        return step
        return None

    async def _missing(self, session: Session, state: State) -> Scenario | None:
        tool = self._tool(lambda t: any(self._entity(slot) for slot in _needs(self.known, t)))
        if tool is None or len(needed := _needs(self.known, tool)) != 1:
            return None
        options = self.known.options(needed[0], state, self.rng, lambda _: True)
        made = [stranger(value, self.rng) for value in options[:6]]
        made = [value for value in made if self.allowed(value) and value not in options]
        if not made:
            return None
        filled: Filled = [(needed[0], made[0])]
        call = _call(tool, filled)
        result = await session.call(tool.name, call.arguments)
        if usable(result):
            return None
        label = self.rng.choice(["details", *[entry for entry in ("status", "name") if self.rng.random() < 0.3]])
        subject = wording.subject(tool, filled, self.rng)
        request = (
            wording.ask([label], subject, self.rng)
            if self.rng.random() < 0.6
            else wording.order(tool, filled, self.rng)
        )
        checks: tuple[Check, ...] = (CallMade(call.tool, call.arguments, failed=True), SaysMissing())
        answer = wording.not_found(tool, filled)
        assert says_missing(answer)
        return self._finish("missing", request, (call,), checks, answer, state, [made[0]])

    def _entity(self, slot: Slot) -> bool:
        return any(group[0] == "from" for group in self.known.sources.get((slot.tool, slot.path), []))

    # --- writing ------------------------------------------------------------------------------------------------------

    async def _write_tasks(self, state: State, writable: Sequence[Tool], target: int) -> list[Scenario]:
        """Writes that take effect: what they show is not there in a clean session, and is there where they were made.

        All are made in one session, since starting a process for each would cost more than everything else together.
        """
        made: list[Scenario] = []
        if target <= 0:
            return made
        async with self.server.session(state.setup) as clean, self.server.session(state.setup) as written:
            for attempt in range(target * 3):
                if len(made) >= target:
                    break
                scenario = await self._write(clean, written, state, writable[attempt % len(writable)])
                if scenario is not None and self._new(scenario):
                    made.append(scenario)
        return made

    async def _write(self, clean: Session, written: Session, state: State, tool: Tool) -> Scenario | None:
        filled = self._fill_write(tool, state, references=True)
        if filled is None:
            return None
        call = _call(tool, filled)
        if not filled and not self.allowed(f"{tool.name}()"):
            return None
        given = {slot.path: value for slot, value in filled}
        checks: list[Check] = [CallMade(tool.name, call.arguments)]
        for trip in self.known.round_trips:
            shown = [given[path] for path in trip.shown if path in given]
            if trip.write == tool.name and shown and all(origin in given for _, origin in trip.bind):
                arguments = build({path: given[origin] for path, origin in trip.bind} | dict(trip.constants))
                checks = [StateHolds(trip.read, arguments, tuple(shown))]
        states = [check for check in checks if isinstance(check, StateHolds)]
        if any([await _state_holds(clean, check) for check in states]):
            return None
        result = await written.call(tool.name, call.arguments)
        if result.is_error or not all([await _state_holds(written, check) for check in states]):
            return None
        request = wording.order(tool, filled, self.rng)
        kind = "write" if isinstance(checks[0], StateHolds) else "action"
        return self._finish(
            kind, request, (call,), tuple(checks), "Done.", state, [v for s, v in filled if not s.choices]
        )

    def _fill_write(self, tool: Tool, state: State, references: bool) -> Filled | None:
        for attempt in range(6):
            picked = fill_write(self.known, tool, state if references else State(), self.rng, attempt)
            if picked is None:
                return None
            filled: Filled = []
            for slot, (group, value) in picked.items():
                if group[0] == "from":
                    near = [v for v in state.pool.get(group, ()) if self.allowed(v)]
                    value = self.rng.choice(near) if near else None
                else:
                    for _ in range(24):
                        if slot.choices or self.allowed(value):
                            break
                        value = invent(slot, self.rng)
                if value is None or not (slot.choices or self.allowed(value)):
                    break
                filled.append((slot, value))
            else:
                return filled
        return None

    # --- shared -------------------------------------------------------------------------------------------------------

    def _new(self, scenario: Scenario) -> bool:
        """Whether a task is worth keeping beside those made: a test asks for a fact once, training at most in two
        wordings.
        """
        meaning = json.dumps([[c.tool, c.arguments] for c in scenario.plan] + [str(check) for check in scenario.checks])
        if scenario.request in self.requests or self.meanings[meaning] >= (2 if self.split == "train" else 1):
            return False
        self.requests.add(scenario.request)
        self.meanings[meaning] += 1
        return True

    def _tool(self, fits: Any) -> Tool | None:
        tools = [tool for tool in self.known.reads() if fits(tool)]
        return self.rng.choice(tools) if tools else None

    async def _read(self, session: Session, state: State, tool: Tool | None = None) -> _Step | None:
        """Call a read-only tool with values that belong to this split."""
        tool = tool or self._tool(lambda _: True)
        if tool is None:
            return None
        filled: Filled = []
        for slot in self.known.slots[tool.name]:
            if not slot.required and ((slot.tool, slot.path) not in self.known.sources or self.rng.random() < 0.65):
                continue
            options = self.known.options(slot, state, self.rng, self.allowed)
            if not options:
                if slot.required:
                    return None
                continue
            filled.append((slot, self.rng.choice(options)))
            if slot.path[-1] == 0 and len(options) > 2 and self.rng.random() < 0.15:
                filled.append((replace(slot, path=(*slot.path[:-1], 1)), self.rng.choice(options)))
        if (
            filled
            and all(slot.choices for slot, _ in filled)
            and not self.allowed(f"{tool.name}({_call(tool, filled).arguments})")
        ):
            return None
        return await self._execute(session, tool, filled)

    async def _execute(self, session: Session, tool: Tool, filled: Filled) -> _Step | None:
        call = _call(tool, filled)
        result = await session.call(tool.name, call.arguments)
        if not usable(result):
            return None
        rows = rows_of(record_of(result))
        fields = result_fields(self.known.texts.get(tool.name, []), call, result)
        if rows is not None:
            prefix = tuple(part for part in rows[0] if isinstance(part, str))
            fields = (
                [entry for entry in fields if entry.path[: len(prefix)] != prefix or len(entry.path) <= len(prefix)]
                if prefix
                else []
            )
        return _Step(tool, filled, call, result, fields)

    def _choose_fields(self, step: _Step) -> list[Field]:
        """One or two fields to ask for; those seldom asked first, truth values rarely, since they can be guessed."""
        steady = [entry for entry in step.fields if (step.tool.name, entry.label) not in self.known.volatile]
        fields = [entry for entry in steady if not isinstance(entry.values[0], bool) or self.rng.random() < 0.15]
        if not step.filled:
            fields = [entry for entry in fields if self.allowed(f"{step.tool.name}:{entry.label}")]
        if not fields:
            return []
        count = 2 if len(fields) > 1 and self.rng.random() < 0.22 else 1
        fields.sort(key=lambda entry: (self.asked[f"{step.tool.name}:{entry.label}"] // 3, self.rng.random()))
        chosen = fields[:count]
        for entry in chosen:
            self.asked[f"{step.tool.name}:{entry.label}"] += 1
        return chosen

    def _scenario(
        self,
        kind: str,
        request: str,
        steps: list[_Step],
        fields: list[Field],
        state: State,
        more: Sequence[Scalar] = (),
    ) -> Scenario | None:
        values = [value for step in steps for value in step.given()] + list(more)
        checks = tuple(Fact(value, entry.label) for entry in fields for value in entry.values)
        answer = wording.answer({entry.label: entry.values for entry in fields})
        if not all(self.allowed(value) for value in values):
            return None
        return self._finish(kind, request, tuple(step.call for step in steps), checks, answer, state, values)

    def _finish(
        self,
        kind: str,
        request: str,
        plan: tuple[Call, ...],
        checks: tuple[Check, ...],
        answer: str,
        state: State,
        values: Sequence[Scalar],
    ) -> Scenario:
        name = hashlib.sha256(
            json.dumps([request, [[c.tool, c.arguments] for c in plan]], sort_keys=True).encode()
        ).hexdigest()[:12]
        texts = tuple(dict.fromkeys(str(value) for value in values))
        return Scenario(name, request, checks, plan, answer, state.setup, texts, self.split, kind)


def _needs(known: Knowledge, tool: Tool) -> list[Slot]:
    return [slot for slot in known.slots[tool.name] if slot.required]


def _call(tool: Tool, filled: Filled) -> Call:
    return Call(tool.name, build({slot.path: value for slot, value in filled}))


async def _state_holds(session: Session, check: StateHolds) -> bool:
    result = await session.call(check.tool, check.arguments)
    return not result.is_error and all(holds(result.text, value) for value in check.values)
