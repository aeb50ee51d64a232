"""A tool that scores rollouts in their sessions: its number is the score, and no policy sees or calls it."""

import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from support.paths import ODD, ROOT
from test_rollout import Scripted, script

from mcprl.config import RolloutConfig, ServerConfig, ToolPolicy
from mcprl.errors import ConfigError, ScenarioError
from mcprl.judges.verifier import Verifier
from mcprl.rollout import rollout
from mcprl.runs.clusters import clusterings
from mcprl.runs.settings import parse
from mcprl.scenarios.packs.pack import load_pack, load_test_pack
from mcprl.servers.connection import Connection
from mcprl.servers.rewards import require_behind, reward, rewarded
from mcprl.servers.server import Server, connect
from mcprl.types import Call, Completion, CompletionRequest, Fact, RewardCheck, Scenario, ToolResult, Trajectory

pytestmark = pytest.mark.anyio
GAME = f"{sys.executable} {ROOT / 'examples' / 'servers' / 'tic_tac_toe.py'}"
WON = RewardCheck("score", path="points", at_least=1.0)
BEHIND = ToolPolicy(reward="score:points", setup=("new_game",))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def called(tool: str, **arguments: Any) -> str:
    return f"<tool_call>{json.dumps({'name': tool, 'arguments': arguments})}</tool_call>"


def first_free(request: CompletionRequest) -> str:
    """Looks, then takes the first free square until there is a result."""
    said = request.messages[-1]["content"] if request.messages[-1]["role"] == "tool" else ""
    if not said:
        return called("see_board")
    board = json.loads(said)
    return called("play", square=board["free"].split()[0]) if "free" in board else f"The game is {board['result']}."


def game(seed: int, *checks: RewardCheck | Fact) -> Scenario:
    setup = (Call("new_game", {"seed": seed}),)
    return Scenario(f"g{seed}", "Win a game of tic-tac-toe.", checks or (WON,), setup=setup)


async def played(server: Server, scenario: Scenario, says: Callable[[CompletionRequest], str]) -> Trajectory:
    config = RolloutConfig(max_turns=8, max_tokens=400)
    return await rollout(scenario, server, Scripted(says), config, name=scenario.id, seed=1, adapter=None)


async def test_the_server_scores_each_rollout_in_its_own_session_after_the_last_turn() -> None:
    async with connect([ServerConfig(target=GAME)], BEHIND) as server:
        tried = [await played(server, game(seed), first_free) for seed in range(6)]
        again = await played(server, game(0), first_free)
    results = [trajectory.answer.split()[-1].rstrip(".") for trajectory in tried]
    points = {"won": 1.0, "drawn": 0.5, "lost": 0.0}
    assert [trajectory.reward for trajectory in tried] == [points[result] for result in results]
    assert len(set(results)) > 1
    assert again.messages[2]["content"] == tried[0].messages[2]["content"]  # a seed is a start that all share
    scores = [Verifier().verify(game(seed), trajectory) for seed, trajectory in enumerate(tried)]
    assert [(score.value, score.success) for score in scores] == [
        (points[result], result == "won") for result in results
    ]


async def test_one_process_serves_one_game_after_another_since_a_setup_begins_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[str] = []
    connecting = Connection.open

    async def counted(*arguments: Any) -> Connection:
        opened.append(arguments[1])
        return await connecting(*arguments)

    monkeypatch.setattr(Connection, "open", counted)
    async with connect([ServerConfig(target=GAME, processes=1)], BEHIND) as server:
        for seed in (3, 4, 3):
            async with server.session(game(seed).setup) as session:
                fresh = (await session.call("see_board", {})).structured
                await session.call("play", {"square": fresh["free"].split()[0]})
            async with server.session(game(seed).setup) as session:
                assert (await session.call("see_board", {})).structured == fresh
        assert len(opened) == 1
        async with server.session() as session:  # without such a setup it has a process of its own
            assert (await session.call("see_board", {})).structured != fresh
        assert len(opened) == 2


async def test_readers_of_a_game_go_on_after_a_writer_of_the_same_game() -> None:
    async with connect([ServerConfig(target=GAME, processes=1)], BEHIND) as server:
        with anyio.fail_after(20):
            async with server.session(game(3).setup) as reading:
                fresh = (await reading.call("see_board", {})).structured
                async with server.session(game(3).setup) as writing:
                    await writing.call("play", {"square": fresh["free"].split()[0]})
                assert (await reading.call("see_board", {})).structured == fresh


