"""Adversaries of the checks: policies that do not do the task. What they pass shows what the checks let through.

Each is a function of the scenario, the results of its plan and the server's tools, and gives the calls to make and the
answer. `quality` plays them on the live server.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from mcprl.errors import ServerError
from mcprl.judges.checks import holds, leaves
from mcprl.judges.dumps import listings
from mcprl.judges.evidence import values_in
from mcprl.judges.mentions import read
from mcprl.judges.values import kind_of, places, same, tokens
from mcprl.judges.verifier import Verifier
from mcprl.servers.digest import as_read
from mcprl.servers.effects import is_read, turn_on, writes
from mcprl.servers.live import refreshed
from mcprl.servers.retries import again_if_lost
from mcprl.types import (
    Call,
    CallRecord,
    Fact,
    SaysMissing,
    Scalar,
    Scenario,
    Session,
    StateHolds,
    Tool,
    ToolServer,
    Trajectory,
)

MOST_TASKS = 24
"""Tasks that `quality` plays, unless told otherwise."""


@dataclass(frozen=True)
class Move:
    """What an adversary does in one task. `right` is true if it has a right to pass: the task then does not count."""

    calls: tuple[Call, ...]
    answer: str
    right: bool = False


@dataclass
class Share:
    """How many of the `tasks` that an adversary has no right to it passed, with their requests."""

    passed: int = 0
    tasks: int = 0
    requests: list[str] = field(default_factory=list[str])

    @property
    def rate(self) -> float:
        """0..1; 0 without tasks."""
        return self.passed / max(1, self.tasks)


Records = Sequence[CallRecord]
Adversary = Callable[[Scenario, Records, Sequence[Tool]], Move]


def do_nothing(scenario: Scenario, records: Records, tools: Sequence[Tool]) -> Move:
    """Calls nothing and says that it is done. It has a right to nothing."""
    return Move((), "Done.", right=_wants_no_call(scenario))


def refuse(scenario: Scenario, records: Records, tools: Sequence[Tool]) -> Move:
    """Makes the plan's reads and says that nothing was found and nothing can be done.

    It has a right to tasks about missing things and to those that no tool serves.
    """
    names = {tool.name for tool in tools if is_read(tool)}
    calls = tuple(call for call in scenario.plan if call.tool in names)
    kinds = {check.kind for check in scenario.checks}
    answer = "Sorry, I could not find that. It does not exist, and I cannot help with it."
    return Move(calls, answer, right="missing" in kinds or "declines" in kinds)


def echo(scenario: Scenario, records: Records, tools: Sequence[Tool]) -> Move:
    """Repeats the results as they are. It has a right to texts that are no list, to single values, and to writes."""
    several = any(len(list(leaves(record.result.structured))) > 1 for record in records)
    return Move(
        scenario.plan, "\n".join(record.result.text for record in records), _is_free(scenario, records, several)
    )


def say_everything(scenario: Scenario, records: Records, tools: Sequence[Tool]) -> Move:
    """Says each value of the results in a sentence. It has a right to what is no list, and to writes."""
    return Move(scenario.plan, _everything(records), _is_free(scenario, records))


def call_every_tool(scenario: Scenario, records: Records, tools: Sequence[Tool]) -> Move:
    """Makes the plan's calls and those of all other reading tools that take the plan's arguments, then says everything.

    Its right is that of `say_everything`. Tools that may write are left alone: this runs on a user's server.
    """
    given = {name: value for call in scenario.plan for name, value in call.arguments.items()}
    planned = {call.tool for call in scenario.plan}
    others: list[Call] = []
    for tool in tools:
        properties = tool.input_schema.get("properties", {})
        required = tool.input_schema.get("required", [])
        if tool.name not in planned and is_read(tool) and all(name in given for name in required):
            others.append(Call(tool.name, {name: given[name] for name in properties if name in given}))
    return Move((*scenario.plan, *others), _everything(records), _is_free(scenario, records))


def swap_parts(scenario: Scenario, records: Records, tools: Sequence[Tool]) -> Move:
    """The right answer with the values of two parts exchanged.

    It has a right to answers of one part, to plain lists, and to parts of different kinds, which no reader confuses.
    """
    facts = _facts(scenario)
    for one in facts:
        for other in facts:
            alike = kind_of(one.value, one.meaning) == kind_of(other.value, other.meaning)
            told_apart = one.name != other.name or (one.subject != other.subject and one.subject and other.subject)
            if one is other or not alike or not told_apart or same(one.value, other.value):
                continue
            if answer := _exchanged(scenario.answer, one, other):
                return Move(scenario.plan, answer)
    return Move(scenario.plan, scenario.answer, right=True)


def tell_neighbour(scenario: Scenario, records: Records, tools: Sequence[Tool]) -> Move:
    """Gives another value of the results for each that was asked for. It has a right to tasks without facts."""
    others = _others(scenario, records)
    told: list[str] = []
    for fact in _facts(scenario):
        rivals = [*fact.rivals, *others]
        fitting = [rival for rival in rivals if kind_of(rival) == kind_of(fact.value)] or rivals
        told += [f"It is {rival}." for rival in fitting[:1] if not holds(str(rival), fact.value)]
    return Move(scenario.plan, " ".join(told), right=not told or len(told) < len(_facts(scenario)))


def _constant(pick: Callable[[list[Scalar]], Scalar]) -> Adversary:
    def answer(scenario: Scenario, records: Records, tools: Sequence[Tool]) -> Move:
        """Always gives the same field of the last result. It has a right to the tasks that ask for that field."""
        values = _values(records[-1:])
        if not values or not _facts(scenario):
            return Move(scenario.plan, "", right=True)
        value = pick(values)
        right = all(same(value, fact.value) or holds(str(value), fact.value) for fact in _facts(scenario))
        return Move(scenario.plan, f"It is {value}.", right)

    return answer


def _first(values: list[Scalar]) -> Scalar:
    return values[0]


def _last(values: list[Scalar]) -> Scalar:
    return values[-1]


def _longest(values: list[Scalar]) -> Scalar:
    return max(values, key=_length)


def _length(value: Scalar) -> int:
    return len(str(value))


ADVERSARIES: Mapping[str, Adversary] = {
    "does nothing": do_nothing,
    "always refuses": refuse,
    "echoes the whole result": echo,
    "says everything": say_everything,
    "calls every tool": call_every_tool,
    "swaps the parts": swap_parts,
    "gives a neighbouring field": tell_neighbour,
    "always the first field": _constant(_first),
    "always the last field": _constant(_last),
    "always the longest field": _constant(_longest),
}


async def quality(
    server: ToolServer, scenarios: Sequence[Scenario], verifier: Verifier, most: int = MOST_TASKS
) -> dict[str, Share]:
    """Play every adversary, and the plans themselves ("gold"), on at most `most` of the scenarios, evenly spread.

    Every play that makes calls has a session of its own. One whose session is lost again and again is left out.
    """
    chosen = [scenarios[n * len(scenarios) // min(most, len(scenarios))] for n in range(min(most, len(scenarios)))]
    shares = {name: Share() for name in ("gold", *ADVERSARIES)}
    for scenario in chosen:
        gold = await _played(server, scenario, Move(scenario.plan, scenario.answer))
        if gold is None:
            continue
        _count(shares["gold"], scenario, verifier, gold)
        for name, adversary in ADVERSARIES.items():
            move = adversary(scenario, gold.calls, server.tools)
            if move.right:
                continue
            played = _answered(gold, move) if move.calls == scenario.plan else await _played(server, scenario, move)
            if played is not None:
                _count(shares[name], scenario, verifier, played)
    return shares


async def _played(server: ToolServer, scenario: Scenario, move: Move) -> Trajectory | None:
    """As `play`; `None` if its session is lost again and again."""
    with suppress(ServerError):
        return await again_if_lost(partial(play, server, scenario, move))
    return None


async def play(server: ToolServer, scenario: Scenario, move: Move) -> Trajectory:
    """A move as a trajectory, its calls made in a session of its own. Raises `ServerError`."""
    turn = turn_on(server, writes(scenario, server.tools))
    async with turn, server.session(scenario.setup) as session:
        return await play_in(session, scenario, move)


async def play_in(session: Session, scenario: Scenario, move: Move) -> Trajectory:
    """A move as a trajectory, its calls made in a session that is in the scenario's state."""
    looks = [check for check in scenario.checks if isinstance(check, StateHolds)]
    records: list[CallRecord] = []
    before = [await session.call(look.tool, look.arguments) for look in looks]
    for number, call in enumerate(move.calls):
        result = as_read(await session.call(call.tool, call.arguments))
        records.append(CallRecord(number, call.tool, call.arguments, result))
    after = [await session.call(look.tool, look.arguments) for look in looks]
    answer = refreshed(scenario, records) if move.answer == scenario.answer else move.answer
    messages = ({"role": "user", "content": scenario.request}, {"role": "assistant", "content": answer})
    return Trajectory(scenario.id, scenario.id, messages, (), tuple(records), tuple(after), before=tuple(before))


