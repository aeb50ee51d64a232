"""The journal: what was acknowledged is there, whatever happens to the process that wrote it."""

import math
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace
from json import dumps, loads

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.paths import ROOT, TESTS
from support.trajectories import trajectory

from mcprl.config import Config, RolloutConfig, ServerConfig
from mcprl.errors import JournalError
from mcprl.runs.journal import FILE, Journal
from mcprl.runs.learning import parts_of, wall_s
from mcprl.runs.ledger import Ledger, discard, end_training, ledger, rewind
from mcprl.runs.records import Outcome, dump_trajectory
from mcprl.types import (
    Adapter,
    Call,
    CallMade,
    CallRecord,
    Completion,
    Fact,
    SaysMissing,
    Scenario,
    Score,
    StateHolds,
    ToolResult,
    Trajectory,
)
from mcprl.viewing.groups import columns, group_lines, why_no_gaps
from mcprl.viewing.health import health

SCENARIO = Scenario(
    "s1",
    "What does 7 cost?",
    (
        Fact(12.5, "price"),
        Fact(True),
        Fact(1),
        Fact("1"),
        CallMade("get", {"id": 7}),
        StateHolds("get", {}, (1, "a")),
        SaysMissing(),
    ),
    plan=(Call("get", {"id": 7}),),
    values=("7",),
    split="test",
    difficulty=0.25,
)


@pytest.fixture
def run(tmp_path):
    with Journal.create(tmp_path / "run", Config(name="run")) as journal:
        yield journal


def test_everything_that_is_written_reads_back_equal_also_in_another_process_reader(run):
    tries = [trajectory("a"), replace(trajectory("b"), stop="error", error="SessionLost", state=(ToolResult("x"),))]
    scores = [Score("a", 0.75, True, "facts 1/1"), Score("b", 0.0, None)]
    run.write_scenarios([SCENARIO, replace(SCENARIO, id="s2", split="train")])
    run.write_trajectories("train", 3, tries)
    run.write_scores("train", 3, scores)
    run.write_step(3, {"loss": 0.5, "score": 0.4, "note": "ok", "gap": None})
    run.write_event("dropped", step=3, scenario="s1")
    run.write_fact("tools", ["get", "list"])
    with Journal.open(run.folder) as reader:
        assert reader.scenarios() == [SCENARIO, replace(SCENARIO, id="s2", split="train")]
        assert reader.scenarios("test") == [SCENARIO]
        assert [type(c.value) for c in reader.scenarios("test")[0].checks if isinstance(c, Fact)] == [
            float,
            bool,
            int,
            str,
        ]
        assert reader.trajectories("train", 3) == reader.trajectories("train") == tries
        assert reader.trajectories("train", 2) == reader.trajectories("val") == []
        assert reader.scores("train") == scores
        assert reader.outcomes("train") == [
            Outcome(3, "a", "s1", "answered", 0.75, True),
            Outcome(3, "b", "s1", "error", 0.0, None),
        ]
        assert [(s.step, s.metrics) for s in reader.steps()] == [
            (3, {"loss": 0.5, "score": 0.4, "note": "ok", "gap": None})
        ]
        assert reader.last_step() == 3
        assert reader.events("dropped")[0].data == {"step": 3, "scenario": "s1"}
        assert reader.fact("tools") == ["get", "list"]
        assert reader.fact("pack", "none") == "none"
        assert reader.config == Config(name="run")


