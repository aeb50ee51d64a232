"""`mcprl runs compare`: two runs on the same tasks, paired, and a sentence for two that cannot be compared."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.patches import Rectangle
from support.command_line import mcprl
from support.journals import played, scenario

from mcprl.config import Config, ServerConfig
from mcprl.errors import JournalError
from mcprl.runs.chart import charted
from mcprl.runs.curve import draw_runs
from mcprl.runs.intervals import paired_difference
from mcprl.runs.journal import Journal
from mcprl.runs.paired import compare_runs
from mcprl.runs.proof import build


def run(
    folder: Path,
    solved: range,
    tasks: range = range(40),
    tools: str = "5f0c",
    trained: bool = True,
    start: range | None = None,
) -> Path:
    """A run whose trained model solves the tasks of those numbers, and those of `start` what it began from."""
    test = [scenario(n) for n in tasks]
    with Journal.create(folder, Config(servers=(ServerConfig(target="shop.py"),))) as journal:
        journal.write_scenarios(test)
        journal.write_fact("tool_hash", tools)
        played(journal, "test:base", 0, test, lambda n, _: False)
        if start:
            played(journal, "test:start", 0, test, lambda n, _: n in start)
        if trained:
            played(journal, "test:trained", 5, test, lambda n, _: n in solved)
    return folder


def test_the_difference_of_two_runs_is_paired_by_task(tmp_path: Path) -> None:
    (pair,) = compare_runs(run(tmp_path / "a", range(10)), run(tmp_path / "b", range(5, 35)))
    before, after = [float(n < 10) for n in range(40)], [float(5 <= n < 35) for n in range(40)]
    assert (pair.difference, *pair.ci95) == paired_difference(before, after)
    assert (pair.n, pair.first, pair.second, pair.won, pair.lost) == (40, 0.25, 0.75, 25, 5)


def test_two_evaluations_are_paired_by_the_tasks_that_their_folders_hold(tmp_path: Path) -> None:
    for name, solved in (("base", range(10)), ("trained", range(5, 35))):
        test = [scenario(n) for n in range(40)]
        with Journal.create(tmp_path / name, Config(servers=(ServerConfig(target="shop.py"),))) as journal:
            journal.write_scenarios(test)
            journal.write_fact("evaluation", {"adapter": "", "split": "test", "stated": {}})
            if name == "base":
                with pytest.raises(JournalError, match="base has no scores; go on with: mcprl eval --resume base"):
                    compare_runs(tmp_path / "base", tmp_path / "base")
            played(journal, "eval", 0, test, lambda n, _, solved=solved: n in solved)
    (pair,) = compare_runs(tmp_path / "base", tmp_path / "trained")
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


def test_a_chart_has_each_runs_models_with_their_intervals_and_what_their_tokens_cost(tmp_path: Path) -> None:
    folders = [run(tmp_path / "a", range(10)), run(tmp_path / "b", range(35))]
    runs = charted(folders, "2/10")
    assert [[(bar.model, bar.success) for bar in each.bars] for each in runs] == [
        [("base", 0.0), ("supervised", 0.25)],  # the runs took no step of RL
        [("base", 0.0), ("supervised", 0.875)],
    ]
    for each, folder in zip(runs, folders, strict=True):
        (part,) = [part for part in build(folder).spent if part.name == "test of the trained model"]
        cost = 1_000 / 1e6 * (2 * part.read + 10 * part.sampled) / part.rollouts
        assert each.bars[1].cost == pytest.approx(cost)
        assert each.bars[1].ci95[0] < each.bars[1].success < each.bars[1].ci95[1]
    figure = draw_runs(runs, tmp_path / "chart.png")
    success, priced = figure.axes
    assert [patch.get_height() for patch in success.patches if isinstance(patch, Rectangle)] == [0.0, 0.25, 0.0, 0.875]
    assert len(priced.patches) == 4
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")


def test_the_command_draws_any_number_of_runs_and_refuses_what_it_cannot_draw(tmp_path: Path) -> None:
    run(tmp_path / "a", range(10))
    given = ("runs", "compare", "a", "--runs-dir", str(tmp_path))
    done = mcprl(*given, "--chart", str(tmp_path / "one.svg"), "--mark", "GPT-4o=0.33")
    assert (done.code, done.err) == (0, "")
    assert "</svg>" in (tmp_path / "one.svg").read_text()
    for more, why in (
        ((), "two runs can be compared, not 1; --chart FILE draws any number"),
        (("--chart", "x.gif"), "unknown format '.gif'; expected one of: .png"),
        (("--chart", str(tmp_path / "a.png"), "--price", "cheap"), "is no price"),
        (("--price", "1/2"), "--price is for --chart FILE"),
        (("--mark", "o3=0.9"), "--mark is for --chart FILE"),
        (("--chart", str(tmp_path / "a.png"), "--mark", "o3=90"), "expected NAME=SHARE with a share from 0 to 1"),
    ):
        refused = mcprl(*given, *more)
        assert (refused.code, refused.err.count("\n")) == (2, 1)
        assert why in refused.err


def test_a_chart_also_draws_what_training_began_from(tmp_path: Path) -> None:
    runs = charted([run(tmp_path / "a", range(10), start=range(4))])
    assert [(bar.model, bar.success) for bar in runs[0].bars] == [
        ("base", 0.0),
        ("began from", 0.1),
        ("supervised", 0.25),
    ]
    figure = draw_runs(runs, tmp_path / "chart.png", {"o3": 0.9})
    assert [float(np.asarray(line.get_ydata())[0]) for line in figure.axes[0].lines if line.get_linestyle() == ":"] == [
        0.9
    ]
