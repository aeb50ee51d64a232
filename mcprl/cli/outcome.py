"""How a command ends: its exit code, and for an error one line on standard error.

Exit codes: 0 success, 2 an error that the user can cure, 130 Ctrl-C, 1 a bug of ours or a machine that is unfit.
`MCPRL_DEBUG=1` shows the traceback too; a run keeps it in its log.
"""

import errno
import os
import signal
import sys
import threading
import traceback
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import click

from mcprl.cli.output import VERBOSE
from mcprl.errors import ConfigError, McprlError
from mcprl.text import shortened, visible

T = TypeVar("T")
_MOST_SHOWN, _MOST_LOGGED = 2_000, 100_000
"""Characters of an error on the screen, and of a traceback in the log."""


_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)
"""What a disk that is full or broken says."""


class Stopped(McprlError):
    exit_code = 130


class UnfitMachine(McprlError):
    exit_code = 1


class Bug(McprlError):
    exit_code = 1


def run_async(
    work: Callable[[], Awaitable[T]],
    log: Path | None = None,
    kept: Callable[[], str] | None = None,
    uvloop: bool = False,
) -> T:
    """Run a command's coroutine, on request in `uvloop`. It raises one `McprlError` for the user; the traceback goes to
    `log`.

    After Ctrl-C it raises `Stopped` with the text of `kept` once the writes in hand are finished. A second Ctrl-C
    prints that text and ends the process at once.
    """
    import anyio

    kept = kept or (lambda: "stopped")
    before = signal.getsignal(signal.SIGINT)
    try:
        return anyio.run(_interruptible, work, kept, backend_options={"use_uvloop": uvloop})
    except KeyboardInterrupt:
        before = signal.SIG_IGN  # the process ends, and a further Ctrl-C must not change what it ends with
        raise Stopped(kept()) from None
    except McprlError:
        _keep_traceback(log)
        raise
    except BaseExceptionGroup as group:
        cause, path = _cause(group), _keep_traceback(log)
        if isinstance(cause, SystemExit):  # rich ends the process if whoever read its output is gone
            raise cause from None
        error = cause if isinstance(cause, McprlError) else _bug(cause, path)
        raise error from group
    except Exception as error:
        raise _bug(error, _keep_traceback(log)) from error
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


async def _interruptible(work: Callable[[], Awaitable[T]], kept: Callable[[], str]) -> T:
    """`work`, during which the event loop's own handler gets the first SIGINT; the second ends the process."""
    cancel = signal.getsignal(signal.SIGINT)
    pressed = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed:
            os._exit(_fail(kept(), Stopped.exit_code))
        pressed = True
        if callable(cancel):
            cancel(number, frame)

    if callable(cancel) and threading.current_thread() is threading.main_thread():  # a shell may have it ignored
        signal.signal(signal.SIGINT, interrupt)
    return await work()


def _cause(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first `McprlError` in the group, else its first error."""
    leaves = [_cause(error) if isinstance(error, BaseExceptionGroup) else error for error in group.exceptions]
    return next((error for error in leaves if isinstance(error, McprlError)), leaves[0])


def _bug(error: BaseException, log: Path | None) -> McprlError:
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        return ConfigError(f"{shortened(repr(error.filename), 200)}: no file or folder can have such a long name")
    if isinstance(error, OSError) and error.errno in _DISK:
        place = f"{error.filename}: " if error.filename else ""
        return McprlError(f"{place}{error.strerror}; make room or mend the disk, and start again (a run with --resume)")
    where = f"the traceback is in {log}" if log else "MCPRL_DEBUG=1 shows where"
    return Bug(f"{type(error).__name__}: {error} (a bug in mcprl; {where})")


def _keep_traceback(log: Path | None) -> Path | None:
    """Append the current traceback to the run's log. Returns the log, or `None` if it cannot be written."""
    text = f"{datetime.now():%Y-%m-%d %H:%M:%S}\n{_presentable(traceback.format_exc(), _MOST_LOGGED)}\n"
    with suppress(OSError):
        if log is not None and (log.parent / "journal.sqlite").is_file():  # nothing is written where no run is
            with log.open("a", errors="replace") as file:
                file.write(text)
            return log
    return None


def _presentable(text: str, most: int) -> str:
    """The text without secrets, its middle left out if it has more than `most` characters."""
    from mcprl.secrets import hide, learn

    learn()
    return shortened(hide(text), most)


def exit_code(command: Callable[[], Any]) -> int:
    """Run a command and print its error, if it has one. Returns the process's exit code."""
    VERBOSE.set(False)
    try:
        command()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else "")
    except click.ClickException as error:
        return _fail(error.format_message(), error.exit_code)
    except click.Abort:
        return _fail("stopped", 130)
    except McprlError as error:
        return _fail(str(error), error.exit_code)
    except Exception as error:
        failure = _bug(error, None)
        return _fail(str(failure), failure.exit_code)
    return 0


def _fail(text: str, code: int) -> int:
    if VERBOSE.get() or os.environ.get("MCPRL_DEBUG") == "1":
        click.echo(_presentable(traceback.format_exc(), _MOST_LOGGED), err=True)
    prefix = "error: "
    if code == 130:
        prefix = "\n" if sys.stderr.isatty() else ""  # a terminal shows ^C before it
    click.echo(prefix + visible(" ".join(_presentable(text, _MOST_SHOWN).split())), err=True)
    return code
