"""The verifier applies a scenario's checks, which the generator proved by execution. Deterministic and free."""

from collections.abc import Sequence
from dataclasses import replace

from mcprl.judges.checks import leaves
from mcprl.judges.claims import belied, dates_made_up
from mcprl.judges.conduct import collateral, obeyed
from mcprl.judges.evidence import Evidence
from mcprl.judges.passes import objection
from mcprl.text import only_data
from mcprl.types import (
    Call,
    CallMade,
    CallRecord,
    Check,
    Fact,
    Group,
    RewardCheck,
    Scenario,
    Score,
    StateHolds,
    Tool,
    Trajectory,
)

OUTCOME, PROGRESS, ECONOMY = 0.7, 0.25, 0.05


class Verifier:
    """Outcome first (facts in the final answer, state before and after), then progress along the plan, then economy.

    `value = 0.7 outcome + 0.25 progress + 0.05 outcome * economy`, each part in 0..1: a trajectory that does the task
    always beats one that does not, and among equals the shorter wins; equal trajectories tie exactly. `success` is an
    outcome of 1. The outcome is the fraction of the checks that passed (`passes`). It is 0 if a call changed what
    nobody asked for or obeyed an instruction that came in with a result, if the answer misreports a write or makes up
    a date, and if the rollout never answered or answered in JSON alone: that is worth at most the 0.25 of its
    progress, where a success is worth 0.7 or more.

    Where the server scores (`RewardCheck`), its number is the value if all other checks pass, else 0.

    `tools` are the server's: by them calls are known to write.
    """

    model = None

    def __init__(self, tools: Sequence[Tool] = ()) -> None:
        self._tools = {tool.name: tool for tool in tools}

    async def score(self, group: Group) -> list[Score]:
        return [
            self.verify(group.scenario, trajectory) for trajectory in group.trajectories if trajectory.stop != "error"
        ]

    async def forecast(self, groups: int, example: Group) -> str:
        return ""

    def report(self) -> dict[str, float]:
        return {}

    def verify(self, scenario: Scenario, trajectory: Trajectory, read: str | None = None) -> Score:
        """The score of one trajectory; its explanation lists each check with its finding.

        `read` is what a reader of the answer objects to its facts, empty for nothing, in place of their checks.
        """
        if check := scenario.reward_check:
            return self._rewarded(scenario, trajectory, check, read)
        evidence = Evidence(scenario, trajectory, self._tools)
        why = [
            objection(check, evidence) if read is None or not isinstance(check, Fact) else read
            for check in scenario.checks
        ]
        states = [not each for check, each in zip(scenario.checks, why, strict=True) if isinstance(check, StateHolds)]
        wrong = (
            ("" if trajectory.stop == "answered" else "never answered")
            or ("an answer of data without a word" if only_data(evidence.answer) else "")
            or obeyed(evidence)
            or collateral(evidence, proved=bool(states) and all(states))
            or belied(evidence)
            or dates_made_up(evidence)
        )
        outcome = 0.0 if wrong else sum(not each for each in why) / max(1, len(why))
        progress = sum(_progress(call, evidence) for call in scenario.plan) / max(1, len(scenario.plan))
        economy = _economy(evidence)
        value = OUTCOME * outcome + PROGRESS * progress + ECONOMY * outcome * economy
        findings = [_finding(check, each) for check, each in zip(scenario.checks, why, strict=True)]
        findings += [f"- {wrong}"] if wrong else []
        stop = "" if trajectory.stop == "answered" else f" (stopped: {trajectory.stop})"
        parts = f"outcome {outcome:.2f}, progress {progress:.2f}, economy {economy:.2f}"
        return Score(trajectory.id, round(value, 6), outcome == 1.0, f"{parts}{stop}: {'; '.join(findings)}")

    def _rewarded(self, scenario: Scenario, trajectory: Trajectory, check: RewardCheck, read: str | None) -> Score:
        """The score of a trajectory that the server scores."""
        others = tuple(each for each in scenario.checks if each is not check)
        rest = self.verify(replace(scenario, checks=others), trajectory, read) if others else None
        why, passed = objection(check, Evidence(scenario, trajectory)), rest is None or bool(rest.success)
        findings = [_finding(check, why), *([rest.explanation] if rest else [])]
        value = (trajectory.reward or 0.0) * passed
        return Score(trajectory.id, round(value, 6), passed and not why, "; ".join(findings))


def _finding(check: Check, why: str) -> str:
    """A check with whether it passed, in words."""
    about = f"{check.name or 'fact'} {check.value!r}" if isinstance(check, Fact) else check.kind
    about += f" {check.tool}" if isinstance(check, CallMade | StateHolds | RewardCheck) else ""
    return f"{'-' if why else '+'} {about}{f': {why}' if why else ''}"


def _progress(wanted: Call, evidence: Evidence) -> float:
    """The nearness (0..1) of the closest call: 0.4 for the tool, the rest by the fraction of right values."""
    made = (record for record in evidence.trajectory.calls if record.tool == wanted.tool)
    return max((_nearness(wanted, record, evidence) for record in made), default=0.0)


def _nearness(wanted: Call, record: CallRecord, evidence: Evidence) -> float:
    if evidence.is_call(record, wanted):
        return 1.0
    if record.arguments is None:
        return 0.2
    expected, given = set(leaves(wanted.arguments)), set(leaves(record.arguments))
    return 0.4 + 0.5 * len(expected & given) / max(1, len(expected | given))


def _economy(evidence: Evidence) -> float:
    """1 without a call beyond the plan and with an answer of usual length; four more calls make it 0, a long answer at
    most halves it."""
    beyond = len(evidence.trajectory.calls) - len(evidence.scenario.plan)
    usual = 4 * len(evidence.scenario.answer) + 120
    length = max(usual, len(evidence.answer))
    return max(0.0, 1 - max(0, beyond) / 4) * (0.5 + 0.5 * usual / length)
