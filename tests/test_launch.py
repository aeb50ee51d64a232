"""What SkyPilot is given for a run in a cloud. No cloud is reached: `mcprl launch` has never launched anything."""

import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.command_line import mcprl

from mcprl.cli import skypilot
from mcprl.cli.launching import plan
from mcprl.config import Config
from mcprl.errors import ConfigError
from mcprl.models import installing
from mcprl.runs.settings import parse

URL = "https://example.org/mcp"


def config(**more: Any) -> Config:
    given = {"name": "far", "servers": [{"target": URL, "headers": {"Authorization": "Bearer $TOKEN"}}]}
    return parse({**given, **more})


def test_a_task_has_an_accelerator_that_fits_the_files_and_the_names_of_secrets(tmp_path: Path) -> None:
    pack = tmp_path / "pack"
    pack.mkdir()
    launch = plan(config(scenarios={"pack": str(pack)}), "aws", secrets=["OPENAI_API_KEY"])
    assert launch.task["resources"]["accelerators"] == "L4:1"
    assert launch.task["resources"]["autostop"]["down"] is True
    assert launch.task["file_mounts"] == {"~/mcprl/files/0-pack": str(pack)}
    assert launch.task["secrets"] == {"OPENAI_API_KEY": None, "TOKEN": None}
    settings = launch.files["~/mcprl/run.toml"]
    assert 'pack = "~/mcprl/files/0-pack"' in settings
    assert "Bearer $TOKEN" in settings
    assert 'runs_dir = "~/mcprl/runs"' in settings
    assert "dtype" not in settings, "what follows from the model is left to the machine that runs it"
    assert parse(tomllib.loads(settings)).name == "far"


def test_a_secret_in_a_setting_is_sent_in_no_file() -> None:
    secret = {"target": URL, "headers": {"Authorization": "Bearer sk-live-0123456789abcdef"}}
    with pytest.raises(ConfigError, match="name a variable"):
        plan(config(servers=[secret]), "aws")


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"servers": [{"target": "mcp-server-time"}]}, "is a program of this machine"),
        ({"servers": [{"target": "http://127.0.0.1:8000/mcp"}]}, "an address of this machine alone"),
        ({"judge": {"name": "ruler:default", "model": "x", "base_url": "http://localhost:1/v1"}}, "localhost"),
    ],
)
def test_what_a_machine_in_a_cloud_could_not_reach_is_refused(settings: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        plan(config(**settings), "aws")


def test_a_dry_run_prints_the_task_that_skypilots_own_loader_takes(tmp_path: Path) -> None:
    shown = mcprl("launch", URL, "--cloud", "aws", "--name", "far", "--dry-run")
    assert shown.code == 0, shown.err
    task = yaml.safe_load(shown.out)
    assert task["resources"]["infra"] == "aws"
    place = skypilot.default_folder()
    if installing.find(place) is None:
        pytest.skip("the task's shape was tested; SkyPilot's loader is not here (mcprl setup skypilot --cloud aws)")
    file = tmp_path / "task.yaml"
    file.write_text(shown.out)
    code = f"import sky; task = sky.Task.from_yaml({str(file)!r}); print(task.name, [*task.resources][0])"
    taken = subprocess.run(
        [installing.python_of(place), "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert taken.returncode == 0, taken.stderr[-2000:]
    assert "AWS" in taken.stdout
