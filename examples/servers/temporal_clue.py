"""Murders to solve: who did it, with what, where and when, from clues of which a solver proved that they suffice.

    pip install 'ortools>=9.11,<10'
    python examples/servers/temporal_clue.py --http 8000
    python examples/servers/temporal_clue.py --show 3 --size 4     # case 3 with its clues and its solution

Everybody is in one room at each hour and carries one weapon all evening. The murderer was alone with the victim. The
policy reads clues with `clues_about`, may try one guess with `test_hypothesis`, and ends with `accuse`. `new_case`
and `score` are for mcprl (`--setup-tool new_case --reward-tool score:right`): a seed makes a case of a size from 2 (a
few clues) to 6 (dozens), and the score is the share of the four questions that the accusation answers rightly.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from ortools.sat.python import cp_model
from pydantic import Field
from sessions import Sessions, command_line, serve

PEOPLE = ["Ada", "Ben", "Carla", "Dev", "Elif", "Finn", "Gwen"]
WEAPONS = ["rope", "dagger", "poison", "pistol", "hammer", "needle"]
ROOMS = ["Library", "Kitchen", "Garden", "Study", "Cellar", "Attic"]
HOURS = ["seven", "eight", "nine", "ten", "eleven", "midnight"]
VICTIM = "the Baron"
HYPOTHESES = 1
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)

Solution = tuple[int, int, int, int]
"""The murderer, the weapon, the room and the hour, each by its number."""


@dataclass(frozen=True)
class Clue:
    """A sentence that is true of a case. `kind` and `numbers` say the same to the solver; a person -1 is the victim."""

    text: str
    kind: str
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class Case:
    size: int
    clues: tuple[Clue, ...]
    solution: Solution

    def sentences(self, about: str = "") -> list[str]:
        return [clue.text for clue in self.clues if about.casefold() in clue.text.casefold()]


class Puzzle:
    """All evenings of a size as a model of OR-Tools: where everybody is at each hour, who carries what, who did it."""

    def __init__(self, size: int) -> None:
        self.model = model = cp_model.CpModel()
        guests, span = range(-1, size), range(size)
        self.where = {(p, h): model.new_int_var(0, size - 1, f"where {p} {h}") for p in guests for h in span}
        self.carries = [model.new_int_var(0, size - 1, f"carries {p}") for p in span]
        model.add_all_different(self.carries)
        self.murder = {(p, r, h): model.new_bool_var(f"{p} {r} {h}") for p in span for r in span for h in span}
        model.add_exactly_one(self.murder.values())
        for (p, r, h), did in self.murder.items():
            for guest in guests:
                there = self.where[guest, h]
                alone = there == r if guest in (-1, p) else there != r
                model.add(alone).only_enforce_if(did)

    def add(self, clue: Clue) -> None:
        """Have the clue hold."""
        match clue.kind, clue.numbers:
            case "was", (p, r, h):
                self.model.add(self.where[p, h] == r)
            case "was not", (p, r, h):
                self.model.add(self.where[p, h] != r)
            case "together", (p, q, h):
                self.model.add(self.where[p, h] == self.where[q, h])
            case "apart", (p, q, h):
                self.model.add(self.where[p, h] != self.where[q, h])
            case "carried", (p, w):
                self.model.add(self.carries[p] == w)
            case "did not carry", (p, w):
                self.model.add(self.carries[p] != w)
            case "murder not in", (r,):
                self.model.add_bool_and(~did for (_, room, _), did in self.murder.items() if room == r)
            case "murder not at", (h,):
                self.model.add_bool_and(~did for (_, _, hour), did in self.murder.items() if hour == h)
            case kind:
                raise ValueError(kind)

    def forbid(self, solution: Solution) -> None:
        """Have another solution hold than this one."""
        p, w, r, h = solution
        self.model.add(self.carries[p] != w).only_enforce_if(self.murder[p, r, h])

    def is_possible(self) -> bool:
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        return solver.solve(self.model) in (cp_model.OPTIMAL, cp_model.FEASIBLE)


def is_proven(size: int, clues: tuple[Clue, ...] | list[Clue], solution: Solution) -> bool:
    """Whether the clues leave no other solution."""
    puzzle = Puzzle(size)
    for clue in clues:
        puzzle.add(clue)
    puzzle.forbid(solution)
    return not puzzle.is_possible()


def truths(size: int, rng: random.Random) -> tuple[Solution, list[Clue]]:
    """An evening, and what is true of it, in random order."""
    span = range(size)
    p, r, h = (rng.randrange(size) for _ in range(3))
    weapons = rng.sample(span, size)
    where = {(guest, hour): rng.randrange(size) for guest in range(-1, size) for hour in span}
    for guest in range(-1, size):
        where[guest, h] = r if guest in (-1, p) else rng.choice([room for room in span if room != r])
    found = [*_of_places(size, where), *_of_weapons(size, weapons)]
    found += [Clue(f"It did not happen in the {ROOMS[room]}.", "murder not in", (room,)) for room in span if room != r]
    found += [Clue(f"It did not happen at {HOURS[hour]}.", "murder not at", (hour,)) for hour in span if hour != h]
    rng.shuffle(found)
    return (p, weapons[p], r, h), found


def _named(guest: int) -> str:
    return VICTIM if guest < 0 else PEOPLE[guest]


def _of_places(size: int, where: dict[tuple[int, int], int]) -> Iterator[Clue]:
    for (guest, hour), room in where.items():
        at, name = f"at {HOURS[hour]}", _named(guest)
        yield Clue(f"{name[0].upper()}{name[1:]} was in the {ROOMS[room]} {at}.", "was", (guest, room, hour))
        for other in range(size):
            if other != room:
                text = f"{name[0].upper()}{name[1:]} was not in the {ROOMS[other]} {at}."
                yield Clue(text, "was not", (guest, other, hour))
        for second in range(guest + 1, size):
            pair = f"{name[0].upper()}{name[1:]} and {_named(second)}"
            if where[second, hour] == room:
                yield Clue(f"{pair} were in the same room {at}.", "together", (guest, second, hour))
            else:
                yield Clue(f"{pair} were in different rooms {at}.", "apart", (guest, second, hour))


def _of_weapons(size: int, weapons: list[int]) -> Iterator[Clue]:
    for person, own in enumerate(weapons):
        yield Clue(f"{PEOPLE[person]} carried the {WEAPONS[own]}.", "carried", (person, own))
        for other in range(size):
            if other != own:
                yield Clue(f"{PEOPLE[person]} did not carry the {WEAPONS[other]}.", "did not carry", (person, other))


@lru_cache(maxsize=256)
def made(seed: int, size: int) -> Case:
    """A case whose clues suffice, none of which can be left out."""
    rng = random.Random(f"case {seed} {size}")
    solution, found = truths(size, rng)
    clues: list[Clue] = []
    step = 2 * size
    while not is_proven(size, clues, solution):
        clues, found = clues + found[:step], found[step:]
    for clue in list(clues):
        rest = [each for each in clues if each is not clue]
        if is_proven(size, rest, solution):
            clues = rest
    return Case(size, tuple(clues), solution)


# --- the tools --------------------------------------------------------------------------------------------------------


@dataclass
class Investigation:
    case: Case = field(default_factory=lambda: made(0, 2))
    tested: int = 0
    accused: Solution | None = None


server = MCPServer("temporal-clue", version="1.0.0", log_level="WARNING")
sessions = Sessions(Investigation)
Person = Annotated[str, Field(description="A guest, such as Ada")]
Weapon = Annotated[str, Field(description="A weapon, such as rope")]
Room = Annotated[str, Field(description="A room, such as Library")]
Hour = Annotated[str, Field(description="An hour, such as nine")]


def numbers(case: Case, *names: str) -> Solution:
    """The numbers of a person, a weapon, a room and an hour. Raises `ToolError` for a name that is not in the case."""
    found: list[int] = []
    for name, known in zip(names, (PEOPLE, WEAPONS, ROOMS, HOURS), strict=True):
        short = [each.casefold() for each in known[: case.size]]
        if name.strip().casefold() not in short:
            raise ToolError(f"No {name}; there are {', '.join(known[: case.size])}")
        found.append(short.index(name.strip().casefold()))
    return found[0], found[1], found[2], found[3]


@server.tool(title="See the case", annotations=READS)
def see_case(ctx: Context) -> dict[str, Any]:
    """Name the guests, weapons, rooms and hours of the case, and how many clues there are."""
    case = sessions[ctx].case
    named = {"guests": PEOPLE, "weapons": WEAPONS, "rooms": ROOMS, "hours": HOURS}
    lists = {name: ", ".join(known[: case.size]) for name, known in named.items()}
    return lists | {"victim": VICTIM, "clues": len(case.clues)}


@server.tool(title="Clues about", annotations=READS)
def clues_about(
    ctx: Context, name: Annotated[str, Field(description="A guest, a weapon, a room or an hour; empty for all")] = ""
) -> list[str]:
    """List the clues that name somebody or something. 'It' is the murder."""
    return sessions[ctx].case.sentences(name.strip())


@server.tool(title="Test a hypothesis", annotations=WRITES)
def test_hypothesis(ctx: Context, person: Person, weapon: Weapon, room: Room, hour: Hour) -> str:
    """Say whether the clues allow that a person did it with a weapon in a room at an hour. One may be tested."""
    state = sessions[ctx]
    p, w, r, h = numbers(state.case, person, weapon, room, hour)
    if state.tested == HYPOTHESES:
        raise ToolError("A hypothesis was tested; accuse somebody")
    state.tested += 1
    return "The clues allow it." if (p, w, r, h) == state.case.solution else "The clues contradict it."


@server.tool(title="Accuse", annotations=WRITES)
def accuse(ctx: Context, person: Person, weapon: Weapon, room: Room, hour: Hour) -> str:
    """Say who did it, with what, where and when. This ends the case."""
    state = sessions[ctx]
    state.accused = state.accused or numbers(state.case, person, weapon, room, hour)
    return "The case is closed."


@server.tool(title="New case", annotations=WRITES)
def new_case(ctx: Context, seed: int, size: Annotated[int, Field(ge=2, le=6)] = 3) -> str:
    """Open a case."""
    sessions[ctx] = Investigation(made(seed, size))
    return "ready"


@server.tool(title="Score", annotations=READS)
def score(ctx: Context) -> dict[str, Any]:
    """Say which share of the four questions the accusation answers rightly."""
    state = sessions[ctx]
    pairs = zip(state.accused or (), state.case.solution, strict=False)
    return {"right": sum(given == true for given, true in pairs) / 4, "accused": state.accused is not None}


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("--show", type=int, metavar="SEED", help="print a case with its solution, and end")
    parser.add_argument("--size", type=int, default=3, help="the size of the case that is shown")
    options = parser.parse_args()
    if options.show is None:
        serve(server, options.http)
    else:
        shown = made(options.show, options.size)
        print("\n".join(shown.sentences()))
        who, what, place, hour = shown.solution
        print(f"\n{PEOPLE[who]} with the {WEAPONS[what]} in the {ROOMS[place]} at {HOURS[hour]}")