async def test_a_rollout_that_is_cut_off_at_its_deadline_is_scored_as_it_stands() -> None:
    class Slow(Scripted):
        async def complete(self, request: CompletionRequest) -> Completion:
            if len(request.messages) > 2:
                await anyio.sleep(30)
            return await super().complete(request)

    async with connect([ServerConfig(target=GAME)], BEHIND) as server:
        config = RolloutConfig(max_turns=8, max_tokens=400, deadline_s=6.0)
        tried = await rollout(game(1), server, Slow(first_free), config, name="t", seed=1, adapter=None)
    assert (tried.stop, tried.reward, tried.error) == ("deadline", 0.0, "")


async def test_the_reward_of_one_of_several_servers_is_found_under_its_own_name() -> None:
    servers = [ServerConfig(target=GAME, name="game"), ServerConfig(target=ODD, name="count")]
    async with connect(servers, ToolPolicy(reward="score:points", setup=("new_game",), sandbox=True)) as server:
        assert server.scoring == RewardCheck("game__score", path="points")
        scenario = Scenario("s", "Win.", (), setup=(Call("game__new_game", {"seed": 2}),))
        scenario = rewarded(scenario, server.scoring)
        require_behind([scenario], server)
        async with server.session(scenario.setup) as session:
            assert await reward(session, RewardCheck("game__score", path="points")) == 0.0
    with pytest.raises(ConfigError, match="names several tools: one__score, two__score"):
        async with connect([ServerConfig(target=GAME, name=name) for name in ("one", "two")], BEHIND):
            pass


async def test_other_rules_of_the_operator_hold_for_tools_behind_the_policys_back() -> None:
    for policy in (ToolPolicy(read_only=True, setup=("new_*",)), ToolPolicy(deny=("new_game",), setup=("new_*",))):
        async with connect([ServerConfig(target=GAME)], policy) as server:
            assert not server.behind
            with pytest.raises(ScenarioError, match=r"'new_game' is the setup of the task .* is left out"):
                require_behind([game(1)], server)


async def test_a_reward_tool_that_another_rule_leaves_out_is_an_error() -> None:
    with pytest.raises(ConfigError, match="--reward-tool score is left out by another rule"):
        async with connect([ServerConfig(target=GAME)], ToolPolicy(reward="score", deny=("score",))):
            pass


async def test_a_game_whose_policy_could_begin_it_anew_is_refused() -> None:
    async with connect([ServerConfig(target=GAME)], ToolPolicy(reward="score:points")) as server:
        with pytest.raises(ScenarioError, match="the policy may call it as well; --setup-tool new_game keeps it"):
            require_behind([game(1)], server)


async def test_a_policy_neither_sees_nor_calls_the_tools_behind_its_back() -> None:
    engine = Scripted(script(called("score"), called("new_game", seed=3), "I cannot."))
    async with connect([ServerConfig(target=GAME)], BEHIND) as server:
        assert [tool.name for tool in server.tools] == ["see_board", "play"]
        assert [tool.name for tool in server.behind] == ["new_game", "score"]
        assert not server.forbidden
        tried = await rollout(game(1), server, engine, RolloutConfig(), name="t", seed=1, adapter=None)
    assert all("there is no tool" in record.result.text for record in tried.calls)
    assert [len(request.tools) for request in engine.requests] == [2, 2, 2]
    assert tried.reward == 0.0


async def test_a_reward_that_is_no_number_in_range_breaks_the_rollout_and_is_no_score() -> None:
    async with connect([ServerConfig(target=GAME)], ToolPolicy(reward="score:result", setup=("new_game",))) as server:
        tried = await played(server, game(1, RewardCheck("score", path="result")), first_free)
    assert tried.stop == "error"
    assert "a number in 0..1 was expected in its field 'result'" in tried.error


@pytest.mark.parametrize(
    ("result", "path", "number"),
    [
        (ToolResult("0.25"), "", 0.25),
        (ToolResult("true", True), "", 1.0),
        (ToolResult("", {"game": {"points": 1}}), "game.points", 1.0),
        (ToolResult("", {"success": False, "points": 0.2}, is_error=True), "points", 0.2),
        (ToolResult("0.5", 0.5), "result", 0.5),
        (ToolResult("", {"points": 3}), "points", None),
        (ToolResult("", {"points": 0.5}), "", None),
        (ToolResult("", {"points": 0.5}), "score", None),
        (ToolResult("Error: no game", is_error=True), "", None),
        (ToolResult("nan"), "", None),
    ],
)
async def test_the_number_is_read_from_text_or_field(result: ToolResult, path: str, number: float | None) -> None:
    class Told:
        async def call(self, tool: str, arguments: Any) -> ToolResult:
            return result

    if number is None:
        with pytest.raises(Exception, match="the reward tool score"):
            await reward(Told(), RewardCheck("score", path=path))
    else:
        assert await reward(Told(), RewardCheck("score", path=path)) == number


