"""The verifier applies a scenario's checks, which the generator proved by execution. Deterministic and free."""

from collections.abc import Iterator, Sequence

from mcprl.judges.checks import holds, leaves, same_arguments, says_missing
from mcprl.types import (
    Call,
    CallMade,
    CallRecord,
    Check,
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


class Verifier:
    """Outcome first (facts in the final answer, state read back), then progress along the plan, then economy.

    `value = 0.7 outcome + 0.25 progress + 0.05 outcome * economy`, each part in 0..1: a trajectory that does the task
    always beats one that does not, and among equals the shorter wins; equal trajectories tie exactly. A fact counts
    only if a tool result of the same trajectory held it (no lucky guesses), if the answer is not a dump of everything,
    and, for one row of a list, if the answer does not give the other rows' values of that field. `success` is an
    outcome of 1.
    """

    def __init__(self, tools: Sequence[Tool] = ()) -> None:
        self._schemas = {tool.name: tool.input_schema for tool in tools}

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
        reads = iter(trajectory.state)
        checked = [self._check(check, scenario, trajectory, reads) for check in scenario.checks]
        outcome = sum(passed for passed, _ in checked) / max(1, len(checked))
        progress = sum(self._progress(call, trajectory.calls) for call in scenario.plan) / max(1, len(scenario.plan))
        economy = max(0.0, 1 - max(0, len(trajectory.calls) - len(scenario.plan)) / 4)
        value = OUTCOME * outcome + PROGRESS * progress + ECONOMY * outcome * economy
        parts = f"outcome {outcome:.2f}, progress {progress:.2f}, economy {economy:.2f}"
        findings = "; ".join(f"{'+' if passed else '-'} {text}" for passed, text in checked)
        stop = "" if trajectory.stop == "answered" else f" (stopped: {trajectory.stop})"
        return Score(trajectory.id, round(value, 6), outcome == 1.0, f"{parts}{stop}: {findings}")

    def _check(
        self, check: Check, scenario: Scenario, trajectory: Trajectory, reads: Iterator[ToolResult]
    ) -> tuple[bool, str]:
        """Whether a check passed, and the finding in words. `reads` are the remaining results of the state reads."""
        match check:
            case Fact():
                passed, why = self._states(scenario, trajectory, check)
                return passed, f"{check.name or 'fact'} {check.value!r}: {why}"
            case CallMade():
                passed = any(
                    self._same(record, check) and record.result.is_error <= check.failed for record in trajectory.calls
                )
                return passed, f"{check.tool} {'called' if passed else 'not called'} as asked"
            case StateHolds():
                read = next(reads, None)
                if read is None or read.is_error:
                    passed = False
                else:
                    passed = all(holds(read.text, value) for value in check.values)
                return passed, f"{check.tool} {'shows' if passed else 'does not show'} the change"
            case SaysMissing():
                passed = says_missing(trajectory.answer)
                return passed, "says it does not exist" if passed else "does not say that it does not exist"

    def _states(self, scenario: Scenario, trajectory: Trajectory, fact: Fact) -> tuple[bool, str]:
        """Whether the answer states the fact as `Verifier` requires, and why not."""
        answer = trajectory.answer
        if not holds(answer, fact.value):
            return False, "not in the answer"
        results = [record.result for record in trajectory.calls if not record.result.is_error]
        if not any(holds(result.text, fact.value) for result in results):
            return False, "in the answer, but no tool result held it"
        if len(answer) > 4 * len(scenario.answer) + 120:
            return False, "in an answer that repeats far more than was asked for"
        if named := [other for other in fact.rivals if holds(answer, other)]:
            return False, f"in an answer that also gives {named[0]!r}, which is another row's"
        return True, "in the answer"

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
