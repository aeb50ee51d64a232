"""What each kind of check requires of a rollout. `objection` says why a check does not pass."""

import math
from functools import singledispatch
from itertools import permutations

from mcprl.judges.checks import asks_for, declines, holds, is_empty, leaves, says_missing, shows
from mcprl.judges.conduct import made_up
from mcprl.judges.dumps import dumped
from mcprl.judges.evidence import Evidence
from mcprl.judges.facts import Asked, misses
from mcprl.judges.mentions import read
from mcprl.servers.effects import VERBS
from mcprl.servers.live import current
from mcprl.servers.statements import is_statement, looks_for
from mcprl.text import stems
from mcprl.types import (
    AsksBack,
    CallMade,
    CallRecord,
    Check,
    Declines,
    Fact,
    RewardCheck,
    SaysMissing,
    Scalar,
    StateHolds,
)


@singledispatch
def objection(check: Check, evidence: Evidence) -> str:
    """Why a check does not pass, empty if it does."""
    raise TypeError(f"nothing is known of the check {check!r}")


@objection.register
def _(fact: Fact, evidence: Evidence) -> str:
    """The answer states the fact, a result of the rollout proves it, and the answer is no dump of the results."""
    if fact.live:
        return _objection_live(fact, evidence)
    asked = Asked(evidence.request, evidence.facts, evidence.labels)
    return (
        misses(evidence.answer, fact, asked)
        or _unproved(fact, evidence)
        or dumped(evidence.reading, evidence.facts, evidence.request, evidence.results)
    )


def _unproved(fact: Fact, evidence: Evidence) -> str:
    """Why the results do not prove a fact: they lack it; or what it is computed from, and a tool of the plan too. One
    that must find nothing has a check of its own, and beside SQL the others only tell what it can ask."""
    if not fact.derived:
        held = evidence.holds(fact.value) or _is_computed(fact.value, evidence.request)
        return "" if held else "in the answer, but no tool result held it"
    called = {record.tool for record in evidence.calls}
    called |= {check.tool for check in evidence.scenario.checks if isinstance(check, CallMade) and check.failed}
    plan = evidence.scenario.plan
    asking = [call for call in plan if any(is_statement(value) for _, value in leaves(call.arguments))]
    lacking = [call.tool for call in asking or plan if call.tool not in called]
    terms = [rival for rival in fact.rivals if type(rival) in (int, float)]
    if not lacking or (len(terms) > 1 and all(map(evidence.holds, terms))):
        return ""
    return f"in the answer, but {lacking[0]}, which it follows from, returned nothing"


def _is_computed(value: Scalar, request: str) -> bool:
    """Whether a number is the sum, difference, product or quotient of two that the request gives."""
    given = [number.value for number in read(request).numbers]
    made = [x for a, b in permutations(given, 2) for x in (a + b, a - b, a * b, a / (b or math.inf))]
    return isinstance(value, int | float) and any(math.isclose(value, each, abs_tol=1e-6) for each in made)


def _objection_live(fact: Fact, evidence: Evidence) -> str:
    """As for other facts, with the values that the rollout's own calls returned."""

    def now(known: Fact) -> list[Fact]:
        schemas = {name: tool.input_schema for name, tool in evidence.tools.items()}
        return current(known, evidence.scenario, evidence.trajectory.calls, schemas) if known.live else [known]

    why = "no call of the trajectory returned it"
    told = [each for known in evidence.facts for each in now(known)[:1]]
    for each in now(fact):
        facts = (each, *(other for other in told if (other.name, other.subject) != (each.name, each.subject)))
        why = misses(evidence.answer, each, Asked(evidence.request, facts, evidence.labels))
        if not why:
            return dumped(evidence.reading, facts, evidence.request, evidence.results)
    return why


@objection.register
def _(wanted: CallMade, evidence: Evidence) -> str:
    """The call was made and succeeded; one that must fail returned an error or nothing."""
    if any(_meets(record, wanted, evidence) for record in evidence.trajectory.calls):
        return ""
    return f"{wanted.tool} not called as asked"


def _meets(record: CallRecord, wanted: CallMade, evidence: Evidence) -> bool:
    """What does not exist may be looked for with another tool of the server or with more values, given the same by the
    same names, by another SELECT that finds nothing, or in the list of all such things."""
    if evidence.is_call(record, wanted) or not wanted.failed:
        return evidence.is_call(record, wanted) and record.result.is_error <= wanted.failed
    if not record.arguments and _about(record.tool) & _about(wanted.tool) and not record.result.is_error:
        return not any(holds(record.result.text, value) for _, value in leaves(wanted.arguments))
    if evidence.tools and record.tool not in evidence.tools:
        return False
    pairs = zip((record.arguments or {}).values(), wanted.arguments.values(), strict=False)
    if record.tool == wanted.tool and any(looks_for(str(made), str(planned)) for made, planned in pairs):
        return not record.result.is_error and is_empty(record.result.structured, record.result.text)
    given = record.arguments is not None and {*leaves(wanted.arguments)} <= {*leaves(record.arguments)}
    return given and (record.result.is_error or is_empty(record.result.structured, record.result.text))


def _about(tool: str) -> set[str]:
    """What a tool's name is about: `table` for `list_tables`."""
    return {*stems(tool)} - VERBS


@objection.register
def _(state: StateHolds, evidence: Evidence) -> str:
    """A read shows the state after the rollout, and did not before it."""
    look = evidence.look(state)
    if look is None:
        return f"{state.tool} was not read before and after"
    before, after = look
    if not shows(after, state):
        return f"{state.tool} does not show the change"
    return f"{state.tool} showed the change before anything was done" if shows(before, state) else ""


@objection.register
def _(check: RewardCheck, evidence: Evidence) -> str:
    """The server gave a number that is large enough."""
    given = evidence.trajectory.reward
    if given is None:
        return "the server gave no reward"
    return "" if given >= check.at_least else f"the server gave {given:g}, and {check.at_least:g} is needed"


@objection.register
def _(check: SaysMissing, evidence: Evidence) -> str:
    """The answer says that the thing is missing."""
    scenario = evidence.scenario
    of_a_thing = not any(isinstance(each, CallMade) and each.failed for each in scenario.checks)
    calls = [f"{call.tool} {' '.join(str(value) for _, value in leaves(call.arguments))}" for call in scenario.plan]
    asked = " ".join([evidence.request, *calls]) if of_a_thing else ""
    return "" if says_missing(evidence.answer, evidence.request, asked) else "does not say that it does not exist"


@objection.register
def _(check: AsksBack, evidence: Evidence) -> str:
    """The answer asks for what is lacking, and no call was made with a guess."""
    if why := made_up(evidence):
        return why
    return "" if asks_for(evidence.answer, check.words) else f"does not ask for the {next(iter(check.words), 'value')}"


@objection.register
def _(check: Declines, evidence: Evidence) -> str:
    """The answer says that it cannot be done, and nothing was written."""
    if evidence.writes:
        return f"{evidence.writes[0].tool} was called"
    return "" if declines(evidence.answer) else "does not say that it cannot be done"