def _answered(gold: Trajectory, move: Move) -> Trajectory:
    """The trajectory of a plan with another answer."""
    messages = (*gold.messages[:-1], {"role": "assistant", "content": move.answer})
    return Trajectory(gold.id, gold.scenario_id, messages, (), gold.calls, gold.state, before=gold.before)


def _count(share: Share, scenario: Scenario, verifier: Verifier, trajectory: Trajectory) -> None:
    share.tasks += 1
    if verifier.verify(scenario, trajectory).success:
        share.passed += 1
        share.requests.append(scenario.request)


def _facts(scenario: Scenario) -> list[Fact]:
    return [check for check in scenario.checks if isinstance(check, Fact)]


def _others(scenario: Scenario, records: Records) -> list[Scalar]:
    """The results' values that neither the task nor its request has."""
    given = f" {' '.join(tokens(scenario.request))} "
    known = [value for fact in _facts(scenario) for value in (fact.value, fact.subject)]
    known += [value for call in scenario.plan for _, value in leaves(call.arguments)]
    spelled = {tokens(str(value)) for value in known}
    found: dict[tuple[str, ...], Scalar] = {}
    for words, value, _ in values_in([record.result for record in records if not record.result.is_error]):
        if words not in spelled and f" {' '.join(words)} " not in given:
            found.setdefault(words, value)
    return list(found.values())


