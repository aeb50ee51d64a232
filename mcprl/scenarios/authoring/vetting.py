"""Vetting: whether a task that a language model wrote is valid. Its plan is executed on the live server, and what the
execution returns becomes its checks.

A draft becomes a scenario only if its plan works, its arguments stand in the request or an earlier result, its facts
stand in the results, all its entity values belong to one split, and its own answer passes its checks. Tools that the
policy excludes are never called. Every plan runs in a session of its own, so no draft sees what another one wrote.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mcprl.config import ScenarioConfig
from mcprl.errors import ServerError
from mcprl.judges.checks import holds, leaves, says_missing, squash
from mcprl.judges.verifier import Verifier
from mcprl.scenarios.authoring.derivable import derivable
from mcprl.scenarios.authoring.drafts import Draft, looked_up, reference, resolved
from mcprl.scenarios.fields import record_of, shows, usable
from mcprl.scenarios.packs.pack import split_of
from mcprl.scenarios.probing.knowledge import Knowledge
from mcprl.scenarios.probing.writing import can_write
from mcprl.scenarios.slots import JsonPath, Slot, build, slots
from mcprl.scenarios.steps import spelled
from mcprl.servers.effects import is_read, turn_on
from mcprl.types import (
    Call,
    CallMade,
    CallRecord,
    Check,
    Fact,
    Json,
    SaysMissing,
    Scalar,
    Scenario,
    Session,
    Split,
    StateHolds,
    ToolResult,
    ToolServer,
    Trajectory,
)


class UnfitDraft(Exception):
    """A draft that is no task. The message is one of a few sentences, so that reasons can be counted."""


@dataclass
class _Execution:
    """A draft's plan as it was executed. `before` and `state` are the results of the read-backs around it."""

    calls: list[CallRecord] = field(default_factory=list[CallRecord])
    records: list[Json] = field(default_factory=list[Json])
    before: tuple[ToolResult, ...] = ()
    state: tuple[ToolResult, ...] = ()

    @property
    def plan(self) -> tuple[Call, ...]:
        """The calls with their references resolved."""
        return tuple(Call(made.tool, made.arguments or {}) for made in self.calls)


