"""The scores of a run's step: a judge's failure costs one group, and what was judged is not paid twice."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from support.events import Recorder
from support.fake_llm import FakeLlm, Reply, Request, scored, serving, tries
from support.trajectories import trajectory

from mcprl.config import Config
from mcprl.errors import BudgetError, JudgeError
from mcprl.judges.own import own_judge
from mcprl.judges.scoring import Scoring, score_held_out
from mcprl.runs.journal import Journal
from mcprl.runs.settings import parse
from mcprl.servers.log import logging_to
from mcprl.types import Group, Message, Scenario, Score

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")  # litellm's own
NAMES = ("quick", "slow", "late")


def group(name: str) -> Group:
    question: Message = {"role": "user", "content": f"What does {name} cost?"}
    members = [
        replace(one, messages=(question, *one.messages[1:-1], {"role": "assistant", "content": f"It is {n}."}))
        for n, one in enumerate(trajectory(f"train/1/{name}/{n}", name) for n in range(3))
    ]
    return Group(Scenario(name, str(question["content"]), ()), tuple(members))


@contextmanager
def judged_by(
    answer: Callable[[Request, int], Reply], folder: Path, **settings: Any
) -> Generator[tuple[FakeLlm, Config, Journal]]:
    """A judge behind an API, and the journal of a run with a group of three rollouts for each of `NAMES`."""
    with serving(answer) as fake:
        own = {"name": "ruler:default", "model": "openai/gpt-4o", "base_url": fake.url, "cache": "", "retries": 0}
        config = parse({"judge": own | settings})
        with Journal.create(folder / "run", config) as journal:
            for name in NAMES:
                journal.write_trajectories("train", 1, group(name).trajectories)
            yield fake, config, journal


def good(request: Request) -> Reply:
    return Reply(scored({name: n / 8 for n, name in enumerate(tries(request))}))


def asks_about(request: Request, name: str) -> bool:
    return f"What does {name} cost?" in str(request["messages"])


async def test_a_judge_that_hangs_costs_its_group_and_ends_with_the_deadline(tmp_path: Path) -> None:
    def answer(request: Request, _: int) -> Reply:
        return replace(good(request), hang_s=60.0 if asks_about(request, "slow") else 0.0)

    with judged_by(answer, tmp_path, timeout_s=2.0) as (_, config, journal):
        scoring = Scoring(config, (), journal, cast(Any, None))
        await scoring.train(1, [group("quick")])  # importing litellm takes seconds
        began = time.monotonic()
        judged = await scoring.train(1, [group(name) for name in NAMES])
        assert 2.0 <= time.monotonic() - began < 2.0 + 2
        assert [len(scores) for scores in judged.scores_P] == [3, 0, 3]
        assert judged.failures == 1


async def test_a_step_that_is_scored_again_asks_only_about_groups_without_scores(tmp_path: Path) -> None:
    def answer(request: Request, number: int) -> Reply:
        return Reply(status=401) if asks_about(request, "slow") and number < 3 else good(request)

    with judged_by(answer, tmp_path) as (fake, config, journal):
        first = await Scoring(config, (), journal, cast(Any, None)).train(1, [group(name) for name in NAMES])
        asked = len(fake.requests)
        resumed = Scoring(config, (), journal, cast(Any, None))
        second = await resumed.train(1, [group(name) for name in NAMES])
        assert (asked, len(fake.requests)) == (3, 4)
        assert [bool(scores) for scores in first.scores_P] == [True, False, True]
        assert [bool(scores) for scores in second.scores_P] == [True, True, True]
        assert (second.scores_P[0], second.scores_P[2]) == (first.scores_P[0], first.scores_P[2])
        assert resumed.judge.report()["judge_calls"] == 3.0


async def test_a_resumed_run_has_only_what_is_left_of_the_judges_limit(tmp_path: Path) -> None:
    with judged_by(lambda request, _: good(request), tmp_path, max_cost=0.028, concurrency=1) as (
        fake,
        config,
        journal,
    ):
        with pytest.raises(BudgetError, match=r"the limit is 0.028"):
            await Scoring(config, (), journal, cast(Any, None)).train(1, [group(name) for name in NAMES])
        asked = len(fake.requests)
        with pytest.raises(BudgetError, match=r"the limit is 0.028"):
            await Scoring(config, (), journal, cast(Any, None)).train(1, [group(name) for name in NAMES])
        assert len(fake.requests) == asked > 0


class Failing:
    """A judge that raises an error of its own for the group `slow`."""

    model = None

    async def score(self, group: Group) -> list[Score]:
        if group.scenario.id == "slow":
            raise IndexError("tuple index out of range")
        return [Score(each.id, 0.75) for each in group.trajectories]

    async def forecast(self, groups: int, example: Group) -> str:
        return ""

    def report(self) -> dict[str, float]:
        return {}


async def test_an_exception_in_a_judge_costs_its_group_and_not_the_run(tmp_path: Path) -> None:
    config = parse({})
    with Journal.create(tmp_path / "run", config) as journal, logging_to(tmp_path / "server.log"):
        for name in NAMES:
            journal.write_trajectories("train", 1, group(name).trajectories)
        notes = Recorder()
        scoring = Scoring(config, (), journal, cast(Any, None), notes, judge=Failing())
        judged = await scoring.train(1, [group(name) for name in NAMES])
        assert [len(scores) for scores in judged.scores_P] == [3, 0, 3]
        assert (judged.failures, judged.metrics()["judge_failures"]) == (1, 1)
        with pytest.raises(JudgeError, match=r"failed at 1 of 1 group; .*slow: IndexError: tuple index out of range"):
            await scoring.train(1, [group("slow")])
        members = [replace(each, id=f"test/{each.id}") for name in NAMES for each in group(name).trajectories]
        journal.write_trajectories("test", 0, members)
        tested = [replace(group(name), trajectories=tuple(members[3 * n : 3 * n + 3])) for n, name in enumerate(NAMES)]
        scored = [await scoring.held_out("test", 0, each) for each in tested]
        assert [[score.success for score in scores] for scores in scored] == [[True] * 3, [], [True] * 3]
        assert notes.notes == ["a task is not judged: the judge failed at slow: IndexError: tuple index out of range"]
    assert "Traceback" in (tmp_path / "server.log").read_text()


async def test_a_judge_that_reads_calls_no_rollout_without_an_answer_a_success(tmp_path: Path) -> None:
    with judged_by(lambda request, _: Reply(scored(dict.fromkeys(tries(request), 1.0))), tmp_path) as (
        _,
        config,
        journal,
    ):
        scoring = Scoring(config, (), journal, cast(Any, None))
        whole = group("quick")
        silent = replace(whole.trajectories[0], stop="max_turns")
        scores = await score_held_out(
            replace(whole, trajectories=(silent, *whole.trajectories[1:])), scoring.verifier, scoring.judge
        )
        assert [(score.value, score.success) for score in scores] == [(1.0, False), (1.0, True), (1.0, True)]
        own = own_judge(lambda *_: 1.0)
        (score,) = await score_held_out(replace(whole, trajectories=(silent,)), scoring.verifier, own)
        assert score.success
