"""The games of examples/games, and their loop in little."""

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
from support.paths import ROOT

from mcprl import TrainableModel
from mcprl.runs.settings import parse

GAMES = ROOT / "examples" / "games"


@pytest.fixture(scope="module")
def tic_tac_toe() -> Any:
    return example("tic_tac_toe")


@pytest.fixture(scope="module")
def twenty_forty_eight() -> Any:
    return example("2048")


def example(name: str) -> Any:
    """The names of a script, whose folder is on the path as it is for `python SCRIPT`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(GAMES), *sys.path])
        return runpy.run_path(str(GAMES / f"{name}.py"))


def test_the_game_knows_lines_draws_and_free_squares(tic_tac_toe: Any) -> None:
    game = tic_tac_toe["Game"](seed=1)
    game.board = list("xx-oo----")
    assert game.moves == ["A3", "B3", "C1", "C2", "C3"]
    assert game.shown() == "A1x A2x A3- B1o B2o B3- C1- C2- C3-\nfree: A3 B3 C1 C2 C3"
    assert not game.over
    game.play("A3")
    assert (game.over, game.reward) == (True, 1.0)
    game.board = list("ooo-xx-x-")
    assert (game.over, game.reward) == (True, 0.0)
    game.board = list("xoxxoooxx")
    assert (game.over, game.reward) == (True, 0.5)
    game.board = list("x--o-----")
    game.play("A1")
    assert (game.over, game.reward) == (True, -1 + game.made / 10)


def test_the_same_seed_is_the_same_opponent_and_both_begin_now_and_then(tic_tac_toe: Any) -> None:
    games = [tic_tac_toe["Game"](seed) for seed in range(20)]
    assert [game.board for game in games] == [tic_tac_toe["Game"](seed).board for seed in range(20)]
    assert {len(game.moves) for game in games} == {8, 9}


def test_equal_tiles_merge_once_a_move_and_in_the_direction_of_the_push(twenty_forty_eight: Any) -> None:
    pushed = twenty_forty_eight["pushed"]
    assert pushed([2, 2, 2, 0]) == ([4, 2, 0, 0], 4)
    assert pushed([4, 4, 8, 8]) == ([8, 16, 0, 0], 24)
    assert pushed([0, 4, 4, 8]) == ([8, 8, 0, 0], 8)
    game = twenty_forty_eight["Game"](seed=1)
    game.board = [[2, 0, 0, 0], [2, 0, 0, 0], [0, 0, 0, 0], [4, 0, 0, 8]]
    assert game.shown() == "A...\nA...\n....\nB..C\nfree: left right up down"
    assert game.after("up") == ([[4, 0, 0, 8], [4, 0, 0, 0], [0] * 4, [0] * 4], 4)
    assert game.after("down") == ([[0] * 4, [0] * 4, [4, 0, 0, 0], [4, 0, 0, 8]], 4)
    assert game.after("right") == ([[0, 0, 0, 2], [0, 0, 0, 2], [0] * 4, [0, 0, 4, 8]], 0)


def test_a_move_adds_a_tile_and_one_that_pushes_nothing_is_wasted(twenty_forty_eight: Any) -> None:
    game = twenty_forty_eight["Game"](seed=1)
    game.board = [[2, 2, 0, 0], *([0] * 4 for _ in range(3))]
    game.play("left")
    assert (game.points, game.left, game.over) == (4, 23, False)
    assert sum(tile > 0 for row in game.board for tile in row) == 2
    for move in ("left", "north"):
        game.board = [[2, 4, 0, 0], *([0] * 4 for _ in range(3))]
        game.play(move)
        assert game.board[0] == [2, 4, 0, 0]
    assert (game.left, game.reward, game.metrics) == (21, 0.04, {"wasted": 2})
    game.board = [[2, 4, 2, 4], [4, 2, 4, 2]] * 2
    assert game.over  # nothing moves


@pytest.mark.filterwarnings(r"ignore:train\(\) changed nothing")  # random weights name no square
@pytest.mark.parametrize("name", ["tic_tac_toe", "2048"])
async def test_the_loop_plays_learns_and_says_what_it_gained(
    name: str, tiny_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game = example(name)
    config = parse({"model": {"lora_rank": 4}})
    async with TrainableModel("game", "", str(tiny_model), config=config, runs_dir=tmp_path) as model:
        curve = await game["learn"](model, game["Game"], demonstrations=8, steps=1, groups=1, games=3, tests=2)
        assert await model.get_step() >= 1
    assert len(curve) == 1
    printed = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in printed] == ["8 demonstrations", "step 1", "greedy", "sampled"]
