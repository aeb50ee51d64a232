"""What the user allows of unmarked tools: asked once on a terminal, remembered by server and tool, and revocable.

An answer becomes an entry of `tools.assume`, so that a run records what was allowed and resumes with it.
"""

import glob
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import click
from pydantic import TypeAdapter
from rich.console import Console
from rich.text import Text

from mcprl.cli.outcome import run_async
from mcprl.cli.tables import sheet
from mcprl.files import state_folder, write_whole
from mcprl.servers.identity import identity
from mcprl.text import visible

if TYPE_CHECKING:
    from mcprl.config import Config
    from mcprl.servers.permission import ToolStatus
    from mcprl.types import Tool

Answer = Literal["read", "write", "no"]


@dataclass(frozen=True)
class Remembered:
    """What was answered about a tool, whose name is there for the reader of the file: what it does, and whether it may
    always be called without `--approve` asking."""

    name: str
    answer: Answer | None = None
    approved: bool = False


_STORED = TypeAdapter(dict[str, dict[str, Remembered]])
_MEANING = {
    "read": "reads",
    "write": "writes",
    "dangerous": "dangerous: deletes, spends, sends, releases or runs something",
    "unknown": "unknown",
}
_CHOICES = "p: reads as reads, writes as writes, nothing else; r: reads alone; n: none of them"


@dataclass(frozen=True)
class Undecided:
    """A tool of a server, by its identity, of which nobody says what it does."""

    server: str
    name: str
    tool: "Tool"

    @property
    def hash(self) -> str:
        """The fingerprint of the tool: a tool that changed is another one."""
        from mcprl.scenarios.packs.pack import tool_hash

        return tool_hash([self.tool])


class Answers:
    """This user's answers, in a file that a person can read: by server, then by the tool's fingerprint."""

    def __init__(self) -> None:
        self.path = state_folder() / "tools.json"
        self._by_server: dict[str, dict[str, Remembered]] = {}
        with suppress(OSError, ValueError):  # a damaged file allows nothing
            self._by_server = _STORED.validate_json(self.path.read_bytes())

    def knows(self, config: "Config") -> bool:
        """Whether there is an answer about one of the configured servers."""
        return any(identity(server) in self._by_server for server in config.servers)

    def of(self, undecided: Sequence[Undecided]) -> dict[str, Answer]:
        """The remembered answers by the names of the tools."""
        kept = {one.name: self._by_server.get(one.server, {}).get(one.hash) for one in undecided}
        return {name: entry.answer for name, entry in kept.items() if entry and entry.answer}

    def approves(self, one: Undecided) -> bool:
        """Whether the tool may always be called without being asked about."""
        entry = self._by_server.get(one.server, {}).get(one.hash)
        return entry is not None and entry.approved

    def approve(self, one: Undecided) -> None:
        self._keep(one, approved=True)
        self._write()

    def remember(self, undecided: Sequence[Undecided], answers: Mapping[str, Answer]) -> None:
        for one in undecided:
            self._keep(one, answer=answers[one.name])
        self._write()

    def _keep(self, one: Undecided, **answer: Any) -> None:
        by_hash = self._by_server.setdefault(one.server, {})
        by_hash[one.hash] = replace(by_hash.get(one.hash, Remembered(one.name)), **answer)

    def forget(self, config: "Config") -> int:
        """Forget the answers about the configured servers, about all if none is configured; returns their number."""
        servers = [identity(server) for server in config.servers] or [*self._by_server]
        dropped = [self._by_server.pop(server, {}) for server in servers]
        self._write()
        return sum(map(len, dropped))

    def _write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(self.path, _STORED.dump_json(self._by_server, indent=1))


def permitted(config: "Config") -> "Config":
    """The configuration with what the user allows of the unmarked tools: remembered, or asked now on a terminal.

    Raises `ServerError` if then no tool may be called, and what `connect` raises; nothing is written before.
    """
    from mcprl.servers.permission import require_callable

    memory, ask = Answers(), sys.stdin.isatty() and sys.stderr.isatty()
    if not config.servers or not (ask or memory.knows(config)):
        return config
    listing, undecided = run_async(lambda: _list(config))
    answers = memory.of(undecided)
    if ask and (new := [one for one in undecided if one.name not in answers]):
        answers |= _ask(new)
        memory.remember(new, answers)
        click.echo(f"remembered in {memory.path}; mcprl inspect --server ... --forget asks again", err=True)
    if {*answers.values()} <= {"no"}:
        require_callable(listing)
    return assuming(config, answers)


def remembered(config: "Config") -> dict[str, Answer]:
    """What the user answered about the tools of the configured servers, by their names."""
    memory = Answers()
    return memory.of(run_async(lambda: _list(config))[1]) if memory.knows(config) else {}


def assuming(config: "Config", answers: Mapping[str, Answer]) -> "Config":
    """The configuration with `answers` among its assumptions."""
    allowed = {glob.escape(name): answer for name, answer in answers.items() if answer != "no"}
    tools = config.tools.model_copy(update={"assume": config.tools.assume | allowed})
    return config.model_copy(update={"tools": tools})


async def _list(config: "Config") -> "tuple[Sequence[ToolStatus], list[Undecided]]":
    """The tools of the configured servers, and those that only an answer can allow."""
    from mcprl.servers.server import connect

    async with connect(config.servers, config.tools) as server:
        identities = {facts.name: facts.identity for facts in server.describe()}
        undecided = [
            Undecided(identities[status.server], status.name, status.tool)
            for status in server.listing
            if status.undecided and status.tool
        ]
        return server.listing, undecided


def _ask(undecided: Sequence[Undecided]) -> dict[str, Answer]:
    """One screen with the tools and what they seem to do, and one question."""
    from mcprl.servers.proposals import propose

    seems = {one.name: propose(one.tool) for one in undecided}
    undecided = sorted(undecided, key=lambda one: [*_MEANING].index(seems[one.name]))
    screen = Console(stderr=True, highlight=False)
    screen.print(
        f"\nThe server does not mark what {len(undecided)} of its tools do. Making tasks and training call tools with "
        "invented arguments: allow only what may happen many times. By their names and descriptions, the tools are:\n"
    )
    table = sheet("tool", "seems", "description")
    for one in undecided:
        table.add_row(
            Text(visible(one.name)), _MEANING[seems[one.name]], Text(visible(one.tool.description.strip())[:200])
        )
    screen.print(table)
    screen.print(f"\n{_CHOICES}", markup=False)
    choice = click.prompt("Which may be called?", type=click.Choice(["p", "r", "n"]), default="n", err=True)
    taken = {"p": ("read", "write"), "r": ("read",), "n": ()}[choice]
    answers: dict[str, Answer] = {}
    for name, proposal in seems.items():
        answers[name] = proposal if proposal in taken and proposal in ("read", "write") else "no"
    return answers