def _values(records: Records) -> list[Scalar]:
    """The values of results in their order: leaves of JSON, or the whole text."""
    found: list[Scalar] = []
    for record in records:
        structured = record.result.structured
        whole = isinstance(structured, dict | list)
        found += [value for _, value in leaves(structured)] if whole else [record.result.text]
    return found


def _everything(records: Records) -> str:
    told: list[str] = []
    for record in records:
        if not isinstance(record.result.structured, dict | list):
            told.append(record.result.text)
        for path, value in leaves(record.result.structured):
            label = next((part for part in reversed(path) if isinstance(part, str)), "value")
            told.append(f"The {label.replace('_', ' ')} is {value}.")
    return " ".join(told)


def _is_free(scenario: Scenario, records: Records, several: bool = False) -> bool:
    """Whether a dump is a right answer: no facts are asked for, or they are in results and in no list of other things,
    and the results are not repeated as `several` raw values. A record affirms a question whether there is one."""
    facts, results = _facts(scenario), [record.result for record in records]
    told = not several and not any(fact.derived and not isinstance(fact.value, bool) for fact in facts)
    return not facts or (told and next(listings(facts, results), None) is None)


def _wants_no_call(scenario: Scenario) -> bool:
    return not scenario.checks or (
        not scenario.plan and all(isinstance(check, SaysMissing) for check in scenario.checks)
    )


def _exchanged(answer: str, one: Fact, other: Fact) -> str:
    """The answer, as `read` normalizes it, with two facts' values in each other's places; empty if it lacks one."""
    reading = read(answer)
    spots = [places(reading, fact.value, fact.meaning, fact.unit) for fact in (one, other)]
    if not all(spots):
        return ""
    first, second = sorted((spots[0][0], spots[1][0]))
    text = reading.cased
    if first[1] > second[0]:
        return ""
    parts = (text[: first[0]], text[slice(*second)], text[first[1] : second[0]], text[slice(*first)], text[second[1] :])
    return "".join(parts)
