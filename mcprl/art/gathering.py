"""Rollouts at the same time, of which some may fail."""

import asyncio
import inspect
import sys
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from mcprl.art.groups import ArtTrajectory, TrajectoryGroup
from mcprl.errors import ConfigError

T = TypeVar("T")
R = TypeVar("R")


async def gather_trajectory_groups(
    groups: Iterable[Awaitable[TrajectoryGroup]],
    *,
    pbar_desc: str | None = None,
    after_each: Callable[[TrajectoryGroup], Awaitable[TrajectoryGroup | None]] | None = None,
    max_exceptions: int | float = 0,
    max_concurrency: int | None = None,
    timeout_s: float | None = None,
) -> list[TrajectoryGroup]:
    """All groups, awaited at the same time. `after_each` may replace a finished group, or drop it with `None`.

    `max_concurrency` groups are awaited at once, the next as soon as one is done. A group that takes longer than
    `timeout_s` seconds, its `after_each` included, has failed. Up to `max_exceptions` groups or rollouts may fail and
    are left out: a number, or below 1 a fraction of the groups. One more failure is raised, and the other groups are
    cancelled. `pbar_desc` shows a progress bar of that name on a terminal. Raises `ConfigError` for a negative
    `max_exceptions` or a `max_concurrency` below 1.
    """

    async def work(group: Awaitable[TrajectoryGroup], fail: Callable[[BaseException], None]) -> TrajectoryGroup | None:
        done = await group
        for error in done.exceptions:
            fail(error)
        return await after_each(done) if after_each else done

    return await _gathered(groups, work, pbar_desc, max_exceptions, max_concurrency, timeout_s)


async def gather_trajectories(
    trajectories: Iterable[Awaitable[ArtTrajectory]],
    *,
    pbar_desc: str | None = None,
    max_exceptions: int | float = 0,
    max_concurrency: int | None = None,
    timeout_s: float | None = None,
) -> list[ArtTrajectory]:
    """All trajectories, awaited at the same time. The parameters are those of `gather_trajectory_groups`."""

    async def work(trajectory: Awaitable[ArtTrajectory], _fail: Callable[[BaseException], None]) -> ArtTrajectory:
        return await trajectory

    return await _gathered(trajectories, work, pbar_desc, max_exceptions, max_concurrency, timeout_s)


async def _gathered(
    items: Iterable[Awaitable[T]],
    work: Callable[[Awaitable[T], Callable[[BaseException], None]], Awaitable[R | None]],
    pbar_desc: str | None,
    max_exceptions: float,
    max_concurrency: int | None,
    timeout_s: float | None,
) -> list[R]:
    """What the work makes of each item, in their order; the rest are cancelled as soon as too many have failed."""
    if not max_exceptions >= 0:
        raise ConfigError(f"max_exceptions is {max_exceptions}; expected a number from 0 on, or a fraction below 1")
    if max_concurrency is not None and max_concurrency < 1:
        raise ConfigError(f"max_concurrency is {max_concurrency}; expected a number from 1 on, or None for no limit")
    places = asyncio.Semaphore(max_concurrency or sys.maxsize)
    failed: list[BaseException] = []
    given = list(items)
    allowed = max_exceptions if max_exceptions >= 1 else max_exceptions * len(given)

    def fail(error: BaseException) -> None:
        if error not in failed:
            failed.append(error)
        if len(failed) > allowed:
            raise error

    async def one(item: Awaitable[T]) -> R | None:
        async with places:
            return await _in_time(work(item, fail), timeout_s)

    tasks = [asyncio.ensure_future(one(item)) for item in given]
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    shown = pbar_desc is not None and sys.stderr.isatty()
    try:
        with Progress(*columns, console=Console(stderr=True), disable=not shown) as progress:
            bar = progress.add_task(pbar_desc or "", total=len(tasks))
            for done in asyncio.as_completed(tasks):
                try:
                    await done
                except Exception as error:
                    fail(error)
                progress.advance(bar)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for item in given:
            _abandon(item)
    return [made for task in tasks if not task.exception() and (made := task.result()) is not None]


async def _in_time(work: Awaitable[R], timeout_s: float | None) -> R:
    deadline = asyncio.timeout(timeout_s)
    try:
        async with deadline:
            return await work
    except TimeoutError as error:
        if deadline.expired():
            raise TimeoutError(f"it took longer than {timeout_s} s") from error
        raise


def _abandon(item: object) -> None:
    """Close what was never awaited, so that Python does not complain; what has ended stays as it is."""
    if isinstance(item, TrajectoryGroup):
        for pending in item.pending:
            _abandon(pending)
    elif inspect.iscoroutine(item):
        item.close()
