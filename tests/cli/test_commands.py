"""The command line as a user meets it: real servers, one line for whatever goes wrong."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from support.command_line import effective, mcprl
from support.forked import Forked, command_line
from support.paths import NODE_BIN, ODD, SHOP

from mcprl.cli import options
from mcprl.cli.commands import cli
from mcprl.cli.run_names import run_name
from mcprl.cli.run_tables import show_run
from mcprl.config import Config
from mcprl.runs.journal import Journal
from mcprl.runs.settings import dump_config, parse
from mcprl.secrets import scrub

MCPRL = Path(sys.executable).parent / "mcprl"
TIME = "mcp-server-time --local-timezone UTC"


# --- settings ---------------------------------------------------------------------------------------------------------


def test_every_setting_is_a_flag_of_train_with_its_sentence_as_help() -> None:
    text = " ".join(CliRunner(env={"COLUMNS": "200"}).invoke(cli, ["train", "--help-all"]).output.split())
    for flag, leaf in options.flags().items():
        sentence = " ".join((leaf.info.description or "").replace("`", "").split())
        assert f"--{flag} " in text, flag
        assert sentence, f"{leaf.key} has no sentence"
        assert sentence[:40] in text, flag


def test_flag_names_are_unique_and_say_their_section_where_two_share_a_name() -> None:
    named = options.flags()
    assert len({leaf.key for leaf in named.values()}) == len(named)
    assert named["steps"].key == "training.steps"
    assert named["eval-temperature"].key == "eval.temperature"
    assert "temperature" not in named


def test_flags_win_over_the_file_and_the_file_over_the_defaults(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text('seed = 7\n[training]\nsteps = 5\nlearning_rate = 1e-4\n[[servers]]\ntarget = "from-file"\n')
    tree = effective("train", "--config", str(file), "--steps", "9", "--header", "X-Key: $KEY", "--read-only")
    assert (tree["seed"], tree["training"]["steps"], tree["training"]["learning_rate"]) == (7, 9, 1e-4)
    assert tree["training"]["group_size"] == Config().training.group_size
    assert tree["tools"]["read_only"] is True
    assert [(server["target"], server["headers"]) for server in tree["servers"]] == [("from-file", {"X-Key": "$KEY"})]


@pytest.mark.parametrize("command", ["train", "inspect", "eval", "scenarios", "doctor"])
def test_servers_need_no_flag(command: str) -> None:
    tree = effective(command, "http://one/mcp", "two --three", "--server", "four", "--timeout", "9")
    assert [server["target"] for server in tree["servers"]] == ["http://one/mcp", "two --three", "four"]
    assert {server["timeout_s"] for server in tree["servers"]} == {9}


@pytest.mark.parametrize("arguments", [[], ["runs"], ["setup"]], ids=" ".join)
def test_without_a_command_the_help_is_shown(arguments: list[str]) -> None:
    done = mcprl(*arguments)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Usage: mcprl ")
    assert "\nCommands:\n" in done.out


def test_what_is_said_about_servers_holds_for_each_of_them() -> None:
    tree = effective(
        "inspect", "--server", "one", "--server", "two", "--timeout", "3", "--env", "A=b=c", "--env", "D=e"
    )
    assert [server["target"] for server in tree["servers"]] == ["one", "two"]
    assert all(server["timeout_s"] == 3 for server in tree["servers"])
    assert [set(server["env"]) for server in tree["servers"]] == [{"A", "D"}] * 2


def test_the_printed_settings_hold_no_secret_and_read_back_as_the_same_settings(tmp_path: Path) -> None:
    given = [
        "--server",
        "http://h/mcp",
        "--header",
        "Authorization: Bearer s3cret",
        "--env",
        "API_KEY=$NAME",
        "--seed",
        "3",
    ]
    result = CliRunner().invoke(cli, ["train", *given, "--print-config"])
    assert "s3cret" not in result.output
    file = tmp_path / "again.toml"
    file.write_text(result.output)
    assert effective("train", "--config", str(file)) == tomllib.loads(result.output)


@settings(max_examples=50, deadline=None)
@given(
    name=st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters="/\\"), max_size=100).filter(
        lambda name: name not in (".", "..")
    ),
    env=st.dictionaries(st.text(st.characters(codec="utf-8"), min_size=1), st.from_regex(r"\$[A-Z_]+", fullmatch=True)),
    rate=st.floats(min_value=0, allow_infinity=False),
)
def test_settings_survive_being_written_as_toml(name: str, env: dict[str, str], rate: float) -> None:
    tree = {"name": name, "servers": [{"target": "t", "env": env}], "training": {"learning_rate": rate}}
    config = parse(tree)
    assert parse(tomllib.loads(dump_config(config))) == config


# --- errors: one line, exit code 2, no traceback ----------------------------------------------------------------------

WRONG = {
    "a misspelt command": (["trian"], "Did you mean 'train'"),
    "a misspelt option": (["train", "--lerning-rate", "1"], "'--learning-rate'"),
    "a value of the wrong type": (["train", "--steps", "many"], "'--steps'"),
    "a value out of range": (["train", "--group-size", "1"], "greater than or equal to 2"),
    "an unknown choice": (["train", "--control", "shuffle"], "shuffle-rewards"),
    "a header without a colon": (["inspect", "--header", "token"], "'K: V'"),
    "no server": (["inspect"], "--server"),
    "no server to train on": (["train"], "--server"),
    "a config file that is not there": (["train", "--config", "missing.toml"], "missing.toml"),
    "an unknown key": (["train", "--config", "unknown.toml"], "did you mean 'training.steps'"),
    "an unknown key of a server": (["train", "--config", "server.toml"], "did you mean 'servers.target'"),
    "a file that is not TOML": (["train", "--config", "broken.toml"], "is not TOML"),
    "a dead port": (["inspect", "--server", "http://127.0.0.1:9/mcp"], "127.0.0.1:9"),
    "a command that does not exist": (["inspect", "--server", "no-such-server"], "no-such-server"),
    "a command that exits at once": (["inspect", "--server", "false"], "false"),
    "a command that says why before its last line": (
        ["inspect", "--server", "sh -c 'echo no licence >&2; echo see the log >&2; exit 4'"],
        "exited with status 4: no licence | see the log",
    ),
    "a server without a usable tool": (["scenarios", "--server", TIME, "--deny-tool", "*"], "tool"),
    "a folder that is in use": (["scenarios", "--server", TIME, "--out", "."], "--out"),
    "a test pack that is not there": (["scenarios", "--pack", "pack", "--test-pack", "no.csv"], "no.csv"),
    "a line of a pack that is wrong": (["scenarios", "--pack", "wrong.csv"], "wrong.csv, line 2, calls: 'get(' is not"),
    "a test pack for another server": (
        ["scenarios", "--server", TIME, "--test-pack", "other.csv"],
        "other.csv: the task 'Where is it?' calls 'get_order', which the server does not offer",
    ),
    "a table to import that is not there": (["scenarios", "import", "no.csv", "--out", "new"], "no.csv"),
    "an import of nothing that holds": (["scenarios", "import", "log.jsonl", "--out", "new"], "no task could be kept"),
    "a task to add that is wrong": (["scenarios", "add", "new", "Why?", "--asks", " "], "the new task, asks: ' '"),
    "a setting that is gone": (["inspect", "--config", "gone.toml"], "scenarios.open_tasks is gone; a language model"),
    "a run that is not there": (["runs", "show", "yesterdays"], "did you mean 'yesterday'"),
    "a run to resume that is not there": (["train", "--resume", "nothing"], "nothing"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wrong")
    (folder / "unknown.toml").write_text("[training]\nstpes = 3\n")
    (folder / "gone.toml").write_text("[scenarios]\nopen_tasks = true\n")
    (folder / "server.toml").write_text('[[servers]]\ntaget = "x"\ntarget = "y"\n')
    (folder / "broken.toml").write_text("[training\n")
    (folder / "pack").mkdir()
    (folder / "pack" / "test.jsonl").write_text('{"request": "Why?"}')
    (folder / "wrong.csv").write_text("request,calls\nWhere is it?,get(\n")
    (folder / "other.csv").write_text("request,calls\nWhere is it?,get_order(id='O-1')\n")
    (folder / "log.jsonl").write_text('{"messages": [{"role": "user", "content": "hi"}]}\n')
    Journal.create(folder / "runs" / "yesterday", Config()).close()
    return folder


@pytest.mark.parametrize("case", WRONG)
def test_bad_input_is_one_line_that_says_what_to_do(case: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    arguments, hint = WRONG[case]
    done = mcprl(*arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1, done.err
    assert hint in done.err


def test_the_traceback_is_shown_on_request_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPRL_DEBUG", "1")
    done = mcprl("inspect", "--server", "no-such-server")
    assert "Traceback" in done.err
    assert done.err.rstrip().splitlines()[-1].startswith("error: ")


# --- commands ---------------------------------------------------------------------------------------------------------


def test_inspect_shows_each_tool_its_class_its_cost_and_why_it_is_left_out() -> None:
    done = mcprl("inspect", "--server", TIME, "--deny-tool", "convert*")
    assert done.code == 0, done.err
    lines = {line.split()[0]: line for line in done.out.splitlines() if line.strip()}
    assert "timezone: string" in lines["get_current_time"]
    assert "left out: denied by --deny-tool" in lines["convert_time"]
    assert "1 of 2 tools may be called" in done.out


@pytest.mark.npm
@pytest.mark.skipif(not shutil.which("node"), reason="no node")
def test_inspect_tells_reading_tools_from_writing_and_destructive_ones() -> None:
    server = NODE_BIN / "mcp-server-memory"
    if not server.exists():
        pytest.skip("no node_modules: make test installs them")
    done = mcprl("inspect", "--server", str(server), "--env", "MEMORY_FILE_PATH={scratch}/memory.json")
    assert done.code == 0, done.err
    lines = {line.split()[0]: line for line in done.out.splitlines() if line.strip()}
    assert "read-only" in lines["read_graph"]
    assert "writes" in lines["create_entities"]
    assert "left out: marked destructive" in lines["delete_entities"]


def test_inspect_shows_instructions_and_what_they_cost() -> None:
    costs: list[int] = []
    for limit in ("0", "2000"):
        server = f"{ODD} instructions 'Add one at a time.'"
        done = mcprl("inspect", "--server", server, "--max-instruction-bytes", limit)
        assert done.code == 0, done.err
        assert ("18 bytes, shown to the model" if limit == "2000" else "18 bytes, left out") in done.out
        costs.append(int(re.findall(r"prompt costs ([\d,]+) tokens", done.out)[0].replace(",", "")))
    assert costs[0] < costs[1]


def test_scenarios_shows_what_they_cover_and_saves_a_pack_that_reads_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sizes = ["--train-tasks", "6", "--val-tasks", "2", "--test-tasks", "3", "--test-forms", "0", "--probe-calls", "40"]
    done = mcprl("scenarios", "--server", TIME, *sizes, "--out", "pack")
    assert done.code == 0, done.err
    assert "convert_time.source_timezone" in done.out
    assert "held-out tasks" in done.out
    assert {path.name for path in (tmp_path / "pack").iterdir()} >= {"pack.toml", "train.jsonl", "test.jsonl"}
    again = mcprl("scenarios", "--pack", "pack")
    assert again.out.splitlines()[-1] in done.out


def test_requests_of_ones_own_are_imported_added_to_and_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.csv").write_text(
        "request,expect,calls\n"
        "What's 9 in the morning UTC on a clock in Tokyo?,18:00,\n"
        "Is it late?,,\n"
        "\"And from Tokyo to Moscow, 9 am?\",,\"convert_time(source_timezone='Asia/Tokyo', time='9')\"\n"
    )
    quick = ["--server", TIME, "--repeat-after-s", "0"]
    done = mcprl("scenarios", "import", "mine.csv", "--out", "pack", *quick)
    assert done.code == 0, done.err
    assert re.search(r"left out: line 4 has a call of convert_time that fails: \w+", done.out)
    assert "2 of 3 tasks saved in pack" in done.out
    assert "nothing is expected" in done.out
    calls = "convert_time(source_timezone='UTC', time='09:00', target_timezone='Asia/Tokyo')"
    added = mcprl("scenarios", "add", "pack", "9 am UTC in Tokyo?", "--expect", "+9.0h", "--calls", calls, *quick)
    assert added.code == 0, added.err
    assert "added to pack" in added.out
    shown = mcprl("scenarios", "--pack", "pack")
    assert "0 training, 0 validation and 3 held-out tasks" in shown.out
    task = json.loads((tmp_path / "pack" / "test.jsonl").read_text().splitlines()[-1])
    assert (task["suite"], task["checks"][1]["derived"]) == ("people", False)


def test_the_help_of_import_and_add_teaches_by_example() -> None:
    assert "request,expect,calls,state,missing,asks" in mcprl("scenarios", "import", "--help").out
    assert 'mcprl scenarios add mine "Order two for me" --asks' in mcprl("scenarios", "add", "--help").out
    told = mcprl("scenarios", "--help-all").out
    assert "--writer" in told
    assert re.search(r"Commands:\n +add .*\n +import ", told)


def test_runs_are_listed_and_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert mcprl("runs", "list").out.splitlines()[1].split()[0:5:4] == ["yesterday", "stopped"]
    with Journal.open(folder / "runs" / "yesterday", write=True) as journal:
        assert " running " in mcprl("runs", "list").out
        journal.write_event("done")
    assert " finished " in mcprl("runs", "list").out
    assert "mcprl train --resume yesterday" in mcprl("runs", "show", "yesterday").out
    assert "Nothing is proved yet" in mcprl("report", "yesterday").out
    twice = mcprl("report", "yesterday", "yesterday")
    assert (twice.code, twice.err.count("\n")) == (2, 1)
    assert "a run is named twice" in twice.err


def test_a_shell_completes_the_names_of_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for words in ("mcprl runs show yes", "mcprl train --resume yes"):
        wanted = {"_MCPRL_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        done = subprocess.run([MCPRL], env=os.environ | wanted, capture_output=True, text=True, check=False)
        assert done.stdout.split() == ["plain,yesterday"]


def test_ctrl_c_ends_a_command_with_one_line(tmp_path: Path) -> None:
    server = f"""{sys.executable} -c "import sys; open('up', 'w'); sys.stdin.read()" """
    with Forked(tmp_path, command_line, "inspect", "--server", server) as inspecting:
        while not (tmp_path / "up").exists() and inspecting.process.is_alive():
            time.sleep(0.01)
        inspecting.interrupt()
        assert (inspecting.stderr.read(), inspecting.ends()) == ("stopped\n", 130)


SIZES = "--train-tasks 4 --val-tasks 2 --test-tasks 3 --test-forms 0 --probe-calls 40"
SMALL = f"--small-pack {SIZES} --max-tokens 8 --max-turns 1".split()
STEPS = "--steps 2 --scenarios-per-step 1 --group-size 2 --eval-every 2 --name small".split()


@pytest.mark.slow
def test_train_eval_and_runs_work_on_one_run_folder(
    tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    model = ["--server", SHOP, "--model", str(tiny_model)]
    done = mcprl("train", *model, *SMALL, *STEPS)
    assert done.code == 0, done.err
    assert [line[:9] for line in done.out.splitlines() if line.startswith("step ")] == ["step   1/", "step   2/"]
    assert "held-out tasks: 3" in done.out
    assert done.out.splitlines()[-1] == "take     mcprl export small"
    assert "small" in mcprl("runs", "list").out
    assert "held-out tasks: 3" in mcprl("runs", "show", "small").out
    narrow = Console(file=io.StringIO(), width=80)
    with Journal.open(Path("runs/small")) as journal:
        show_run(narrow, journal)
    shown = narrow.file.getvalue().splitlines()  # pyright: ignore[reportAttributeAccessIssue]
    heads = next(line for line in shown if line.startswith("step "))
    assert heads.split()[:6] == "step score success groups errors turns".split()
    assert "verbatim, values aside" in mcprl("report", "small").out
    assert "written to both" in mcprl("report", "small", "--out", "both").out
    assert {path.name for path in (tmp_path / "both").iterdir()} == {"report.json", "report.md", "report.html"}
    again = mcprl("train", *model, *SMALL, *STEPS)
    assert (again.code, again.err.count("\n")) == (2, 1)
    assert "--resume small" in again.err
    (tmp_path / "mine.csv").write_text("request,expect\nHow is it going?,\nprice of SKU-318?,EUR 35.45\n")
    own = mcprl("eval", *model, *SMALL, "--pack", "runs/small/scenarios", "--test-pack", "mine.csv")
    assert own.code == 0, own.err
    assert any(line.split()[:3] == ["suite", "people", "1"] for line in own.out.splitlines())
    assert "not scored How is it going?" in own.out
    tested = mcprl("eval", *model, *SMALL, "--pack", "runs/small/scenarios", "--adapter", "runs/small/adapters/step-2")
    assert tested.code == 0, tested.err
    assert any(line.split()[:2] == ["all", "3"] for line in tested.out.splitlines())


@pytest.mark.slow
def test_ctrl_c_in_training_says_what_is_kept_and_how_to_go_on(tmp_path: Path, tiny_model: Path) -> None:
    endless = ["--recipe", "rl", "--steps", "1000", "--patience", "1000"]
    with Forked(tmp_path, command_line, "demo", "--model", tiny_model, *SMALL, *STEPS, *endless) as training:
        assert any(line.startswith("step   1/") for line in training.stdout)
        training.interrupt()
        error = training.stderr.read()
        assert training.ends() == 130, error
    assert error.count("\n") == 1, error
    assert "kept in runs/small; go on with: mcprl train --resume small" in error
    resumed = error.rpartition("go on with: mcprl ")[2].split()
    with Journal.open(tmp_path / "runs" / "small") as journal:
        assert (journal.last_step() or 0) >= 1
    with Forked(tmp_path, command_line, *resumed) as training:
        assert any(line.startswith("step ") for line in training.stdout)
        began = time.monotonic()
        for _ in range(2):
            training.interrupt()
            time.sleep(0.05)  # two signals that wait at the same time are one
        error = training.stderr.read()
        assert (training.ends(), error.count("\n")) == (130, 1), error
    assert "go on with: mcprl train --resume small" in error
    assert time.monotonic() - began < 5  # 2.5 with two busy cores
    with Journal.open(tmp_path / "runs" / "small", write=True) as journal:
        assert (journal.last_step() or 0) >= 2


def test_a_runs_name_holds_no_secret_of_its_servers_command() -> None:
    assert run_name(scrub("uvx --token sk-verysecret mcp-server-git")).startswith("mcp-server-git-")
    assert run_name(scrub("https://user:sk-verysecret@shop.example/mcp?key=sk-1")).startswith("shop")


def test_a_servers_instructions_are_left_out_for_nano_unless_asked_for(tiny_model: Path) -> None:
    assert effective("train")["tools"]["max_instruction_bytes"] == 0
    assert effective("train", "--max-instruction-bytes", "500")["tools"]["max_instruction_bytes"] == 500
    assert effective("train", "--model", str(tiny_model))["tools"]["max_instruction_bytes"] == 2_000
