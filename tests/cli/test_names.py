"""Names from outside never make a path, and nothing pickled is loaded."""

import json
import os
import pickle
import shutil
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
import torch
from support.command_line import mcprl
from support.configs import small
from support.listed import READS, Listed, listed
from support.models import byte_level_tokenizer, random_model
from support.paths import SHOP

from mcprl import TrainableModel
from mcprl.art.own import train_adapter
from mcprl.errors import ConfigError
from mcprl.runs.journal import Journal

EVIL = ["../escape", "/tmp/escape", "a/../../escape", "nul\0byte", "x" * 300, "..", "."]


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """A working directory, beside which nothing may be made."""
    folder = tmp_path / "outer" / "work"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    yield folder
    assert os.listdir(tmp_path / "outer") == ["work"]
    assert not Path("/tmp/escape").exists()


@pytest.mark.parametrize("name", EVIL)
@pytest.mark.parametrize(
    "command",
    [
        ["train", "--server", SHOP, "--name"],
        ["train", "--resume"],
        ["runs", "show"],
        ["report"],
        ["export"],
        ["eval", "--server", SHOP, "--adapter"],
        ["train", "--server", SHOP, "--model"],
        ["train", "--server", SHOP, "--pack"],
        ["train", "--server", SHOP, "--judge-model", "openai/x", "--judge"],
        ["train", "--server", SHOP, "--preset"],
        ["inspect", "--server"],
    ],
    ids=lambda command: " ".join(word for word in command if word != SHOP),
)
def test_a_name_that_is_a_path_or_no_file_name_is_refused_in_one_line(
    command: list[str], name: str, inside: Path
) -> None:
    given = f"replay:{name}" if command[0] == "inspect" else f"ruler:{name}" if command[-1] == "--judge" else name
    result = mcprl(*command, given)
    assert result.code == 2, result.err
    assert result.err.count("\n") == 1
    assert "a bug in mcprl" not in result.err
    assert os.listdir(inside) == []


@pytest.mark.parametrize("name", EVIL)
def test_a_model_from_python_has_no_name_that_is_a_path(name: str, inside: Path) -> None:
    with pytest.raises(ConfigError, match="without slashes"):
        TrainableModel(name)
    with pytest.raises(ConfigError, match="without slashes"):
        TrainableModel("shop", name)


@pytest.mark.slow
async def test_tools_and_tasks_with_such_names_are_trained_on_inside_the_run(tiny_model: Path, inside: Path) -> None:
    rows = [{"room": f"R-{n}", "floor": n // 4} for n in range(12)]
    tools = [listed(name, "List the rooms.", READS) | {"rows": rows} for name in EVIL]
    server = Listed(
        inside.parent.parent / "server", [*tools, listed("get_room", "", READS, room="string") | {"rows": rows}]
    )
    tasks: list[dict[str, Any]] = [
        {
            "id": f"{name}-{split}",
            "request": f"What floor is R-{place} on?",
            "split": split,
            "plan": [],
            "answer": f"It is on floor {place // 4}.",
            "checks": [check],
        }
        for place, (name, split) in enumerate((name, split) for name in EVIL[:3] for split in ("train", "val", "test"))
        for check in [{"value": place // 4, "name": "floor", "kind": "fact"}]
    ]
    pack = inside.parent.parent / "pack.jsonl"
    pack.write_text("".join(json.dumps(task) + "\n" for task in tasks))
    config = small(
        tiny_model, inside / "runs", servers=[{"target": server.command}], record=True, scenarios={"pack": str(pack)}
    )
    await train_adapter(config)
    with Journal.open(inside / "runs" / "small") as journal:
        assert {*EVIL[:3]} == {scenario.id.rpartition("-")[0] for scenario in journal.scenarios()}
        assert {trajectory.scenario_id for trajectory in journal.trajectories("train")} <= {t["id"] for t in tasks}
    assert os.listdir(inside) == ["runs"]
    kept = [file for file in (inside / "runs").rglob("*") if file.is_file() and file.suffix != ".safetensors"]
    assert len(kept) > 10
    for file in kept:
        assert not file.read_bytes().startswith((b"\x80", b"PK")), file  # neither a pickle nor torch's zip of one


# --- nothing pickled is loaded ----------------------------------------------------------------------------------------


class Bomb:
    """Makes a folder when it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.folder),)


@pytest.mark.parametrize("name", ["adapter_model.bin", "adapter_model.pt", "adapter_model.safetensors"])
def test_a_pickled_adapter_is_refused_and_not_opened(name: str, tmp_path: Path, tiny_model: Path) -> None:
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "r": 16, "lora_alpha": 32}))
    (adapter / name).write_bytes(pickle.dumps(Bomb(tmp_path / "fallen")))
    pack = tmp_path / "pack.jsonl"
    pack.write_text(json.dumps({"request": "What?", "expect": "x", "split": "test"}) + "\n")
    result = mcprl("eval", "--server", SHOP, "--model", str(tiny_model), "--adapter", str(adapter), "--pack", str(pack))
    assert result.code == 2, result.err
    assert result.err.count("\n") == 1
    assert "adapter" in result.err
    assert not (tmp_path / "fallen").exists()


@pytest.mark.parametrize("whole", [True, False], ids=["weights", "a bomb"])
def test_a_base_model_with_pickled_weights_is_refused_and_not_opened(
    whole: bool, tmp_path: Path, tiny_model: Path
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(tiny_model, folder)
    (folder / "model.safetensors").unlink()
    if whole:
        model = random_model(vocab_size=len(byte_level_tokenizer()))
        torch.save(model.state_dict(), folder / "pytorch_model.bin")
    else:
        (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Bomb(tmp_path / "fallen")))
    result = mcprl("train", "--server", SHOP, "--model", str(folder), "--runs-dir", str(tmp_path / "runs"))
    assert result.code == 2, result.err
    assert "pickled" in result.err
    assert "safetensors" in result.err
    assert not (tmp_path / "fallen").exists()
    assert not (tmp_path / "runs").exists()