# Half surrogates too (a broken server may send one); two halves that make a whole become it in any JSON.
text = st.text(st.characters(codec=None, exclude_categories=()), max_size=8).map(lambda t: loads(dumps(t)))
json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
ids = st.lists(st.integers(0, 2**32 - 1), max_size=9).map(tuple)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data(), text, json, ids, ids)
def test_any_text_json_and_ids_that_a_server_or_a_model_can_produce_survive(run, data, words, tree, prompt, sampled):
    logprobs = tuple(data.draw(st.lists(st.floats(allow_nan=False), min_size=len(sampled), max_size=len(sampled))))
    turn = Completion({"role": "assistant", "content": words}, prompt, sampled, logprobs, "stop")
    call = CallRecord(0, words, {"x": tree}, ToolResult(words, tree))
    name = str(run.fact("count", 0))
    run.write_fact("count", int(name) + 1)
    made = Trajectory(name, "s1", (turn.message,), (turn,), (call,), error=words)
    run.write_trajectories("train", int(name), [made])
    run.write_scores("train", int(name), [Score(name, 0.5, None, words)])
    assert run.trajectories("train", int(name)) == [made]
    assert run.scores("train", int(name))[0].explanation == words.encode(errors="replace").decode()


def test_a_trajectory_written_again_changes_nothing_and_a_score_written_again_counts(run):
    first = trajectory("a")
    run.write_trajectories("train", 1, [first])
    run.write_scores("train", 1, [Score("a", 0.2)])
    run.write_trajectories("train", 1, [replace(first, stop="deadline"), trajectory("b")])
    run.write_scores("train", 1, [Score("a", 0.9, True)])
    assert run.trajectories("train", 1) == [first, trajectory("b")]
    assert run.scores("train", 1) == [Score("a", 0.9, True)]
    assert [o.value for o in run.outcomes("train", 1)] == [0.9, None]


def test_a_score_of_an_unknown_trajectory_or_that_is_no_number_is_refused_by_name_and_nothing_of_it_is_kept(run):
    run.write_trajectories("train", 1, [trajectory("a")])
    with pytest.raises(JournalError, match=r"train step 1: no trajectory.*\['zz'\]"):
        run.write_scores("train", 1, [Score("a", 1.0), Score("zz", 1.0)])
    with pytest.raises(JournalError, match=r"no number, for the scores of \['a'\]"):
        run.write_scores("train", 1, [Score("a", float("nan"))])
    assert run.scores("train") == []


def test_a_folder_that_holds_a_run_is_not_begun_again(run):
    run.close()
    with pytest.raises(JournalError, match="already holds a run: go on with --resume run, or choose another --name"):
        Journal.create(run.folder, Config())


def test_a_second_writer_is_refused_at_once_and_a_reader_is_not(run):
    with pytest.raises(JournalError, match=f"{run.folder} cannot be written: another process is writing to it"):
        Journal.open(run.folder, write=True)
    script = f"from mcprl.runs.journal import Journal; Journal.open({str(run.folder)!r}, write=True)"
    other = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert "another process is writing to it" in other.stderr
    with Journal.open(run.folder) as reader:
        run.write_step(1, {})
        assert reader.last_step() == 1
        with pytest.raises(JournalError, match="opened for reading"):
            reader.write_step(2, {})
    run.close()
    with Journal.open(run.folder, write=True) as next_writer:
        assert next_writer.last_step() == 1


