"""The log of a run's servers: what they print and what the SDK reports, without secrets and of bounded size."""

import logging
import re
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path

from mcprl.secrets import hide

MAX_LOG_BYTES = 2**20
_OUTPUT = logging.getLogger("mcprl.servers.output")
_LOGGERS = (_OUTPUT, *map(logging.getLogger, ("mcp", "client", "httpx2", "mcprl-judges")))
_FIRST_BYTES, _LAST_LINES, _LINE_CHARACTERS = 2**16, 20, 2_000
_LAST_WORDS = 6
"""Lines that an error repeats: the last alone often says only where a log is."""
_KEY = re.compile(rb"-----(BEGIN|END) [A-Z ]{0,40}PRIVATE KEY-----")
_KEY_LINES = 200
"""Lines of a private key at most: a server that ends none may print further."""

for _logger in _LOGGERS:  # without a handler, logging's last resort prints the SDK's tracebacks on the screen
    _logger.addHandler(logging.NullHandler())
_OUTPUT.propagate = False


class Output:
    """What one process prints: its first 64 KiB are logged at once, of the rest the last lines when it ends."""

    def __init__(self, name: str) -> None:
        self._name, self._left = name, _FIRST_BYTES
        self._last: deque[bytes] = deque(maxlen=_LAST_LINES)
        self._dropped = self._key_lines = 0
        self._words: deque[str] = deque(maxlen=_LAST_WORDS)

    @property
    def last_words(self) -> str:
        """The last lines that were not empty, in one."""
        return " | ".join(self._words)

    def write(self, line: bytes) -> None:
        line = self._without_key(line)
        text = line.decode(errors="replace").strip()
        if text.strip("^~ |+-"):  # not the marks below a line of a traceback
            self._words.append(text)
        self._left -= len(line)
        if self._left > 0:
            self._log(line)
        else:
            self._dropped += len(self._last) == _LAST_LINES
            self._last.append(line)

    def end(self) -> None:
        if self._dropped:
            _OUTPUT.warning("%s: [%d lines left out]", self._name, self._dropped)
        for line in self._last:
            self._log(line)

    def _without_key(self, line: bytes) -> bytes:
        """The line, or stars for one of a private key's: `hide` sees one line at a time."""
        marks: list[bytes] = _KEY.findall(line)
        inside = bool(marks or self._key_lines)
        self._key_lines = max(0, self._key_lines - 1)
        if marks:
            self._key_lines = _KEY_LINES if marks[-1] == b"BEGIN" else 0
        return b"***" if inside else line

    def _log(self, line: bytes) -> None:
        _OUTPUT.warning("%s: %s", self._name, hide(line.decode(errors="replace"))[:_LINE_CHARACTERS])


@contextmanager
def logging_to(path: Path | None) -> Generator[None]:
    """Append what the servers print and the SDK reports to a file, and drop the oldest half past `MAX_LOG_BYTES`."""
    if path is None:
        yield
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    handler = _QuietHandler(path, maxBytes=MAX_LOG_BYTES // 2, backupCount=1)
    handler.setFormatter(_ScrubbingFormatter("%(asctime)s %(name)s %(levelname)s %(message)s"))
    for logger in _LOGGERS:
        logger.addHandler(handler)
    try:
        yield
    finally:
        for logger in _LOGGERS:
            logger.removeHandler(handler)
        handler.close()


class _QuietHandler(RotatingFileHandler):
    """A log that is left out where it cannot be written: logging would print a traceback for each line."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Says nothing: what needs the disk more says so."""


class _ScrubbingFormatter(logging.Formatter):
    """Log lines, tracebacks included, with secrets hidden."""

    def format(self, record: logging.LogRecord) -> str:
        return hide(super().format(record))
