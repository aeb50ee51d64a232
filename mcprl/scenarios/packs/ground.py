"""Proves a task that a person wrote or that was recorded, by executing its plan, and fills its checks from the results.

Facts get the type that they have in the results and the rivals that stand beside them; a fact that no result holds (a
count, a total) stays derived. Recorded answers give the facts that they state. A write without a check gets one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from mcprl.errors import ServerError
from mcprl.judges.checks import holds, leaves, says_missing, squash
from mcprl.judges.verifier import Verifier
from mcprl.scenarios.derivable import derivable
from mcprl.scenarios.fields import record_of, usable
from mcprl.scenarios.packs.handwritten import kind_of, task_id
from mcprl.scenarios.packs.pack import misfit
from mcprl.scenarios.packs.shorthand import fact
from mcprl.servers.effects import is_read, turn_on, writes
from mcprl.text import shortened, stems
from mcprl.types import (
    AsksBack,
    CallMade,
    CallRecord,
    Check,
    Declines,
    Fact,
    SaysMissing,
    Scalar,
    Scenario,
    StateHolds,
    Tool,
    ToolResult,
    ToolServer,
    Trajectory,
)

_MOST_FACTS = 30
"""Values of results that a recorded answer may be checked for: what it lists."""
_MOST_RIVALS = 20


class UnfitTask(Exception):
    """A task that cannot be kept. The message follows the task's place: "line 4 has a plan that ..."."""


@dataclass(frozen=True)
class Execution:
    """A task's plan as it was executed or recorded. `before` and `state` are the results of its state checks."""

    calls: tuple[CallRecord, ...]
    before: tuple[ToolResult, ...] = ()
    state: tuple[ToolResult, ...] = ()


async def ground(scenario: Scenario, server: ToolServer) -> Scenario:
    """The task with checks filled from an execution of its plan. Raises `UnfitTask` with what is wrong with it.

    Of a task without a plan, only what its state checks read before is validated.
    """
    tools = {tool.name: tool for tool in server.tools}
    if clause := misfit(scenario, list(tools)):
        raise UnfitTask(clause)
    execution = await executed(scenario, server)
    if not scenario.plan:
        return _with_answer(scenario)
    filled = fill(scenario, execution, tools)
    messages = ({"role": "user", "content": filled.request}, {"role": "assistant", "content": filled.answer})
    trajectory = Trajectory(
        filled.id, filled.id, messages, (), execution.calls, execution.state, before=execution.before
    )
    score = Verifier(tuple(server.tools)).verify(filled, trajectory)
    if filled.checks and not score.success:
        raise UnfitTask(f"has a plan and an answer that fail its own checks ({score.explanation})")
    return filled


def fill(scenario: Scenario, execution: Execution, tools: Mapping[str, Tool]) -> Scenario:
    """The task with its checks, its answer and its id filled from an execution. Raises `UnfitTask`."""
    answer = scenario.answer
    missing = any(isinstance(check, SaysMissing) for check in scenario.checks)
    if not scenario.checks and says_missing(answer) and not usable(execution.calls[-1].result):
        last = execution.calls[-1]
        scenario = replace(scenario, checks=(CallMade(last.tool, last.arguments or {}, failed=True), SaysMissing()))
        missing = True
    _validate_results(execution, missing)
    checks: list[Check] = [
        _filled(check, execution, scenario) if isinstance(check, Fact) else check for check in scenario.checks
    ]
    if not checks and answer:
        checks += _stated(scenario, execution)
    written = [call for call in scenario.plan if not is_read(tools.get(call.tool, Tool(call.tool)))]
    if not checks:
        checks += [CallMade(call.tool, call.arguments) for call in written]
    scenario = _with_answer(replace(scenario, checks=tuple(checks)))
    if scenario.kind in ("lookup", "chain", "open"):
        scenario = replace(scenario, kind=kind_of(scenario, writes=bool(written)))
    return replace(scenario, id=task_id(scenario))


async def executed(scenario: Scenario, server: ToolServer) -> Execution:
    """The plan's calls in a session of their own, and the reads of the state before and after them."""
    reads = [check for check in scenario.checks if isinstance(check, StateHolds)]
    try:
        async with turn_on(server, writes(scenario, server.tools)), server.session(scenario.setup) as session:
            before = [await session.call(check.tool, check.arguments) for check in reads]
            calls: list[CallRecord] = []
            for turn, call in enumerate(scenario.plan):
                calls.append(CallRecord(turn, call.tool, call.arguments, await session.call(call.tool, call.arguments)))
            state = [await session.call(check.tool, check.arguments) for check in reads]
    except ServerError as error:
        raise UnfitTask(f"has a plan that breaks the connection ({error})") from None
    for check, first in zip(reads, before, strict=True):
        if not scenario.plan and first.is_error:
            raise UnfitTask(f"reads a state with {check.tool}, which fails: {_cut(first.text)}")
        if check.values and not first.is_error and all(holds(first.text, value) for value in check.values):
            raise UnfitTask(f"asks for a change that is there already: {check.tool} shows it before any call")
    return Execution(tuple(calls), tuple(before), tuple(state))


