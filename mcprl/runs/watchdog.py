"""Says where a run stands that makes no progress: what its tasks and threads wait for, and which calls are open.

It runs in a thread of its own, so that an event loop that is blocked is noticed, too.
"""

import asyncio
import faulthandler
import json
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Any

from mcprl.events import Emit, Event, Note
from mcprl.runs.journal import Journal
from mcprl.secrets import hide

FILE = "stalled.log"


class Watchdog:
    """Watches one run. A sign of progress is an event or whatever is written to the journal."""

    def __init__(self, journal: Journal, after_s: float, emit: Emit) -> None:
        self._journal, self._after_s, self._emit = journal, after_s, emit
        self._loop = asyncio.get_running_loop()
        self._events = 0
        self._ended = threading.Event()

    def emit(self, event: Event) -> None:
        """Pass an event on."""
        self._events += 1
        self._emit(event)

    def watch(self) -> None:
        """Note each stretch of `after_s` seconds without progress once, until `end`."""
        signs, since, noted = self._signs(), time.monotonic(), False
        while not self._ended.wait(min(self._after_s / 4, 5.0)):
            if self._signs() != signs:
                signs, since, noted = self._signs(), time.monotonic(), False
            elif not noted and time.monotonic() - since > self._after_s:
                path = self._journal.folder / FILE
                self._write(path)
                self._emit(Note(f"no progress for {self._after_s / 60:.3g} minutes; {path} shows what is waited for"))
                signs, noted = self._signs(), True

    def end(self) -> None:
        self._ended.set()

    def _signs(self) -> tuple[int, int]:
        return self._events, self._journal.db.changes()

    def _write(self, path: Path) -> None:
        lines: list[str] = []
        calls: list[str] = []
        for task in asyncio.all_tasks(self._loop):
            frames = list(_frames(task.get_coro()))
            calls += list(filter(None, map(_call, frames)))[:1]
            places = [f"  {each.f_code.co_filename}:{each.f_lineno} {each.f_code.co_qualname}" for each in frames]
            lines += ["", f"task {task.get_name()}:", *places]
        lines = [f"{datetime.now():%Y-%m-%d %H:%M:%S}", "", f"open calls of tools: {len(calls)}", *calls, *lines]
        with path.open("a", encoding="utf-8", errors="replace") as file:
            file.write(hide("\n".join(lines)) + "\n\nthreads:\n")
            file.flush()
            faulthandler.dump_traceback(file)
            file.write("\n")


def _frames(waiting: Any) -> Iterator[FrameType]:
    """The frames of a suspended coroutine, the outermost first, down to what it waits for."""
    names = {"cr": "cr_await", "gi": "gi_yieldfrom", "ag": "ag_await"}
    while kind := next((kind for kind in names if hasattr(waiting, f"{kind}_frame")), None):
        if frame := getattr(waiting, f"{kind}_frame"):
            yield frame
        waiting = getattr(waiting, names[kind])


def _call(frame: FrameType) -> str:
    """The call of a tool that a frame of `Session.call` waits for, empty for other frames."""
    given = frame.f_locals
    if frame.f_code.co_name != "call" or not {"tool", "arguments"} <= given.keys():
        return ""
    return f"  {given['tool']} {json.dumps(given['arguments'], default=str)}"


@contextmanager
def watching(journal: Journal, after_s: float, emit: Emit) -> Generator[Emit]:
    """Watch the run while the block goes on, which emits through what is yielded; 0 seconds watch nothing."""
    if not after_s:
        yield emit
        return
    watchdog = Watchdog(journal, after_s, emit)
    thread = threading.Thread(target=watchdog.watch, name="mcprl-watchdog", daemon=True)
    thread.start()
    try:
        yield watchdog.emit
    finally:
        watchdog.end()
        thread.join(1.0)
