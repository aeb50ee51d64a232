"""Examples for the report: held-out tasks that training solved, and one that it did not, with both transcripts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mcprl.runs.comparison import Model, Outcomes, tools_of
from mcprl.runs.journal import Journal
from mcprl.runs.records import Outcome
from mcprl.runs.trackers import dialogue
from mcprl.types import Scenario, Score, Trajectory

_MOST_SOLVED = 3


@dataclass(frozen=True)
class Example:
    """One test task as the base and the trained model did it: the transcripts, and the judge's explanations."""

    scenario: str
    request: str
    solved: bool
    before: str
    after: str
    before_why: str
    after_why: str


def pick_examples(journal: Journal, scenarios: Iterable[Scenario], outcomes: Outcomes) -> list[Example]:
    """Up to three tasks that the base model failed and the trained one solved, of different tools if possible, and one
    that both failed. `scenarios` must be tasks common to both.
    """
    if not {"base", "trained"} <= outcomes.keys():
        return []
    failed_before = _first_rollouts(outcomes["base"], success=False)
    failed_after = _first_rollouts(outcomes["trained"], success=False)
    solved_after = _first_rollouts(outcomes["trained"], success=True)
    failed = [scenario for scenario in scenarios if scenario.id in failed_before]
    solved = _by_different_tools([scenario for scenario in failed if scenario.id in solved_after])[:_MOST_SOLVED]
    unsolved = [scenario for scenario in failed if scenario.id not in solved_after][:1]
    if not solved and not unsolved:
        return []
    before = _transcripts(journal, "base", outcomes["base"])
    after = _transcripts(journal, "trained", outcomes["trained"])
    examples: list[Example] = []
    for scenario in solved + unsolved:
        is_solved = scenario.id in solved_after
        text_before, why_before = before[failed_before[scenario.id]]
        text_after, why_after = after[(solved_after if is_solved else failed_after)[scenario.id]]
        examples.append(
            Example(scenario.id, scenario.request, is_solved, text_before, text_after, why_before, why_after)
        )
    return examples


def _first_rollouts(outcomes: Iterable[Outcome], *, success: bool) -> dict[str, str]:
    """The id of each task's first rollout that counts as `success`; tasks without one are left out."""
    first: dict[str, str] = {}
    for outcome in outcomes:
        if outcome.counts_as is success:
            first.setdefault(outcome.scenario_id, outcome.trajectory_id)
    return first


def _by_different_tools(scenarios: Sequence[Scenario]) -> list[Scenario]:
    """The first scenario of each combination of tools, then the others."""
    first: dict[tuple[str, ...], Scenario] = {}
    for scenario in scenarios:
        first.setdefault(tuple(tools_of(scenario)), scenario)
    leading = {scenario.id for scenario in first.values()}
    return [*first.values(), *(scenario for scenario in scenarios if scenario.id not in leading)]


def _transcripts(journal: Journal, model: Model, outcomes: Sequence[Outcome]) -> dict[str, tuple[str, str]]:
    """Each trajectory of a model's test as text, with the judge's explanation, by trajectory id."""
    phase, step = f"test:{model}", outcomes[0].step
    scores = {score.trajectory_id: score for score in journal.scores(phase, step)}
    return {
        trajectory.id: (dialogue(trajectory.messages), _why(trajectory, scores.get(trajectory.id)))
        for trajectory in journal.trajectories(phase, step)
    }


def _why(trajectory: Trajectory, score: Score | None) -> str:
    return trajectory.error or (score.explanation if score else "not judged")
