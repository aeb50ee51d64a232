"""The verifier: what the scenario generator proved by execution, checked on a trajectory. Deterministic and free."""

from collections.abc import Sequence

from mcprl.judges.checks import holds, leaves, same_arguments, says_missing
from mcprl.types import (
    Call,
    CallMade,
    CallRecord,
    Fact,
    Group,
    SaysMissing,
    Scenario,
    Score,
    StateHolds,
    Tool,
    Trajectory,
)

OUTCOME, PROGRESS, ECONOMY = 0.7, 0.25, 0.05


class Verifier:
    """Outcome first (facts in the final answer, state read back), then progress along the plan, then economy.

    `value = 0.7 outcome + 0.25 progress + 0.05 outcome * economy`, each part in 0..1: a trajectory that does the task
    always beats one that does not, and among equals the shorter wins; equal trajectories tie exactly. A fact counts
    only when a tool result of the same trajectory held it (no lucky guesses), when the answer is not a dump of
    everything, and, for one row out of a list, when it does not name what other rows say there. `success` is an
    outcome of 1.
    """

    def __init__(self, tools: Sequence[Tool] = ()) -> None:
        self._schemas = {tool.name: tool.input_schema for tool in tools}

    async def score(self, group: Group) -> list[Score]:
        return [self.verify(group.scenario, tried) for tried in group.trajectories if tried.stop != "error"]

    async def forecast(self, groups: int, example: Group) -> str:
        return ""

    def report(self) -> dict[str, float]:
        return {}

    def verify(self, scenario: Scenario, tried: Trajectory) -> Score:
        """The score of one trajectory; its explanation names every check with what was found."""
        states = iter(tried.state)
        passed: list[tuple[str, bool]] = []
        for check in scenario.checks:
            match check:
                case Fact():
                    said, why = self._states(scenario, tried, check)
                    passed.append((f"{check.name or 'fact'} {check.value!r}: {why}", said))
                case CallMade():
                    made = any(
                        self._same(record, check) and record.result.is_error <= check.failed for record in tried.calls
                    )
                    passed.append((f"{check.tool} {'called' if made else 'not called'} as asked", made))
                case StateHolds():
                    read = next(states, None)
                    held = (
                        read is not None
                        and not read.is_error
                        and all(holds(read.text, value) for value in check.values)
                    )
                    passed.append((f"{check.tool} {'shows' if held else 'does not show'} the change", held))
                case SaysMissing():
                    said = says_missing(tried.answer)
                    passed.append(("says it does not exist" if said else "does not say that it does not exist", said))
        outcome = sum(ok for _, ok in passed) / max(1, len(passed))
        progress = sum(self._progress(call, tried.calls) for call in scenario.plan) / max(1, len(scenario.plan))
        economy = max(0.0, 1 - max(0, len(tried.calls) - len(scenario.plan)) / 4)
        value = OUTCOME * outcome + PROGRESS * progress + ECONOMY * outcome * economy
        parts = f"outcome {outcome:.2f}, progress {progress:.2f}, economy {economy:.2f}"
        checks = "; ".join(f"{'+' if ok else '-'} {text}" for text, ok in passed)
        stop = "" if tried.stop == "answered" else f" (stopped: {tried.stop})"
        return Score(tried.id, round(value, 6), outcome == 1.0, f"{parts}{stop}: {checks}")

    def _states(self, scenario: Scenario, tried: Trajectory, fact: Fact) -> tuple[bool, str]:
        if not holds(tried.answer, fact.value):
            return False, "not in the answer"
        if not any(holds(record.result.text, fact.value) for record in tried.calls if not record.result.is_error):
            return False, "in the answer, but no tool result held it"
        if len(tried.answer) > 4 * len(scenario.answer) + 120:
            return False, "in an answer that repeats far more than was asked for"
        if named := [other for other in fact.others if holds(tried.answer, other)]:
            return False, f"in an answer that also gives {named[0]!r}, which is another row's"
        return True, "in the answer"

    def _same(self, record: CallRecord, wanted: CallMade | Call) -> bool:
        return record.tool == wanted.tool and same_arguments(
            record.arguments, wanted.arguments, self._schemas.get(wanted.tool)
        )

    def _progress(self, wanted: Call, made: Sequence[CallRecord]) -> float:
        """How near the closest call came: 0.4 for the tool, the rest by the share of argument values that are right."""
        return max((self._nearness(wanted, record) for record in made if record.tool == wanted.tool), default=0.0)

    def _nearness(self, wanted: Call, record: CallRecord) -> float:
        if self._same(record, wanted):
            return 1.0
        if record.arguments is None:
            return 0.2
        want, have = set(leaves(wanted.arguments)), set(leaves(record.arguments))
        return 0.4 + 0.5 * len(want & have) / max(1, len(want | have))
