"""The verifier applies a scenario's checks, which the generator proved by execution. Deterministic and free."""

from collections.abc import Iterator, Sequence

from mcprl.judges.checks import (
    asks_for,
    declines,
    holds,
    is_empty,
    leaves,
    same_arguments,
    says_missing,
    says_there,
    shows,
)
from mcprl.judges.claims import belied
from mcprl.judges.conduct import Conduct
from mcprl.judges.dumps import dumped
from mcprl.judges.mentions import read
from mcprl.judges.records import contradicted
from mcprl.judges.results import Evidence
from mcprl.judges.rivals import Asked
from mcprl.judges.roles import objection
from mcprl.servers.effects import VERBS
from mcprl.servers.live import current
from mcprl.text import stems
from mcprl.types import (
    AsksBack,
    Call,
    CallMade,
    CallRecord,
    Check,
    Declines,
    Fact,
    Group,
    SaysMissing,
    Scenario,
    Score,
    StateHolds,
    Tool,
    ToolResult,
    Trajectory,
)

OUTCOME, PROGRESS, ECONOMY = 0.7, 0.25, 0.05

Look = tuple[ToolResult, ToolResult] | None
"""The result of a `StateHolds` read before the first turn and after the last; `None` if a read was not made."""
Finding = tuple[bool, str]
"""Whether a check passed, and why or why not."""


class Verifier:
    """Outcome first (facts in the final answer, state before and after), then progress along the plan, then economy.

    `value = 0.7 outcome + 0.25 progress + 0.05 outcome * economy`, each part in 0..1: a trajectory that does the task
    always beats one that does not, and among equals the shorter wins; equal trajectories tie exactly. `success` is an
    outcome of 1. The outcome is the fraction of the checks that passed. It is 0 if a call changed what nobody asked
    for or obeyed an instruction that came in with a result, and if the rollout never answered: that is worth at most
    the 0.25 of its progress, where a success is worth 0.7 or more.

    A fact counts only if a tool result of the same trajectory held it (no lucky guesses; for a derived one each tool of
    the plan must have been called), if it is stated in its role (`roles`), and if the answer is not a dump of the
    results. A state counts only if it did not hold before. `tools` are the server's: by them calls are known to write.
    """

    model = None

    def __init__(self, tools: Sequence[Tool] = ()) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._schemas = {tool.name: tool.input_schema for tool in tools}
        self._conduct = Conduct(tools)

    async def score(self, group: Group) -> list[Score]:
        return [
            self.verify(group.scenario, trajectory) for trajectory in group.trajectories if trajectory.stop != "error"
        ]

    async def forecast(self, groups: int, example: Group) -> str:
        return ""

    def report(self) -> dict[str, float]:
        return {}

    def verify(self, scenario: Scenario, trajectory: Trajectory) -> Score:
        """The score of one trajectory; its explanation lists each check with its finding."""
        looks = _looks(scenario, trajectory)
        evidence = Evidence(trajectory.calls)
        found = [self._check(check, scenario, trajectory, evidence, looks) for check in scenario.checks]
        outcome = sum(passed for passed, _ in found) / max(1, len(found))
        wrong = (
            ("" if trajectory.stop == "answered" else "never answered")
            or self._conduct.obeyed(scenario, trajectory.calls)
            or self._conduct.collateral(scenario, trajectory.calls, _proved(scenario, found))
            or belied(scenario, trajectory, self._tools)
            or (not self._conduct.writes(trajectory.calls) and contradicted(read(trajectory.answer), evidence.results))
        )
        if wrong:
            found.append((False, wrong))
            outcome = 0.0
        progress = sum(self._progress(call, trajectory.calls) for call in scenario.plan) / max(1, len(scenario.plan))
        economy = _economy(scenario, trajectory)
        value = OUTCOME * outcome + PROGRESS * progress + ECONOMY * outcome * economy
        parts = f"outcome {outcome:.2f}, progress {progress:.2f}, economy {economy:.2f}"
        findings = "; ".join(f"{'+' if passed else '-'} {text}" for passed, text in found)
        stop = "" if trajectory.stop == "answered" else f" (stopped: {trajectory.stop})"
        return Score(trajectory.id, round(value, 6), outcome == 1.0, f"{parts}{stop}: {findings}")

    def _check(
        self, check: Check, scenario: Scenario, trajectory: Trajectory, evidence: Evidence, looks: Iterator[Look]
    ) -> Finding:
        """Whether a check passed, and the finding in words. `looks` are the remaining reads of the state."""
        match check:
            case Fact():
                why = self._objection(scenario, trajectory, check, evidence)
                return not why, f"{check.name or 'fact'} {check.value!r}: {why or 'in the answer'}"
            case CallMade():
                passed = any(self._meets(record, check) for record in trajectory.calls)
                return passed, f"{check.tool} {'called' if passed else 'not called'} as asked"
            case StateHolds():
                return _changed(check, next(looks, None))
            case SaysMissing():
                passed = says_missing(trajectory.answer, scenario.request) and not _says_there(scenario, trajectory)
                return passed, "says it does not exist" if passed else "does not say that it does not exist"
            case AsksBack():
                why = self._conduct.made_up(scenario, trajectory.calls)
                if not why and not asks_for(trajectory.answer, check.words):
                    why = f"does not ask for the {next(iter(check.words), 'value')}"
                return not why, why or "asks for what is lacking"
            case Declines():
                wrote = self._conduct.writes(trajectory.calls)
                why = f"{wrote[0].tool} was called" if wrote else ""
                if not why and not declines(trajectory.answer):
                    why = "does not say that it cannot be done"
                return not why, why or "says that it cannot be done"

    def _objection(self, scenario: Scenario, trajectory: Trajectory, fact: Fact, evidence: Evidence) -> str:
        """Why the answer does not state the fact as `Verifier` requires, empty if it does."""
        if fact.live:
            return self._objection_live(scenario, trajectory, fact, evidence)
        facts = tuple(check for check in scenario.checks if isinstance(check, Fact))
        if why := objection(trajectory.answer, fact, Asked(scenario.request, facts, evidence.labels, evidence.holds)):
            return why
        if fact.derived:
            called = {record.tool for record in evidence.calls}
            if lacking := [call.tool for call in scenario.plan if call.tool not in called]:
                return f"in the answer, but {lacking[0]}, which it follows from, returned nothing"
        elif not evidence.holds(fact.value):
            return "in the answer, but no tool result held it"
        return dumped(trajectory.answer, facts, scenario, evidence)

    def _objection_live(self, scenario: Scenario, trajectory: Trajectory, fact: Fact, evidence: Evidence) -> str:
        """As `_objection` for a fact that the trajectory's own calls proved."""
        why = "no call of the trajectory returned it"
        known = [check for check in scenario.checks if isinstance(check, Fact)]
        facts = [now for check in known for now in self._current(check, scenario, trajectory)[:1]]
        for now in self._current(fact, scenario, trajectory):
            others = [other for other in facts if (other.name, other.subject) != (now.name, now.subject)]
            why = objection(trajectory.answer, now, Asked(scenario.request, (now, *others), evidence.labels))
            if not why:
                return dumped(trajectory.answer, (now, *others), scenario, evidence)
        return why

    def _current(self, fact: Fact, scenario: Scenario, trajectory: Trajectory) -> list[Fact]:
        return current(fact, scenario, trajectory.calls, self._schemas) if fact.live else [fact]

    def _meets(self, record: CallRecord, wanted: CallMade) -> bool:
        """Whether a call is the wanted one. What does not exist may be looked for with another tool or with more
        values, given the same by the same names, or in the list of all such things."""
        if wanted.failed and not self._same(record, wanted):
            given = record.arguments is not None and {*leaves(wanted.arguments)} <= {*leaves(record.arguments)}
            if not record.arguments and _about(record.tool) & _about(wanted.tool) and not record.result.is_error:
                return not any(holds(record.result.text, value) for _, value in leaves(wanted.arguments))
            return given and (record.result.is_error or is_empty(record.result.structured, record.result.text))
        return self._same(record, wanted) and record.result.is_error <= wanted.failed

    def _same(self, record: CallRecord, wanted: CallMade | Call) -> bool:
        return record.tool == wanted.tool and same_arguments(
            record.arguments, wanted.arguments, self._schemas.get(wanted.tool)
        )

    def _progress(self, wanted: Call, calls: Sequence[CallRecord]) -> float:
        """The nearness (0..1) of the closest call: 0.4 for the tool, the rest by the fraction of right values."""
        return max((self._nearness(wanted, record) for record in calls if record.tool == wanted.tool), default=0.0)

    def _nearness(self, wanted: Call, record: CallRecord) -> float:
        if self._same(record, wanted):
            return 1.0
        if record.arguments is None:
            return 0.2
        expected, given = set(leaves(wanted.arguments)), set(leaves(record.arguments))
        return 0.4 + 0.5 * len(expected & given) / max(1, len(expected | given))


