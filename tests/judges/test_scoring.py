"""The scores of a run's step: one judge's failure costs one group, and what was judged is not paid twice."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from support.fake_llm import FakeLlm, Reply, Request, scored, serving, tries
from support.trajectories import trajectory

from mcprl.config import Config
from mcprl.errors import BudgetError
from mcprl.judges.scoring import Scoring
from mcprl.runs.journal import Journal
from mcprl.runs.settings import parse
from mcprl.types import Group, Message, Scenario

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
