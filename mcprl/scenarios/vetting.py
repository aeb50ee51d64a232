"""Whether a task that a language model wrote is one: its plan is executed on the live server, and what that proves
becomes its checks.

A draft is a task only where its plan works, its arguments are given by the request or an earlier result, its facts
stand in the results, all it names belongs to one split, and its own answer passes its checks. Tools outside the policy
are never called; every plan runs in a session of its own, so that what it writes no other sees.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mcprl.config import ScenarioConfig
from mcprl.errors import ServerError
from mcprl.judges.checks import Scalar, holds, leaves, says_missing, squash
from mcprl.judges.verifier import Verifier
from mcprl.scenarios import wording
from mcprl.scenarios.drafts import Draft, follow, reference, resolved
from mcprl.scenarios.fields import record_of, usable
from mcprl.scenarios.knowledge import Knowledge
from mcprl.scenarios.names import is_read
from mcprl.scenarios.pack import split_of
from mcprl.scenarios.slots import JsonPath, build, slots
from mcprl.types import (
    Call,
    CallMade,
    CallRecord,
    Check,
    Fact,
    Json,
    SaysMissing,
    Scenario,
    Split,
    StateHolds,
    ToolResult,
    ToolServer,
    Trajectory,
)


class UnfitDraft(Exception):
    """Why a draft is thrown out: one of few sentences, to be counted."""


@dataclass
class _Run:
    """A draft's plan as it was executed."""

    calls: list[CallRecord] = field(default_factory=list[CallRecord])
    records: list[Json] = field(default_factory=list[Json])
    state: tuple[ToolResult, ...] = ()

    @property
    def plan(self) -> tuple[Call, ...]:
        return tuple(Call(made.tool, made.arguments or {}) for made in self.calls)


