"""What servers were asked and what they answered, kept in a run's folder: `--record` writes it, `replay` reads it.

Secrets are hidden in the arguments, as they are in results (`protocol.Dispatcher`).
"""

import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, Self

from mcprl.errors import JournalError, ServerError
from mcprl.runs.database import Database
from mcprl.secrets import hide_in_json
from mcprl.servers.routes import Route, ServerSession
from mcprl.types import Call, Json, ToolResult

FILE: Final = "exchanges.sqlite"
VERSION: Final = 1

_TABLES = """
create table server (name text primary key, body text not null);
create table session (id integer primary key, server text not null, setup text not null);
create table answer (hash text primary key, body text not null);
create table exchange (
    session integer not null references session, number integer not null, at real not null, tool text not null,
    arguments text not null, reads integer not null, answer text not null references answer, latency_s real not null,
    primary key (session, number));
"""


@dataclass(frozen=True)
class Answer:
    """What came of a call: a result (`ToolResult`), or the error that was `raised` (its class) with its text."""

    text: str
    structured: Json = None
    is_error: bool = False
    cut_bytes: int = 0
    unanswered: bool = False
    raised: str = ""

    @property
    def is_the_tools(self) -> bool:
        return not (self.unanswered or self.raised)


@dataclass(frozen=True)
class Exchange:
    """One recorded call: the number of its session, what it is, whether it was handled as a read, and its answer."""

    session: int
    call: Call
    reads: bool
    answer: Answer
    latency_s: float


class Exchanges:
    """The exchanges of one run, in a file of its own that is written as the journal is; a context manager."""

    def __init__(self, database: Database) -> None:
        self._db = database

    @classmethod
    def open(cls, folder: Path, *, write: bool) -> Self:
        """Open the file in a run's folder; a writer makes it if it is missing. Raises `JournalError`."""
        database = Database.open(folder / FILE, write=write)
        if write and database.version() == 0:
            with database.transaction():
                database.define(_TABLES, VERSION)
        if (version := database.version()) != VERSION:
            database.close()
            raise JournalError(f"{folder / FILE} has version {version}; this mcprl reads {VERSION}")
        return cls(database)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._db.close()

    def write_server(self, name: str, **parts: Json) -> None:
        """Keep what a server listed and told, part by part; a part that is written again replaces the old one."""
        body = self.servers().get(name, {}) | parts
        self._db.write("insert or replace into server values (?, ?)", [(name, json.dumps(hide_in_json(body)))])

    def servers(self) -> dict[str, dict[str, Json]]:
        """The parts of each recorded server, by its name."""
        rows = self._db.read("select name, body from server order by rowid")
        return {name: self._db.json(body) for name, body in rows}

    def begin(self, server: str, setup: Sequence[Call]) -> int:
        """The number of a new session with a server, in which the `setup` calls are made."""
        calls = json.dumps([[call.tool, hide_in_json(call.arguments)] for call in setup])
        with self._db.transaction():
            number = self._db.read("select ifnull(max(id), 0) + 1 from session")[0][0]
            self._db.write("insert into session values (?, ?, ?)", [(number, server, calls)])
        return number

    def write(self, number: int, exchange: Exchange) -> None:
        """Keep a session's call number `number`. An answer that was given before is stored once."""
        body = json.dumps(asdict(exchange.answer))
        digest = hashlib.sha256(body.encode()).hexdigest()
        call, arguments = exchange.call, json.dumps(hide_in_json(exchange.call.arguments))
        kept = (time.time(), call.tool, arguments, exchange.reads, digest, exchange.latency_s)
        with self._db.transaction():
            self._db.write("insert or ignore into answer values (?, ?)", [(digest, body)])
            self._db.write("insert into exchange values (?, ?, ?, ?, ?, ?, ?, ?)", [(exchange.session, number, *kept)])

    def sessions(self, server: str) -> dict[int, list[Call]]:
        """The setup calls of each session with a server, by its number."""
        rows = self._db.read("select id, setup from session where server = ? order by id", server)
        return {number: [Call(*call) for call in self._db.json(setup)] for number, setup in rows}

    def read(self, server: str) -> Iterator[Exchange]:
        """The exchanges of a server, session by session."""
        query = """select session, tool, arguments, reads, body, latency_s from exchange
            join session on session.id = session join answer on hash = answer
            where server = ? order by session, number"""
        for session, tool, arguments, reads, body, latency_s in self._db.read(query, server):
            answer = self._db.decode(lambda body: Answer(**json.loads(body)), body)
            yield Exchange(session, Call(tool, self._db.json(arguments)), bool(reads), answer, latency_s)


class RecordedSession:
    """A session whose calls are kept as soon as they are answered."""

    def __init__(self, session: ServerSession, exchanges: Exchanges, server: str, setup: Sequence[Call]) -> None:
        self._session, self._exchanges = session, exchanges
        self._server, self._setup = server, setup
        self._id = self._calls = 0

    async def call(self, route: Route, arguments: Mapping[str, Any], max_bytes: int) -> ToolResult:
        self._id = self._id or self._exchanges.begin(self._server, self._setup)
        self._calls += 1
        number, call = self._calls, Call(route.tool, dict(arguments))
        exchange = Exchange(self._id, call, route.reads, Answer(""), 0.0)
        try:
            result = await self._session.call(route, arguments, max_bytes)
        except ServerError as error:
            self._exchanges.write(number, replace(exchange, answer=Answer(str(error), raised=type(error).__name__)))
            raise
        answer = Answer(result.text, result.structured, result.is_error, result.cut_bytes, result.unanswered)
        self._exchanges.write(number, replace(exchange, answer=answer, latency_s=result.latency_s))
        return result

    def rest(self) -> None:
        self._session.rest()

    def release(self) -> None:
        self._session.release()
