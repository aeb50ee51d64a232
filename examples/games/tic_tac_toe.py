"""Tic-tac-toe against a random opponent, learned by playing: the loop that users of ART know, on the embedded engine.

    python examples/games/tic_tac_toe.py --steps 30

The model answers each board with a square. It is first shown games of random legal moves, since nano knows no English
and would never name a square by chance; then it learns from the results of its own games. Rewards: 1 for a win, 0.5 for
a draw, 0 for a loss, and below 0 for a move that is not legal. Prints the mean reward of 192 games against the same
opponents before and after RL, and the difference with a 95 % interval.
"""

import argparse
import asyncio
import random
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from openai import AsyncOpenAI

from mcprl import (
    TrainableModel,
    TrainingConfig,
    TrainSFTConfig,
    Trajectory,
    TrajectoryGroup,
    gather_trajectory_groups,
)

SQUARES = [row + column for row in "ABC" for column in "123"]
LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
UNSEEN = 1_000_000
"""The first seed of opponents that training never meets."""
EMPTY, OURS, THEIRS = "-", "x", "o"


class Game:
    """A board, and an opponent who plays free squares at random. Whether it begins follows from the seed, too."""

    def __init__(self, seed: int) -> None:
        self.board, self._random = [EMPTY] * 9, random.Random(seed)
        if self._random.random() < 0.5:
            self.reply()

    @property
    def free(self) -> list[str]:
        return [square for square, mark in zip(SQUARES, self.board, strict=True) if mark == EMPTY]

    @property
    def over(self) -> bool:
        return self.won(OURS) or self.won(THEIRS) or not self.free

    def won(self, mark: str) -> bool:
        return any(all(self.board[at] == mark for at in line) for line in LINES)

    def play(self, square: str, mark: str = OURS) -> None:
        self.board[SQUARES.index(square)] = mark

    def reply(self) -> None:
        """The opponent's move."""
        self.play(self._random.choice(self.free), THEIRS)

    def shown(self) -> str:
        """The board as the model sees it: each square with its mark, then the free squares."""
        marks = " ".join(square + mark for square, mark in zip(SQUARES, self.board, strict=True))
        return f"{marks}\nfree: {' '.join(self.free)}"

    @property
    def reward(self) -> float:
        return 1.0 if self.won(OURS) else 0.0 if self.won(THEIRS) else 0.5


async def rollout(client: AsyncOpenAI, name: str, seed: int) -> Trajectory:
    """One game against the opponent of that seed."""
    game, trajectory = Game(seed), Trajectory()
    while not game.over:
        trajectory.messages_and_choices.append({"role": "user", "content": game.shown()})
        messages: list[Any] = trajectory.messages()
        completion = await client.chat.completions.create(model=name, messages=messages, max_tokens=6)
        choice = completion.choices[0]
        trajectory.messages_and_choices.append(choice)
        square = str(choice.message.content).strip()
        if square not in game.free:
            legal = len(trajectory.messages_and_choices) // 2 - 1
            trajectory.reward, trajectory.metrics["legal"] = -1 + legal / 10, 0
            return trajectory.finish()
        game.play(square)
        if not game.over:
            game.reply()
    trajectory.reward, trajectory.metrics["legal"] = game.reward, 1
    return trajectory.finish()


def demonstration(seed: int) -> Trajectory:
    """A game of random legal moves: it teaches the form of an answer, and nothing of how to win."""
    game, moves, trajectory = Game(seed), random.Random(f"moves {seed}"), Trajectory()
    while not game.over:
        square = moves.choice(game.free)
        shown = {"role": "user", "content": game.shown()}
        trajectory.messages_and_choices += [shown, {"role": "assistant", "content": square}]
        game.play(square)
        if not game.over:
            game.reply()
    return trajectory


async def rewards(client: AsyncOpenAI, name: str, games: int) -> list[float]:
    """The rewards of games against opponents that training never meets, sampled as in training."""
    played = await asyncio.gather(*(rollout(client, name, UNSEEN + seed) for seed in range(games)))
    return [each.reward for each in played]


async def learn(model: TrainableModel, steps: int, demonstrations: int, groups: int, games: int, tests: int) -> None:
    """Demonstrations, then a step of RL on `groups` openings with `games` each, `steps` times."""
    async with model.openai_client() as client:
        if not await model.get_step():
            shown = list(map(demonstration, range(demonstrations)))
            metrics = await model.train_sft(shown, TrainSFTConfig(learning_rate=4e-3, batch_size=8))
            print(f"{demonstrations} demonstrations: loss {metrics['loss']:.2f} on average")
        before = await rewards(client, "latest", tests)
        print(f"before RL: mean reward {fmean(before):.2f}")
        for step in range(steps):
            played = await gather_trajectory_groups(
                TrajectoryGroup(rollout(client, "latest", seed) for _ in range(games))
                for seed in range(step * groups, (step + 1) * groups)
            )
            summary = await model.log(played, split="train")
            await model.train(played, TrainingConfig(learning_rate=1e-3))
            await model.delete_checkpoints()
            print(f"step {step + 1}: reward {summary['train/reward']:+.2f}, legal {summary['train/legal']:.0%}")
        after = await rewards(client, "latest", tests)
    gains = [now - then for then, now in zip(before, after, strict=True)]
    margin = 1.98 * stdev(gains) / tests**0.5  # Student's, paired by opponent
    print(f"after RL: mean reward {fmean(after):.2f}, {fmean(gains):+.2f} ({fmean(gains) - margin:+.2f} to ", end="")
    print(f"{fmean(gains) + margin:+.2f})")


async def main(arguments: argparse.Namespace) -> None:
    async with TrainableModel("tic-tac-toe", "games", arguments.model, runs_dir=arguments.runs_dir) as model:
        await learn(model, arguments.steps, 160, 4, arguments.games, 192)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=30, help="steps of RL")
    parser.add_argument("--games", type=int, default=12, help="games of each of a step's four openings")
    parser.add_argument("--model", default="nano", help="the base model")
    parser.add_argument("--runs-dir", type=Path, default=Path("runs"), help="where adapters are kept")
    asyncio.run(main(parser.parse_args()))
