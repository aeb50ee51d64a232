"""The report: numbers that can be worked out by hand from a journal, and a page that claims no more than they allow."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from support.journals import TOOLS, N, played, scenario, some

from mcprl.config import Config, ServerConfig, TrainingConfig
from mcprl.errors import JournalError
from mcprl.runs.intervals import paired_difference, wilson
from mcprl.runs.journal import Journal
from mcprl.runs.learning import wall_s
from mcprl.runs.report import build, markdown, table, write
from mcprl.types import Adapter


def simulate(folder: Path, *, warm: bool, steps: int = 40, finish: bool = True, config: Config | None = None) -> Path:
    """A run in which the base model solves tasks 0-17, the warm one 0-29, the trained one 6-53 of sixty."""
    config = config or Config(name="shop", seed=3, servers=(ServerConfig(target="shop.py"),))
    rng = random.Random(1)
    train = [scenario(n, "train") for n in range(2)]
    val = [scenario(n, "val") for n in range(32)]
    test = [scenario(n) for n in range(N)]
    with Journal.create(folder, config) as journal:
        journal.write_scenarios([*train, *val, *test])
        journal.write_fact("server", ["shop"])
        journal.write_fact("tools", TOOLS)
        journal.write_fact(
            "left_out", {"drop_table": "the server marks it destructive; allow it with --allow-destructive"}
        )
        journal.write_fact("model", "nano")
        journal.write_fact("tool_hash", "5f0c2a")
        played(journal, "test:base", 0, test, lambda n, _: n < 18)
        if warm:
            played(journal, "test:warm", 0, test, lambda n, _: n < 30)
        for step in range(steps + 1):
            skill = 0.3 + 0.5 * step / 40
            if step:
                played(journal, "train", step, train, lambda n, _, s=skill: rng.random() < s, rollouts=4)
                journal.write_step(step, {"groups": 8, "dropped_groups": step % 2, "exact_tokens": 1.0, "loss": 0.1})
            if step % 5 == 0:
                played(journal, "val", step, val, lambda n, _, s=skill: rng.random() < s)
        if finish:
            journal.write_adapter(Adapter(str(folder / "adapters/step-35"), 35), kind="best")
            played(journal, "test:trained", 35, test, lambda n, _: 6 <= n < 54)
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return simulate(tmp_path_factory.mktemp("runs") / "shop", warm=True)


def test_success_gain_and_intervals_are_those_of_the_same_tasks(run):
    test = build(run).test
    base, trained = [float(n < 18) for n in range(N)], [float(6 <= n < 54) for n in range(N)]
    assert (test.n, some(test.base).success, some(test.warm).success, some(test.trained).success) == (60, 0.3, 0.5, 0.8)
    assert (test.clusters, test.forms) == ({"task": 60}, 0)
    assert some(test.trained).ci95 == wilson(48, 60)
    assert some(test.base).score == pytest.approx(0.3 * 0.95 + 0.7 * 0.25)
    assert (test.gain, *some(test.gain_ci95)) == paired_difference(base, trained, seed=3)
    assert some(test.over_base).clustering == "task"
    assert (some(test.over_base).won, some(test.over_base).lost) == (36, 6)
    assert (some(test.over_before).won, some(test.over_before).lost) == (24, 6)
    assert test.gain == pytest.approx(0.5)
    assert test.rl_gain == pytest.approx(0.3)
    assert some(test.rl_gain_ci95)[0] > 0


def test_report_json_holds_what_a_reader_needs(run):
    write(run)
    written = json.loads((run / "report.json").read_text())
    assert written["server"] == "shop"
    assert written["tools"] == TOOLS
    assert (written["model"], written["steps"], written["seed"]) == ("nano", 40, 3)
    assert (written["exact_tokens"], written["dropped_groups"], written["groups"]) == (1.0, 20, 320)
    with Journal.open(run) as journal:
        assert written["wall_s"] == round(wall_s(journal), 1)
        assert wall_s(journal) > 0
    assert written["test"]["n"] == 60
    assert written["test"]["base"]["success"] == 0.3
    assert len(written["test"]["warm"]["ci95"]) == len(written["test"]["rl_gain_ci95"]) == 2
    assert written["stops"]["train"] == {"answered": 40 * 2 * 4}
    assert [point[0] for point in written["curve"]["val"]] == list(range(0, 41, 5))
    assert len(written["curve"]["train"]) == 40
    assert {"python", "torch"} <= written["versions"].keys()
    assert written["finished"] is True
    assert table(written) == table(build(run))


def test_tools_kinds_and_difficulties_split_the_tasks(run):
    report = build(run)
    assert {name: part.n for name, part in report.per_tool.items()} == {
        "get_order": 20,
        "list_orders": 30,
        "get_product": 20,
    }
    assert {name: part.n for name, part in report.per_kind.items()} == {"lookup": 48, "missing": 12}
    easy, hard = report.per_difficulty.values()
    assert (easy.n, some(easy.base).success, some(easy.trained).success) == (18, 1.0, pytest.approx(12 / 18))
    assert (hard.n, some(hard.base).success, some(hard.trained).success) == (42, 0.0, pytest.approx(36 / 42))
    missing = [n for n in range(N) if n % 5 == 0]
    assert some(report.per_kind["missing"].base).success == pytest.approx(sum(n < 18 for n in missing) / len(missing))


def test_the_page_shows_the_result_and_tasks_that_training_solved_and_one_that_it_did_not(run):
    write(run)
    page = (run / "report.md").read_text()
    assert "success went from 30.0 % to 80.0 %: a gain of +50.0 points (95 % interval +" in page
    assert "; 36 tasks won, 6 lost)" in page
    assert "Over the warm start alone (50.0 %), RL brought a gain of +30.0 points" in page
    assert page.count("### Solved after training") == 3
    assert page.count("### Still failing") == 2
    assert page.count("### Lost in training") == 3
    assert "drop\\_table" in page or "`drop_table`" in page
    assert "20 of 320 groups dropped" in page
    assert "100 % of the trained tokens" in page
    assert "call:   get_order" in page
    assert "You have tools." not in page
    assert (run / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_text_of_servers_and_models_cannot_break_out_of_its_block(run):
    page = markdown(build(run))
    blocks = page.split("````text")
    assert len(blocks) == 1 + 2 * 8  # every transcript holds ``` and so stands in a longer fence
    assert all('{"total":12.5} ``` <b>|' in block.split("````")[0] for block in blocks[1:])
    assert "![success" in page
    assert "![success" not in markdown(build(run), curve=False)


def test_the_html_page_says_the_same_and_holds_its_curve(run):
    write(run)
    html = (run / "report.html").read_text()
    assert "success went from 30.0 % to 80.0 %" in html
    assert html.count("<img ") == 1
    assert len(html) > (run / "curve.png").stat().st_size


def test_without_a_warm_start_nothing_tells_its_gain_from_that_of_rl(tmp_path):
    report = build(simulate(tmp_path / "run", warm=False))
    assert report.test.warm is report.test.rl_gain is report.test.rl_gain_ci95 is None
    assert report.test.over_before == report.test.over_base
    assert "warm start" not in table(report)
    assert "due to RL" not in table(report) + markdown(report)


def test_an_unfinished_run_has_a_report_that_says_so(tmp_path):
    report = write(simulate(tmp_path / "run", warm=True, steps=7, finish=False))
    assert not report.finished
    assert report.test.trained is report.test.gain is None
    nothing = "Nothing is proved yet (unfinished: 7 steps of RL done, 0 of 60 test tasks by the trained model)"
    assert nothing in table(report)
    assert (
        "The base model succeeds on 30.0 % of 60 held-out tasks of shop" in (tmp_path / "run" / "report.md").read_text()
    )


def test_a_run_that_was_stopped_during_its_last_test_is_compared_on_the_tasks_that_all_models_did(tmp_path):
    folder = simulate(tmp_path / "run", warm=False, steps=5, finish=False)
    with Journal.open(folder, write=True) as journal:
        played(journal, "test:trained", 5, journal.scenarios("test")[:20], lambda n, _: True)
    report = build(folder)
    assert (report.test.n, some(report.test.base).success, some(report.test.trained).success) == (20, 0.9, 1.0)
    assert "The run is not finished (unfinished: 5 steps of RL done, 20 of 60" in table(report)


def test_a_run_that_has_only_begun_has_a_report_too(tmp_path):
    Journal.create(tmp_path / "run", Config()).close()
    report = write(tmp_path / "run")
    assert (report.steps, report.test.n, report.exact_tokens, report.per_tool) == (0, 0, None, {})
    assert "Nothing is proved yet" in table(report)


def test_broken_rollouts_count_as_failures_and_unjudged_ones_neither_way_and_both_are_reported(tmp_path):
    folder = simulate(tmp_path / "run", warm=False, steps=1, finish=False)
    ending = {0: "error", 1: "unjudged"}
    with Journal.open(folder, write=True) as journal:
        played(journal, "test:trained", 1, journal.scenarios("test"), lambda n, _: ending.get(n, True))
    report = write(folder)
    assert report.test.n == 59
    assert some(report.test.trained).success == pytest.approx(58 / 59)
    assert (some(report.test.trained).errors, report.stops["test:trained"]["error"]) == (1, 1)
    assert "Broken by the server or the engine, counted as failures: 1 of 59 rollouts (trained model)." in markdown(
        report
    )


def test_several_rollouts_of_a_task_are_averaged(tmp_path):
    with Journal.create(tmp_path / "run", Config()) as journal:
        tasks = [scenario(n) for n in range(10)]
        journal.write_scenarios(tasks)
        played(journal, "test:base", 0, tasks, lambda n, member: member == 0, rollouts=4)
        played(journal, "test:trained", 3, tasks, lambda n, member: member > 0, rollouts=4)
    test = build(tmp_path / "run").test
    assert (test.n, some(test.base).success, some(test.trained).success, test.gain) == (10, 0.25, 0.75, 0.5)
    assert some(test.base).rollouts == 40


def test_a_control_says_that_it_is_one_and_no_change_claims_nothing(tmp_path):
    folder = simulate(
        tmp_path / "run", warm=False, steps=2, finish=False, config=Config(training=TrainingConfig(learning_rate=0))
    )
    with Journal.open(folder, write=True) as journal:
        played(journal, "test:trained", 2, journal.scenarios("test"), lambda n, _: n < 18)
    report = build(folder)
    low, high = some(report.test.gain_ci95)
    assert low < 0 < high
    assert "no clear change: +0.0 points" in table(report)
    assert "This run is a control (a learning rate of 0): trained must be no better" in markdown(report)
    assert "As a control must, it shows no gain." in table(report)


def test_the_journal_alone_is_enough_and_reading_it_changes_nothing(run, tmp_path):
    before = (run / "journal.sqlite").read_bytes()
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "journal.sqlite").write_bytes(before)
    assert build(copy).test == build(run).test
    assert (run / "journal.sqlite").read_bytes() == before


def test_a_missing_matplotlib_only_costs_the_curve(run, tmp_path):
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "journal.sqlite").write_bytes((run / "journal.sqlite").read_bytes())
    script = f"import sys; sys.modules['matplotlib'] = None; from mcprl.runs.report import write; write({str(copy)!r})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "matplotlib is not installed" in done.stderr
    assert not (copy / "curve.png").exists()
    assert "![" not in (copy / "report.md").read_text()


def test_a_report_of_another_version_or_a_missing_run_is_one_line(tmp_path):
    with pytest.raises(JournalError, match="another version"):
        table({"test": {}})
    with pytest.raises(JournalError, match="holds no run"):
        build(tmp_path)


def test_what_the_judge_was_asked_and_its_price_stand_beside_the_time_of_rl(run, tmp_path):
    assert "## Time and tokens\n" in markdown(build(run))
    folder = simulate(tmp_path / "judged", warm=False, steps=1, finish=False)
    for calls, cost, price in ((3, 0.0, "no price known"), (7, 0.0125, "0.0125")):
        with Journal.open(folder, write=True) as journal:
            journal.write_event("judged", step=1, scenario="train-0", over={}, agreement=None, calls=calls, cost=cost)
        report = build(folder)
        asked = {part.name: (part.asked, part.dollars) for part in report.spent}
        assert {name for name, spent in asked.items() if spent != (0, 0.0)} == {"RL"}
        assert asked["RL"] == (calls, cost)
        told = markdown(report).split("## Time, tokens and money")[1].split("##")[0]
        cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in told.splitlines() if "|" in line]
        rows = {name: spent[-2:] for name, *spent in cells}
        assert rows["RL"] == rows["together"] == [str(calls), price]
        assert rows["test of the base model"] == ["0", "-"]


def test_what_the_run_said_is_in_its_report_once(tmp_path):
    folder = simulate(tmp_path / "noted", warm=True)
    with Journal.open(folder, write=True) as journal:
        for text in ("prefixes are not shared", "updates multiply in *float32*", "prefixes are not shared"):
            journal.write_event("note", text=text)
    page = markdown(build(folder))
    said = page.partition("While it ran, it said:")[2].partition("##")[0].strip().splitlines()
    assert said == ["- prefixes are not shared", "- updates multiply in \\*float32\\*"]
