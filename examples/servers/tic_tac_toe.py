"""Tic-tac-toe against an opponent, a board for each MCP session.

    python examples/servers/tic_tac_toe.py --pack games                    # games for mcprl, told apart by their seeds
    python examples/servers/tic_tac_toe.py --http 8000                     # against an opponent that plays at random
    python examples/servers/tic_tac_toe.py --http 8000 --opponent minimax  # against one that never loses
    python examples/servers/tic_tac_toe.py --baselines                     # how often random and minimax players win

The policy plays x with `play`. `new_game` and `score` are for mcprl (`--setup-tool new_game --reward-tool
score:points`): a seed decides who begins and what the opponent draws; a win is 1 point, a draw half of one. A move that
is not legal loses.
"""

import random
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ToolAnnotations
from pydantic import Field
from sessions import SEEDS, Sessions, command_line, game_task, serve, write_pack

SQUARES = [row + column for row in "ABC" for column in "123"]
LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
EMPTY, OURS, THEIRS = "-", "x", "o"
Board = str
"""Nine marks, row by row."""
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)


def free(board: Board) -> list[int]:
    return [at for at, mark in enumerate(board) if mark == EMPTY]


def won(board: Board, mark: str) -> bool:
    return any(all(board[at] == mark for at in line) for line in LINES)


def after(board: Board, at: int, mark: str) -> Board:
    return board[:at] + mark + board[at + 1 :]


@cache
def value(board: Board, mark: str) -> int:
    """What the side to move gets if both play as well as can be: 1 a win, 0 a draw, -1 a loss."""
    other = THEIRS if mark == OURS else OURS
    if won(board, other):
        return -1
    return max((-value(after(board, at, mark), other) for at in free(board)), default=0)


def at_random(board: Board, mark: str, rng: random.Random) -> int:
    return rng.choice(free(board))


def minimax(board: Board, mark: str, rng: random.Random) -> int:
    """One of the best moves."""
    other = THEIRS if mark == OURS else OURS
    best = max(-value(after(board, at, mark), other) for at in free(board))
    return rng.choice([at for at in free(board) if -value(after(board, at, mark), other) == best])


Player = Callable[[Board, str, random.Random], int]
PLAYERS: dict[str, Player] = {"random": at_random, "minimax": minimax}
opponent: Player = at_random


class Game:
    """A board, and an opponent whose chance follows from the seed, as does who begins."""

    def __init__(self, seed: int = 0) -> None:
        self.board, self._rng, self.legal = EMPTY * 9, random.Random(seed), True
        if self._rng.random() < 0.5:
            self._reply()

    @property
    def result(self) -> str:
        """ "" while the game goes on."""
        if not self.legal or won(self.board, THEIRS):
            return "lost"
        return "won" if won(self.board, OURS) else "" if free(self.board) else "drawn"

    def play(self, square: str) -> None:
        at = SQUARES.index(square) if square in SQUARES else -1
        self.legal = at in free(self.board)
        if self.legal:
            self.board = after(self.board, at, OURS)
            if not self.result:
                self._reply()

    def _reply(self) -> None:
        self.board = after(self.board, opponent(self.board, THEIRS, self._rng), THEIRS)

    def shown(self) -> dict[str, Any]:
        """The rows of the board, and the free squares or the result."""
        rows = {row: self.board[3 * n : 3 * n + 3] for n, row in enumerate("ABC")}
        rest = {"result": self.result} if self.result else {"free": " ".join(SQUARES[at] for at in free(self.board))}
        return rows | rest


server = MCPServer("tic-tac-toe", version="1.0.0", log_level="WARNING")
games = Sessions(Game)


@server.tool(title="See the board", annotations=READS)
def see_board(ctx: Context) -> dict[str, Any]:
    """Show the board: rows A to C, columns 1 to 3, x is you, o the opponent, - is free."""
    return games[ctx].shown()


@server.tool(title="Play", annotations=WRITES)
def play(ctx: Context, square: Annotated[str, Field(description="A free square, such as B2")]) -> dict[str, Any]:
    """Put your x on a free square; the opponent answers. Shows the board."""
    if not games[ctx].result:
        games[ctx].play(square.strip().upper())
    return games[ctx].shown()


@server.tool(title="New game", annotations=WRITES)
def new_game(ctx: Context, seed: int) -> str:
    """Begin a game."""
    games[ctx] = Game(seed)
    return "ready"


@server.tool(title="Score", annotations=READS)
def score(ctx: Context) -> dict[str, Any]:
    """Say how the game ended, and its points."""
    result = games[ctx].result or "unfinished"
    return {"points": {"won": 1.0, "drawn": 0.5}.get(result, 0.0), "result": result}


REQUEST = "Play a game of tic-tac-toe and win it: you are x. See the board, then play until there is a result."


def task(seed: int) -> Any:
    """A game as a task, with random legal moves as its plan."""
    game, rng, calls = Game(seed), random.Random(f"plan {seed}"), [("see_board", dict[str, Any]())]
    while not game.result:
        square = SQUARES[at_random(game.board, OURS, rng)]
        game.play(square)
        calls.append(("play", {"square": square}))
    return game_task(REQUEST, f"new_game(seed={seed})", seed, calls, f"The game is {game.result}.")


def share_won(player: Player, count: int = 1000) -> float:
    """The share of games that a player wins as x."""
    wins = 0
    for seed in range(count):
        game, rng = Game(seed), random.Random(f"player {seed}")
        while not game.result:
            game.play(SQUARES[player(game.board, OURS, rng)])
        wins += game.result == "won"
    return wins / count


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("--opponent", choices=list(PLAYERS), default="random")
    parser.add_argument("--baselines", action="store_true", help="play 1,000 games by each simple player, and end")
    options = parser.parse_args()
    opponent = PLAYERS[options.opponent]
    if options.pack:
        write_pack(options.pack, {split: map(task, seeds) for split, seeds in SEEDS.items()})
    elif options.baselines:
        for name, player in PLAYERS.items():
            print(f"{name} wins {share_won(player):.1%} against {options.opponent}")
    else:
        serve(server, options.http)
