"""No forgetting: what the base model solved before the test stays solved, or the report's first words say not."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from support.journals import played, scenario, some

from mcprl.config import Config, TrainingConfig
from mcprl.runs.intervals import paired_difference
from mcprl.runs.journal import Journal
from mcprl.runs.report import Proof, build, markdown, pool, table, write

Solves = Callable[[int], bool]
N = 90
EASY = 60
"""The first tasks, which the base model solved in the rollout before the test."""


def run(folder: Path, trained: Solves, base: Solves, easy: int | None = EASY, config: Config | None = None) -> Path:
    """A run on `N` tasks of thirty forms, of which the first `easy` were solved before the test; `None`: not known."""
    tests = [
        replace(
            scenario(n),
            form=f"form {n % 30}",
            suite="entities" if n % 2 else "forms",
            difficulty=None if easy is None else float(n >= easy),
        )
        for n in range(N)
    ]
    with Journal.create(folder, config or Config()) as journal:
        journal.write_scenarios(tests)
        for model, solves in (("base", base), ("trained", trained)):
            played(journal, f"test:{model}", 5 * (model == "trained"), tests, lambda n, _, solves=solves: solves(n))
    return folder


def first_words(proof: Proof) -> set[str]:
    """How the terminal's table and the page begin."""
    return {table(proof).split(" ")[0], markdown(proof).split("**")[1].split(" ")[0]}


def test_what_is_forgotten_is_said_before_anything_else_even_where_the_whole_is_a_gain(tmp_path):
    folder = run(tmp_path / "run", base=lambda n: n < EASY - 3, trained=lambda n: n >= 20)
    report = write(folder)
    kept = report.retained
    assert (kept.n, report.measured, some(kept.base).success) == (60, 90, 0.95)
    assert some(kept.trained).success == pytest.approx(40 / 60)
    change = some(kept.over_base)
    assert (change.lost, change.won) == (20, 3)
    assert report.suites["entities"].gain == pytest.approx(13 / 90, abs=0.1)
    in_order = [*range(0, 60, 2), *range(1, 60, 2)]  # by suite, the leading one first
    before, after = [float(n < 57) for n in in_order], [float(n >= 20) for n in in_order]
    assert change.clustering == "task"
    assert change.ci95 == paired_difference(before, after)[1:]
    assert change.ci95[1] < 0
    assert first_words(report) == {"FORGOTTEN:"}
    assert (
        "The base model solved 60 of 90 tasks in a rollout before the test. In the test it solves 95.0 % of these, "
        "and the trained model 66.7 %" in table(report)
    )
    written = json.loads((folder / "report.json").read_text())
    assert written["retained"]["over_base"]["ci95"] == list(change.ci95)
    assert "FORGOTTEN: The base model solved 60 of 90 tasks" in (folder / "report.md").read_text()


def test_a_few_lost_tasks_are_no_forgetting_and_their_interval_is_told(tmp_path):
    report = build(run(tmp_path / "run", base=lambda n: n < EASY - 2, trained=lambda n: n not in (0, 31, 50, 80)))
    change = some(report.retained.over_base)
    assert (change.lost, change.won) == (3, 2)
    assert change.ci95[0] < 0 < change.ci95[1]
    assert first_words(report) == {"On"}
    assert "and the trained model 95.0 %" in table(report)
    assert ": no loss is shown, -1.7 points (95 % interval -" in markdown(report)


def test_a_base_model_that_solved_by_luck_alone_loses_nothing_that_it_had(tmp_path):
    """Both models solve every third task, but others: the thirty that the base solved in the test are all lost."""
    report = build(run(tmp_path / "run", easy=0, base=lambda n: n % 3 == 0, trained=lambda n: n % 3 == 1))
    assert len(report.losses) == 30
    assert first_words(report) == {"On"}
    assert "There is nothing to forget: the base model solved none of 90 tasks before the test." in table(report)


def test_the_same_luck_on_tasks_of_equal_difficulty_is_no_forgetting(tmp_path):
    """Of the tasks solved before, base and trained model each lose ten in the test, and not the same ones."""
    report = build(run(tmp_path / "run", base=lambda n: n % 6 > 0, trained=lambda n: n % 6 != 1))
    assert some(report.retained.over_base).mean == 0.0
    assert some(report.retained.over_base).lost == 10
    assert first_words(report) == {"On"}


def test_without_a_measurement_before_the_test_nothing_is_claimed(tmp_path):
    report = build(run(tmp_path / "run", easy=None, base=lambda n: True, trained=lambda n: n < 50))
    assert (report.retained.n, report.measured) == (0, 0)
    assert first_words(report) == {"On"}
    assert "Whether anything was forgotten is not known" in table(report)


def test_a_control_and_pooled_runs_say_what_was_forgotten_first(tmp_path):
    config = Config(training=TrainingConfig(learning_rate=0))
    control = run(tmp_path / "control", base=lambda n: True, trained=lambda n: n % 2 == 0, config=config)
    assert first_words(build(control)) == {"FORGOTTEN:"}
    folders = [
        run(tmp_path / f"seed-{seed}", base=lambda n: n < 60, trained=lambda n, s=seed: n % 6 > s) for seed in (0, 1)
    ]
    pooled = pool(folders)
    assert (pooled.retained.n, pooled.measured, pooled.retained.clusters["task"]) == (120, 180, 60)
    assert some(pooled.retained.over_base).mean == -0.25
    assert first_words(pooled) == {"FORGOTTEN:"}


def test_an_unfinished_run_says_nothing_about_forgetting(tmp_path):
    folder = tmp_path / "run"
    with Journal.create(folder, Config()) as journal:
        tests = [replace(scenario(n), difficulty=0.0) for n in range(9)]
        journal.write_scenarios(tests)
        played(journal, "test:base", 0, tests, lambda n, _: True)
    assert "forg" not in table(build(folder)).lower()


def test_a_base_model_that_solves_nothing_is_not_measured_and_has_nothing_to_forget(tmp_path):
    report = build(run(tmp_path / "run", easy=None, base=lambda n: False, trained=lambda n: n < 50))
    assert "There is nothing to forget: the base model solved no task of the test." in table(report)


def test_a_base_model_that_solves_next_to_nothing_is_not_measured_and_says_so(tmp_path):
    report = build(run(tmp_path / "run", easy=None, base=lambda n: n < 2, trained=lambda n: n < 50))
    assert "There is next to nothing to forget: the base model solved 2.2 % of the test." in table(report)
