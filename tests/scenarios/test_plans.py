"""Which calls a plan takes: each case is one that readers of generated tasks found wrong."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from mcprl.scenarios.catalog import Catalog
from mcprl.scenarios.choice import Choice
from mcprl.scenarios.naming import row_found, shown_by
from mcprl.scenarios.parameters import bound, is_paging, opens
from mcprl.scenarios.planner import Planner, tells_apart
from mcprl.scenarios.probing.knowledge import Knowledge
from mcprl.scenarios.slots import Slot, slots
from mcprl.scenarios.steps import Step
from mcprl.servers.digest import digest
from mcprl.types import Call, Tool, ToolResult

LOG = ("from", "log", "commit")
COMMITS = [{"commit": "d2861432", "author": "Ana Lind"}, {"commit": "af415dcb", "author": "Bo Falk"}]


def tool(name: str, description: str = "", required: tuple[str, ...] = (), **schemas: dict[str, Any]) -> Tool:
    schema = {"type": "object", "properties": schemas, "required": list(required)}
    return Tool(name, description, schema, read_only=True)


def planner(*tools: Tool, sources: Mapping[tuple[str, str], tuple[str, ...]] = {}) -> Planner:
    """A planner for tools that have worked, whose parameters took the values of these places."""
    known = Knowledge({tool.name: tool for tool in tools}, {tool.name: slots(tool) for tool in tools})
    known.working.update({tool.name: 1 for tool in tools})
    for (name, key), place in sources.items():
        known.sources[name, (key,)] = [place]
    for value in ("d2861432", "af415dcb"):
        known.base.add(LOG, value)
    for value in (5, 10):
        known.base.add(("from", "log", "added_lines"), value)
    return Planner(Catalog(known), "train", "entities", 0, 4)


class Answering:
    """A session in which every call gives the same rows."""

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        return ToolResult(json.dumps([{"file": "a.md", "added_lines": 3}, {"file": "b.md", "added_lines": 1}]))


async def test_a_number_that_changes_nothing_is_not_passed() -> None:
    text, number = {"type": "string"}, {"type": "integer"}
    diff = tool("show_diff", "", ("target",), target=text, context_lines=number)
    taken = {("show_diff", "target"): LOG, ("show_diff", "context_lines"): ("from", "log", "added_lines")}
    made, session = planner(diff, sources=taken), Answering()
    made.subset.allowed = lambda value: True
    steps = [await made.calls.read(session, made.known.base, diff, {}) for _ in range(20)]
    assert all(step and [*step.call.arguments] == ["target"] for step in steps)


class Notes:
    """A session that searches in the names and the texts of entries."""

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        entries = [
            {"name": "Spring offsite", "kind": "event", "text": "takes place in Sopot"},
            {"name": "Gdansk office", "kind": "place", "text": "12 desks, a door in Sopot"},
        ]
        return ToolResult(json.dumps([each for each in entries if arguments["query"] in str(each)]))


async def test_what_is_searched_for_is_what_the_request_says() -> None:
    """A reader found "What is the Spring offsite listed as?" with a search for "takes place in Sopot"."""
    search = tool("search_notes", "Search the entries", ("query",), query={"type": "string"})
    made, session = planner(search, sources={("search_notes", "query"): ("from", "notes", "text")}), Notes()
    made.subset.allowed = lambda value: True
    for value in ("in Sopot", "12 desks"):
        made.known.base.add(("from", "notes", "text"), value)
    found = [await made.finder.thing(session, made.known.base, search, by_name=False) for _ in range(20)]
    searches = [(thing.plan[0].arguments["query"], thing.reference.values[0].value) for thing in found if thing]
    assert {"Spring offsite", "Gdansk office"} == {sought for sought, _ in searches}
    assert all(sought == named for sought, named in searches)


@pytest.mark.parametrize(
    ("name", "path", "fits"),
    [
        ("read_media_file", "notes/a.md", False),
        ("read_media_file", "lists/a.csv", False),
        ("read_media_file", "photos/a.png", True),
        ("read_media_file", "photos", True),
        ("read_text_file", "notes/a.md", True),
    ],
)
def test_a_text_is_not_opened_with_a_tool_for_pictures(name: str, path: str, fits: bool) -> None:
    assert opens(tool(name), path) == fits


@pytest.mark.parametrize(
    ("name", "end", "pages"),
    [
        ("max_price", "under", False),
        ("minRating", "over", False),
        ("maximum_daily_rate", "under", False),
        ("max_results", None, True),
        ("maxLength", None, True),
        ("max_orders", None, True),
        ("max", None, True),
        ("limit", None, True),
        ("price", None, False),
    ],
)
def test_a_limit_on_an_amount_is_none_on_the_number_of_results(name: str, end: str | None, pages: bool) -> None:
    slot = Slot("search", (name,), {"type": "integer"}, False, "")
    found = bound(slot)
    assert (found and found[0]) == end
    assert is_paging(slot) is pages


def test_a_thing_is_looked_up_where_it_is_kept() -> None:
    keyed = {"type": "string"}
    tools = [
        tool("get_customer", "", ("customer_id",), customer_id=keyed),
        tool("list_orders", "", ("customer_id",), customer_id=keyed),
        tool("get_order", "", ("order_id",), order_id=keyed),
    ]
    places = {
        ("get_customer", "customer_id"): ("from", "list_customers", "customer_id"),
        ("list_orders", "customer_id"): ("from", "list_customers", "customer_id"),
        ("get_order", "order_id"): ("from", "list_orders", "order_id"),
    }
    made = planner(*tools, sources=places)
    made.known.base.add(("from", "list_customers", "customer_id"), "C-1040")
    made.known.base.add(("from", "list_orders", "order_id"), "O-2041")
    assert [found.name for found in shown_by(made.catalog, "customer")] == ["get_customer"]
    assert [found.name for found in shown_by(made.catalog, "order")] == ["get_order"]


def test_no_row_is_named_by_a_key_that_another_tool_takes() -> None:
    log, show = tool("log_commits"), tool("show_commit", "", ("commit",), commit={"type": "string"})
    made = planner(log, show, sources={("show_commit", "commit"): LOG})
    made.subset.allowed = lambda value: True
    step = Step(log, [], Call("log_commits", {}), ToolResult(""), COMMITS, (), tuple(COMMITS))
    assert shown_by(made.catalog, "commit") == [show]
    assert row_found(made.subset, step) is not None
    assert row_found(made.subset, step, keyed=False) is None


def test_a_kind_of_task_is_not_tried_for_ever_with_a_tool_that_never_makes_one() -> None:
    made = planner(tool("calculate"), tool("list"))
    train, test = made.choice, Planner(made.catalog, "test", "entities", 0, 4).choice

    def drawn(choice: Choice, kind: str, made: bool) -> Tool | None:
        choice.begin(kind)
        found = choice.tool()
        choice.end(made)
        return found

    counts = [drawn(train, "count", made=False) for _ in range(80)]
    assert counts[0]
    assert counts[-1] is None
    assert drawn(test, "count", made=False)  # it may own other things
    lookups = [drawn(train, "lookup", made=number < 10) for number in range(80)]
    assert all(lookups)


def test_a_search_for_connections_says_so() -> None:
    way = {"origin": {"type": "string"}, "destination": {"type": "string"}}
    direct = tool("search_direct_flight", "Search for direct flights.", tuple(way), **way)
    onestop = tool("search_onestop_flight", "Search for one-stop flights.", tuple(way), **way)
    catalog, call = (
        planner(direct, onestop).catalog,
        Call("search_onestop_flight", {"origin": "SEA", "destination": "BOS"}),
    )
    assert not tells_apart(catalog, call, "Search from SEA to BOS.")
    assert tells_apart(catalog, call, "Find one-stop flights from SEA to BOS.")
    assert tells_apart(planner(onestop).catalog, call, "Search from SEA to BOS.")


def test_what_only_one_tool_takes_tells_it_apart() -> None:
    def converts(what: str, *units: str) -> Tool:
        keys = {"value": {"type": "number"}, "to_unit": {"type": "string", "enum": [*units]}}
        return tool(f"convert_{what}", f"Convert {what}.", tuple(keys), **keys)

    catalog = planner(converts("mass", "kg", "lb"), converts("length", "m", "ft")).catalog
    assert tells_apart(catalog, Call("convert_mass", {"value": 3, "to_unit": "kg"}), "Convert 3 to kg.")


def test_slots_of_joined_and_referenced_schemas_are_all_of_theirs() -> None:
    both = {
        "type": "object",
        "allOf": [
            {"properties": {"a": {"type": "integer"}}, "required": ["a"]},
            {"$ref": "#/$defs/B"},
        ],
        "properties": {"c": {"allOf": [{"$ref": "#/$defs/Level"}], "description": "how loud"}},
        "$defs": {
            "B": {"properties": {"b": {"type": "string"}}, "required": ["b"]},
            "Level": {"type": "string", "enum": ["low", "high"]},
        },
    }
    found = {slot.key: (slot.kind, slot.required, slot.choices) for slot in slots(Tool("set", "", both))}
    assert found == {
        "a": ("integer", True, ()),
        "b": ("string", True, ()),
        "c": ("string", False, ("low", "high")),
    }


class Logged:
    """A session whose only result has 2,000 rows; a rollout reads the first 4,000 bytes of it."""

    result = digest("", {"events": [{"n": row, "text": "door opened " * 20} for row in range(2_000)]})

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        return self.result


async def test_of_a_large_result_only_the_rows_that_a_rollout_can_read_are_asked_for_and_worked_out_once() -> None:
    log = tool("read_log")
    made = planner(log)
    first = await made.calls.execute(Logged(), log, [])
    assert first
    assert 10 < len(first.rows) < 20
    assert all(f'"n":{row["n"]},' in Logged.result.text for row in first.rows)
    again = await made.calls.execute(Logged(), log, [])
    assert again
    assert again.rows is first.rows
