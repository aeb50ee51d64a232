"""The journal of a run: every scenario, trajectory, score, step, adapter and event, committed before it is used.

A run is a folder: `config.toml`, `journal.sqlite`, `scenarios/`, `adapters/step-N/`, `report.*`. The report, the run
list and `train --resume` all read the journal.

Records outlive the process, however it is killed (see `database`). A machine that loses power may lose the last
moments. Every random choice follows from the seed, so a resumed run makes the same records again.
"""

import logging
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Final, Self
from uuid import uuid4

from mcprl.config import Config
from mcprl.errors import ConfigError, JournalError
from mcprl.files import fingerprint, require_writable, write_whole
from mcprl.runs.database import Database
from mcprl.runs.records import (
    AdapterKind,
    EventRecord,
    Metric,
    Outcome,
    SavedAdapter,
    StepRecord,
    dump,
    dump_gaps,
    dump_scenario,
    dump_trajectory,
    given_calls,
    load_scenario,
    load_trajectory,
    versions,
)
from mcprl.runs.schema import TABLES, VERSION
from mcprl.runs.settings import dump_config, parse_stored, redacted
from mcprl.text import whole
from mcprl.types import Adapter, Json, Message, Scenario, Score, Split, Trajectory

FILE: Final = "journal.sqlite"
_log = logging.getLogger(__name__)


