"""The requests that people wrote for shop, time, filesystem and memory: right, no two alike, read by tests only."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import TypeAdapter
from support.fixtures_files import FILES, make_files, make_memory
from support.once import replayed
from support.paths import NODE_BIN, ROOT

from mcprl.config import ServerConfig, ToolPolicy
from mcprl.judges.verifier import Verifier
from mcprl.servers.server import connect
from mcprl.types import AsksBack, Declines, Scenario

PEOPLE = ROOT / "scenarios" / "people"
NAMES = ("shop", "time", "filesystem", "memory")
STILL_REFUSED = {
    *(f"people-shop-{number}" for number in ("086", "088")),
    *(f"people-time-{number}" for number in ("030", "055", "058", "060")),
    *(f"people-filesystem-{number}" for number in ("035", "048")),
    *(f"people-memory-{number}" for number in ("035", "041")),
}
"""Right answers that the checks still refuse: "no X for Y", a sign in words, a count with what was counted."""
READERS: tuple[str, ...] = ()
"""The modules that may name the folder: those that load a test pack for evaluation."""


def pack(name: str) -> list[Scenario]:
    lines = (PEOPLE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [TypeAdapter(Scenario).validate_json(line) for line in lines]


def server(name: str, folder: Path, shop: ServerConfig) -> tuple[ServerConfig, ToolPolicy]:
    """The server that a pack is for, in a fresh state for each session."""
    if name == "shop":
        return shop, ToolPolicy()
    if name == "time":
        if shutil.which("mcp-server-time", path=str(Path(sys.executable).parent)) is None:
            pytest.skip("mcp-server-time is not installed: pip install mcp-server-time")
        return ServerConfig(target="mcp-server-time --local-timezone UTC"), ToolPolicy()
    program = NODE_BIN / f"mcp-server-{name}"
    if not program.exists() or shutil.which("node") is None:
        pytest.skip(f"{program.name} is not installed: run npm install here, or set MCPRL_NODE_BIN")
    if name == "filesystem":
        make_files(folder / "files")
        command = f"cp -r {folder}/files {{scratch}}/files && exec {program} {{scratch}}/files"
        return ServerConfig(target=f"sh -c '{command}'"), ToolPolicy(allow_destructive=True)
    make_memory(folder / "memory.jsonl")
    command = f"cp {folder}/memory.jsonl {{scratch}}/memory.jsonl && exec {program}"
    env = {"MEMORY_FILE_PATH": "{scratch}/memory.jsonl"}
    return ServerConfig(target=f"sh -c '{command}'", env=env), ToolPolicy()


@pytest.mark.parametrize("name", NAMES)
def test_a_pack_has_sixty_requests_and_no_two_alike(name: str) -> None:
    scenarios = pack(name)
    assert len(scenarios) >= 60
    assert len({scenario.id for scenario in scenarios}) == len(scenarios)
    words = [" ".join(re.findall(r"\w+", scenario.request.casefold())) for scenario in scenarios]
    assert len(set(words)) == len(words)
    for scenario in scenarios:
        assert (scenario.split, scenario.suite, bool(scenario.checks)) == ("test", "people", True), scenario.id
        assert scenario.answer, scenario.id
        silent = any(isinstance(check, AsksBack | Declines) for check in scenario.checks)
        assert silent != bool(scenario.plan), scenario.id


@pytest.mark.slow
@pytest.mark.parametrize("name", ["shop", "time", *(pytest.param(n, marks=pytest.mark.npm) for n in NAMES[2:])])
async def test_the_plan_and_answer_of_every_request_pass(name: str, tmp_path: Path, shop: ServerConfig) -> None:
    config, policy = server(name, tmp_path, shop)
    refused: list[str] = []
    async with connect([config], policy) as connected:
        verifier = Verifier(connected.tools)
        for scenario, played in zip(pack(name), await replayed(connected, pack(name)), strict=True):
            score = verifier.verify(scenario, played)
            if not score.success:
                refused.append(f"{scenario.id} {scenario.answer!r}: {score.explanation}")
    assert {line.split()[0] for line in refused} <= STILL_REFUSED, "\n".join(refused)


def test_the_folder_is_always_the_same(tmp_path: Path) -> None:
    make_files(tmp_path)
    made = {str(path.relative_to(tmp_path)): path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    assert made == FILES


def test_no_generator_recipe_or_training_code_reads_the_requests() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = re.compile(
        r"scenarios[/\"', ]+people|\"people/|'people/|people/\w+\.jsonl|people-(?:shop|time|filesystem|memory)-"
    )
    for path in listed.splitlines():
        if path in READERS or not path.startswith(
            ("mcprl/", "recipes/", "presets/", "judges/", "examples/", "scenarios/")
        ):
            continue
        if not path.startswith("scenarios/people/"):
            assert not names.search((ROOT / path).read_text(encoding="utf-8", errors="ignore")), path


def test_no_request_stands_elsewhere_in_the_repository() -> None:
    requests = [scenario.request for name in NAMES for scenario in pack(name) if len(scenario.request) > 20]
    folders = [
        ROOT / folder for folder in ("mcprl", "recipes", "presets", "scenarios", "examples", "docs", "benchmarks")
    ]
    for path in (path for folder in folders for path in folder.rglob("*") if path.suffix in {".py", ".md", ".jsonl"}):
        if PEOPLE not in path.parents:
            text = path.read_text(encoding="utf-8", errors="ignore")
            assert not [request for request in requests if request in text], path