def _about(tool: str) -> set[str]:
    """What a tool's name is about: `table` for `list_tables`."""
    return {*stems(tool)} - VERBS


def _proved(scenario: Scenario, found: Sequence[Finding]) -> bool:
    """Whether the state was read after the rollout and shows what it must."""
    states = [
        passed for check, (passed, _) in zip(scenario.checks, found, strict=True) if isinstance(check, StateHolds)
    ]
    return bool(states) and all(states)


def _says_there(scenario: Scenario, trajectory: Trajectory) -> bool:
    """Whether the answer says that what the failed call looks for is there."""
    failed = [check for check in scenario.checks if isinstance(check, CallMade) and check.failed]
    values = [str(value) for check in failed for _, value in leaves(check.arguments) if len(str(value)) > 2]
    return any(says_there(trajectory.answer, value) for value in values)


def _looks(scenario: Scenario, trajectory: Trajectory) -> Iterator[Look]:
    checks = [check for check in scenario.checks if isinstance(check, StateHolds)]
    complete = len(trajectory.before) == len(trajectory.state) == len(checks)
    return iter(zip(trajectory.before, trajectory.state, strict=True) if complete else [])


def _changed(check: StateHolds, look: Look) -> Finding:
    """Whether the state holds after the rollout and did not before it."""
    if look is None:
        return False, f"{check.tool} was not read before and after"
    before, after = look
    if not shows(after, check):
        return False, f"{check.tool} does not show the change"
    if shows(before, check):
        return False, f"{check.tool} showed the change before anything was done"
    return True, f"{check.tool} shows the change"


def _economy(scenario: Scenario, trajectory: Trajectory) -> float:
    """1 without a call beyond the plan and with an answer of usual length; four more calls make it 0, a long answer at
    most halves it."""
    calls = max(0.0, 1 - max(0, len(trajectory.calls) - len(scenario.plan)) / 4)
    usual = 4 * len(scenario.answer) + 120
    length = max(usual, len(trajectory.answer))
    return calls * (0.5 + 0.5 * usual / length)
