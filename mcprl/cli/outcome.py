"""What a command comes to: an exit code and one line for the user, the traceback for the log."""

import traceback
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from mcprl.errors import McprlError

T = TypeVar("T")


class Stopped(McprlError):
    exit_code = 130


class UnfitMachine(McprlError):
    exit_code = 1


class Bug(McprlError):
    exit_code = 1


def run_async(work: Callable[[], Awaitable[T]], log: Path | None = None) -> T:
    """Run a command's coroutine. What it raises comes out as one error for the user; the traceback goes to `log`."""
    import anyio

    try:
        return anyio.run(work)
    except KeyboardInterrupt:
        raise Stopped("stopped") from None
    except McprlError:
        _keep_traceback(log)
        raise
    except BaseExceptionGroup as group:
        path, cause = _keep_traceback(log), _cause(group)
        raise (cause if isinstance(cause, McprlError) else bug(cause, path)) from group
    except Exception as error:
        raise bug(error, _keep_traceback(log)) from error


def _cause(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Our own error where there is one in the group, else its first."""
    leaves = [_cause(error) if isinstance(error, BaseExceptionGroup) else error for error in group.exceptions]
    return next((error for error in leaves if isinstance(error, McprlError)), leaves[0])


def bug(error: BaseException, log: Path | None) -> Bug:
    where = f"the traceback is in {log}" if log else "MCPRL_DEBUG=1 shows where"
    return Bug(f"{type(error).__name__}: {error} (a bug in mcprl; {where})")


def _keep_traceback(log: Path | None) -> Path | None:
    """Append the current traceback to the run's log. Gives the log back where there is a run to have one."""
    if log is None or not log.parent.is_dir():
        return None
    with log.open("a") as file:
        file.write(f"{datetime.now():%Y-%m-%d %H:%M:%S}\n")
        traceback.print_exc(file=file)
    return log