class Journal:
    """One run's journal; use it as a context manager. Every method raises `JournalError` if the file is damaged.

    The phases of trajectories and scores are "train", "val", "test:base", "test:start" (what training began from),
    "test:warm", "test:trained", "difficulty" (measures tasks with the base model), "anchor" (the base model's rollouts
    that are judged beside each group) and "demonstration" (the conversations that the warm start trains on).
    """

    def __init__(self, folder: Path, database: Database) -> None:
        self.folder, self.db = folder, database
        self._told = False

    @classmethod
    def create(cls, folder: str | Path, config: Config) -> Self:
        """Begin a run in `folder`, which is made if missing. Write the configuration, without secrets, to the journal
        and to config.toml.

        Raises `JournalError` if the folder already holds a run.
        """
        folder = Path(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            journal = cls(folder, Database.open(folder / FILE, write=True))
        except OSError as error:
            raise JournalError(f"cannot make the run folder {folder}: {error.strerror}") from None
        try:
            if journal.db.version() != 0:
                raise JournalError(_taken(folder))
            write_whole(folder / "config.toml", dump_config(config).encode())
            with journal.db.transaction():
                journal.db.define(TABLES, VERSION)
                journal.write_fact("run_id", uuid4().hex)
                journal.write_fact("config", redacted(config))
                journal.write_fact("versions", versions())
                journal.write_event("opened")
        except BaseException:
            journal.db.close()
            raise
        return journal

    @staticmethod
    def require_new(folder: Path) -> None:
        """Raise `JournalError` if no run can begin in `folder`, before there is one."""
        try:
            require_writable(folder, "cannot make the run folder")
        except ConfigError as error:
            raise JournalError(str(error)) from None
        if (folder / FILE).exists() and Database.is_defined(folder / FILE):
            raise JournalError(_taken(folder))

    @classmethod
    def open(cls, folder: str | Path, *, write: bool = False) -> Self:
        """Open the run in `folder`. There may be any number of readers, but one writer. A file of an older version is
        migrated: by a writer in place, for a reader in a copy in memory.

        Raises `JournalError` if there is no run, it is damaged or of a newer version, or, to write, if another process
        is writing to it.
        """
        folder = Path(folder)
        if not (folder / FILE).is_file():
            raise JournalError(f"{folder} holds no run (no {FILE} in it); `mcprl runs` lists the runs")
        journal = cls(folder, Database.open(folder / FILE, write=write))
        try:
            if (version := journal.db.version()) == 0:
                raise JournalError(
                    f"{folder} holds no run: it was stopped before it began; start it again with mcprl train"
                )
            if version > VERSION:
                raise JournalError(
                    f"{folder} was written by a newer mcprl (journal version {version}, this one reads up to {VERSION})"
                )
            if write:
                journal.db.check()
            journal.db.migrate()
            if write:
                journal.write_event("opened")
        except BaseException:
            journal.db.close()
            raise
        return journal

    def close(self) -> None:
        """Close the file and let the next writer in. Closing twice is fine."""
        try:
            if self.db.writable:
                self.write_event("closed")
        finally:
            self.db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- scenarios, trajectories, scores ------------------------------------------------------------------------------

    def write_scenarios(self, scenarios: Sequence[Scenario]) -> None:
        """Write scenarios. A scenario that is written again (say with its measured difficulty) replaces the old one."""
        rows = [(s.id, s.split, dump_scenario(s)) for s in scenarios]
        self.db.write(
            "insert into scenario values (?, ?, ?) on conflict do update set split=excluded.split, body=excluded.body",
            rows,
        )

    def scenarios(self, split: Split | None = None) -> list[Scenario]:
        """The scenarios of a split or of all, in the order of first writing."""
        rows = self.db.read("select body from scenario where ? in (split, '') order by rowid", split or "")
        return [self.db.decode(load_scenario, row[0]) for row in rows]

    def write_trajectories(self, phase: str, step: int, trajectories: Sequence[Trajectory]) -> None:
        """Write trajectories. A trajectory that is written again, after a resume, changes nothing."""
        rows = [
            (phase, step, t.id, t.scenario_id, t.stop, _now(), *dump_trajectory(t), given_calls(t))
            for t in trajectories
        ]
        query = "insert into trajectory values (?, ?, ?, ?, ?, ?, ?, ?, null, null, ?) on conflict do nothing"
        self.db.write(query, rows)

    def trajectories(self, phase: str, step: int | None = None, scenario: str | None = None) -> list[Trajectory]:
        """A phase's trajectories, of one step or of all, of one scenario or of all, in the order of writing."""
        query = """select body, tokens from trajectory where phase = ? and step = ifnull(?, step)
            and scenario_id = ifnull(?, scenario_id) order by step, rowid"""
        return [self.db.decode(load_trajectory, row) for row in self.db.read(query, phase, step, scenario)]

    def conversations(self, phase: str) -> Iterator[list[Message]]:
        """The messages of a phase's trajectories, read without their tokens."""
        for (body,) in self.db.read("select body from trajectory where phase = ? order by step, rowid", phase):
            yield self.db.json(body)["messages"]

    def write_scores(self, phase: str, step: int, scores: Sequence[Score]) -> None:
        """Write scores of trajectories that are in the journal. A second score of a trajectory replaces the first.

        Raises `JournalError` for a score without a trajectory, and for a value that is NaN.
        """
        rows = [(phase, step, s.trajectory_id, s.value, s.success, whole(s.explanation)) for s in scores]
        try:
            self.db.write("insert or replace into score values (?, ?, ?, ?, ?, ?)", rows)
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
        rows = self.db.read(query, phase, step)
        return [Score(name, value, _truth(success), text) for name, value, success, text in rows]

    def outcomes(self, phase: str, step: int | None = None) -> list[Outcome]:
        """How a phase's trajectories ended and what they scored, read without their tokens."""
        query = """select t.step, t.id, t.scenario_id, t.stop, s.value, s.success, t.at, t.given_calls from trajectory t
            left join score s on s.phase = t.phase and s.step = t.step and s.trajectory_id = t.id
            where t.phase = ? and t.step = ifnull(?, t.step) order by t.step, t.rowid"""
        rows = self.db.read(query, phase, step)
        return [Outcome(*fields, success=_truth(success), at=at, given_calls=n) for *fields, success, at, n in rows]

    # --- steps, adapters, events, facts -------------------------------------------------------------------------------

    def write_step(
        self,
        step: int,
        metrics: Mapping[str, Metric],
        adapter: Adapter | None = None,
        fates: Mapping[str, str] | None = None,
        gaps: Mapping[str, Sequence[float]] | None = None,
    ) -> None:
        """Record that a step is complete, with its adapter, which is on disk already. By trajectory id: the `fates`,
        "trained" or why one was dropped, and, of those that the update measured, the `gaps` between trainer and sampler
        at each sampled token (nats, NaN if not measured). A resumed run starts after the last complete step.
        """
        kept = {name: dump_gaps(values) for name, values in (gaps or {}).items()}
        query = "insert into step values (?, ?, ?) on conflict do update set at=excluded.at, metrics=excluded.metrics"
        fate_query = "update trajectory set fate = ?, gaps = ? where phase = 'train' and step = ? and id = ?"
        with self.db.transaction():
            if adapter:
                self.write_adapter(adapter)
            self.db.write(fate_query, [(fate, kept.get(name), step, name) for name, fate in (fates or {}).items()])
            self.db.write(query, [(step, _now(), dump(dict(metrics)))])

    def steps(self) -> list[StepRecord]:
        """The complete steps in order."""
        rows = self.db.read("select step, metrics, at from step order by step")
        return [StepRecord(step, self.db.json(metrics), at) for step, metrics, at in rows]

    def last_step(self) -> int | None:
        """The last complete step, or `None` before the first."""
        return self.db.read("select max(step) from step")[0][0]

    def write_adapter(self, adapter: Adapter, kind: AdapterKind = "train") -> None:
        """Record an adapter that is on disk already, with the digest of its files. A path inside the run folder is kept
        relative, so the folder may move.
        """
        path, home = Path(adapter.path).absolute(), self.folder.absolute()
        kept = path.relative_to(home).as_posix() if path.is_relative_to(home) else str(path)
        with self.db.transaction():
            self.db.write("delete from adapter where (kind, step, path) = (?, ?, ?)", [(kind, adapter.step, kept)])
            row = (_now(), kind, adapter.step, kept, fingerprint(path))
            self.db.write("insert into adapter values (?, ?, ?, ?, ?)", [row])

    def adapters(self, kind: AdapterKind | None = None) -> list[SavedAdapter]:
        """The recorded adapters, oldest first. The run's best adapter is the last of kind "best"."""
        rows = self.db.read(
            "select path, step, kind, at, digest from adapter where ? in (kind, '') order by rowid", kind or ""
        )
        return [SavedAdapter(Adapter(str(self.folder / path), step), *rest) for path, step, *rest in rows]

    def write_event(self, kind: str, **data: Json) -> None:
        """Record an event with the time."""
        self.db.write("insert into event values (?, ?, ?)", [(_now(), kind, dump(data))])

    def events(self, kind: str | None = None) -> list[EventRecord]:
        """The recorded events, oldest first."""
        rows = self.db.read("select kind, at, data from event where ? in (kind, '') order by rowid", kind or "")
        return [EventRecord(kind, at, self.db.json(data)) for kind, at, data in rows]

    def write_fact(self, key: str, value: Json) -> None:
        """Record a fact about the whole run. A fact that is written again replaces the old one.

        `create` writes "run_id", "config" and "versions" (package -> version). `prepare_pack` writes "server" (the
        servers' titles), "tools" (names of those that may be called), "left_out" (tool name -> why it may not be
        called), "tool_hash" (of the tools that the tasks were made for), "tool_hashes" (by name) and "model" (a name).
        """
        self.db.write("insert or replace into fact values (?, ?)", [(key, dump(value))])

    def fact(self, key: str, default: Json = None) -> Json:
        """A fact, or `default` if it was never written."""
        rows = self.db.read("select value from fact where key = ?", key)
        return self.db.json(rows[0][0]) if rows else default

    @property
    def config(self) -> Config:
        """The run's settings. Values that may be secret are "***": a resumed run must be given them again. What it set
        that is gone is left out, with one warning."""
        try:
            config, note = parse_stored(self.fact("config"))
        except ConfigError as error:
            raise JournalError(
                f"{self.folder} was made by another version of mcprl ({error}); start a new run with --name"
            ) from None
        if note and not self._told:
            self._told = True
            _log.warning("%s: %s", self.folder, note)  # without a handler it reaches the screen
        return config


def _taken(folder: Path) -> str:
    return f"{folder} already holds a run: go on with --resume {folder.name}, or choose another --name"


def _truth(value: int | None) -> bool | None:
    return None if value is None else bool(value)


def _now() -> float:
    return datetime.now(UTC).timestamp()
