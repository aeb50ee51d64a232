"""Files and folders that are whole or not there, and the one root of all caches."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock, Timeout

from mcprl import judges
from mcprl.config import JudgeConfig, ScenarioConfig
from mcprl.engines.vllm.environment import VERSION, default_folder
from mcprl.files import find_cache, locked, whole_folder, write_whole
from mcprl.llm.litellm import ChatModel
from mcprl.scenarios import generate as generating
from mcprl.scenarios.writers.model import ModelWriter


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.json"
    write_whole(path, b"one")
    write_whole(path, b"two")
    assert (path.read_bytes(), names(tmp_path)) == (b"two", ["report.json"])

    def full(handle: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space left"):
        write_whole(path, b"three")
    assert (path.read_bytes(), names(tmp_path)) == (b"two", ["report.json"])


def test_a_folder_takes_its_place_whole_and_replaces_what_was_there(tmp_path: Path) -> None:
    for content in ("one", "two"):
        with whole_folder(tmp_path / "runs" / "step-1") as draft:
            (draft / "inner").mkdir()
            (draft / "inner" / content).write_text(content)
            assert not (tmp_path / "runs" / "step-1" / "inner" / content).exists()
        assert names(tmp_path / "runs") == ["step-1"]
        assert names(tmp_path / "runs" / "step-1" / "inner") == [content]


def test_a_block_that_fails_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "step-1"
    for before in ([], ["kept"]):
        with pytest.raises(LookupError), whole_folder(path) as draft:
            (draft / "half").touch()
            raise LookupError
        assert (names(path) if path.exists() else []) == before
        path.mkdir(exist_ok=True)
        (path / "kept").touch()
    assert names(tmp_path) == ["step-1"]


def test_a_replacement_that_was_killed_is_undone_or_finished_by_the_next(tmp_path: Path) -> None:
    path = tmp_path / "step-1"
    (tmp_path / ".step-1.old").mkdir()  # killed between the two renames
    (tmp_path / ".step-1.old" / "kept").touch()
    (tmp_path / ".step-1.part").mkdir()
    with pytest.raises(LookupError), whole_folder(path):
        raise LookupError
    assert (names(tmp_path), names(path)) == (["step-1"], ["kept"])


def test_every_cache_is_below_the_same_root_unless_named_or_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("MCPRL_VLLM", raising=False)
    assert find_cache(JudgeConfig().cache, "judge") == tmp_path / "mcprl" / "judge"
    assert find_cache(ScenarioConfig().writer_cache, "writer") == tmp_path / "mcprl" / "writer"
    assert default_folder("cpu") == tmp_path / "mcprl" / f"vllm-{VERSION}-cpu"
    assert find_cache("~/mine", "judge") == Path.home() / "mine"
    assert find_cache("", "judge") is None
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert find_cache("auto", "judge") == Path.home() / ".cache" / "mcprl" / "judge"


def test_a_judges_and_a_writers_replies_are_kept_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    judge = judges._model(JudgeConfig(model="openai/gpt-4o"), None)
    writer = generating._open_writer(ScenarioConfig(writer="llm:openai/gpt-4o", writer_base_url="http://x"), 0, print)
    assert isinstance(judge, ChatModel)
    assert isinstance(writer, ModelWriter)
    assert isinstance(writer._model, ChatModel)
    assert (judge.cache, writer._model.cache) == (tmp_path / "mcprl" / "judge", tmp_path / "mcprl" / "writer")


def test_a_lock_keeps_other_processes_out_and_ends_with_the_process_that_holds_it(tmp_path: Path) -> None:
    holder = "import sys; from pathlib import Path; from mcprl.files import locked\n"
    holder += "with locked(Path(sys.argv[1])): print('locked', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", holder, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == b"locked\n"
        with pytest.raises(Timeout):
            FileLock(tmp_path / ".lock").acquire(timeout=0)
        process.kill()
        process.wait()
    with locked(tmp_path):
        assert (tmp_path / ".lock").exists()


LIMITED = """
import resource
from mcprl.errors import ConfigError
from mcprl.files import allow_open_files
resource.setrlimit(resource.RLIMIT_NOFILE, (256, {hard}))
try:
    allow_open_files(100)
    print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
except ConfigError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("hard", "said"),
    [
        (1000, "656"),
        (512, "engine.max_batch = 100 needs up to 656 open files, and this system allows 512 for a process"),
    ],
)
def test_open_files_are_allowed_as_rollouts_need_them_or_the_number_is_said(hard: int, said: str) -> None:
    code = LIMITED.format(hard=hard)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith(said)
