"""Runs in processes of their own, which end themselves or are ended at any instant, and what such a run leaves.

A process is forked from a server that has imported everything, so that it begins to work at once.
"""

import json
import os
import re
import resource
import signal
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import partial
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

import mcprl.art.own
import mcprl.train
from mcprl.cli.outcome import exit_code, run_async
from mcprl.config import Config
from mcprl.errors import JournalError
from mcprl.files import fingerprint
from mcprl.runs.database import Database
from mcprl.runs.journal import Journal
from mcprl.runs.ledger import Ledger, ledger
from mcprl.runs.trackers import files
from support import scripted
from support.configs import small
from support.events import Recorder
from support.forked import CONTEXT, ensure_server

_TIMED = re.compile(r"_s$|wall|^at$|latency|seconds|speedup|date|per_s|versions|version|name|run_id|folder")
"""Names of what differs between two runs that are otherwise the same."""


@dataclass(frozen=True)
class Ended:
    """How a process ended: its exit code, what it wrote to standard error, its notes, and its number of durable
    operations."""

    code: int | None
    error: str
    notes: list[str] = field(default_factory=list[str])
    operations: int = 0


class Run:
    """A run with the scripted engine in a process of its own, begun or, if there is one, resumed.

    `kill_at`: the durable operation (a transaction, fsync, rename or append) right before which the process is killed.
    `setup` is called in the process first, with `arguments`.
    """

    def __init__(
        self,
        config: Config,
        kill_at: int = 0,
        setup: Callable[..., None] | None = None,
        *arguments: Any,
        result: Path | None = None,
    ) -> None:
        self.folder = Path(config.runs_dir) / config.name
        self._result = result or self.folder.parent / "result.json"
        self._result.parent.mkdir(parents=True, exist_ok=True)
        self._result.unlink(missing_ok=True)
        self._errors, errors = CONTEXT.Pipe(duplex=False)
        ensure_server()
        work = (config, kill_at, partial(setup, *arguments) if setup else None, self._result, errors)
        self.process = CONTEXT.Process(target=_work, args=work, daemon=True)
        self.process.start()
        errors.close()

    def end(self, within_s: float = 120) -> Ended:
        """Wait for its end."""
        self.process.join(within_s)
        code = self.process.exitcode
        self.process.kill()
        assert code is not None, f"the run did not end within {within_s} s"
        said = json.loads(self._result.read_text()) if self._result.exists() else {}
        with os.fdopen(self._errors.fileno(), closefd=False) as errors:
            return Ended(code, errors.read(), **said)


def _work(config: Config, kill_at: int, setup: Callable[[], None] | None, result: Path, errors: Connection) -> None:
    """Train as the command line does. It ends the process."""
    folder = Path(config.runs_dir) / config.name
    os.dup2(errors.fileno(), 2)
    mcprl.train.open_engine = scripted.open_engine  # pyright: ignore[reportAttributeAccessIssue]
    emitted, done = Recorder(), _count_operations(kill_at)
    if setup:
        setup()

    def command() -> None:
        resume = folder if _has_begun(folder) else None
        run_async(partial(mcprl.art.own.train_adapter, config, resume, emitted), folder / "run.log")

    code = exit_code(command)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    result.write_text(json.dumps({"notes": emitted.notes, "operations": len(done)}))
    os._exit(code)


def fill_disk_at(module: str, name: str, call: int = 1) -> None:
    """From the n-th call of that function on, nothing that this process writes fits the disk. (A limit on the size of
    files: the system refuses as it does on a full disk, with another number.)"""
    *path, last = name.split(".")
    left, owner = call, cast(Any, import_module(module))
    for part in path:
        owner = getattr(owner, part)
    function = getattr(owner, last)

    def filling(*arguments: Any, **options: Any) -> Any:
        nonlocal left
        left -= 1
        if left == 0:
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        return function(*arguments, **options)

    setattr(owner, last, filling)


def _has_begun(folder: Path) -> bool:
    try:
        Journal.open(folder).close()
    except JournalError as error:
        if "stopped before it began" in str(error) or "holds no run" in str(error):
            return False
        raise
    return True


def _count_operations(kill_at: int) -> list[str]:
    """The durable operations of this process, counted from now on."""
    done: list[str] = []

    def counted(module: Any, name: str) -> None:
        function = getattr(module, name)

        def wrapped(*arguments: Any, **options: Any) -> Any:
            done.append(name)
            if len(done) == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **options)

        setattr(module, name, wrapped)

    for module, name in ((os, "fsync"), (os, "rename"), (os, "replace"), (Database, "write"), (files, "_append")):
        counted(module, name)
    return done


@dataclass(frozen=True)
class Left:
    """What a run left, without times: all files of its adapters by their digest, its records, its lines, its report."""

    adapters: dict[str, str]
    trajectories: dict[str, Any]
    gaps: list[tuple[int, str, bytes | None]]
    scores: dict[str, Any]
    steps: list[Any]
    lines: dict[str, list[Any]]
    report: Any
    ledger: Ledger


def left(folder: Path) -> Left:
    with Journal.open(folder) as journal:
        phases = [row[0] for row in journal.db.read("select distinct phase from trajectory")]
        trajectories = {
            f"{phase}/{each.id}": (each.messages, each.turns, each.stop)
            for phase in sorted(phases)
            for each in journal.trajectories(phase)
        }
        scores = {phase: sorted(journal.scores(phase), key=lambda s: s.trajectory_id) for phase in sorted(phases)}
        gaps = journal.db.read("select step, id, gaps from trajectory where phase = 'train' order by step, id")
        steps = [(each.step, untimed(each.metrics)) for each in journal.steps()]
        books = ledger(journal)
    return Left(
        {path.name: fingerprint(path) for path in sorted((folder / "adapters").iterdir()) if path.name[0] != "."},
        trajectories,
        gaps,
        scores,
        steps,
        {name: _lines(folder / name) for name in ("metrics.jsonl", "groups.jsonl")},
        # One that was stopped said more, and its last process took less memory.
        untimed(json.loads((folder / "report.json").read_text()) | {"notes": [], "memory": None}),
        books,
    )


def _lines(path: Path) -> list[str]:
    return sorted(json.dumps(untimed(json.loads(line)), sort_keys=True) for line in path.read_text().splitlines())


def untimed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: untimed(item) for key, item in value.items() if not _TIMED.search(str(key))}
    return [untimed(item) for item in value] if isinstance(value, list) else value


@dataclass(frozen=True)
class Unbroken:
    """A run that nobody stopped: its server and policy, its folder, what it left, and its durable operations."""

    url: str
    model: Path
    folder: Path
    left: Left
    operations: int


def seeded(model: Path, runs: Path, server: str, **more: Any) -> Config:
    """A run of seconds in which the policy gets some things right, and so has something to learn."""
    training = {
        "steps": 4,
        "scenarios_per_step": 3,
        "group_size": 4,
        "eval_every": 3,
        "warm_start_steps": 1,
        "warm_start_plans": 6,
    }
    settings: dict[str, Any] = {
        "servers": [{"target": server}],
        "tools": {"read_only": True, "allow": ["get_product", "get_order", "get_customer"]},
        "rollout": {"max_turns": 6, "max_tokens": 400, "max_total_tokens": 8_000},
        "training": training | more.pop("training", {}),
    }
    return small(model, runs, **settings | more)


def assert_same(found: Left, expected: Left) -> None:
    for each in fields(Left):
        assert getattr(found, each.name) == getattr(expected, each.name), each.name
