"""The journal of a run: every scenario, trajectory, score, step, adapter and event, committed before it is used.

A run is a folder: `config.toml`, `journal.sqlite`, `scenarios/`, `adapters/step-N/`, `report.*`. What a person or a
program wants to know about a run is read from the journal; `train --resume` goes on from it.

SQLite in WAL mode, so that anyone may read while one process writes. `synchronous = NORMAL`: a commit outlives the
process, however it is killed. A machine that loses power may lose the last commits, but only as a whole: the journal is
then one of a moment earlier, and as every random choice follows from the seed, a resumed run makes the same records
again. (FULL costs an fsync for each rollout: 6 ms instead of 1.6, measured.) The calls are short and synchronous: from
async code call them directly. One `Journal` may be used from several threads, not across a fork.
"""

import json
import os
import platform
import sqlite3
import zlib
from array import array
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from itertools import pairwise
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Any, Final, Literal, Self
from uuid import uuid4

from pydantic import TypeAdapter, ValidationError

from mcprl import config as configuration
from mcprl.config import Config
from mcprl.errors import JournalError
from mcprl.types import Adapter, Json, Scenario, Score, Split, StopReason, Trajectory

FILE: Final = "journal.sqlite"
VERSION: Final = 1
Metric = float | int | str | None
AdapterKind = Literal["train", "warm", "best"]

_APPLICATION = int.from_bytes(b"mRL1")
_VERSIONED = ("mcprl", "torch", "transformers", "peft", "mcp")
_TABLES = """
create table fact (key text primary key, value text not null);
create table event (at real not null, kind text not null, data text not null);
create table scenario (id text primary key, split text not null, body text not null);
create table trajectory (
    phase text not null, step integer not null, id text not null, scenario_id text not null, stop text not null,
    at real not null, body text not null, tokens blob not null, primary key (phase, step, id));
create table score (
    phase text not null, step integer not null, trajectory_id text not null, value real not null, success integer,
    explanation text not null, primary key (phase, step, trajectory_id),
    foreign key (phase, step, trajectory_id) references trajectory (phase, step, id));
create table step (step integer primary key, at real not null, metrics text not null);
create table adapter (at real not null, kind text not null, step integer not null, path text not null);
"""
_scenario = TypeAdapter(Scenario)
_trajectory = TypeAdapter(Trajectory)


@dataclass(frozen=True)
class Step:
    """A complete optimizer step: its metrics, and when it was recorded (seconds since 1970)."""

    step: int
    metrics: dict[str, Metric]
    at: float


@dataclass(frozen=True)
class Event:
    """Something that happened, and when (seconds since 1970)."""

    kind: str
    at: float
    data: dict[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True)
class SavedAdapter:
    """An adapter on disk and what it is: a training checkpoint, the end of the warm start, or the best by
    validation.
    """

    adapter: Adapter
    kind: AdapterKind
    at: float


@dataclass(frozen=True)
class Outcome:
    """How one trajectory ended, without its tokens. `value` and `success` are `None` where no judge has scored it."""

    step: int
    trajectory_id: str
    scenario_id: str
    stop: StopReason
    value: float | None
    success: bool | None


