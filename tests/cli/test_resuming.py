"""What is given with --resume and is not taken: said in one line, with the run's own value."""

from pathlib import Path

import pytest
from support.command_line import mcprl

from mcprl.cli.resuming import not_taken
from mcprl.runs.journal import Journal
from mcprl.runs.settings import parse

OWN = {"seed": 3, "model": {"name": "Qwen/Qwen3-4B"}, "training": {"steps": 40, "learning_rate": 1e-4}}


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    server = {"target": "https://example.org/mcp", "headers": {"Authorization": "sk-verysecret"}}
    Journal.create(tmp_path / "stopped", parse({**OWN, "servers": [server]})).close()
    return tmp_path / "stopped"


def test_each_setting_that_is_not_taken_is_named_with_the_runs_own_value(stopped: Path) -> None:
    config = parse({"seed": 5, "training": {"steps": 20, "learning_rate": 3e-4}, "eval": {"temperature": 0.5}})
    sentence = not_taken(stopped, config)
    assert sentence.startswith(
        "a resumed run keeps its settings; not taken: --eval-temperature (it has 0.0), --seed (it has 3), "
        "--steps (it has 40). What may change: --server and its flags, --learning-rate, "
    )


def test_a_default_that_is_given_is_not_taken_either(stopped: Path) -> None:
    assert "--seed (it has 3)" in not_taken(stopped, parse({"seed": 0}))


@pytest.mark.parametrize(
    "tree",
    [
        {},
        {"runs_dir": "elsewhere"},
        {"seed": 3, "training": {"steps": 40}},
        {"training": {"learning_rate": 3e-4, "autocast": "off"}, "model": {"dtype": "bfloat16"}},
        {"servers": [{"target": "https://other.example.org/mcp"}]},
    ],
)
def test_what_is_taken_or_as_it_was_is_not_named(stopped: Path, tree: dict[str, object]) -> None:
    assert not_taken(stopped, parse(tree)) == ""


def test_the_command_says_so_and_keeps_the_runs_own_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Journal.create(tmp_path / "runs" / "stopped", parse({**OWN, "servers": [{"target": "/no/such/server"}]})).close()
    done = mcprl("train", "--resume", "stopped", "--seed", "5")  # no server answers, so that it ends there
    assert done.code == 2
    notes = [line for line in done.out.splitlines() if line.startswith("note")]
    assert len(notes) == 1
    assert "not taken: --seed (it has 3)." in notes[0]
    with Journal.open(tmp_path / "runs" / "stopped") as journal:
        assert journal.config.seed == 3
