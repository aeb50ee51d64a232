"""2048 on a budget of moves, a board for each MCP session.

    python examples/servers/game_2048.py --pack games                          # games for mcprl, told apart by seeds
    python examples/servers/game_2048.py --http 8000                           # reach 32 within 24 moves
    python examples/servers/game_2048.py --http 8000 --target 64 --moves 48
    python examples/servers/game_2048.py --baselines                           # how often simple players reach it

Equal tiles that are pushed together become one of twice the value; after each move a 2, now and then a 4, appears on a
free square. The policy pushes with `move`; a push that moves nothing is wasted. `new_game` and `score` are for mcprl
(`--setup-tool new_game --reward-tool score:points`): a seed decides what appears; the target is 1 point, less is a
share of the merges that it takes.
"""

import random
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Annotated, Any, Literal, get_args

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ToolAnnotations
from pydantic import Field
from sessions import SEEDS, Sessions, command_line, game_task, serve, write_pack

SIZE = 4
Direction = Literal["left", "right", "up", "down"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
Board = tuple[tuple[int, ...], ...]
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
target, moves = 32, 24


def pushed_row(row: Sequence[int]) -> tuple[list[int], int]:
    """A row pushed to its beginning, and the sum of the tiles made by merging. Each tile merges once a move."""
    tiles, made, points = [tile for tile in row if tile], list[int](), 0
    while tiles:
        tile = tiles.pop(0)
        if tiles and tiles[0] == tile:
            tile += tiles.pop(0)
            points += tile
        made.append(tile)
    return made + [0] * (len(row) - len(made)), points


def pushed(board: Board, direction: Direction) -> tuple[Board, int]:
    """The board after a push, and the sum of the tiles made by it."""
    upright, step = direction in ("up", "down"), -1 if direction in ("right", "down") else 1
    along = list(zip(*board, strict=True)) if upright else list(board)
    made = [pushed_row(row[::step]) for row in along]
    rows = [tuple(row[::step]) for row, _ in made]
    return tuple(zip(*rows, strict=True)) if upright else tuple(rows), sum(points for _, points in made)


def free(board: Board) -> list[tuple[int, int]]:
    return [(row, column) for row in range(SIZE) for column in range(SIZE) if not board[row][column]]


def legal(board: Board) -> list[Direction]:
    """The directions in which something moves."""
    return [direction for direction in DIRECTIONS if pushed(board, direction)[0] != board]


def put(board: Board, at: tuple[int, int], tile: int) -> Board:
    rows = [list(row) for row in board]
    rows[at[0]][at[1]] = tile
    return tuple(map(tuple, rows))


class Game:
    """A board, and the chance that follows from its seed."""

    def __init__(self, seed: int = 0) -> None:
        self.board: Board = ((0,) * SIZE,) * SIZE
        self.merged, self.left, self._rng = 0, moves, random.Random(seed)
        self._appear()
        self._appear()

    @property
    def largest(self) -> int:
        return max(map(max, self.board))

    @property
    def result(self) -> str:
        """ "" while the game goes on."""
        if self.largest >= target:
            return "won"
        return "lost" if self.left == 0 or not legal(self.board) else ""

    def move(self, direction: Direction) -> None:
        self.left -= 1
        board, merged = pushed(self.board, direction)
        if board != self.board:
            self.board, self.merged = board, self.merged + merged
            self._appear()

    def _appear(self) -> None:
        self.board = put(self.board, self._rng.choice(free(self.board)), 4 if self._rng.random() < 0.1 else 2)

    @property
    def points(self) -> float:
        """1 for the target, else the merges so far as a share of twice those that it takes."""
        needed = target * (target.bit_length() - 2)
        return 1.0 if self.largest >= target else min(0.5, self.merged / needed / 2)

    def shown(self) -> dict[str, Any]:
        """The rows of the board, the moves that are left, and the directions in which something moves or the result."""
        rest = {"result": self.result} if self.result else {"moves": " ".join(legal(self.board))}
        return {"board": [" ".join(map(str, row)) for row in self.board], "left": self.left} | rest


server = MCPServer("2048", version="1.0.0", log_level="WARNING")
games = Sessions(Game)


@server.tool(title="See the board", annotations=READS)
def see_board(ctx: Context) -> dict[str, Any]:
    """Show the board (0 is a free square), how many moves are left, and the directions in which something moves."""
    return games[ctx].shown()


@server.tool(title="Move", annotations=WRITES)
def move(ctx: Context, direction: Annotated[Direction, Field(description="Where to push the tiles")]) -> dict[str, Any]:
    """Push all tiles in a direction; equal ones merge. Shows the board."""
    if not games[ctx].result:
        games[ctx].move(direction)
    return games[ctx].shown()


@server.tool(title="New game", annotations=WRITES)
def new_game(ctx: Context, seed: int) -> str:
    """Begin a game."""
    games[ctx] = Game(seed)
    return "ready"


@server.tool(title="Score", annotations=READS)
def score(ctx: Context) -> dict[str, Any]:
    """Say how far the game has come, and its points."""
    game = games[ctx]
    return {"points": round(game.points, 4), "largest": game.largest, "merged": game.merged, "left": game.left}


# --- simple players ---------------------------------------------------------------------------------------------------

Player = Callable[[Board, random.Random], Direction]


def at_random(board: Board, rng: random.Random) -> Direction:
    return rng.choice(legal(board))


def greedy(board: Board, rng: random.Random) -> Direction:
    """The push that merges most."""
    return max(legal(board), key=lambda direction: (pushed(board, direction)[1], rng.random()))


def expectimax(board: Board, rng: random.Random) -> Direction:
    """The push with the best outcome on average, two pushes ahead, by free squares and large tiles side by side."""
    return max(legal(board), key=lambda direction: _expected(pushed(board, direction)[0], 1))


def _expected(board: Board, depth: int) -> float:
    """The mean over where a 2 may appear of the best that follows."""
    values: list[float] = []
    for at in free(board):
        then = put(board, at, 2)
        following = [pushed(then, direction) for direction in legal(then)]
        values.append(max((merged + _worth(after) for after, merged in following), default=0.0) if depth else 0.0)
    return sum(values) / max(1, len(values))


def _worth(board: Board) -> float:
    lines = (*board, *zip(*board, strict=True))
    pairs = sum(min(one, other) for line in lines for one, other in pairwise(line) if one == other)
    return 2.0 * len(free(board)) + pairs + max(map(max, board))


PLAYERS: dict[str, Player] = {"random": at_random, "greedy": greedy, "expectimax": expectimax}


REQUEST = "Play 2048: see the board, then push the tiles until there is a result. Make tiles as large as you can."


def task(seed: int) -> Any:
    """A game as a task, with random legal pushes as its plan."""
    game, rng, calls = Game(seed), random.Random(f"plan {seed}"), [("see_board", dict[str, Any]())]
    while not game.result:
        direction = at_random(game.board, rng)
        game.move(direction)
        calls.append(("move", {"direction": direction}))
    return game_task(REQUEST, f"new_game(seed={seed})", seed, calls, f"The game is {game.result}.")


def share_won(player: Player, count: int) -> float:
    """The share of games in which a player reaches the target."""
    wins = 0
    for seed in range(count):
        game, rng = Game(seed), random.Random(f"player {seed}")
        while not game.result:
            game.move(player(game.board, rng))
        wins += game.result == "won"
    return wins / count


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("--target", type=int, default=target, help="the tile that wins")
    parser.add_argument("--moves", type=int, default=moves, help="the moves of a game")
    parser.add_argument("--baselines", action="store_true", help="play 200 games by simple rules, and end")
    options = parser.parse_args()
    target, moves = options.target, options.moves
    if options.pack:
        write_pack(options.pack, {split: map(task, seeds) for split, seeds in SEEDS.items()})
    elif options.baselines:
        for name, player in PLAYERS.items():
            print(f"{name} reaches {target} within {moves} moves in {share_won(player, 200):.1%} of the games")
    else:
        serve(server, options.http)