class Journal:
    """One run's journal; use it as a context manager. Every method raises `JournalError` where the file is damaged.

    The phases of trajectories and scores are "train", "val", "test:base", "test:warm" and "test:trained".
    """

    def __init__(self, folder: Path, database: sqlite3.Connection, lock: sqlite3.Connection | None) -> None:
        self.folder = folder
        self._database = database
        self._lock = lock
        self._threads = RLock()

    @classmethod
    def create(cls, folder: str | Path, config: Config) -> Self:
        """Begin a run in `folder` (made where missing) and keep its configuration, without secrets, in it and in
        config.toml.

        Raises `JournalError` where the folder already holds a run.
        """
        folder = Path(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            journal = cls._connect(folder, write=True)
        except OSError as error:
            raise JournalError(f"cannot make the run folder {folder}: {error.strerror}") from None
        try:
            if journal._version() != 0:
                raise JournalError(
                    f"{folder} already holds a run: go on with --resume {folder.name}, or choose another --name"
                )
            _write_file(folder / "config.toml", configuration.dump(config))
            with journal._transaction() as database:
                for statement in _TABLES.split(";"):
                    database.execute(statement)
                database.execute(f"pragma application_id = {_APPLICATION}")
                database.execute(f"pragma user_version = {VERSION}")
                journal.write_fact("run_id", uuid4().hex)
                journal.write_fact("config", configuration.redacted(config))
                journal.write_fact("versions", _versions())
                journal.write_event("opened")
        except BaseException:
            journal._disconnect()
            raise
        return journal

    @classmethod
    def open(cls, folder: str | Path, *, write: bool = False) -> Self:
        """Open the run in `folder`. There is one writer at a time, and a second one is refused at once; readers always
        may.

        Raises `JournalError` where there is no run, another process writes to it, it is damaged, or from another
        version.
        """
        folder = Path(folder)
        if not (folder / FILE).is_file():
            raise JournalError(f"{folder} holds no run (no {FILE} in it); `mcprl runs` lists those there are")
        journal = cls._connect(folder, write=write)
        try:
            if (version := journal._version()) == 0:
                raise JournalError(
                    f"{folder} holds no run: it was stopped before it began; start it again with mcprl train"
                )
            if version != VERSION:
                raise JournalError(
                    f"{folder} was written by another mcprl (journal version {version}, this one reads {VERSION})"
                )
            if write:
                journal._check()
                journal.write_event("opened")
        except BaseException:
            journal._disconnect()
            raise
        return journal

    def close(self) -> None:
        """Close the file and let the next writer in. Closing twice is fine."""
        try:
            if self._lock:
                self.write_event("closed")
        finally:
            self._disconnect()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- scenarios, trajectories, scores ------------------------------------------------------------------------------

    def write_scenarios(self, scenarios: Sequence[Scenario]) -> None:
        """Keep scenarios; one that is written again (say with its measured difficulty) replaces what was there."""
        rows = [(s.id, s.split, _dump(_scenario.dump_python(s))) for s in scenarios]
        self._write(
            "insert into scenario values (?, ?, ?) on conflict do update set split=excluded.split, body=excluded.body",
            rows,
        )

    def scenarios(self, split: Split | None = None) -> list[Scenario]:
        """The scenarios, in the order in which they were first written."""
        rows = self._read("select body from scenario where ? in (split, '') order by rowid", split or "")
        return [self._decode(lambda body: _scenario.validate_python(json.loads(body)), row[0]) for row in rows]

    def write_trajectories(self, phase: str, step: int, trajectories: Sequence[Trajectory]) -> None:
        """Keep trajectories. What is there stays: one that is written again, after a resume, changes nothing."""
        rows = [(phase, step, t.id, t.scenario_id, t.stop, _now(), *_pack(t)) for t in trajectories]
        self._write("insert into trajectory values (?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing", rows)

    def trajectories(self, phase: str, step: int | None = None) -> list[Trajectory]:
        """A phase's trajectories, of one step or of all, in the order in which they were written."""
        query = "select body, tokens from trajectory where phase = ? and step = ifnull(?, step) order by step, rowid"
        return [self._decode(_unpack, row) for row in self._read(query, phase, step)]

    def write_scores(self, phase: str, step: int, scores: Sequence[Score]) -> None:
        """Keep scores of trajectories that are in the journal; a trajectory that is scored again gets the new score."""
        rows = [(phase, step, s.trajectory_id, s.value, s.success, s.explanation) for s in scores]
        try:
            self._write("insert or replace into score values (?, ?, ?, ?, ?, ?)", rows)
        except sqlite3.IntegrityError:
            known = {outcome.trajectory_id for outcome in self.outcomes(phase, step)}
            bad = sorted({s.trajectory_id for s in scores} - known) or [
                s.trajectory_id for s in scores if s.value != s.value
            ]
            raise JournalError(f"{phase} step {step}: no trajectory, or no number, for the scores of {bad}") from None

    def scores(self, phase: str, step: int | None = None) -> list[Score]:
        """A phase's scores, of one step or of all."""
        query = """select trajectory_id, value, success, explanation from score
            where phase = ? and step = ifnull(?, step) order by step, rowid"""
        rows = self._read(query, phase, step)
        return [Score(name, value, _truth(success), text) for name, value, success, text in rows]

    def outcomes(self, phase: str, step: int | None = None) -> list[Outcome]:
        """How a phase's trajectories ended and what they scored: all that a report needs, without reading a token."""
        query = """select t.step, t.id, t.scenario_id, t.stop, s.value, s.success from trajectory t
            left join score s on s.phase = t.phase and s.step = t.step and s.trajectory_id = t.id
            where t.phase = ? and t.step = ifnull(?, t.step) order by t.step, t.rowid"""
        rows = self._read(query, phase, step)
        return [Outcome(*fields, success=_truth(success)) for *fields, success in rows]

    # --- steps, adapters, events, facts -------------------------------------------------------------------------------

    def write_step(self, step: int, metrics: Mapping[str, Metric]) -> None:
        """Declare a step complete: a resumed run goes on after it."""
        query = "insert into step values (?, ?, ?) on conflict do update set at=excluded.at, metrics=excluded.metrics"
        self._write(query, [(step, _now(), _dump(dict(metrics)))])

    def steps(self) -> list[Step]:
        """The complete steps in order."""
        rows = self._read("select step, metrics, at from step order by step")
        return [Step(step, self._decode(json.loads, metrics), at) for step, metrics, at in rows]

    def last_step(self) -> int | None:
        """The last complete step, or `None` before the first."""
        return self._read("select max(step) from step")[0][0]

    def write_adapter(self, adapter: Adapter, kind: AdapterKind = "train") -> None:
        """Record an adapter that is on disk already. A path inside the run folder stays right when the folder moves."""
        path, home = Path(adapter.path).absolute(), self.folder.absolute()
        kept = path.relative_to(home).as_posix() if path.is_relative_to(home) else str(path)
        self._write("insert into adapter values (?, ?, ?, ?)", [(_now(), kind, adapter.step, kept)])

    def adapters(self, kind: AdapterKind | None = None) -> list[SavedAdapter]:
        """The recorded adapters, oldest first; of kind "best" the last one counts."""
        rows = self._read("select path, step, kind, at from adapter where ? in (kind, '') order by rowid", kind or "")
        return [SavedAdapter(Adapter(str(self.folder / path), step), kind, at) for path, step, kind, at in rows]

    def write_event(self, kind: str, **data: Json) -> None:
        """Note that something happened, with the time."""
        self._write("insert into event values (?, ?, ?)", [(_now(), kind, _dump(data))])

    def events(self, kind: str | None = None) -> list[Event]:
        """What happened, oldest first."""
        rows = self._read("select kind, at, data from event where ? in (kind, '') order by rowid", kind or "")
        return [Event(kind, at, self._decode(json.loads, data)) for kind, at, data in rows]

    def write_fact(self, key: str, value: Json) -> None:
        """Keep what is true of the whole run. The last word counts.

        `create` writes "run_id", "config" and "versions". The loop writes "tools" (names), "left_out" (tool name -> why
        it may not be called), "model" (what was loaded, in words) and "pack" (the pack's hash).
        """
        self._write("insert or replace into fact values (?, ?)", [(key, _dump(value))])

    def fact(self, key: str, default: Json = None) -> Json:
        """A fact, or `default` where it was never written."""
        rows = self._read("select value from fact where key = ?", key)
        return self._decode(json.loads, rows[0][0]) if rows else default

    @property
    def config(self) -> Config:
        """The run's configuration; values that may be secret are "***" and must be given again where they are
        needed.
        """
        return configuration.parse(self.fact("config"), f"the configuration in {self.folder}")

    def wall_s(self) -> float:
        """Seconds that were worked on this run: from each opening by a writer to the last thing recorded before the
        next.
        """
        times = self._read(
            """select at, 0 from trajectory union all select at, 0 from step union all select at, 0 from adapter
            union all select at, kind = 'opened' from event order by 1"""
        )
        return sum(b - a for (a, _), (b, opened) in pairwise(times) if not opened)

    # --- SQLite -------------------------------------------------------------------------------------------------------

    @classmethod
    def _connect(cls, folder: Path, *, write: bool) -> Self:
        path, lock = folder / FILE, None
        if write:
            # SQLite locks a file on every platform and the lock dies with the process: an exclusive transaction on an
            # empty database beside the journal keeps other writers out and bothers no reader.
            lock = sqlite3.connect(folder / "journal.lock", timeout=0, isolation_level=None, check_same_thread=False)
            try:
                lock.execute("begin exclusive")
            except sqlite3.OperationalError as error:
                lock.close()
                why = "another process is writing to it" if "locked" in str(error) else str(error)
                raise JournalError(f"{folder} cannot be written: {why}") from None
        database = None
        try:
            uri = f"{path.absolute().as_uri()}?mode={'rwc' if write else 'ro'}"
            database = sqlite3.connect(uri, uri=True, timeout=10, isolation_level=None, check_same_thread=False)
            if write:
                database.execute("pragma journal_mode = wal")
                database.execute("pragma synchronous = normal")
                database.execute("pragma foreign_keys = on")
        except sqlite3.Error as error:
            for connection in (database, lock):
                if connection:
                    connection.close()
            raise _damaged(path, error) from None
        return cls(folder, database, lock)

    def _disconnect(self) -> None:
        self._database.close()
        if self._lock:
            self._lock.close()
            self._lock = None

    def _version(self) -> int:
        if (version := self._read("pragma user_version")[0][0]) and self._read("pragma application_id")[0][
            0
        ] != _APPLICATION:
            raise JournalError(f"{self.folder / FILE} is a SQLite file, but not of mcprl")
        return version

    def _check(self) -> None:
        if (found := self._read("pragma quick_check(1)")[0][0]) != "ok":
            raise _damaged(self.folder / FILE, found)

    @contextmanager
    def _transaction(self) -> Generator[sqlite3.Connection]:
        """All or nothing; a transaction inside another belongs to the outer one."""
        with self._threads:
            if not self._lock:
                raise JournalError(f"{self.folder} was opened for reading, or closed")
            if self._database.in_transaction:
                yield self._database
                return
            try:
                self._database.execute("begin immediate")
                yield self._database
                self._database.execute("commit")
            except sqlite3.IntegrityError:
                raise
            except sqlite3.Error as error:
                raise _damaged(self.folder / FILE, error) from error
            finally:
                if self._database.in_transaction:
                    self._database.execute("rollback")

    def _write(self, query: str, rows: Sequence[tuple[Any, ...]]) -> None:
        with self._transaction() as database:
            database.executemany(query, rows)

    def _read(self, query: str, *values: Any) -> list[Any]:
        try:
            with self._threads:
                return self._database.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise _damaged(self.folder / FILE, error) from error

    def _decode(self, decode: Any, stored: Any) -> Any:
        try:
            return decode(stored)
        except (ValidationError, ValueError, TypeError, KeyError, zlib.error) as error:
            raise _damaged(self.folder / FILE, error) from error


def _pack(trajectory: Trajectory) -> tuple[str, bytes]:
    """The trajectory as JSON that a person can read in the sqlite3 shell, and its token ids and log-probabilities,
    compressed.

    Each turn repeats the context of the last, which compression takes back. Doubles: what is read equals what was
    written.
    """
    tree = _trajectory.dump_python(trajectory)
    tokens = [
        array(code, turn.pop(name)).tobytes()
        for turn in tree["turns"]
        for name, code in (("prompt_ids", "I"), ("completion_ids", "I"), ("logprobs", "d"))
    ]
    lengths = array("I", map(len, tokens))
    return _dump(tree), zlib.compress(b"".join((lengths.tobytes(), *tokens)), 1)


def _unpack(row: tuple[str, bytes]) -> Trajectory:
    tree, tokens = json.loads(row[0]), memoryview(zlib.decompress(row[1]))
    start = 4 * 3 * len(tree["turns"])
    lengths = iter(tokens[:start].cast("I"))
    for turn in tree["turns"]:
        for name, code in (("prompt_ids", "I"), ("completion_ids", "I"), ("logprobs", "d")):
            end = start + next(lengths)
            turn[name] = array(code, tokens[start:end].tobytes()).tolist()
            start = end
    return _trajectory.validate_python(tree)


def _dump(value: Json) -> str:
    # The standard library's JSON keeps what pydantic's does not: NaN, infinities, and half surrogates from broken
    # servers.
    return json.dumps(value, separators=(",", ":"))


def _truth(value: int | None) -> bool | None:
    return None if value is None else bool(value)


def _now() -> float:
    return datetime.now(UTC).timestamp()


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in _VERSIONED:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _write_file(path: Path, text: str) -> None:
    """Whole or not at all, also when the machine stops."""
    draft = path.with_name(path.name + ".part")
    with draft.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def _damaged(path: Path, why: object) -> JournalError:
    cause = " ".join(str(why).split())
    return JournalError(f"{path} cannot be read or written ({cause}); if it is damaged, start a new run with --name")
