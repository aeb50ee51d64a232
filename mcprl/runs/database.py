"""A SQLite file that one process writes while others may read it. Damage is reported as `JournalError`.

WAL mode, so that readers and the writer do not wait for each other. `synchronous = NORMAL`: a commit outlives the
process, however it is killed. A machine that loses power may lose the last commits, but only whole ones: the file is
then as it was a moment earlier. (FULL costs an fsync for each commit: 6 ms instead of 1.6, measured.) Calls are short
and synchronous: from async code call them directly. One `Database` may be used from several threads, not across a fork.
"""

import json
import os
import sqlite3
import zlib
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any, Self, TypeVar

from pydantic import ValidationError

from mcprl.errors import JournalError
from mcprl.runs.schema import MIGRATIONS, VERSION
from mcprl.types import Json

_APPLICATION = int.from_bytes(b"mRL1")
_Value = TypeVar("_Value")


class Database:
    """Made by `open`. Every method raises `JournalError` if the file is damaged."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: sqlite3.Connection | None) -> None:
        self.path = path
        self._connection = connection
        connection.create_function("text_of", 2, _text_of, deterministic=True)
        self._lock = lock
        self._threads = RLock()

    @classmethod
    def open(cls, path: Path, *, write: bool) -> Self:
        """Open the file. A writer makes it if it is missing. Raises `JournalError` at once for a second writer."""
        lock = _lock(path) if write else None
        connection = None
        try:
            uri = f"{path.absolute().as_uri()}?mode={'rwc' if write else _reading(path)}"
            connection = sqlite3.connect(uri, uri=True, timeout=10, isolation_level=None, check_same_thread=False)
            if write:
                connection.execute("pragma journal_mode = wal")
                connection.execute("pragma synchronous = normal")
                connection.execute("pragma foreign_keys = on")
        except sqlite3.Error as error:
            for opened in (connection, lock):
                if opened:
                    opened.close()
            raise _damaged(path, error) from None
        return cls(path, connection, lock)

    @classmethod
    def is_defined(cls, path: Path) -> bool:
        """Whether the existing file has tables. Without, its writer was stopped before it began."""
        database = cls.open(path, write=False)
        try:
            return database.version() != 0
        finally:
            database.close()

    @property
    def writable(self) -> bool:
        return self._lock is not None

    def close(self) -> None:
        """Close the file and let the next writer in. Closing twice is fine."""
        self._connection.close()
        if self._lock:
            self._lock.close()
            self._lock = None

    def define(self, tables: str, version: int) -> None:
        """Make the tables of a new file. Call it in a transaction."""
        for statement in tables.split(";"):
            self._connection.execute(statement)
        self._connection.execute(f"pragma application_id = {_APPLICATION}")
        self._connection.execute(f"pragma user_version = {version}")

    def version(self) -> int:
        """The version that `define` wrote, 0 if it wrote none. Raises `JournalError` for a file of another program."""
        version = self.read("pragma user_version")[0][0]
        if version and self.read("pragma application_id")[0][0] != _APPLICATION:
            raise JournalError(f"{self.path} is a SQLite file, but mcprl did not write it")
        return version

    def migrate(self) -> None:
        """Bring the tables to the newest version: a writer those of the file, a reader those of a copy in memory."""
        version = self.version()
        if version == VERSION:
            return
        if not self._lock:
            self._connection = _in_memory(self._connection, self.path)
        try:
            self._connection.execute("begin immediate")
            for older in range(version, VERSION):
                for statement in MIGRATIONS[older].split(";"):
                    self._connection.execute(statement)
            self._connection.execute(f"pragma user_version = {VERSION}")
            self._connection.execute("commit")
        except sqlite3.Error as error:
            raise _damaged(self.path, error) from error
        finally:
            if self._connection.in_transaction:
                self._connection.execute("rollback")

    def changes(self) -> int:
        """The number of rows that were written since the file was opened."""
        return self._connection.total_changes

    def check(self) -> None:
        """Read the whole file for damage."""
        verdict = self.read("pragma quick_check(1)")[0][0]
        if verdict != "ok":
            raise _damaged(self.path, verdict)

    @contextmanager
    def transaction(self) -> Generator[None]:
        """All or nothing; a transaction inside another belongs to the outer one."""
        with self._threads:
            if not self._lock:
                raise JournalError(f"{self.path.parent} was opened for reading, or closed")
            if self._connection.in_transaction:
                yield
                return
            try:
                self._connection.execute("begin immediate")
                yield
                self._connection.execute("commit")
            except sqlite3.IntegrityError:
                raise
            except sqlite3.Error as error:
                raise _damaged(self.path, error) from error
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("rollback")

    def write(self, query: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """One transaction with a query for each row. Raises `sqlite3.IntegrityError` if a constraint fails."""
        with self.transaction():
            self._connection.executemany(query, rows)

    def read(self, query: str, *values: Any) -> list[Any]:
        try:
            with self._threads:
                return self._connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise _damaged(self.path, error) from error

    def decode(self, decode: Callable[[Any], _Value], stored: Any) -> _Value:
        """`decode(stored)`. Its failure means that the file is damaged, and is raised as `JournalError`."""
        try:
            return decode(stored)
        except (ValidationError, ValueError, TypeError, KeyError, zlib.error) as error:
            raise _damaged(self.path, error) from error

    def json(self, stored: str) -> Json:
        return self.decode(json.loads, stored)


def _in_memory(connection: sqlite3.Connection, path: Path) -> sqlite3.Connection:
    """A copy of what is in the file. The connection to the file is closed."""
    copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    try:
        connection.backup(copy)
    except sqlite3.Error as error:
        raise _damaged(path, error) from error
    finally:
        connection.close()
    return copy


_BUSY = "another process is writing to it"


def _reading(path: Path) -> str:
    """How a file is opened for reading: one that nobody writes, in a folder that may not be written, without the shared
    memory that SQLite would make there."""
    still = not path.with_name(f"{path.name}-wal").exists() and not os.access(path.parent, os.W_OK)
    return "ro&immutable=1" if still else "ro"


def _lock(path: Path) -> sqlite3.Connection:
    """An exclusive transaction on an empty database beside the file. It keeps other writers out until it is closed.

    Readers never open that database, so they do not wait. SQLite can lock a file on every platform, and the lock ends
    with the process.
    """
    lock = None
    try:
        lock = sqlite3.connect(path.with_suffix(".lock"), timeout=0, isolation_level=None, check_same_thread=False)
        lock.execute("begin exclusive")
    except sqlite3.OperationalError as error:
        if lock:
            lock.close()
        why = _BUSY if "locked" in str(error) else str(error)
        raise JournalError(f"{path.parent} cannot be written: {why}") from None
    return lock


def is_written(path: Path) -> bool:
    """Whether another process has the database open for writing, as far as this one may see it."""
    if not path.with_suffix(".lock").is_file():
        return False
    try:
        _lock(path).close()
    except JournalError as error:
        return _BUSY in str(error)
    return False


def _text_of(body: str, key: str) -> str:
    """What a JSON object has under a key, as text: SQLite's own function takes no NaN, which tools' results hold."""
    return str(json.loads(body)[key])


def _damaged(path: Path, why: object) -> JournalError:
    cause = " ".join(str(why).split())
    if getattr(why, "sqlite_errorname", "").startswith(("SQLITE_FULL", "SQLITE_IOERR")):
        return JournalError(f"{path}: {cause}; make room or mend the disk, and go on with --resume")
    return JournalError(f"{path} cannot be read or written ({cause}); if it is damaged, start a new run with --name")
