"""A judge that reads beside the checks, step by step: one that reads well, a constant one, one that guesses, a reversed
one."""

import json
import random
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from support.events import Recorder
from support.fake_llm import Reply, Request, scored, serving, tries
from support.journals import some
from support.reading_judge import judge as reads_well
from support.trajectories import TOOLS, conversation

from mcprl.events import recording
from mcprl.judges.scoring import Judged, Scoring
from mcprl.runs.agreement import recorded
from mcprl.runs.journal import Journal
from mcprl.runs.report import build, markdown, table
from mcprl.runs.settings import parse
from mcprl.types import CallRecord, Fact, Group, Scenario, ToolResult, Trajectory

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")  # litellm's own

GROUPS = 6
"""Groups of a step, the first of which is solved by every rollout and the last by none."""
ANSWERS = ("It is paid.", "The status is paid.", "It is open.", "It is unknown to me.")


def reversed_one(request: Request, number: int = 0) -> Reply:
    return Reply(scored({name: 1 - score for name, score in _scores(reads_well(request, number)).items()}))


def constant(request: Request, number: int = 0) -> Reply:
    return Reply(scored(dict.fromkeys(tries(request), 0.7)))


def guesses(request: Request, number: int = 0) -> Reply:
    rng = random.Random(str(sorted(tries(request))))
    return Reply(scored({name: rng.random() for name in tries(request)}))


def _scores(reply: Reply) -> dict[str, float]:
    return {entry["trajectory_id"]: entry["score"] for entry in json.loads(reply.content)["scores"]}


def group(step: int, number: int, checks: bool = True) -> Group:
    answers = {0: ANSWERS[:2] * 2, GROUPS - 1: ANSWERS[2:] * 2}.get(number, ANSWERS)
    scenario = Scenario(f"s{number}", "What is the status of order O-1?", (Fact("paid", "status"),) if checks else ())
    result = ToolResult('{"id":"O-1","status":"paid"}')
    members = [
        Trajectory(
            f"train/{step}/s{number}/{n}",
            scenario.id,
            tuple(conversation(f"{answer}{' ' * n}")),
            (),
            (CallRecord(0, "get_order", {"id": "O-1"}, result),),
        )
        for n, answer in enumerate(answers)
    ]
    return Group(scenario, tuple(members))


class Judging:
    """A run's scoring by a judge behind an API."""

    def __init__(self, stack: ExitStack, answer: Callable[[Request, int], Reply], folder: Path, **judge: Any) -> None:
        self.fake = stack.enter_context(serving(answer))
        own = {"name": "ruler:default", "model": "openai/fake", "base_url": self.fake.url, "cache": "", "retries": 0}
        self.config = parse({"judge": own | judge})
        self.journal = stack.enter_context(Journal.create(folder, self.config))
        self.events = Recorder()
        self.begin()

    def begin(self) -> None:
        """The scoring of a new session of the run."""
        emit = recording(self.journal.write_event, self.events)
        self.scoring = Scoring(self.config, TOOLS, self.journal, cast(Any, None), emit)

    async def step(self, step: int, checks: bool = True) -> Judged:
        groups = [group(step, number, checks) for number in range(GROUPS)]
        for each in groups:
            self.journal.write_trajectories("train", step, each.trajectories)
        return await self.scoring.train(step, groups)


@pytest.mark.parametrize(
    ("answer", "order", "kappa"),
    [(reads_well, 1.0, 1.0), (constant, 0.0, 0.0), (guesses, None, None), (reversed_one, -1.0, -1.0)],
)
async def test_order_and_kappa_are_metrics_of_each_step_and_an_unfit_judge_is_named_once(
    answer: Callable[[Request, int], Reply], order: float | None, kappa: float | None, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        run = Judging(stack, answer, tmp_path / "run")
        metrics = [(await run.step(step)).metrics() for step in range(1, 9)]
        if order is not None:
            assert {step["judge_order"] for step in metrics} == {order}
            assert [step["judge_kappa"] for step in metrics] == pytest.approx([kappa] * 8)
        report = build(tmp_path / "run")
        found = some(report.judge)
        assert (found.rollouts, found.groups) == (8 * GROUPS * 4, 8 * (GROUPS - 2))
        if answer is reads_well:
            assert run.events.notes == []
            assert "the judge beside the checks: order within a group +1.00" in table(report)
            assert "cannot judge" not in markdown(report)
        else:
            assert len(run.events.notes) == 1
            assert run.events.notes[0].startswith(
                "this judge cannot judge: openai/fake beside the tasks' checks, order within"
            )
            assert "--judge verifier" in run.events.notes[0]
            assert "The judge cannot judge: beside the checks of the training tasks, order within a group" in markdown(
                report
            )


async def test_the_note_comes_with_the_group_that_makes_enough_and_not_again_after_a_resume(tmp_path: Path) -> None:
    with ExitStack() as stack:
        run = Judging(stack, constant, tmp_path / "run")
        for step in range(1, 6):
            await run.step(step)
        assert run.events.notes == []  # twenty groups
        await run.step(6)
        assert len(run.events.notes) == 1
        run.begin()
        await run.step(7)
        assert len(run.events.notes) == 1


async def test_a_resumed_step_has_the_agreement_of_what_was_judged_before(tmp_path: Path) -> None:
    with ExitStack() as stack:
        run = Judging(stack, guesses, tmp_path / "run")
        first = await run.step(1)
        asked = len(run.fake.requests)
        run.begin()
        again = await run.step(1)
        assert len(run.fake.requests) == asked
        assert again.agreements == first.agreements
        assert sorted(recorded(run.journal), key=lambda each: each.scenario) == first.agreements
        assert again.metrics() == first.metrics()


async def test_in_a_mixed_judge_it_is_the_language_models_own_score_that_is_compared(tmp_path: Path) -> None:
    with ExitStack() as stack:
        run = Judging(stack, reversed_one, tmp_path / "run", name="mixed:default", ruler_weight=0.1)
        judged = await run.step(1)
        assert judged.metrics()["judge_order"] == -1.0
        passed = [score.value for scores in judged.scores_P for score in scores if score.success]
        failed = [score.value for scores in judged.scores_P for score in scores if not score.success]
        assert min(passed) > max(failed)


async def test_tasks_without_checks_and_a_judge_that_is_the_checks_have_no_agreement(tmp_path: Path) -> None:
    with ExitStack() as stack:
        run = Judging(stack, constant, tmp_path / "run")
        judged = await run.step(1, checks=False)
        assert judged.agreements == []
        assert not {"judge_order", "judge_kappa"} & judged.metrics().keys()
        assert build(tmp_path / "run").judge is None
        verifier = Judging(stack, constant, tmp_path / "verifier", name="verifier", model="")
        assert not {"judge_order", "judge_kappa"} & (await verifier.step(1)).metrics().keys()


async def test_anchors_are_judged_but_not_compared(tmp_path: Path) -> None:
    with ExitStack() as stack:
        run = Judging(stack, reads_well, tmp_path / "run", anchors=["base"])
        one = group(1, 1)
        run.journal.write_trajectories("train", 1, one.trajectories)
        base = replace(one, trajectories=(replace(one.trajectories[0], id="anchor/0/s1/0"),))
        judged = await run.scoring.train(1, [one], [base])
        assert "over_base" in judged.metrics()
        (counts,) = judged.agreements
        assert counts.both + counts.judge + counts.checks + counts.neither == 4