class Vetting:
    """Proves drafts for one server."""

    def __init__(self, server: ToolServer, known: Knowledge, config: ScenarioConfig, seed: int) -> None:
        self.server = server
        self.known = known
        self.config = config
        self.seed = seed
        self.tools = {tool.name: tool for tool in server.tools if is_read(tool) or can_write(server, known)}
        self.slots = {tool.name: {slot.path: slot for slot in slots(tool)} for tool in self.tools.values()}
        self.verifier = Verifier(tuple(server.tools))
        values = (value for values in known.base.pool.values() for value in values if isinstance(value, str))
        choices = {squash(str(value)) for own in self.slots.values() for slot in own.values() for value in slot.choices}
        self._names = {name for value in values if (name := squash(value)) not in choices and _is_name(value)}

    async def prove(self, draft: Draft) -> Scenario:
        """The scenario of a draft, after its plan was executed. Raises `UnfitDraft`."""
        self._validate_plan(draft)
        read_backs = self._read_backs(draft.plan)
        execution = await self._execute(draft, read_backs)
        facts = self._facts(draft, execution)
        answer = self._answer(draft, facts, execution)
        checks = self._checks(draft, execution.plan, facts, read_backs, answer)
        scenario = self._scenario(draft, execution.plan, checks, answer)
        self._validate_answer(scenario, execution)
        return scenario

    def _validate_plan(self, draft: Draft) -> None:
        if not draft.plan:
            raise UnfitDraft("has no plan")
        if len(draft.plan) > self.config.max_calls:
            raise UnfitDraft("has a plan that is too long")
        if any(call.tool not in self.tools for call in draft.plan):
            raise UnfitDraft("calls a tool that may not be called")

    def _validate_answer(self, scenario: Scenario, execution: _Execution) -> None:
        """Score the plan and its answer like a rollout. Raises `UnfitDraft` if they fail the scenario's checks."""
        messages = ({"role": "assistant", "content": scenario.answer},)
        trajectory = Trajectory(
            scenario.id, scenario.id, messages, (), tuple(execution.calls), execution.state, before=execution.before
        )
        if scenario.checks and not self.verifier.verify(scenario, trajectory).success:
            raise UnfitDraft("has an answer that fails its own checks")

    # --- the execution ------------------------------------------------------------------------------------------------

    async def _execute(self, draft: Draft, read_backs: Sequence[StateHolds]) -> _Execution:
        """The plan's calls and the read-backs after them, in a session of their own."""
        execution = _Execution()
        try:
            async with turn_on(self.server, bool(self._writes(draft.plan))), self.server.session() as session:
                execution.before = await self._validate_change(session, read_backs)
                for number, call in enumerate(draft.plan):
                    try:
                        arguments = resolved(call.arguments, execution.records)
                    except LookupError:
                        raise UnfitDraft("refers to what no earlier result says") from None
                    self._validate_arguments(draft, Call(call.tool, arguments), execution)
                    result = await session.call(call.tool, arguments)
                    execution.calls.append(CallRecord(number, call.tool, arguments, result))
                    execution.records.append(record_of(result))
                    self._validate_result(draft, execution, number)
                execution.state = tuple([await session.call(back.tool, back.arguments) for back in read_backs])
        except ServerError:
            raise UnfitDraft("has a plan that breaks the connection") from None
        return execution

    async def _validate_change(self, session: Session, read_backs: Sequence[StateHolds]) -> tuple[ToolResult, ...]:
        """The results of the read-backs before the plan. Raise `UnfitDraft` if one shows what it must show after it."""
        before = tuple([await session.call(back.tool, back.arguments) for back in read_backs])
        if any(shows(result, back.values) for result, back in zip(before, read_backs, strict=True)):
            raise UnfitDraft("asks for a change that is there already")
        return before

    def _validate_result(self, draft: Draft, execution: _Execution, number: int) -> None:
        """Raise `UnfitDraft` unless the call succeeded or, at the end of a `missing` draft, a read found nothing."""
        call = execution.calls[number]
        reads = is_read(self.tools[call.tool])
        succeeded = usable(call.result) if reads else not call.result.is_error
        if draft.missing and number == len(draft.plan) - 1:
            if succeeded or not reads:
                raise UnfitDraft("says that something is missing which is there")
        elif call.result.is_error:
            raise UnfitDraft("has a plan that fails")
        elif not succeeded:
            raise UnfitDraft("has a plan that finds nothing")

    def _validate_arguments(self, draft: Draft, call: Call, execution: _Execution) -> None:
        """Raise `UnfitDraft` unless every free value of the call stands in the request or an earlier result."""
        texts = [draft.request, *(made.result.text for made in execution.calls)]
        for path, value in leaves(call.arguments):
            if isinstance(value, bool) or _is_listed(self._slot(call, path), value):
                continue
            if not any(holds(text, value) for text in texts) and not derivable(value, draft.request):
                raise UnfitDraft("gives an argument that neither the request nor an earlier result states")

    def _slot(self, call: Call, path: JsonPath) -> Slot | None:
        """The slot of an argument of a call. Any item of a list has the slot of the first."""
        return self.slots[call.tool].get(_slot_path(path))

    # --- the scenario -------------------------------------------------------------------------------------------------

    def _facts(self, draft: Draft, execution: _Execution) -> list[Fact]:
        """The facts with their values as they stand in the results. For a value out of one row of a list, `others` are
        the values of the other rows.
        """
        if draft.missing:
            return []
        facts: list[Fact] = []
        for name, written in draft.facts:
            try:
                value, others = looked_up(written, execution.records)
            except LookupError:
                raise UnfitDraft("refers to what no earlier result says") from None
            if not any(holds(made.result.text, value) for made in execution.calls):
                raise UnfitDraft("states a fact that no result shows")
            if holds(draft.request, value):
                raise UnfitDraft("gives its answer away")
            facts.append(Fact(value, name, rivals=others))
        return facts

    def _checks(
        self,
        draft: Draft,
        plan: Sequence[Call],
        facts: Sequence[Fact],
        read_backs: Sequence[StateHolds],
        answer: str,
    ) -> tuple[Check, ...]:
        """What a rollout must satisfy: the facts and read-backs or, if there are none, the writes as calls.

        Raises `UnfitDraft` if there is nothing to check and open tasks are not wanted.
        """
        if draft.missing:
            return CallMade(plan[-1].tool, plan[-1].arguments, failed=True), SaysMissing()
        stated = f"{draft.request} {answer}"
        checks: list[Check] = [
            replace(fact, rivals=tuple(other for other in fact.rivals if not holds(stated, other))) for fact in facts
        ]
        checks += read_backs
        if not checks:
            checks += [CallMade(call.tool, call.arguments) for call in self._writes(plan)]
        if not checks and not self.config.open_tasks:
            raise UnfitDraft("has nothing that can be checked (--open-tasks keeps such tasks)")
        return tuple(checks)

    def _scenario(self, draft: Draft, plan: tuple[Call, ...], checks: tuple[Check, ...], answer: str) -> Scenario:
        """The scenario, in the split of its entity values. Raises `UnfitDraft` if they belong to several splits."""
        values = self._entities(draft, plan)
        # Without an entity value, a hash of the tools and the facts' names assigns the task to a split.
        split_keys = values or [f"{[call.tool for call in plan]}{[name for name, _ in draft.facts]}"]
        splits: set[Split] = {split_of(self.seed, key) for key in split_keys}
        if len(splits) > 1:
            raise UnfitDraft("names things of several splits")
        return Scenario(
            hashlib.sha256(f"{draft.request}{plan}".encode()).hexdigest()[:12],
            draft.request,
            checks,
            plan,
            answer,
            values=tuple(values),
            split=splits.pop() if checks else "train",
            kind=self._kind(draft, plan) if checks else "open",
        )

    def _kind(self, draft: Draft, plan: Sequence[Call]) -> str:
        if draft.missing:
            return "missing"
        if self._writes(plan):
            return "write"
        return "chain" if len(plan) > 1 else "lookup"

    def _writes(self, plan: Sequence[Call]) -> list[Call]:
        return [call for call in plan if not is_read(self.tools[call.tool])]

    def _read_backs(self, plan: Sequence[Call]) -> list[StateHolds]:
        """The reads that must show the plan's writes, for the writes with a round trip.

        Values that are references are not known before the execution. A read that needs one is left out.
        """
        read_backs: list[StateHolds] = []
        for call in plan:
            arguments = {_slot_path(path): value for path, value in leaves(call.arguments)}
            values: dict[JsonPath, Any] = {path: v for path, v in arguments.items() if not reference(v)}
            for trip in self.known.round_trips:
                shown = tuple(values[path] for path in trip.shown if path in values)
                if trip.write == call.tool and shown and all(origin in values for _, origin in trip.bind):
                    bound = {path: values[origin] for path, origin in trip.bind}
                    read_backs.append(StateHolds(trip.read, build(bound | dict(trip.constants)), shown))
        return read_backs

    def _entities(self, draft: Draft, plan: Sequence[Call]) -> list[str]:
        """The values that the split keeps apart: arguments of the calls, and the server's names in the request.

        Values from a schema's enum, defaults, truth values and numbers of optional slots (a limit) do not count.
        """
        entities: list[str] = []
        for call in plan:
            for path, value in leaves(call.arguments):
                slot = self._slot(call, path)
                setting = slot is not None and not slot.required and not isinstance(value, str)
                if not _is_listed(slot, value) and not setting and not isinstance(value, bool):
                    entities.append(str(value))
        request = squash(draft.request)
        entities += [name for name in sorted(self._names) if name in request and holds(request, name)]
        return list({squash(value): value for value in reversed(entities)}.values())

    def _answer(self, draft: Draft, facts: Sequence[Fact], execution: _Execution) -> str:
        """The answer as written, with the facts filled in. If it does not state them all, a generated one."""
        answer = draft.answer
        for fact in facts:
            answer = answer.replace(f"{{{fact.name}}}", spelled(fact.value))
        if draft.missing:
            if says_missing(answer):
                return answer
            arguments = ", ".join(str(value) for _, value in leaves(execution.plan[-1].arguments))
            return f"I could not find {arguments}."
        if answer and all(holds(answer, fact.value) for fact in facts) and not re.search(r"\{\w+\}", answer):
            return answer
        return " ".join(f"The {fact.name} is {spelled(fact.value)}." for fact in facts) or "Done."


def _is_name(value: str) -> bool:
    """Whether a harvested value looks like a name or a code, not like a plain word or a text."""
    return 3 <= len(value) <= 60 and re.search(r"[A-Z0-9]", value) is not None


def _is_listed(slot: Slot | None, value: Scalar) -> bool:
    """Whether the schema itself gives the value, as one of the slot's choices or its default."""
    return slot is not None and (value in slot.choices or value == slot.schema.get("default"))


def _slot_path(path: JsonPath) -> JsonPath:
    """A path in arguments as slots spell it: any item of a list is its first."""
    return tuple(0 if isinstance(part, int) else part for part in path)
