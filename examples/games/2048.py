"""2048 on a budget of moves, learned by playing: the loop that users of ART know, on the embedded engine.

    python examples/games/2048.py --steps 12 --games 8

Equal tiles that are pushed together become one of twice the value; after each move a 2, now and then a 4, appears on an
empty square. The model sees the board and the directions in which something moves, and answers with a direction. It has
24 moves; one that pushes nothing, or is no direction, is wasted. The reward is the sum of the tiles that were made by
merging, divided by 100. The model is first shown games of random directions in which something moves, since nano knows
no English. Prints the mean reward before and after RL, and the difference with a 95 % interval. For scale: random
directions get 0.98, random ones in which something moves 1.12, always the largest merge 1.39.
"""

import asyncio
import random
from collections.abc import Sequence
from typing import Any

from playing import arguments, learn

from mcprl import TrainableModel

SIZE, MOVES, WON = 4, 24, 64
DIRECTIONS = ["left", "right", "up", "down"]
TILES = ".ABCDEF"
"""How a square is shown: empty, 2, 4, 8, 16, 32, 64. A letter is one token of nano's; numbers in a row run together."""


def pushed(row: Sequence[int]) -> tuple[list[int], int]:
    """A row pushed to its beginning, and the sum of the tiles made by merging. Each tile merges once a move."""
    tiles, made, points = [tile for tile in row if tile], list[int](), 0
    while tiles:
        tile = tiles.pop(0)
        if tiles and tiles[0] == tile:
            tile += tiles.pop(0)
            points += tile
        made.append(tile)
    return made + [0] * (len(row) - len(made)), points


class Game:
    """A board, and the chance that follows from its seed."""

    def __init__(self, seed: int) -> None:
        self.board, self.points, self.left, self.wasted = [[0] * SIZE for _ in range(SIZE)], 0, MOVES, 0
        self._random = random.Random(seed)
        self._appear()
        self._appear()

    def _appear(self) -> None:
        row, column = self._random.choice([(r, c) for r in range(SIZE) for c in range(SIZE) if not self.board[r][c]])
        self.board[row][column] = 4 if self._random.random() < 0.1 else 2

    def after(self, direction: str) -> tuple[list[list[int]], int]:
        """The board after a push, and its points."""
        upright, step = direction in ("up", "down"), -1 if direction in ("right", "down") else 1
        along = [list(each) for each in zip(*self.board, strict=True)] if upright else self.board
        made = [pushed(row[::step]) for row in along]
        rows = [row[::step] for row, _ in made]
        board = [list(each) for each in zip(*rows, strict=True)] if upright else rows
        return board, sum(points for _, points in made)

    @property
    def moves(self) -> list[str]:
        """The directions in which something moves."""
        return [direction for direction in DIRECTIONS if self.after(direction)[0] != self.board]

    @property
    def over(self) -> bool:
        return self.left == 0 or not self.moves or max(map(max, self.board)) >= WON

    def play(self, move: str) -> None:
        """Push, if that is a direction in which something moves."""
        self.left -= 1
        board, points = self.after(move) if move in DIRECTIONS else (self.board, 0)
        if board == self.board:
            self.wasted += 1
            return
        self.board, self.points = board, self.points + points
        self._appear()

    def shown(self) -> str:
        """Four rows of letters, then the directions in which something moves."""
        rows = ("".join(TILES[max(0, tile.bit_length() - 1)] for tile in row) for row in self.board)
        return "\n".join([*rows, f"free: {' '.join(self.moves)}"])

    @property
    def reward(self) -> float:
        return self.points / 100

    @property
    def metrics(self) -> dict[str, float]:
        return {"wasted": self.wasted}


async def main(given: Any) -> None:
    async with TrainableModel("2048", "games", given.model, runs_dir=given.runs_dir) as model:
        await learn(model, Game, steps=given.steps, groups=4, games=given.games, tests=given.tests)


if __name__ == "__main__":
    asyncio.run(main(arguments(__doc__ or "")))
