"""The architecture holds: modules import only what lies below them, and the light ones stay light."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from support.paths import ROOT

HEAVY = "torch transformers peft litellm openai ray wandb matplotlib mcp mcp_types".split()


def loaded_by(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after `code`."""
    script = f"import sys\n{code}\nprint('\\nloaded:', *{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.rpartition("loaded:")[2].split())


def test_each_layer_imports_only_what_lies_below_it() -> None:
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]  # in here it would switch our loggers off
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert loaded_by("import mcprl").isdisjoint([*HEAVY, "pydantic", "numpy"])


@pytest.mark.parametrize("arguments", [[], ["train"], ["inspect"], ["runs"], ["runs", "list"]], ids=" ".join)
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    call = f"""
from mcprl.cli.commands import main
try:
    main({[*arguments, "--help"]})
except SystemExit as stop:
    assert stop.code == 0, stop.code
"""
    assert loaded_by(call).isdisjoint(HEAVY)


def test_inspect_needs_neither_torch_nor_what_comes_with_it() -> None:
    call = f"""
for name in {[name for name in HEAVY if not name.startswith("mcp")] + ["tokenizers", "jinja2", "safetensors"]}:
    sys.modules[name] = None  # importing it raises ImportError
from mcprl.cli.commands import main
try:
    main(["inspect", "--server", "mcp-server-time"])
except SystemExit as stop:
    assert stop.code == 0, stop.code
"""
    assert "mcp" in loaded_by(call)


PUBLIC = """
    Config McprlError TrainableModel Trajectory TrajectoryGroup __version__ connect gather_trajectory_groups generate
    generate_scenarios load_pack ruler ruler_score_group train_adapter
""".split()


def test_the_public_names_are_these_and_none_is_a_module() -> None:
    import mcprl

    assert sorted(mcprl.__all__) == PUBLIC
    assert [name for name in PUBLIC if isinstance(getattr(mcprl, name, None), ModuleType | None)] == []
    assert not [name for name in PUBLIC if (ROOT / "mcprl" / name).exists() or (ROOT / "mcprl" / f"{name}.py").exists()]
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = mcprl.nonsense


def test_scoring_a_group_and_writing_tasks_load_no_torch() -> None:
    assert "torch" not in loaded_by("from mcprl import generate_scenarios, ruler_score_group, TrajectoryGroup")
