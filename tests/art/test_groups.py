"""What ART's users import: groups, trajectories with OpenAI's own objects, RULER."""

import asyncio
import subprocess
import sys

import pytest
from openai.types.chat import ChatCompletionMessage
from openai.types.chat.chat_completion import Choice
from pydantic import ValidationError
from support.fake_llm import Reply, Request, scored, serving, tries

from mcprl import (
    Trajectory,
    TrajectoryGroup,
    gather_trajectories,
    gather_trajectory_groups,
    ruler,
    ruler_score_group,
)
from mcprl.errors import ConfigError, JudgeError

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # litellm's own
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

TOOLS = [{"type": "function", "function": {"name": "get_order", "parameters": {"type": "object"}}}]


def trajectory(answer: str, reward: float = 0.0) -> Trajectory:
    said = ChatCompletionMessage(role="assistant", content=answer)
    choice = Choice(finish_reason="stop", index=0, message=said)
    return Trajectory(
        messages_and_choices=[{"role": "user", "content": "What is the status?"}, choice], tools=TOOLS, reward=reward
    )


def by_length(request: Request, _: int) -> Reply:
    return Reply(scored({name: len(messages[-1]["content"]) / 10 for name, messages in tries(request).items()}))


async def test_a_group_is_scored_into_a_new_one_that_keeps_what_was_there() -> None:
    group = TrajectoryGroup([trajectory("paid", 0.25), trajectory("paid now", 0.5), ValueError("one broke")])
    with serving(by_length) as fake:
        judged = await ruler_score_group(group, "openai/fake", {"api_base": fake.url, "api_key": "x"})
    assert judged is not None
    assert [tried.reward for tried in judged] == [0.4, 0.8]
    assert [tried.metrics for tried in judged] == [
        {"independent_reward": 0.25, "ruler_score": 0.4},
        {"independent_reward": 0.5, "ruler_score": 0.8},
    ]
    assert judged.trajectories[0].logs == ["RULER explanation: worth 0.4"]
    assert [str(error) for error in judged.exceptions] == ["one broke"]
    assert [tried.reward for tried in group] == [0.25, 0.5]
    assert "get_order" in fake.requests[0]["messages"][1]["content"]
    assert fake.keys == ["Bearer x"]


async def test_a_judge_that_fails_raises_or_is_swallowed() -> None:
    with serving(lambda *_: Reply("no")) as fake:
        params = {"api_base": fake.url, "api_key": "x"}
        group = TrajectoryGroup([trajectory("a"), trajectory("b")])
        with pytest.raises(JudgeError):
            await ruler_score_group(group, "openai/fake", params)
        assert await ruler_score_group(group, "openai/fake", params, swallow_exceptions=True) is None


async def test_the_low_level_call_takes_a_rubric_in_words_and_says_what_was_scored(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lists = [
        [{"role": "user", "content": "Status?"}, {"role": "assistant", "content": text}] for text in ("no", "paid")
    ]
    with serving(by_length) as fake:
        scores = await ruler(lists, "openai/fake", {"api_base": fake.url}, "Be kind to dogs.", debug=True)
    assert [(score.trajectory_id, score.score) for score in scores] == [("1", 0.2), ("2", 0.4)]
    assert "Be kind to dogs." in fake.requests[0]["messages"][0]["content"]
    assert "[RULER] 2: 0.40" in capsys.readouterr().out


async def test_groups_are_gathered_and_so_many_may_fail() -> None:
    async def good() -> TrajectoryGroup:
        return TrajectoryGroup([trajectory("a")])

    async def bad() -> TrajectoryGroup:
        raise RuntimeError("no group")

    assert len(await gather_trajectory_groups([good(), bad(), good()], max_exceptions=1)) == 2
    with pytest.raises(RuntimeError, match="no group"):
        await gather_trajectory_groups([good(), bad(), bad()], max_exceptions=1)


async def test_a_fraction_of_the_groups_may_fail_and_trajectories_are_gathered_alike(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def good() -> Trajectory:
        return trajectory("a")

    async def bad() -> Trajectory:
        raise RuntimeError("no trajectory")

    assert len(await gather_trajectories([good(), bad(), good(), good()], max_exceptions=0.25)) == 3
    with pytest.raises(RuntimeError, match="no trajectory"):
        await gather_trajectories([good(), bad(), bad(), good()], max_exceptions=0.25)
    with pytest.raises(ConfigError, match="max_exceptions is -1; expected"):
        await gather_trajectories([], max_exceptions=-1)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    groups = [TrajectoryGroup([good(), bad()]) for _ in range(2)]
    assert [len(group) for group in await gather_trajectory_groups(groups, pbar_desc="playing", max_exceptions=2)] == [
        1,
        1,
    ]
    assert "playing" in capsys.readouterr().err


async def test_so_many_at_once_and_so_many_seconds_each() -> None:
    running = most = 0

    async def counted() -> Trajectory:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return trajectory("a")

    async def endless() -> Trajectory:
        await asyncio.Event().wait()
        raise AssertionError

    groups = [TrajectoryGroup([counted(), counted()]) for _ in range(6)]
    assert len(await gather_trajectory_groups(groups, max_concurrency=2)) == 6
    assert most == 4
    left = [counted(), endless(), counted()]
    assert len(await gather_trajectories(left, max_concurrency=1, timeout_s=0.01, max_exceptions=1)) == 2
    with pytest.raises(TimeoutError, match="it took longer than 0"):
        await gather_trajectory_groups(
            [TrajectoryGroup([endless()]), TrajectoryGroup([counted()])], max_concurrency=1, timeout_s=0.01
        )
    with pytest.raises(ConfigError, match="max_concurrency is 0; expected"):
        await gather_trajectories([], max_concurrency=0)


async def test_a_group_with_different_tools_or_odd_messages_is_refused() -> None:
    other = trajectory("b").model_copy(update={"tools": []})
    with pytest.raises(ConfigError, match="must have the same tools"):
        await ruler_score_group(TrajectoryGroup([trajectory("a"), other]))
    with pytest.raises(ConfigError, match="holds a int"):
        await ruler_score_group(TrajectoryGroup([Trajectory(messages_and_choices=[3])]))


def test_a_misspelt_field_of_a_trajectory_or_a_group_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"rewrd\n.*not permitted"):
        Trajectory.model_validate({"messages_and_choices": [], "rewrd": 3})
    with pytest.raises(ValidationError, match=r"trajectory\n.*not permitted"):
        TrajectoryGroup(trajectory=[trajectory("a")])


def test_scoring_needs_no_torch() -> None:
    code = "import sys; from mcprl import ruler_score_group, TrajectoryGroup; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
