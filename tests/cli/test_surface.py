"""What a command shows of itself, how any setting is given, and where results and progress go."""

import io
import json
import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from rich.console import Console
from support.command_line import effective, mcprl
from support.paths import ROOT

from mcprl.cli.doctor import Finding
from mcprl.cli.output import output_options, present
from mcprl.cli.progress import Progress
from mcprl.cli.tables import show_findings
from mcprl.events import Note
from mcprl.runs.report import _columns as columns

OPTION = re.compile(r"^  (?:-\w, )?--[\w-]+", re.MULTILINE)


def test_the_help_of_train_shows_a_few_options_and_examples_and_says_where_the_rest_is() -> None:
    text = mcprl("train", "--help").out
    shown, every = len(OPTION.findall(text)), len(OPTION.findall(mcprl("train", "--help-all").out))
    assert shown <= 25
    assert f"{every - shown} more options: --help-all shows them." in text
    assert text.count("  mcprl train ") == 3
    assert "1e+09" not in mcprl("train", "--help-all").out


@pytest.mark.parametrize("command", ["train", "demo", "eval", "scenarios", "inspect", "doctor"])
def test_a_help_fits_80_columns(command: str) -> None:
    assert max(map(len, mcprl(command, "--help").out.splitlines())) <= 80


def test_the_list_of_commands_fits_80_columns_and_cuts_no_sentence() -> None:
    lines = mcprl("--help").out.splitlines()
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if line.startswith("  ") and line.endswith("...")] == []


def test_a_long_finding_goes_on_below_itself_on_a_terminal_and_is_one_line_elsewhere() -> None:
    told = Finding("packages", "ok", "mcp 2.3.0, " + "torch " * 30)
    for terminal, lines in ((True, 3), (False, 1)):
        screen = Console(file=io.StringIO(), width=80, force_terminal=terminal, color_system=None)
        assert show_findings(screen, [told]) == 0
        printed = [line for line in screen.file.getvalue().splitlines() if "torch" in line]  # pyright: ignore[reportAttributeAccessIssue]
        assert len(printed) == lines
        assert all(line.startswith(15 * " " + "torch") for line in printed[1:])


def test_any_setting_can_be_given_by_its_key_and_wins_over_its_flag() -> None:
    given = {
        "training.group_size": "4",
        "tools.read_only": "true",
        "model.template_options": "enable_thinking=false",
        "servers.timeout_s": "9",
    }
    words = [word for key, value in given.items() for word in ("--set", f"{key}={value}")]
    globs = ["--set", "tools.allow=get_*", "--set", "tools.allow=list_*"]
    tree = effective("train", "demo:shop", "--group-size", "2", *words, *globs)
    assert tree["training"]["group_size"] == 4
    assert tree["tools"]["read_only"] is True
    assert tree["tools"]["allow"] == ["get_*", "list_*"]
    assert tree["model"]["template_options"] == {"enable_thinking": "false"}
    assert tree["servers"][0]["timeout_s"] == 9


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("training.group_sise=4", "is no setting of this command; did you mean training.group_size?"),
        ("training.group_size", "is not of the form KEY=VALUE"),
        ("training.group_size=1", "greater than or equal to 2"),
    ],
)
def test_a_setting_that_cannot_be_is_one_line(setting: str, said: str) -> None:
    done = mcprl("train", "demo:shop", "--set", setting)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert said in done.err


@click.command()
@output_options
def working() -> None:
    with Progress("working") as emit:
        emit(Note("half way"))
    present(lambda screen: screen.print("42 tasks"), lambda: {"tasks": 42})


@pytest.mark.parametrize(
    ("flags", "out", "err"),
    [
        ([], "half way\n42 tasks\n", ""),
        (["--quiet"], "42 tasks\n", ""),
        (["--json"], '{"tasks": 42}\n', "half way\n"),
        (["--json", "-q"], '{"tasks": 42}\n', ""),
    ],
)
def test_results_go_to_standard_output_and_progress_where_it_does_not_disturb(
    flags: list[str], out: str, err: str
) -> None:
    done = CliRunner().invoke(working, flags, catch_exceptions=False)
    assert (done.stdout, done.stderr) == (out, err)


def test_the_list_of_runs_is_one_object_for_programs(tmp_path: Path) -> None:
    assert json.loads(mcprl("runs", "list", "--json", "--runs-dir", str(tmp_path)).out) == {"runs": []}


def test_a_verbose_command_shows_where_an_error_came_from() -> None:
    assert "Traceback" in mcprl("inspect", "-v", "/no/such/server").err
    assert "Traceback" not in mcprl("inspect", "/no/such/server").err


def test_the_exit_codes_stand_in_the_help_and_in_the_documentation() -> None:
    codes = re.findall(r"(?<!\d)(\d+)\s+\w", mcprl("--help").out.partition("Exit codes:")[2])
    documented = re.findall(r"^\| (\d+) \|", (ROOT / "docs" / "commands.md").read_text(), re.MULTILINE)
    assert sorted(codes) == sorted(documented) == ["0", "1", "130", "2"]


def test_a_table_that_is_wider_than_the_terminal_goes_on_below_and_cuts_no_number() -> None:
    rows = [("by tool", "tasks", "base", "gain (95 %)"), ("get_order", "12", "16.7 %", "+0.0 (-26.7 to +26.7)")]
    assert len(columns(rows, 80).splitlines()) == 2
    assert columns(rows, 40).splitlines() == [
        "by tool    tasks    base",
        "get_order     12  16.7 %",
        "",
        "by tool              gain (95 %)",
        "get_order  +0.0 (-26.7 to +26.7)",
    ]
