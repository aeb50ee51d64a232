"""Codenames for two: one gives a word and a number, the other guesses which of 25 words are meant.

    python examples/servers/codenames.py --pack games
    python examples/servers/codenames.py --http 8000                        # a partner by rules
    python examples/servers/codenames.py --http 8000 --partner model        # the client's model (`--sampling base`)

The policy is the spymaster of half of the tasks (`give_clue`) and the guesser of the others (`guess`); the partner has
the other role. Nine words are ours, one is the assassin, who ends the game, the others are neutral and end a turn.
`new_game` and `score` are for mcprl (`--setup-tool new_game --reward-tool score:points`): the score is the share of our
words that were found within five turns, half of it if the assassin was touched.
"""

import random
import re
from collections import Counter
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import SamplingMessage, TextContent, ToolAnnotations
from pydantic import Field
from sessions import SEEDS, Sessions, command_line, game_task, serve, write_pack

TOPICS = {
    "animal": "horse tiger whale eagle snake otter camel rabbit",
    "fruit": "apple cherry lemon melon grape peach mango olive",
    "tool": "hammer saw drill ladder shovel wrench chisel pliers",
    "music": "violin drum flute opera choir piano trumpet waltz",
    "weather": "storm fog hail breeze thunder frost rainbow drizzle",
    "body": "elbow knee tooth ankle shoulder thumb liver spine",
    "clothes": "scarf boot glove jacket apron hat sandal shirt",
    "kitchen": "oven kettle spoon plate fridge sieve toaster knife",
    "ship": "anchor mast harbor captain sail pirate deck lighthouse",
    "space": "comet moon rocket orbit planet galaxy telescope meteor",
    "school": "pencil teacher exam chalk lesson library ruler homework",
    "money": "bank coin wallet tax loan budget cheque market",
}
TOPIC_OF = {word: topic for topic, words in TOPICS.items() for word in words.split()}
WORDS, OURS, TURNS = 25, 9, 5
Role = Literal["spymaster", "guesser"]
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
partner = "rules"


class Game:
    """A board, what is shown of it, and the turns that are left."""

    def __init__(self, seed: int = 0, role: Role = "guesser") -> None:
        rng = random.Random(f"codenames {seed}")
        self.role: Role = role
        self.words = rng.sample(list(TOPIC_OF), WORDS)
        kinds = ["ours"] * OURS + ["assassin"] + ["neutral"] * (WORDS - OURS - 1)
        rng.shuffle(kinds)
        self.kinds = dict(zip(self.words, kinds, strict=True))
        self.touched: list[str] = []
        self.clue: tuple[str, int] = ("", 0)
        self.turns = 0

    def left(self, kind: str = "") -> list[str]:
        """The words that nobody has touched, of a kind if one is named."""
        return [word for word in self.words if word not in self.touched and kind in ("", self.kinds[word])]

    @property
    def result(self) -> str:
        """ "" while the game goes on."""
        if any(self.kinds[word] == "assassin" for word in self.touched):
            return "lost: the assassin"
        return "won" if not self.left("ours") else "out of turns" if self.turns > TURNS else ""

    @property
    def points(self) -> float:
        found = sum(self.kinds[word] == "ours" for word in self.touched) / OURS
        return found / 2 if self.result.startswith("lost") else found

    def guess(self, word: str) -> bool:
        """Touch a word; whether that ends the turn."""
        self.touched.append(word)
        self.clue = self.clue[0], self.clue[1] - 1
        ends = self.kinds[word] != "ours" or self.clue[1] < 1
        self.turns += ends and not self.result
        return ends

    def take(self, guesses: list[str]) -> None:
        """A turn of the partner's guesses, which ends with the first word that is not ours."""
        for word in guesses:
            self.touched.append(word)
            if self.kinds[word] != "ours":
                break
        self.turns += not self.result

    def shown(self) -> dict[str, Any]:
        """What the policy may see in its role."""
        state: dict[str, Any] = {"turn": min(self.turns, TURNS), "of": TURNS}
        if self.role == "spymaster":
            state |= {kind: " ".join(self.left(kind)) for kind in ("ours", "neutral", "assassin")}
        else:
            state |= {"clue": f"{self.clue[0]} {self.clue[1]}", "words": " ".join(self.left())}
        return state | ({"result": self.result} if self.result else {})


def clue_by_rules(game: Game) -> tuple[str, int]:
    """The topic of most of our words and of none of the others, if there is one."""
    ours = Counter(TOPIC_OF[word] for word in game.left("ours"))
    others = {TOPIC_OF[word] for kind in ("neutral", "assassin") for word in game.left(kind)}
    topic = max(ours, key=lambda topic: (ours[topic] - 2 * (topic in others), topic))
    return topic, ours[topic]


def guesses_by_rules(game: Game) -> list[str]:
    """The words of the clue's topic, or of the topic of the word that is the clue."""
    topic = TOPIC_OF.get(game.clue[0], game.clue[0])
    return [word for word in game.left() if TOPIC_OF[word] == topic][: game.clue[1]]


async def asked(ctx: Context, text: str) -> str:
    """What the client's model answers. MCP 2026-07-28 deprecates sampling (SEP-2577) and has nothing in its place."""
    message = SamplingMessage(role="user", content=TextContent(type="text", text=text))
    reply = await ctx.session.create_message([message], max_tokens=40)  # pyright: ignore[reportDeprecated]
    return reply.content.text if isinstance(reply.content, TextContent) else ""


