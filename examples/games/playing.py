"""The loop that users of ART know, for any game: demonstrations of the form, steps of RL on the model's own games, and
tests against opponents that training never meets.

The games of a group begin alike and meet the same chance, which follows from the group's seed.
"""

import asyncio
import random
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, Protocol

from openai import AsyncOpenAI

from mcprl import (
    TrainableModel,
    TrainingConfig,
    TrainSFTConfig,
    Trajectory,
    TrajectoryGroup,
    gather_trajectory_groups,
)

UNSEEN = 1_000_000
"""The first seed of games that training never meets."""


class Game(Protocol):
    """A game in play."""

    @property
    def over(self) -> bool: ...

    @property
    def moves(self) -> Sequence[str]:
        """The legal moves."""
        ...

    @property
    def reward(self) -> float: ...

    def shown(self) -> str:
        """The board as the model sees it."""
        ...

    def play(self, move: str) -> None:
        """Make a move, whatever it is, and let chance or the opponent answer."""
        ...

    @property
    def metrics(self) -> dict[str, float]: ...


Deal = Callable[[int], Game]
"""A new game from a seed."""


async def rollout(client: AsyncOpenAI, deal: Deal, seed: int, temperature: float = 1.0) -> Trajectory:
    """One game."""
    game, trajectory = deal(seed), Trajectory()
    while not game.over:
        trajectory.messages_and_choices.append({"role": "user", "content": game.shown()})
        messages: list[Any] = trajectory.messages()
        completion = await client.chat.completions.create(
            model="latest", messages=messages, max_tokens=6, temperature=temperature
        )
        choice = completion.choices[0]
        trajectory.messages_and_choices.append(choice)
        game.play(str(choice.message.content).strip())
    trajectory.reward, trajectory.metrics = game.reward, {**game.metrics}
    return trajectory.finish()


def demonstration(deal: Deal, seed: int) -> Trajectory:
    """A game of random legal moves: it teaches the form of an answer, and nothing of how to win."""
    game, trajectory, moves = deal(seed), Trajectory(), random.Random(f"moves {seed}")
    while not game.over:
        move = moves.choice(game.moves)
        shown = {"role": "user", "content": game.shown()}
        trajectory.messages_and_choices += [shown, {"role": "assistant", "content": move}]
        game.play(move)
    return trajectory


async def tested(client: AsyncOpenAI, deal: Deal, games: int, temperature: float) -> list[Trajectory]:
    """Games that training never meets."""
    return await asyncio.gather(*(rollout(client, deal, UNSEEN + seed, temperature) for seed in range(games)))


def told(name: str, before: Sequence[Trajectory], after: Sequence[Trajectory]) -> str:
    """The mean reward before and after, and the difference with a 95 % interval, paired by game (Student's)."""
    gains = [now.reward - then.reward for then, now in zip(before, after, strict=True)]
    gain, margin = fmean(gains), 1.98 * stdev(gains) / len(gains) ** 0.5
    means = " -> ".join(f"{fmean(each.reward for each in played):.2f}" for played in (before, after))
    return f"{name}: mean reward {means}, {gain:+.2f} ({gain - margin:+.2f} to {gain + margin:+.2f})"


async def learn(
    model: TrainableModel,
    deal: Deal,
    *,
    demonstrations: int = 160,
    batch_size: int = 8,
    steps: int,
    groups: int,
    games: int,
    tests: int,
) -> list[float]:
    """Demonstrations, `batch_size` for each supervised step, then so many steps of RL, each on `groups` openings with
    `games` of each. Prints the mean reward of `tests` games before and after RL, greedy and sampled as in training.
    Returns the mean reward of each step."""
    curve: list[float] = []
    async with model.openai_client() as client:
        if not await model.get_step():
            shown = [demonstration(deal, seed) for seed in range(demonstrations)]
            metrics = await model.train_sft(shown, TrainSFTConfig(learning_rate=4e-3, batch_size=batch_size))
            print(f"{demonstrations} demonstrations: loss {metrics['loss']:.2f} on average")
        before = [await tested(client, deal, tests, temperature) for temperature in (0.0, 1.0)]
        for step in range(steps):
            played = await gather_trajectory_groups(
                TrajectoryGroup(rollout(client, deal, seed) for _ in range(games))
                for seed in range(step * groups, (step + 1) * groups)
            )
            summary = await model.log(played, split="train")
            await model.train(played, TrainingConfig(learning_rate=1e-3))
            await model.delete_checkpoints()
            curve.append(summary["train/reward"])
            rest = ", ".join(f"{name.removeprefix('train/')} {value:.2f}" for name, value in summary.items())
            print(f"step {step + 1}: {rest}")
        after = [await tested(client, deal, tests, temperature) for temperature in (0.0, 1.0)]
    for name, then, now in zip(("greedy", "sampled"), before, after, strict=True):
        print(told(name, then, now))
    return curve


def arguments(about: str) -> Any:
    """The command line of a game."""
    parser = ArgumentParser(description=about, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=30, help="steps of RL")
    parser.add_argument("--games", type=int, default=12, help="games of each of a step's four openings")
    parser.add_argument("--tests", type=int, default=192, help="games before and after RL")
    parser.add_argument("--model", default="nano", help="the base model")
    parser.add_argument("--runs-dir", type=Path, default=Path("runs"), help="where adapters are kept")
    return parser.parse_args()
