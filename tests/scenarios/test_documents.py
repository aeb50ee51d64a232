"""Files: people name them by what they are, ask for what stands in them, and have it changed."""

import sys
from pathlib import Path

import pytest
from support.once import replayed

from mcprl.config import ScenarioConfig, ServerConfig, ToolPolicy
from mcprl.judges.verifier import Verifier
from mcprl.scenarios.generate import generate
from mcprl.scenarios.packs.pack import Pack
from mcprl.scenarios.probing.draws import replacement
from mcprl.scenarios.probing.results import inner_paths
from mcprl.scenarios.readers import read_text
from mcprl.scenarios.slots import slots
from mcprl.servers.server import connect
from mcprl.types import Scenario, StateHolds, Tool, ToolResult

PAPERS = ServerConfig(target=f"{sys.executable} {Path(__file__).parents[1] / 'support' / 'servers' / 'papers.py'}")


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def pack() -> Pack:
    sizes = ScenarioConfig(train=80, val=2, test=8, test_forms=4, probe_calls=120, repeat_after_s=0.0)
    async with connect([PAPERS], ToolPolicy()) as server:
        return await generate(server, sizes, seed=1)


def test_the_items_of_an_invoice_are_a_list_of_its_record() -> None:
    text = "Customer: Harbor Cafe\nDate: 2026-01-12\nItem: House blend\nItem: Delivery\nTotal: 385.00 EUR\n"
    whole = {
        "Customer": "Harbor Cafe",
        "Date": "2026-01-12",
        "Item": ["House blend", "Delivery"],
        "Total": "385.00 EUR",
    }
    assert read_text(text) == whole


def editor(name: str, *keys: str) -> Tool:
    properties = {key: {"type": "string"} for key in keys}
    return Tool(name, "", {"type": "object", "properties": properties, "required": [*keys]})


@pytest.mark.parametrize(
    ("tool", "pair"),
    [
        (editor("edit_file", "path", "oldText", "newText"), ("oldText", "newText")),
        (editor("str_replace", "file_path", "old_str", "new_str"), ("old_str", "new_str")),
        (editor("replace_in_file", "path", "search", "replace"), ("search", "replace")),
        (editor("rename_file", "old_path", "new_path"), None),
        (editor("rename_symbol", "file_path", "old_name", "new_name"), None),
        (editor("str_replace_editor", "command", "path", "old_str", "new_str"), None),
        (editor("read_history", "path", "before", "after"), None),
    ],
)
def test_which_tools_replace_a_text_in_a_file(tool: Tool, pair: tuple[str, str] | None) -> None:
    found = replacement(tool, slots(tool))
    assert (found and (found.old.key, found.new.key)) == pair


def test_a_folder_with_a_dot_in_its_name_is_listed_and_what_a_file_holds_is_no_path() -> None:
    listing = editor("list_folder", "path")
    reading = editor("read_file", "path")
    result = ToolResult("a.txt\nb.txt", None)
    for tool, found in ((listing, ["/tmp/x.d/a.txt", "/tmp/x.d/b.txt"]), (reading, [])):
        assert inner_paths({slots(tool)[0]: (("given",), "/tmp/x.d")}, result) == found


def tools(scenario: Scenario) -> list[str]:
    return [call.tool for call in scenario.plan]


async def test_some_files_are_named_by_their_titles_and_found_first(pack: Pack) -> None:
    """All tasks once gave the path, and none searched: people asked for the cleaning contract."""
    found = [s for s in pack.train if s.kind == "lookup" and tools(s) == ["find_files", "read_file"]]
    assert len(found) >= 5
    assert not any("/" in s.request or ".txt" in s.request for s in found)


async def test_rows_of_a_table_in_a_file_are_asked_for(pack: Pack) -> None:
    assert any(s.plan and str(s.plan[-1].arguments.get("path")).endswith(".csv") for s in pack.train)


async def test_what_stands_in_a_file_is_changed_after_it_was_read(pack: Pack) -> None:
    edits = [s for s in pack.train if tools(s)[-1:] == ["replace_text"] and s.kind == "write"]
    assert len(edits) >= 8
    for scenario in edits:
        read, replaced = scenario.plan[-2:]
        assert read.tool == "read_file"
        assert read.arguments["path"] == replaced.arguments["path"]
        assert isinstance(scenario.checks[0], StateHolds)
    new = [str(s.plan[-1].arguments["new_text"]) for s in edits]
    assert any(text.startswith(("Total: ", "Monthly rent: ", "Status: ", "Valid until: ")) for text in new)


async def test_the_plans_and_answers_pass_their_checks_in_fresh_processes(pack: Pack) -> None:
    scenarios = [s for s in pack.train if "replace_text" in tools(s) or "find_files" in tools(s)][:16]
    async with connect([PAPERS], ToolPolicy()) as server:
        verifier = Verifier(server.tools)
        played = await replayed(server, scenarios)
        for scenario, trajectory in zip(scenarios, played, strict=True):
            assert verifier.verify(scenario, trajectory).success, (scenario.request, scenario.plan, scenario.answer)
