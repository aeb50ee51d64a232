"""`mcprl runs compare`: two runs on the same tasks, paired, and a sentence for two that cannot be compared."""

from pathlib import Path

import pytest
from support.command_line import mcprl
from support.journals import played, scenario

from mcprl.config import Config, ServerConfig
from mcprl.runs.intervals import paired_difference
from mcprl.runs.journal import Journal
from mcprl.runs.paired import compare_runs


def run(folder: Path, solved: range, tasks: range = range(40), tools: str = "5f0c", trained: bool = True) -> Path:
    """A run whose trained model solves the tasks of those numbers."""
    test = [scenario(n) for n in tasks]
    with Journal.create(folder, Config(servers=(ServerConfig(target="shop.py"),))) as journal:
        journal.write_scenarios(test)
        journal.write_fact("tool_hash", tools)
        played(journal, "test:base", 0, test, lambda n, _: False)
        if trained:
            played(journal, "test:trained", 5, test, lambda n, _: n in solved)
    return folder


def test_the_difference_of_two_runs_is_paired_by_task(tmp_path: Path) -> None:
    (pair,) = compare_runs(run(tmp_path / "a", range(10)), run(tmp_path / "b", range(5, 35)))
    before, after = [float(n < 10) for n in range(40)], [float(5 <= n < 35) for n in range(40)]
    assert (pair.difference, *pair.ci95) == paired_difference(before, after)
    assert (pair.n, pair.first, pair.second, pair.won, pair.lost) == (40, 0.25, 0.75, 25, 5)


def test_the_command_shows_both_and_says_where_nothing_is_clear(tmp_path: Path) -> None:
    run(tmp_path / "a", range(10))
    run(tmp_path / "b", range(2, 12))
    done = mcprl("runs", "compare", "a", "b", "--runs-dir", str(tmp_path))
    assert done.code == 0, done.err
    assert "25.0 %" in done.out
    assert "no clear difference in: entities" in done.out


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"tasks": range(20, 60)}, "not tested on the same tasks (a has 40, b has 40, 20 are in both)"),
        ({"tools": "abcd"}, "their servers' tools differ (a 5f0c, b abcd)"),
        ({"trained": False}, "b has no test of a trained model"),
    ],
)
def test_unlike_runs_are_refused_with_a_sentence(tmp_path: Path, other: dict[str, object], why: str) -> None:
    run(tmp_path / "a", range(10))
    run(tmp_path / "b", range(10), **other)  # pyright: ignore[reportArgumentType]
    done = mcprl("runs", "compare", "a", "b", "--runs-dir", str(tmp_path))
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert why in done.err