def test_threads_may_share_a_journal(run):
    def write(start: int) -> None:
        for step in range(start, start + 20):
            run.write_step(step, {"x": step})

    threads = [threading.Thread(target=write, args=(start,)) for start in (0, 20, 40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [step.metrics["x"] for step in run.steps()] == list(range(60))


WRITER = """
import sys
from mcprl.config import Config
from mcprl.runs.journal import Journal
from mcprl.types import Score
from support.trajectories import trajectory

journal = Journal.create(sys.argv[1], Config())
print("created", flush=True)
for step in range(1, 10_000):
    names = [f"{step}-{member}" for member in range(4)]
    journal.write_trajectories("train", step, [trajectory(name) for name in names])
    print("rollouts", step, flush=True)
    journal.write_scores("train", step, [Score(name, 0.5, True) for name in names])
    journal.write_step(step, {"loss": 0.1})
    print("step", step, flush=True)
"""


@pytest.mark.parametrize("seed", range(4))
def test_a_writer_killed_at_any_instant_loses_nothing_that_was_acknowledged(tmp_path, seed):
    folder, lines = tmp_path / "run", random.Random(seed).randint(1, 60)
    command = [sys.executable, "-c", WRITER, str(folder)]
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), str(ROOT)])}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as child:
        assert child.stdout
        said = [child.stdout.readline() for _ in range(lines)]
        child.send_signal(signal.SIGKILL)
        said += child.stdout.readlines()
    assert child.returncode == -signal.SIGKILL
    said = [line for line in said if line.endswith("\n")]  # the kill may have torn the last one
    rollouts = max((int(line.split()[1]) for line in said if line.startswith("rollouts")), default=0)
    step = max((int(line.split()[1]) for line in said if line.startswith("step")), default=0)
    with Journal.open(folder) as reader:
        found = reader.last_step() or 0
    with Journal.open(folder, write=True) as journal:
        assert journal.last_step() == (found or None)
        assert found in (step, step + 1)
        for number in range(1, rollouts + 1):
            names = [f"{number}-{member}" for member in range(4)]
            assert journal.trajectories("train", number) == [trajectory(name) for name in names]
            if number <= found:
                assert [score.trajectory_id for score in journal.scores("train", number)] == names
        journal.write_step(found + 1, {})
        assert journal.last_step() == found + 1


def test_a_run_stopped_while_it_was_being_created_can_be_begun_again_and_is_not_taken_for_a_run(tmp_path):
    sqlite3.connect(tmp_path / FILE).close()
    (tmp_path / FILE).touch()
    with pytest.raises(JournalError, match="stopped before it began"):
        Journal.open(tmp_path)
    with Journal.create(tmp_path, Config()) as journal:
        assert journal.last_step() is None