def _validate_results(execution: Execution, missing: bool) -> None:
    """Raise `UnfitTask` unless each call worked or, at the end of a task about something missing, found nothing."""
    for number, record in enumerate(execution.calls, 1):
        last = number == len(execution.calls)
        if missing and last and usable(record.result):
            raise UnfitTask(f"says that something is missing, but {record.tool} finds it: {_cut(record.result.text)}")
        if record.result.is_error and not (missing and last):
            raise UnfitTask(f"has a call of {record.tool} that fails: {_cut(record.result.text)}")


def _filled(expected: Fact, execution: Execution, scenario: Scenario) -> Fact:
    """The fact with its value as a result holds it and the other rows' values as rivals; derived if none holds it.

    Raises `UnfitTask` if a result has another value in the field of the fact's name.
    """
    for record in execution.calls:
        for path, leaf in leaves(record_of(record.result)):
            if squash(str(leaf)) == squash(str(expected.value)) or leaf == expected.value:
                name = expected.name or _name(path)
                rivals = expected.rivals or tuple(_rivals(record.result, path, leaf, scenario))
                return replace(expected, value=leaf, name=name, rivals=rivals, derived=False)
    for record in execution.calls:
        for path, leaf in leaves(record_of(record.result)):
            if expected.name and stems(_name(path)) == stems(expected.name):
                raise UnfitTask(f"expects {expected.name} {expected.value!r}, but {record.tool} says {leaf!r}")
    held = any(holds(record.result.text, expected.value) for record in execution.calls)
    return replace(expected, derived=not held)


def _stated(scenario: Scenario, execution: Execution) -> Iterator[Fact]:
    """The facts that a recorded answer states: values of the results that it holds and that the request does not."""
    stated: set[str] = set()
    for record in execution.calls:
        for path, leaf in leaves(record_of(record.result)):
            text = squash(str(leaf))
            if isinstance(leaf, bool) or text in stated or len(text) > 64 or not text:
                continue
            if holds(scenario.answer, leaf) and not derivable(leaf, scenario.request) and len(stated) < _MOST_FACTS:
                stated.add(text)
                rivals = tuple(_rivals(record.result, path, leaf, scenario))
                yield replace(fact(leaf, _name(path)), value=leaf, rivals=rivals, derived=False)


def _rivals(result: ToolResult, path: tuple[str | int, ...], value: Scalar, scenario: Scenario) -> Iterator[Scalar]:
    """The values of the same field in other rows, except those that the request or the answer states."""
    keys = [part for part in path if isinstance(part, str)]
    given = f"{scenario.request} {scenario.answer}"
    rivals: dict[Scalar, None] = {}
    for other, leaf in leaves(record_of(result)):
        same = [part for part in other if isinstance(part, str)] == keys and other != path
        if same and leaf != value and not isinstance(leaf, bool) and not holds(given, leaf):
            rivals[leaf] = None
    yield from list(rivals)[:_MOST_RIVALS]


def _with_answer(scenario: Scenario) -> Scenario:
    """The task with a plain answer that passes its checks, if it has none that states all its facts."""
    facts = [check for check in scenario.checks if isinstance(check, Fact)]
    if not scenario.checks or (scenario.answer and all(holds(scenario.answer, check.value) for check in facts)):
        return scenario
    parts = [" ".join(filter(None, (check.name, check.unit, str(check.value)))) for check in facts]
    for check in scenario.checks:
        match check:
            case SaysMissing():
                parts.append("I could not find it.")
            case AsksBack():
                parts.append(f"Which {check.words[0]} do you mean?")
            case Declines():
                parts.append("I cannot do that with the tools that I have.")
            case _:
                pass
    return replace(scenario, answer="; ".join(parts) or "Done.")


def _name(path: tuple[str | int, ...]) -> str:
    return next((part for part in reversed(path) if isinstance(part, str)), "")


def _cut(text: str) -> str:
    return shortened(" ".join(text.split()), 120)
