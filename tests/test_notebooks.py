"""The notebooks of examples/ are pages, too: their outputs are saved, they show pictures and use public names.

That they run is tested by nbmake, beside these tests (`make test`). Those that train do it in a short form, which
stands in the metadata of the cell that says how long they train.
"""

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from support.paths import ROOT

import mcprl

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
MEANT_FOR_USERS = {"mcprl", "mcprl.config"}

EXCEPTIONS = {"mcp_rl": {"mcprl.runs.intervals"}}  # `paired_difference` has no public name


def code(notebook: Path) -> list[dict[str, Any]]:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_saved_as_it_ran_from_top_to_bottom_without_an_error(notebook: Path) -> None:
    cells = code(notebook)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert {output["output_type"] for output in outputs} <= {"stream", "display_data", "execute_result"}
    assert not [output for output in outputs if output.get("name") == "stderr"]
    assert any("image/png" in output.get("data", {}) for output in outputs)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_uses_public_names_alone(notebook: Path) -> None:
    tree = ast.parse("\n".join("".join(cell["source"]) for cell in code(notebook)))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    own = {str(node.module): {alias.name for alias in node.names} for node in imports if "mcprl" in str(node.module)}
    assert set(own) <= MEANT_FOR_USERS | EXCEPTIONS.get(notebook.stem, set())
    assert own.get("mcprl", set()) <= {*mcprl.__all__}


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_saved_notebook_names_no_folder_of_the_machine_that_it_ran_on(notebook: Path) -> None:
    text = notebook.read_text(encoding="utf-8")
    assert [word for word in (str(ROOT), str(Path.home()) + "/", "/tmp/", "site-packages") if word in text] == []


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_the_short_form_sets_is_set_by_the_very_cell(notebook: Path) -> None:
    """nbmake sets what a cell's `mock` names after the cell ran: a name that is no longer read shortens nothing."""
    for cell in code(notebook):
        mocked = set(cell["metadata"].get("nbmake", {}).get("mock", {}))
        assert mocked <= names([cell], ast.Store)
        assert mocked <= names([other for other in code(notebook) if other is not cell], ast.Load)


def names(cells: list[dict[str, Any]], use: type[ast.expr_context]) -> set[str]:
    """The names that cells store or load."""
    nodes = ast.walk(ast.parse("\n".join("".join(cell["source"]) for cell in cells)))
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, use)}