def test_a_missing_damaged_foreign_or_newer_journal_is_one_line_with_the_path(run):
    run.write_trajectories("train", 1, [trajectory(str(n)) for n in range(200)])
    run.close()
    path, good = run.folder / FILE, (run.folder / FILE).read_bytes()

    def read(write: bool) -> None:
        with Journal.open(run.folder, write=write) as journal:
            journal.trajectories("train")
            journal.events()

    def complaint(write: bool) -> str:
        with pytest.raises(JournalError) as caught:
            read(write)
        assert "\n" not in str(caught.value)
        assert str(run.folder) in str(caught.value)
        return str(caught.value)

    for content in (b"not a database" * 500, good[: len(good) // 2], good[:8192] + b"\xff" * (len(good) - 8192)):
        path.write_bytes(content)
        assert "cannot be read or written" in complaint(write=False)
        assert "cannot be read or written" in complaint(write=True)
    path.write_bytes(good)
    change = sqlite3.connect(path, isolation_level=None)
    change.execute("update trajectory set tokens = x'00'")
    assert "cannot be read or written" in complaint(write=False)
    change.execute("pragma user_version = 99")
    assert "a newer mcprl (journal version 99, this one reads up to 5)" in complaint(write=False)
    change.execute("pragma application_id = 5")
    assert "mcprl did not write it" in complaint(write=True)
    change.close()
    path.unlink()
    assert "holds no run" in complaint(write=True)


def test_no_secret_of_the_configuration_reaches_the_folder(tmp_path):
    server = ServerConfig(
        target="https://ann:pw-5ecret@example.org/mcp?api_key=url-5ecret",
        headers={"Authorization": "Bearer header-5ecret", "X-Key": "$MY_KEY"},
        env={"TOKEN": "env-5ecret"},
    )
    with Journal.create(tmp_path / "run", Config(servers=(server,), rollout=RolloutConfig(max_turns=3))) as journal:
        assert journal.config.servers[0].headers == {"Authorization": "***", "X-Key": "$MY_KEY"}
        assert journal.config.rollout.max_turns == 3
        written = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    assert {"config.toml", FILE} <= written.keys()
    assert [name for name, content in written.items() if b"5ecret" in content] == []
    assert b"$MY_KEY" in written["config.toml"]


def test_settings_that_are_gone_load_with_one_note_and_those_that_were_renamed_keep_their_values(run, caplog):
    tree = run.fact("config")
    without_effect = {"generator": "grounded", "instructions": "", "open_tasks": False, "embedding_model": ""}
    for name in ("writer_base_url", "max_writer_cost", "writer_cache"):
        del tree["scenarios"][name]
    tree["scenarios"] |= {"generator_base_url": "http://x/v1", "max_generator_cost": 2.0, "generator_cache": ""}
    run.write_fact("config", {**tree, "scenarios": tree["scenarios"] | without_effect})
    scenarios = run.config.scenarios
    assert (scenarios.writer_base_url, scenarios.max_writer_cost, scenarios.writer_cache) == ("http://x/v1", 2.0, "")
    assert caplog.messages == []
    set_ = {"generator": "llm:openai/o4-mini", "instructions": "Ask as a clerk.", "rewriter": "policy"}
    run.write_fact("config", {**tree, "scenarios": tree["scenarios"] | without_effect | set_})
    for _ in range(2):
        assert run.config.scenarios.writer == "plain"
    (note,) = caplog.messages
    assert "generator = 'llm:openai/o4-mini'" in note
    assert "rewriter = 'policy'" in note
    assert "which is gone and is left out" in note
    assert "open_tasks" not in note


def test_adapters_are_found_after_the_folder_has_moved(run, tmp_path):
    run.write_adapter(Adapter(str(run.folder / "adapters" / "step-2"), 2))
    run.write_adapter(Adapter(str(run.folder / "adapters" / "step-2"), 2), kind="best")
    run.write_adapter(Adapter("/elsewhere/step-4", 4), kind="best")
    run.close()
    shutil.move(run.folder, tmp_path / "moved")
    with Journal.open(tmp_path / "moved") as journal:
        assert [a.adapter for a in journal.adapters("train")] == [Adapter(str(tmp_path / "moved/adapters/step-2"), 2)]
        assert journal.adapters("best")[-1].adapter == Adapter("/elsewhere/step-4", 4)
        assert [a.kind for a in journal.adapters()] == ["train", "best", "best"]


def test_wall_time_counts_the_work_and_not_the_pause_before_a_resume(tmp_path, monkeypatch):
    clock = iter([100.0, 110.0, 500.0, 530.0, 531.0])
    monkeypatch.setattr("mcprl.runs.journal._now", lambda: next(clock))
    killed = Journal.create(tmp_path, Config())  # 100
    killed.write_step(1, {})  # 110
    killed.db.close()
    with Journal.open(tmp_path, write=True) as journal:  # 500
        journal.write_step(2, {})  # 530
    with Journal.open(tmp_path) as journal:  # closed at 531
        assert wall_s(journal) == pytest.approx(10 + 31)


OLDEST = """
drop table trajectory; drop table adapter; drop table attempt;
create table trajectory (
    phase text not null, step integer not null, id text not null, scenario_id text not null, stop text not null,
    at real not null, body text not null, tokens blob not null, primary key (phase, step, id));
create table adapter (at real not null, kind text not null, step integer not null, path text not null);
pragma user_version = 1;
"""


def test_a_journal_of_the_first_version_is_read_as_it_is_and_migrated_by_the_first_writer(run):
    """The tables as version 1 had them, with a step of two trajectories, one trajectory of the next, an adapter."""
    made = [trajectory(name) for name in ("a", "b")]
    rows = [("train", 1, t.id, t.scenario_id, t.stop, 0.0, *dump_trajectory(t)) for t in made]
    run.write_step(1, {"loss": 0.5})
    run.close()
    path = run.folder / FILE
    with sqlite3.connect(path) as old:
        old.executescript(OLDEST)
        old.executemany("insert into trajectory values (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        old.execute("insert into trajectory select phase, 2, id, scenario_id, stop, at, body, tokens from trajectory")
        old.execute("insert into adapter values (0.0, 'train', 1, 'adapters/step-1')")
    old.close()
    before = path.read_bytes()
    with Journal.open(run.folder) as reader:
        assert reader.trajectories("train", 1) == made
        assert reader.adapters("train")[0].adapter.step == 1
        assert ledger(reader) == Ledger(0, {"unknown": 2}, 2)
        assert "older mcprl" in why_no_gaps(columns(reader, "train", 1, made[0].scenario_id))
    assert path.read_bytes() == before
    with Journal.open(run.folder, write=True) as writer:
        writer.write_step(2, {}, Adapter(str(run.folder / "adapters" / "step-2"), 2), {"a": "trained", "b": "broken"})
    with sqlite3.connect(path) as new:
        assert new.execute("pragma user_version").fetchone() == (5,)
    new.close()
    with Journal.open(run.folder) as reader:
        assert reader.trajectories("train", 2) == made
        assert ledger(reader) == Ledger(1, {"unknown": 2, "broken": 1}, 0)


def test_gaps_keep_three_digits_and_what_was_not_measured(run):
    run.write_trajectories("train", 1, [trajectory("a"), trajectory("b")])
    gaps = [0.0, 0.001234, 0.5, 12.34, math.nan, math.inf, 1e9]
    run.write_step(1, {}, fates={"a": "trained", "b": "no signal"}, gaps={"a": gaps})
    shown = {each.trajectory.id: each for each in columns(run, "train", 1, trajectory("a").scenario_id)}
    expected = [0.0, 0.001234, 0.5, 12.34, math.nan, math.inf, math.inf]
    assert shown["a"].gaps == pytest.approx(expected, rel=1e-3, nan_ok=True)
    assert shown["b"].gaps is None


def test_discarded_trajectories_are_in_the_ledger_and_may_be_sampled_again(run):
    run.write_trajectories("train", 1, [trajectory("a"), trajectory("b")])
    discard(run, "train", 1, ["a"], "the server was away")
    assert run.trajectories("train", 1) == [trajectory("b")]
    run.write_trajectories("train", 1, [trajectory("a")])
    run.write_step(1, {}, fates={"a": "trained", "b": "no signal"})
    assert ledger(run) == Ledger(1, {"no signal": 1, "the server was away": 1}, 0)
    assert ledger(run).issued == 3


def test_a_run_that_is_rewound_goes_on_after_the_step_before_with_what_was_sampled(run):
    for step in (1, 2):
        run.write_trajectories("train", step, [trajectory("a")])
        adapter = Adapter(str(run.folder / f"adapters/step-{step}"), step)
        run.write_step(step, {"loss": 0.5}, adapter, {"a": "trained"}, {"a": [0.25]})
    rewind(run, 1)
    assert [gaps is None for (gaps,) in run.db.read("select gaps from trajectory order by step")] == [False, True]
    assert run.last_step() == 1
    assert [saved.adapter.step for saved in run.adapters("train")] == [1]
    assert run.trajectories("train", 2) == [trajectory("a")]
    assert ledger(run) == Ledger(1, {}, 1)
    end_training(run)
    assert ledger(run) == Ledger(1, {"not needed": 1}, 0)


def test_a_result_that_is_not_a_number_stops_no_report_and_no_page(run):
    odd = CallRecord(0, "get", {"n": math.inf}, ToolResult("NaN", {"price": math.nan}))
    run.write_scenarios([replace(SCENARIO, checks=(Fact(12.5, "price", rivals=(math.nan,)),))])
    run.write_trajectories("train", 3, [replace(trajectory("a"), calls=(odd,))])
    (part,) = [part for part in parts_of(run) if part.name == "RL"]
    assert (part.rollouts, part.read > 0) == (1, True)
    assert [(tool.calls, tool.failed) for tool in health(run)] == [(1, 0.0)]
    lines, more = group_lines(run, "train", "does 7", "step", 0)
    assert ([line.request for line in lines], more) == (["What does 7 cost?"], False)
