"""The game of examples/games/tic_tac_toe.py, and its loop in little."""

import runpy
from pathlib import Path
from typing import Any

import pytest
from support.paths import ROOT

from mcprl import TrainableModel
from mcprl.runs.settings import parse

EXAMPLE: dict[str, Any] = runpy.run_path(str(ROOT / "examples" / "games" / "tic_tac_toe.py"))


def test_the_game_knows_lines_draws_and_free_squares() -> None:
    game = EXAMPLE["Game"](seed=1)
    game.board = list("xx-oo----")
    assert game.free == ["A3", "B3", "C1", "C2", "C3"]
    assert game.shown() == "A1x A2x A3- B1o B2o B3- C1- C2- C3-\nfree: A3 B3 C1 C2 C3"
    assert not game.over
    game.play("A3")
    assert (game.over, game.reward) == (True, 1.0)
    game.board = list("ooo-xx-x-")
    assert (game.over, game.reward) == (True, 0.0)
    game.board = list("xoxxoooxx")
    assert (game.over, game.reward) == (True, 0.5)


def test_the_same_seed_is_the_same_opponent_and_both_begin_now_and_then() -> None:
    games = [EXAMPLE["Game"](seed) for seed in range(20)]
    assert [game.board for game in games] == [EXAMPLE["Game"](seed).board for seed in range(20)]
    assert {len(game.free) for game in games} == {8, 9}


@pytest.mark.filterwarnings(r"ignore:train\(\) changed nothing")  # random weights name no square
async def test_the_loop_plays_learns_and_says_what_it_gained(
    tiny_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = parse({"model": {"lora_rank": 4}})
    async with TrainableModel("game", "", str(tiny_model), config=config, runs_dir=tmp_path) as model:
        await EXAMPLE["learn"](model, steps=1, demonstrations=64, groups=2, games=4, tests=4)
        assert await model.get_step() >= 1
    printed = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in printed] == ["64 demonstrations", "before RL", "step 1", "after RL"]
