"""The benchmarks that a run takes after its test: kept attempt by attempt, and a row each in the report."""

from pathlib import Path

import anyio
import pytest
from support.command_line import mcprl
from support.paths import SHOP

from mcprl.benches import open_bench
from mcprl.benches.taking import require_benches, take_benches
from mcprl.config import Config
from mcprl.engines import Engine, open_engine
from mcprl.engines.machine import resolve
from mcprl.errors import BenchError, ConfigError
from mcprl.events import BenchTaken, Event, Sampled, ignore
from mcprl.models.adapters import save_adapter
from mcprl.models.load import load_model
from mcprl.runs import report
from mcprl.runs.attempts import attempts_at, bench_results
from mcprl.runs.journal import Journal
from mcprl.types import Adapter

BENCHES = ("bfcl:irrelevance", "bfcl:simple_python")


@pytest.fixture(scope="module", autouse=True)
def _set_up() -> None:
    try:
        open_bench("bfcl")
    except BenchError as error:
        pytest.skip(str(error))


def settings(folder: Path) -> Config:
    training = {"bench": BENCHES, "bench_limit": 3}
    tree = {"runs_dir": str(folder), "rollout": {"max_tokens": 16}, "engine": {"max_batch": 1}, "training": training}
    return resolve(Config.model_validate(tree))


async def killed_after(first: int, config: Config, journal: Journal, engine: Engine, adapter: Adapter) -> None:
    """Take the benchmarks until so many attempts of the trained model are kept."""
    with anyio.CancelScope() as scope:

        def emit(event: Event) -> None:
            if isinstance(event, Sampled) and event.phase == "trained" and event.done == first:
                scope.cancel()

        await take_benches(config, journal, engine, 4, adapter, emit)


async def test_a_run_that_goes_on_makes_only_the_attempts_that_are_missing_and_reports_each_category(
    tmp_path: Path,
) -> None:
    config = settings(tmp_path)
    model = load_model(config.model)
    adapter = Adapter(str(save_adapter(model, tmp_path / "adapter")), 4)
    events: list[Event] = []
    folder = tmp_path / "run"
    async with open_engine(config, model, tmp_path / "log", ignore) as engine:
        with Journal.create(folder, config) as journal:
            await killed_after(2, config, journal, engine, adapter)
            assert 2 <= len(attempts_at(journal, "bfcl", "trained", 4)) < 6
            assert [result.trained for result in bench_results(journal)] == [None, None]
        with Journal.open(folder, write=True) as journal:
            kept = len(attempts_at(journal, "bfcl", "trained", 4))
            await take_benches(config, journal, engine, 4, adapter, events.append)
    sampled = [event for event in events if isinstance(event, Sampled)]
    assert [(event.phase, event.total) for event in sampled] == [("trained", 6 - kept)] * (6 - kept)
    taken = [event for event in events if isinstance(event, BenchTaken)]
    assert [(event.model, *(n for n, _ in event.passed.values())) for event in taken] == [
        ("base", 3, 3),
        ("trained", 3, 3),
    ]
    written = report.write(folder)
    assert [(row.bench, row.measured, row.tasks) for row in written.benches] == [
        ("bfcl", "irrelevance", 3),
        ("bfcl", "simple_python", 3),
    ]
    for row in written.benches:  # an adapter that changes nothing
        assert row.trained == row.base
        assert row.gain is not None
        assert row.gain[0] == 0
    assert report.read(folder).benches == written.benches
    for name in ("report.md", "report.html"):
        text = (folder / name).read_text()
        assert "Benchmarks made by others" in text
        assert "irrelevance" in text
    assert "bfcl simple_python" in report.summary(written).replace("\\", "")


def test_an_unknown_benchmark_or_category_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ConfigError, match="unknown benchmark 'bfcI'; expected one of: bfcl"):
        require_benches(["bfcI"])
    with pytest.raises(BenchError, match="no category 'simple'; expected one of: simple_python"):
        require_benches(["bfcl:simple"])


def test_a_benchmark_that_is_not_set_up_is_refused_before_there_is_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    result = mcprl("train", "--server", SHOP, "--read-only", "--runs-dir", str(tmp_path / "runs"), "--bench", "tau2")
    assert result.code != 0
    assert "benchmark 'tau2' is not on this machine yet; run: mcprl setup bench tau2" in result.err
    assert not (tmp_path / "runs").exists()