@pytest.mark.parametrize("written", ["score:", "score>=0", "score>=2", "a b", ">=1", "score:points>1"])
def test_a_reward_that_cannot_be_read_is_refused(written: str) -> None:
    with pytest.raises(ConfigError, match="is no reward; write NAME, NAME:FIELD or NAME:FIELD>=X"):
        parse({"tools": {"reward": written}})


async def test_a_tool_that_the_server_does_not_list_is_named_with_its_nearest() -> None:
    with pytest.raises(ConfigError, match=r"--reward-tool 'scores' matches no tool; the nearest are score"):
        async with connect([ServerConfig(target=GAME)], ToolPolicy(reward="scores")):
            pass


async def test_a_task_whose_setup_the_server_does_not_have_is_refused() -> None:
    async with connect([ServerConfig(target=GAME)], BEHIND) as server:
        with pytest.raises(
            ScenarioError, match=r"'new_gme' is the setup of the task .*, and the server does not offer it"
        ):
            require_behind([Scenario("s", "Win.", (), setup=(Call("new_gme"),))], server)


def test_other_checks_of_the_task_must_pass_too() -> None:
    told = ({"role": "user", "content": "Win."}, {"role": "assistant", "content": "It took 5 moves."})
    trajectory = Trajectory("t", "g1", told, (), reward=0.75)
    enough = RewardCheck("score", at_least=0.5)
    for fact, value, success in ((5, 0.75, True), (6, 0.0, False)):
        score = Verifier().verify(game(1, enough, Fact(fact, "moves", "count", derived=True)), trajectory)
        assert (score.value, score.success) == (value, success)


async def test_the_configured_reward_is_the_check_of_every_task_without_one() -> None:
    policy = ToolPolicy(reward="score:points>=0.5", setup=("new_game",))
    async with connect([ServerConfig(target=GAME)], policy) as server:
        configured = server.scoring
    assert rewarded(Scenario("s", "Win.", ()), configured).checks == (
        RewardCheck("score", path="points", at_least=0.5),
    )
    assert rewarded(game(1), configured).checks == (WON,)


def test_tasks_that_the_server_scores_are_clusters_of_their_own_whatever_their_plans() -> None:
    tasks = [replace(game(seed), plan=(Call("play"),) * (seed % 9)) for seed in range(40)]
    assert list(clusterings(tasks)) == ["task"]


def test_a_line_with_seeds_is_a_task_for_each_in_the_split_of_its_range(tmp_path: Path) -> None:
    line = {"request": "Win.", "setup": "new_game(seed={seed})", "seeds": "train 0-3; val 10-11; test 20-22"}
    (tmp_path / "game.jsonl").write_text(json.dumps(line))
    pack = load_pack(tmp_path / "game.jsonl")
    assert [len(pack.split(split)) for split in ("train", "val", "test")] == [4, 2, 3]
    assert [scenario.setup for scenario in pack.test] == [(Call("new_game", {"seed": seed}),) for seed in (20, 21, 22)]
    assert len({scenario.id for scenario in pack}) == 9
    wrong = {
        "seeds: 'train 0 to 3'; expected ranges such as": {"seeds": "train 0 to 3"},
        "seeds: 'train 9-3'; expected ranges": {"seeds": "train 9-3"},
        "split: stands beside seeds": {"split": "test"},
        "seeds: no other field says {seed}": {"setup": "new_game(seed=1)"},
    }
    for message, change in wrong.items():
        (tmp_path / "wrong.jsonl").write_text(json.dumps(line | change))
        with pytest.raises(ScenarioError, match=re.escape(message)):
            load_pack(tmp_path / "wrong.jsonl")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "train.jsonl").write_text(json.dumps(line))
    with pytest.raises(ScenarioError, match="a range of val stands in the file of train"):
        load_pack(tmp_path / "folder")
    assert [each.setup for each in load_test_pack(tmp_path / "game.jsonl")] == [each.setup for each in pack.test]
