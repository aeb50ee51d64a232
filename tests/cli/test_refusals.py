"""What cannot work is refused in one line, before anything is done: the value, what was expected, what to do."""

import sys
from pathlib import Path
from typing import Any

import pytest
from support.command_line import mcprl
from support.paths import SHOP

from mcprl.config import Config
from mcprl.runs.journal import Journal

FALSE = f"{sys.executable} -c 'import sys; sys.exit(\"no licence here\")'"


def refusal(*arguments: Any, code: int = 2) -> str:
    """The one line with which a command is refused."""
    result = mcprl(*map(str, arguments))
    assert result.code == code, result.err
    assert result.err.startswith("error: ")
    assert result.err.count("\n") == 1
    assert "a bug in mcprl" not in result.err
    assert len(result.err) < 2_500
    return result.err


@pytest.mark.parametrize(
    ("target", "cause"),
    [
        ("http://[::1", "is no URL (Invalid IPv6 URL)"),
        ("http://h:99999/mcp", "is no URL (Port out of range 0-65535)"),
        ("http://h:abc/mcp", "is no URL (Port could not be cast"),
        ("http:///mcp", "is no URL (it names no host)"),
        ("python a\0b", "holds a character that no command or URL can hold"),
        ("http://h/\udcff", "holds a character that no command or URL can hold"),
        (f"python {'x' * 200_000}", "No such file"),
        ("no-such-program " + "x" * 200_000, "no such command"),
    ],
)
def test_a_server_that_cannot_be_meant_is_refused(target: str, cause: str, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    for command in (["inspect"], ["train", "--runs-dir", runs]) if len(target) < 1000 else (["inspect"],):
        assert cause in refusal(*command, "--server", target, "--timeout", "5") or len(target) > 1000
    assert not runs.exists()


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b'name = "\xff\xfe"\n', "is not UTF-8"),
        (b"a = " + b"[" * 5_000 + b"]" * 5_000, "is nested too deeply"),
        (b"seed = " + b"9" * 5_000, "holds a number of too many digits"),
        (b"a" + b".a" * 5_000 + b" = 1", "unknown key 'a'"),
        (b'name = "' + b"x" * 200_000 + b'"', "give a name of at most 100 characters"),
        (b'[tools]\nread_only = "' + b"x" * 200_000 + b'"', "tools.read_only"),
        (b'[[servers]]\ntarget = "s"\nheaders = "Bearer my-own-5ecret"', "servers.0.headers = '***'"),
    ],
)
def test_a_config_file_that_cannot_be_read_is_refused(content: bytes, cause: str, tmp_path: Path) -> None:
    (tmp_path / "given.toml").write_bytes(content)
    for command in ("inspect", "train", "eval"):
        error = refusal(command, "--config", tmp_path / "given.toml", "--server", "false")
        assert cause in error
        assert str(tmp_path / "given.toml") in error


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "../elsewhere", "..", "a/b", "\udcff", "a\nb"])
def test_a_run_name_that_is_no_folder_name_is_refused(name: str, tmp_path: Path) -> None:
    error = refusal("train", "--server", "false", "--runs-dir", tmp_path / "runs", "--name", name)
    assert "name" in error
    assert "give a name of at most 100 characters" in error
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("place", ["file", "file/below", "/proc/nowhere", "a\0b", "x" * 300, "full"])
def test_a_place_that_cannot_be_written_is_refused_before_any_work(place: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    out = place if place.startswith("/") else f"{tmp_path}/{place}"
    commands = [
        ["scenarios", "--server", "no-such-program", "--out", out],
        ["scenarios", "import", tmp_path / "no-such.csv", "--out", out],
    ]
    for command in commands:
        assert "--out" in refusal(*command)
    if place != "full":
        assert "cannot make the run folder" in refusal("train", "--server", "no-such-program", "--runs-dir", out)
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize(
    ("files", "cause"),
    [
        ({"pack.toml": b'generator = "\xff"\n', "train.jsonl": b""}, "pack.toml is not UTF-8"),
        ({"pack.toml": b"tool_hash = 7\n", "train.jsonl": b""}, "pack.toml: tool_hash = 7"),
        ({"pack.toml": b"seed = " + b"9" * 5_000, "train.jsonl": b""}, "pack.toml"),
        ({"train.jsonl": b'{"request": "\xff"}\n'}, "train.jsonl"),
        ({"train.jsonl": b"[" * 100_000}, "train.jsonl"),
        ({"train.jsonl": b'{"request": ' + b"9" * 5_000 + b"}"}, "train.jsonl"),
    ],
)
def test_a_pack_that_cannot_be_read_is_refused_before_a_run_has_a_folder(
    files: dict[str, bytes], cause: str, tmp_path: Path
) -> None:
    pack, runs = tmp_path / "pack", tmp_path / "runs"
    pack.mkdir()
    for name, content in files.items():
        (pack / name).write_bytes(content)
    assert cause in refusal("scenarios", "--pack", pack)
    assert cause in refusal("train", "--server", SHOP, "--runs-dir", runs, "--pack", pack)
    assert not runs.exists()


@pytest.mark.parametrize(
    "typo",
    [
        ["--server", "no-such-program"],
        ["--server", "http://127.0.0.1:1/mcp"],
        ["--server", FALSE],
        ["--server", SHOP, "--pack", "no-such-pack"],
        ["--server", SHOP, "--test-pack", "no-such-pack"],
        ["--server", SHOP, "--judge", "no-such-judge"],
        ["--server", SHOP, "--judge", "ruler:no-such-rubric", "--judge-model", "openai/gpt-4o"],
        ["--server", SHOP, "--tracker", "no-such-tracker"],
        ["--server", SHOP, "--model", "/no/such/model"],
        ["--server", SHOP, "--writer", "no-such-writer"],
        ["--server", SHOP, "--header", "Key sk-1"],
    ],
    ids=lambda typo: " ".join(typo)[-40:],
)
def test_a_typo_leaves_no_run_folder(typo: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    error = refusal("train", *typo)
    assert not (tmp_path / "runs").exists()
    if FALSE in typo:
        assert "exited with status 1: no licence here" in error


def test_a_run_name_that_is_taken_is_refused_before_the_server_is_asked(tmp_path: Path) -> None:
    Journal.create(tmp_path / "taken", Config()).close()
    error = refusal("train", "--server", "no-such-program", "--runs-dir", tmp_path, "--name", "taken")
    assert "already holds a run: go on with --resume taken, or choose another --name" in error


def test_an_evaluation_that_there_is_not_is_named_with_those_that_there_are(tmp_path: Path) -> None:
    (tmp_path / "evals" / "20260101-1").mkdir(parents=True)
    error = refusal("eval", "--resume", "mine", "--runs-dir", tmp_path)
    assert "no evaluation 'mine'" in error
    assert "20260101-1" in error