async def partners_clue(ctx: Context, game: Game) -> tuple[str, int]:
    if partner == "rules":
        return clue_by_rules(game)
    avoid = " ".join([*game.left("neutral"), *game.left("assassin")])
    said = await asked(
        ctx, f"Codenames. Ours: {' '.join(game.left('ours'))}. Avoid: {avoid}. Answer with one word and a number."
    )
    found = re.search(r"([A-Za-z]+)\W+(\d)", said)
    return (found[1].lower(), int(found[2])) if found and found[1].lower() not in game.words else ("nothing", 0)


async def partners_guesses(ctx: Context, game: Game) -> list[str]:
    if partner == "rules":
        return guesses_by_rules(game)
    said = await asked(
        ctx, f"Codenames. The clue is {game.clue[0]} {game.clue[1]}. Which of these are meant? {' '.join(game.left())}"
    )
    return [word for word in re.findall(r"[a-z]+", said.lower()) if word in game.left()][: game.clue[1]]


server = MCPServer("codenames", version="1.0.0", log_level="WARNING")
games = Sessions(Game)


@server.tool(title="See the board", annotations=WRITES)  # the first look has the partner give a clue
async def see_board(ctx: Context) -> dict[str, Any]:
    """Show the board as your role sees it: the spymaster sees whose each word is, the guesser the clue."""
    game = games[ctx]
    await begin(ctx, game)
    return game.shown()


@server.tool(title="Give a clue", annotations=WRITES)
async def give_clue(
    ctx: Context,
    word: Annotated[str, Field(description="One word that is not on the board")],
    number: Annotated[int, Field(description="How many of our words it means", ge=1, le=9)],
) -> dict[str, Any]:
    """As the spymaster, give your partner a clue; the partner guesses. Shows the board."""
    game = games[ctx]
    await begin(ctx, game)
    if game.role != "spymaster":
        raise ToolError("You are the guesser; guess a word")
    clue = word.strip().lower()
    if not re.fullmatch("[a-z]+", clue) or any(clue in each or each in clue for each in game.left()):
        raise ToolError(f"{word} is no clue; give one word that is not on the board")
    if not game.result:
        game.clue = clue, number
        game.take(await partners_guesses(ctx, game))
    return game.shown() | {"touched": " ".join(f"{word}={game.kinds[word]}" for word in game.touched)}


@server.tool(title="Guess", annotations=WRITES)
async def guess(ctx: Context, word: Annotated[str, Field(description="A word of the board")]) -> dict[str, Any]:
    """As the guesser, touch a word. A word that is not ours ends the turn, and your partner gives the next clue."""
    game = games[ctx]
    await begin(ctx, game)
    if game.role != "guesser":
        raise ToolError("You are the spymaster; give a clue")
    if word.strip().lower() not in game.left():
        raise ToolError(f"{word} is not on the board")
    if not game.result:
        ends = game.guess(word.strip().lower())
        if ends and not game.result:
            game.clue = await partners_clue(ctx, game)
    return {"was": game.kinds[word.strip().lower()]} | game.shown()


async def begin(ctx: Context, game: Game) -> None:
    if game.turns == 0:
        game.turns = 1
        if game.role == "guesser":
            game.clue = await partners_clue(ctx, game)


@server.tool(title="New game", annotations=WRITES)
def new_game(ctx: Context, seed: int, role: Role) -> str:
    """Begin a game."""
    games[ctx] = Game(seed, role)
    return "ready"


@server.tool(title="Score", annotations=READS)
def score(ctx: Context) -> dict[str, Any]:
    """Say which share of our words was found."""
    game = games[ctx]
    return {"points": round(game.points, 4), "result": game.result or "unfinished", "turns": min(game.turns, TURNS)}


REQUESTS: dict[Role, str] = {
    "spymaster": "Play Codenames as the spymaster: see the board, then give clues until there is a result.",
    "guesser": "Play Codenames as the guesser: see the board, then guess words by the clue until there is a result.",
}


def task(seed: int) -> Any:
    """A game as a task. Its plan has clues or guesses drawn at random: it shows the form alone."""
    role: Role = "spymaster" if seed % 2 else "guesser"
    game, rng, calls = Game(seed, role), random.Random(f"plan {seed}"), [("see_board", dict[str, Any]())]
    game.turns, game.clue = 1, clue_by_rules(game)
    while not game.result:
        if role == "spymaster":
            game.clue = rng.choice(list(TOPICS)), rng.randint(1, 3)
            calls.append(("give_clue", {"word": game.clue[0], "number": game.clue[1]}))
            game.take(guesses_by_rules(game))
        else:
            word = rng.choice(game.left())
            calls.append(("guess", {"word": word}))
            if game.guess(word) and not game.result:
                game.clue = clue_by_rules(game)
    return game_task(REQUESTS[role], f"new_game(seed={seed}, role='{role}')", seed, calls, f"It is {game.result}.")


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("--partner", choices=["rules", "model"], default="rules", help="who has the other role")
    options = parser.parse_args()
    partner = options.partner
    if options.pack:
        write_pack(options.pack, {split: map(task, seeds) for split, seeds in SEEDS.items()})
    else:
        serve(server, options.http)
