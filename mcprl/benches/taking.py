"""A run's own model and adapter take benchmarks made by others: `mcprl train --bench ...`."""

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from mcprl.benches import open_bench
from mcprl.benches.measure import Attempt, as_record, attempts, drawn
from mcprl.config import Config
from mcprl.engines import Engine
from mcprl.events import BenchTaken, Emit, Note
from mcprl.runs.attempts import Attempter, attempts_at, pass_rates, write_attempt
from mcprl.runs.journal import Journal
from mcprl.types import Adapter


def require_benches(names: Sequence[str]) -> None:
    """Raise what is wrong with `training.bench`: `BenchError` or `ConfigError`."""
    for name, categories in _categories(names).items():
        for category in categories:
            open_bench(name).tasks(category)


async def take_benches(
    config: Config, journal: Journal, engine: Engine, step: int, adapter: Adapter | None, emit: Emit
) -> None:
    """Have the base model, and with `adapter` the trained one of `step`, do the configured benchmarks' tasks.

    Each attempt is in the journal as soon as it is made, and is not made again by a run that goes on.
    """
    for name, categories in _categories(config.training.bench).items():
        taking = _Taking(config, journal, engine, name, categories, emit)
        await taking.take("base", 0, None)
        if adapter:
            await taking.take("trained", step, adapter)
        else:
            emit(Note(f"{name} measured the base model alone: no adapter was better than it"))


@dataclass(frozen=True)
class _Taking:
    """One benchmark's tasks, taken by one model after the other."""

    config: Config
    journal: Journal
    engine: Engine
    name: str
    categories: Sequence[str]
    emit: Emit

    async def take(self, model: Attempter, step: int, adapter: Adapter | None) -> None:
        began, bench = time.perf_counter(), open_bench(self.name)
        kept = attempts_at(self.journal, self.name, model, step)
        limit, seed = self.config.training.bench_limit, self.config.seed
        chosen = (task for category in self.categories for task in drawn(bench, category, limit, seed))
        tasks = [task for task in chosen if task.id not in kept]

        def keep(attempt: Attempt) -> None:
            task, passed = attempt.task.id, attempt.verdict.passed
            write_attempt(self.journal, self.name, model, step, task, passed, as_record(attempt))

        if tasks and adapter:
            await self.engine.load_adapter(adapter)
        await attempts(self.config, bench, tasks, self.engine, adapter.name if adapter else None, self.emit, keep)
        made = list(attempts_at(self.journal, self.name, model, step).values())
        rates = {measured: (rate.tasks, rate.base[0]) for measured, rate in pass_rates(made).items()}
        self.emit(BenchTaken(self.name, model, rates, round(time.perf_counter() - began, 2)))


def _categories(names: Sequence[str]) -> dict[str, list[str]]:
    """The categories to take by benchmark: of `bfcl` all, of `bfcl:irrelevance` that one. Raises as `open_bench`."""
    chosen: defaultdict[str, list[str]] = defaultdict(list)
    for each in names:
        name, _, category = each.partition(":")
        chosen[name] += [category] if category else open_bench(name).categories
    return {name: list(dict.fromkeys(categories)) for name, categories in chosen.items()}
