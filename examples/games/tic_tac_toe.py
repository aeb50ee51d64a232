"""Tic-tac-toe against a random opponent, learned by playing: the loop that users of ART know, on the embedded engine.

    python examples/games/tic_tac_toe.py --steps 30

The model answers each board with a square. It is first shown games of random legal moves, since nano knows no English
and would never name a square by chance; then it learns from the results of its own games. Rewards: 1 for a win, 0.5 for
a draw, 0 for a loss, and below 0 for a move that is not legal. Prints the mean reward of 192 games against the same
opponents before and after RL, and the difference with a 95 % interval.
"""

import asyncio
import random
from typing import Any

from playing import arguments, learn

from mcprl import TrainableModel

SQUARES = [row + column for row in "ABC" for column in "123"]
LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
EMPTY, OURS, THEIRS = "-", "x", "o"


class Game:
    """A board, and an opponent who plays free squares at random. Whether it begins follows from the seed, too."""

    def __init__(self, seed: int) -> None:
        self.board, self._random, self.made, self.legal = [EMPTY] * 9, random.Random(seed), 0, True
        if self._random.random() < 0.5:
            self._reply()

    @property
    def moves(self) -> list[str]:
        """The free squares."""
        return [square for square, mark in zip(SQUARES, self.board, strict=True) if mark == EMPTY]

    @property
    def over(self) -> bool:
        return not self.legal or self.won(OURS) or self.won(THEIRS) or not self.moves

    def won(self, mark: str) -> bool:
        return any(all(self.board[at] == mark for at in line) for line in LINES)

    def play(self, move: str) -> None:
        """Take a square. One that is not free, or none, ends the game."""
        self.legal = move in self.moves
        if not self.legal:
            return
        self.board[SQUARES.index(move)] = OURS
        self.made += 1
        if not self.over:
            self._reply()

    def _reply(self) -> None:
        self.board[SQUARES.index(self._random.choice(self.moves))] = THEIRS

    def shown(self) -> str:
        """Each square with its mark, then the free squares."""
        marks = " ".join(square + mark for square, mark in zip(SQUARES, self.board, strict=True))
        return f"{marks}\nfree: {' '.join(self.moves)}"

    @property
    def reward(self) -> float:
        if not self.legal:
            return -1 + self.made / 10
        return 1.0 if self.won(OURS) else 0.0 if self.won(THEIRS) else 0.5

    @property
    def metrics(self) -> dict[str, float]:
        return {"legal": self.legal, "won": self.won(OURS)}


async def main(given: Any) -> None:
    async with TrainableModel("tic-tac-toe", "games", given.model, runs_dir=given.runs_dir) as model:
        await learn(model, Game, steps=given.steps, groups=4, games=given.games, tests=given.tests)


if __name__ == "__main__":
    asyncio.run(main(arguments(__doc__ or "")))
