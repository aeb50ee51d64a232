"""The architecture holds: modules import only what lies below them, and the light ones stay light."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path
from types import ModuleType

import pytest
from support.paths import ROOT

HEAVY = "torch transformers peft litellm openai ray wandb matplotlib mcp mcp_types fastapi uvicorn".split()


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


@pytest.mark.parametrize("command", ["train", "eval"])
def test_a_dead_port_is_told_before_anything_heavy_is_loaded(command: str) -> None:
    call = f"""
import socket
from mcprl.cli.commands import main
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
try:
    main([{command!r}, "--server", f"http://127.0.0.1:{{port}}/mcp"])
except SystemExit as stop:
    assert stop.code == 2, stop.code
"""
    assert loaded_by(call).isdisjoint(HEAVY)


PUBLIC = """
    Config History LocalBackend McprlError OwnParts RemoteBackend TrainSFTConfig TrainableModel TrainingConfig
    Trajectory TrajectoryGroup __version__ connect gather_trajectories gather_trajectory_groups generate
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


# --- names --------------------------------------------------------------------------------------------------


def sources() -> dict[str, str]:
    """The tracked Python files of the package."""
    listed = subprocess.run(["git", "ls-files", "mcprl"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {name: (ROOT / name).read_text() for name in listed.split() if name.endswith(".py")}


def test_an_engineer_sees_the_whole_package_at_a_glance() -> None:
    listed = subprocess.run(["git", "ls-files", "mcprl"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    entries = {name.split("/")[1] for name in listed.split()} - {"py.typed"}
    assert len(entries) <= 27  # 24 stages, verbs and words that all share, and `benches`, `viewing` and `serving`


def test_no_two_classes_have_one_name() -> None:
    defined: dict[str, list[str]] = {}
    for name, text in sources().items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                defined.setdefault(node.name, []).append(f"{name}:{node.lineno}")
    assert not {name: places for name, places in defined.items() if len(places) > 1}


def test_no_two_packages_import_each_other() -> None:
    """import-linter lets siblings of one layer do so."""
    graph: dict[str, set[str]] = {}
    for name, text in sources().items():
        importer = name.split("/")[1].removesuffix(".py")
        names = imported(ast.parse(text))
        parts = {part for part in names if part and part != importer}
        graph.setdefault(importer, set()).update(parts)
    del graph["__init__"]  # it names what is public and imports on first use
    TopologicalSorter(graph).prepare()  # raises CycleError


def imported(tree: ast.AST) -> set[str]:
    """The packages and flat modules of mcprl that a file imports, except for type checkers."""
    found: set[str] = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.ImportFrom) and node.module == "mcprl":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mcprl."):
            found.add(str(node.module).split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("mcprl.")}
        found |= imported(node)
    return found - {"__version__"}


def test_no_lambda_has_a_name() -> None:
    assert not [name for name, text in sources().items() if "noqa: E731" in text]