class Vetting:
    """Proves drafts for one server."""

    def __init__(self, server: ToolServer, known: Knowledge, config: ScenarioConfig, seed: int) -> None:
        self.server, self.known, self.config, self.seed = server, known, config, seed
        self.tools = {tool.name: tool for tool in server.tools}
        self.slots = {tool.name: {slot.path: slot for slot in slots(tool)} for tool in server.tools}
        self.verifier = Verifier(tuple(server.tools))
        values = (value for values in known.base.pool.values() for value in values if isinstance(value, str))
        choices = {squash(str(value)) for own in self.slots.values() for slot in own.values() for value in slot.choices}
        self._names = {name for value in values if (name := squash(value)) not in choices and _telling(value)}

    async def prove(self, draft: Draft) -> Scenario:
        """The task of a draft, its plan executed. Raises `UnfitDraft`."""
        if not draft.plan:
            raise UnfitDraft("has no plan")
        if len(draft.plan) > self.config.max_calls:
            raise UnfitDraft("has a plan that is too long")
        if any(call.tool not in self.tools for call in draft.plan):
            raise UnfitDraft("calls a tool that may not be called")
        backs = self._read_backs(draft.plan)
        run = await self._execute(draft, backs)
        facts = self._facts(draft, run)
        answer = self._answer(draft, facts, run)
        told = f"{draft.request} {answer}"
        facts = [replace(f, others=tuple(other for other in f.others if not holds(told, other))) for f in facts]
        writes = [call for call in run.plan if not is_read(self.tools[call.tool])]
        checks: list[Check] = [*facts, *backs]
        if draft.missing:
            checks = [CallMade(run.plan[-1].tool, run.plan[-1].arguments, failed=True), SaysMissing()]
        elif not checks:
            checks = [CallMade(call.tool, call.arguments) for call in writes]
        if not checks and not self.config.open_tasks:
            raise UnfitDraft("has nothing that can be checked (--open-tasks keeps such tasks)")
        values = self._entities(draft, run.plan)
        place = values or [f"{[call.tool for call in run.plan]}{[name for name, _ in draft.facts]}"]
        splits: set[Split] = {split_of(self.seed, value) for value in place}
        if len(splits) > 1:
            raise UnfitDraft("names things of several splits")
        kind = "missing" if draft.missing else "write" if writes else "chain" if len(run.plan) > 1 else "lookup"
        scenario = Scenario(
            hashlib.sha256(f"{draft.request}{run.plan}".encode()).hexdigest()[:12],
            draft.request,
            tuple(checks),
            run.plan,
            answer,
            values=tuple(values),
            split=next(iter(splits)) if checks else "train",
            kind=kind if checks else "open",
        )
        said = ({"role": "assistant", "content": scenario.answer},)
        tried = Trajectory(scenario.id, scenario.id, said, (), tuple(run.calls), run.state)
        if checks and not self.verifier.verify(scenario, tried).success:
            raise UnfitDraft("has an answer that fails its own checks")
        return scenario

    async def _execute(self, draft: Draft, backs: Sequence[StateHolds]) -> _Run:
        """The plan's calls in a session of their own, each argument known to somebody who has read so far."""
        run = _Run()
        try:
            if backs:
                async with self.server.session() as clean:
                    before = [await clean.call(back.tool, back.arguments) for back in backs]
                if any(_shows(result, back) for result, back in zip(before, backs, strict=True)):
                    raise UnfitDraft("asks for a change that is there already")
            async with self.server.session() as session:
                for number, call in enumerate(draft.plan):
                    try:
                        arguments = resolved(call.arguments, run.records)
                    except LookupError:
                        raise UnfitDraft("refers to what no earlier result says") from None
                    self._grounded(draft, Call(call.tool, arguments), run)
                    result = await session.call(call.tool, arguments)
                    run.calls.append(CallRecord(number, call.tool, arguments, result))
                    run.records.append(record_of(result))
                    self._went_well(draft, run, number)
                run.state = tuple([await session.call(back.tool, back.arguments) for back in backs])
        except ServerError:
            raise UnfitDraft("has a plan that breaks the connection") from None
        return run

    def _went_well(self, draft: Draft, run: _Run, number: int) -> None:
        call = run.calls[number]
        reads = is_read(self.tools[call.tool])
        found = usable(call.result) if reads else not call.result.is_error
        if draft.missing and number == len(draft.plan) - 1:
            if found or not reads:
                raise UnfitDraft("says that something is missing which is there")
        elif call.result.is_error:
            raise UnfitDraft("has a plan that fails")
        elif not found:
            raise UnfitDraft("has a plan that finds nothing")

    def _grounded(self, draft: Draft, call: Call, run: _Run) -> None:
        told = [draft.request, *(made.result.text for made in run.calls)]
        for path, value in leaves(call.arguments):
            slot = self.slots[call.tool].get(_plain(path))
            if isinstance(value, bool) or (slot and (value in slot.choices or value == slot.schema.get("default"))):
                continue
            if not any(holds(text, value) for text in told):
                raise UnfitDraft("gives an argument that neither the request nor an earlier result states")

    def _facts(self, draft: Draft, run: _Run) -> list[Fact]:
        """The facts with their values, as they stand in the results; for one row of a list, what other rows say
        there."""
        if draft.missing:
            return []
        found: list[Fact] = []
        for name, given in draft.facts:
            try:
                value, others = _looked_up(given, run)
            except LookupError:
                raise UnfitDraft("refers to what no earlier result says") from None
            if not any(holds(made.result.text, value) for made in run.calls):
                raise UnfitDraft("states a fact that no result shows")
            if holds(draft.request, value):
                raise UnfitDraft("gives its answer away")
            found.append(Fact(value, name, others))
        return found

    def _read_backs(self, plan: Sequence[Call]) -> list[StateHolds]:
        """What a read must show after the plan's writes, where probing found a read that shows them."""
        found: list[StateHolds] = []
        for call in plan:
            given = {_plain(path): value for path, value in leaves(call.arguments)}
            for trip in self.known.round_trips:
                shown = tuple(given[path] for path in trip.shown if path in given and not reference(given[path]))
                bound = [given.get(origin) for _, origin in trip.bind]
                if trip.write == call.tool and shown and all(v is not None and not reference(v) for v in bound):
                    values: dict[JsonPath, Any] = {path: given[origin] for path, origin in trip.bind}
                    found.append(StateHolds(trip.read, build(values | dict(trip.constants)), shown))
        return found

    def _entities(self, draft: Draft, plan: Sequence[Call]) -> list[str]:
        """The values that the split keeps apart: what the calls are given, and names of the server's in the request."""
        found: list[str] = []
        for call in plan:
            for path, value in leaves(call.arguments):
                slot = self.slots[call.tool].get(_plain(path))
                listed = slot is not None and (value in slot.choices or value == slot.schema.get("default"))
                setting = slot is not None and not slot.required and not isinstance(value, str)
                if not listed and not setting and not isinstance(value, bool):
                    found.append(str(value))
        request = squash(draft.request)
        found += [name for name in sorted(self._names) if name in request and holds(request, name)]
        return list({squash(value): value for value in reversed(found)}.values())

    def _answer(self, draft: Draft, facts: Sequence[Fact], run: _Run) -> str:
        """The answer as written, with the facts filled in; one of ours where that does not state them."""
        answer = draft.answer
        for fact in facts:
            answer = answer.replace(f"{{{fact.name}}}", wording.plain(fact.value))
        if draft.missing:
            given = ", ".join(str(value) for _, value in leaves(run.plan[-1].arguments))
            return answer if says_missing(answer) else f"I could not find {given}."
        if answer and all(holds(answer, fact.value) for fact in facts) and not re.search(r"\{\w+\}", answer):
            return answer
        return wording.answer({fact.name: [fact.value] for fact in facts}) if facts else "Done."


def _telling(value: str) -> bool:
    """Whether a value that the server holds names one thing: a name or a code, not a plain word."""
    return 3 <= len(value) <= 60 and re.search(r"[A-Z0-9]", value) is not None


def _plain(path: Sequence[str | int]) -> JsonPath:
    """A place in arguments as slots spell it: any item of a list is its first."""
    return tuple(0 if isinstance(part, int) else part for part in path)


def _shows(result: ToolResult, back: StateHolds) -> bool:
    return not result.is_error and all(holds(result.text, value) for value in back.values)


def _looked_up(given: Any, run: _Run) -> tuple[Scalar, tuple[Scalar, ...]]:
    """A fact's value, and what the other rows of its list say in its place."""
    if (found := reference(given)) is None:
        return _scalar(given, run), ()
    number, keys = found
    record = run.records[number]
    value = follow(keys, record)
    at = next((n for n, key in enumerate(keys) if key.isdigit()), None)
    return value, () if at is None else tuple(dict.fromkeys(_elsewhere(keys, at, record, value)))


def _elsewhere(keys: Sequence[str], at: int, record: Json, value: Scalar) -> Iterator[Scalar]:
    for row in range(100):
        try:
            other = follow([*keys[:at], str(row), *keys[at + 1 :]], record)
        except LookupError:
            continue
        if other != value and not isinstance(other, bool):
            yield other


def _scalar(given: Any, run: _Run) -> Scalar:
    """A literal value as the results have it: the schema makes all facts text, `"12.5"` may be the number 12.5."""
    for record in run.records:
        for _, leaf in leaves(record):
            if squash(str(leaf)) == squash(str(given)):
                return leaf
    return given
