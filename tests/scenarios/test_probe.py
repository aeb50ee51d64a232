"""Probing finds working arguments: of plain text, of ids in texts, of settings, of SQL, and of one record."""

import random
import sqlite3
import sys
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from support.paths import SERVERS

from mcprl.config import ServerConfig, ToolPolicy
from mcprl.events import Event, Probing
from mcprl.scenarios.parameters import is_complete
from mcprl.scenarios.probing.hints import read_hints
from mcprl.scenarios.probing.knowledge import Attempts, Knowledge
from mcprl.scenarios.probing.probe import probe
from mcprl.scenarios.probing.results import as_rows, short_lines, tokens, without_logs
from mcprl.scenarios.probing.sources import converted, listed, ordered, quoted
from mcprl.scenarios.probing.sql import Table, select
from mcprl.scenarios.probing.tables import schema_reads
from mcprl.scenarios.probing.values import invent, number
from mcprl.scenarios.slots import Slot, slots
from mcprl.servers.digest import digest
from mcprl.servers.server import connect
from mcprl.servers.settings import command_values, environment_values
from mcprl.types import Call, Session, Tool, ToolResult

TEXT_STORE = f"{sys.executable} {SERVERS / 'text_store.py'}"


def tool(name: str, description: str = "", read_only: bool = True, **properties: Any) -> Tool:
    schemas = {key: kind if isinstance(kind, dict) else {"type": kind} for key, kind in properties.items()}
    schema = {"type": "object", "properties": schemas, "required": list(schemas)}
    return Tool(name, description, schema, read_only=read_only)


class Fake:
    """A server in this process: `answer` gives the result of a call as JSON, text, or an exception."""

    instructions = ""
    forbidden: Sequence[Tool] = ()

    def __init__(self, *tools: Tool) -> None:
        self.tools: Sequence[Tool] = tools
        self.called: list[Call] = []

    def answer(self, name: str, arguments: Mapping[str, Any]) -> Any:
        raise NotImplementedError

    @asynccontextmanager
    async def session(self, setup: Sequence[Call] = ()) -> AsyncGenerator[Session]:
        yield self

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        self.called.append(Call(tool, dict(arguments)))
        try:
            value = self.answer(tool, arguments)
        except (LookupError, ValueError) as error:
            return digest(f"{error}", None, True)
        return digest(value) if isinstance(value, str) else digest("", value)

    async def resources(self) -> list[tuple[str, str]]:
        return []

    async def known_values(self) -> dict[str, Any]:
        return {}


class Clocked(Fake):
    """A read with a clock in it, and a write that nothing shows and that lasts until the clock has moved on."""

    def answer(self, name: str, arguments: Mapping[str, Any]) -> Any:
        if name == "flip_sign":
            time.sleep(0.25)
            return "The sign is flipped."
        return f"Open, tick {time.monotonic() // 0.25:.0f}"


class Orders(Fake):
    """Orders are addressed by ids that only users list; users only the person at the keyboard knows."""

    users: Mapping[str, Any] = {
        f"ana_{n}": {"name": {"first": f"Ana{n}", "last": f"Ruiz{n}"}, "zip": str(40_000 + n), "orders": [f"#W{n}00"]}
        for n in range(1, 7)
    }

    def __init__(self) -> None:
        super().__init__(
            tool("get_user", user_id="string"),
            tool("get_order", order_id="string"),
            tool("find_user_by_name_zip", first="string", last="string", zip="string"),
            tool(
                "cancel_pending_order",
                read_only=False,
                order_id="string",
                reason={"type": "string", "description": "too late or by mistake"},
            ),
        )

    def answer(self, name: str, arguments: Mapping[str, Any]) -> Any:
        match name:
            case "get_user":
                return {"user_id": arguments["user_id"], **self.users[arguments["user_id"]]}
            case "get_order":
                number = int(arguments["order_id"].removeprefix("#W")) // 100
                if f"#W{number}00" != arguments["order_id"] or not 1 <= number <= 6:
                    raise LookupError("no such order")
                return {"order_id": arguments["order_id"], "status": "pending" if number % 3 else "sent", "total": 9}
            case "find_user_by_name_zip":
                wanted = {"first": arguments["first"], "last": arguments["last"]}
                found = [
                    key
                    for key, user in self.users.items()
                    if user["name"] == wanted and user["zip"] == arguments["zip"]
                ]
                return {"user_id": found[0]}
            case _:
                order = self.answer("get_order", arguments)
                if order["status"] != "pending" or arguments["reason"] not in ("too late", "by mistake"):
                    raise ValueError("not allowed")
                return {"order_id": order["order_id"], "status": "cancelled"}


async def test_a_hint_opens_a_server_that_lists_nothing_and_values_of_one_record_stay_together(tmp_path: Path) -> None:
    (tmp_path / "values.txt").write_text("user_id = ana_1, ana_2, ana_3")
    bare = await probe(Orders(), 0, 150)
    assert not any(bare.working.values())
    known = await probe(Orders(), 0, 300, hints=read_hints(str(tmp_path / "values.txt")))
    assert {name for name, count in known.working.items() if count} == set(known.tools)
    assert not known.shared
    for example in known.examples["find_user_by_name_zip"]:
        assert example.arguments["first"].removeprefix("Ana") == example.arguments["last"].removeprefix("Ruiz")
    assert {example.arguments["reason"] for example in known.examples["cancel_pending_order"]} <= {
        "too late",
        "by mistake",
    }


async def test_the_calls_are_bounded_reported_and_counted() -> None:
    class Many(Fake):
        def answer(self, name: str, arguments: Mapping[str, Any]) -> Any:
            return {"name": name, "size": 3}

    server = Many(*(tool(f"list_things_{n}") for n in range(500)))
    events: list[Event] = []
    known = await probe(server, 0, 200, events.append)
    assert len(server.called) <= 220
    reports = [event for event in events if isinstance(event, Probing)]
    assert reports
    assert reports[-1].tools == 500
    assert known.attempts["list_things_0"].worked == 1
    assert "list_things_499" not in known.attempts


def test_why_a_tool_has_no_tasks_is_told_with_the_last_failure() -> None:
    attempts = Attempts()
    assert attempts.told == "not called while probing"
    for n in range(3):
        attempts.count(ToolResult(f"no brewer {n}", is_error=True), False)
    assert attempts.told == "nothing worked that was called while probing (3): no brewer 2"


async def stages(target: str, seed: int = 0) -> Knowledge:
    """What probing knows of the store of plain text."""
    policy = ToolPolicy(assume={"*": "read", "set_stage": "write", "add_note": "write"})
    async with connect([ServerConfig(target=target)], policy) as server:
        return await probe(server, seed, 150)


@pytest.mark.parametrize("seed", range(3))
async def test_a_store_of_plain_text_and_integer_ids_is_reached_and_its_shared_state_seen_whatever_was_written(
    tmp_path: Path, seed: int
) -> None:
    known = await stages(f"{TEXT_STORE} --shared {tmp_path / 'stages.json'}", seed)
    parts = {example.arguments["part_no"] for example in known.examples["part_details"]}
    assert parts & {4, 7, 12, 15, 23, 31}
    assert known.working["set_stage"]
    assert known.shared


@pytest.mark.parametrize("seed", range(3))
async def test_sessions_with_a_state_of_their_own_do_not_count_as_shared(seed: int) -> None:
    assert not (await stages(TEXT_STORE, seed)).shared


class Database(Fake):
    """Takes SQL."""

    def __init__(self) -> None:
        sql = {"type": "string", "description": "SELECT SQL query to execute"}
        super().__init__(tool("list_tables"), tool("run_query", "Run a query", query=sql))
        self.database = sqlite3.connect(":memory:")
        self.database.row_factory = sqlite3.Row
        self.database.executescript(
            "create table customers(id integer, name text, city text);"
            "create table orders(id integer, customer_id integer, total real);"
            "insert into customers values (1,'Ana','Lyon'),(2,'Bo','Lyon'),(3,'Cy','Graz');"
            "insert into orders values (10,1,9.5),(11,3,2.5);"
        )

    def answer(self, name: str, arguments: Mapping[str, Any]) -> Any:
        query = arguments.get("query", "select name from sqlite_master")
        try:
            return [dict(row) for row in self.database.execute(query)]
        except sqlite3.Error as error:
            raise ValueError(str(error)) from None


async def test_sql_is_made_of_the_tables_that_the_server_tells_of() -> None:
    server = Database()
    known = await probe(server, 0, 150)
    customers, orders = known.tables
    assert customers.columns == ("id", "name", "city")
    assert customers.whole
    assert len(customers.rows) == 3
    assert orders.links == {"customer_id": ("customers", "id")}
    (slot,) = known.slots["run_query"]
    texts = known.options(slot, known.base, random.Random(1), bool)
    assert any("WHERE" in str(text) for text in texts)
    for text in texts:
        server.database.execute(str(text))


async def test_sql_of_a_plan_comes_after_reads_that_tell_its_tables_and_columns() -> None:
    class Described(Database):
        def __init__(self) -> None:
            super().__init__()
            self.tools = (*self.tools, tool("describe_table", "Show the columns of a table", table_name="string"))

        def answer(self, name: str, arguments: Mapping[str, Any]) -> Any:
            if name != "describe_table":
                return super().answer(name, arguments)
            columns = super().answer("run_query", {"query": f"pragma table_info({arguments['table_name']})"})
            if not columns:
                raise ValueError("no such table")
            return columns

    known = await probe(Described(), 0, 150)
    joined = Call("run_query", {"query": "SELECT total FROM orders JOIN customers ON customers.id = customer_id"})
    assert schema_reads(known, [joined]) == (
        Call("list_tables"),
        Call("describe_table", {"table_name": "customers"}),
        Call("describe_table", {"table_name": "orders"}),
    )
    assert schema_reads(known, [Call("describe_table", {"table_name": "orders"})]) == ()
    assert schema_reads(await probe(Database(), 0, 150), [joined]) == ()


def test_a_select_has_filters_joins_counts_and_quoted_names() -> None:
    people = Table("people", ("id", "full name", "city_id"), ())
    cities = Table("cities", ("id", "name"), ())
    assert select(people, [], {"full name": "O'Hara"}, "COUNT") == (
        "SELECT COUNT(*) FROM people WHERE \"full name\" = 'O''Hara'"
    )
    joined = select(people, ["full name"], {"cities.name": "Lyon"}, joined=[(cities, "city_id", "id")], order="id DESC")
    assert joined == (
        'SELECT people."full name" FROM people JOIN cities ON people.city_id = cities.id '
        "WHERE cities.name = 'Lyon' ORDER BY people.id DESC"
    )


async def test_where_errors_ask_for_a_folder_files_are_left_out() -> None:
    class Disk(Fake):
        def answer(self, name: str, arguments: Mapping[str, Any]) -> Any:
            if name == "tree":
                return {"files": [{"path": f"notes/{n}.md"} for n in range(40)], "folders": [{"path": "notes"}]}
            if arguments["path"] != "notes":
                raise ValueError(f"ENOTDIR: not a directory, scandir '{arguments['path']}'")
            return {"path": "notes", "found": 3}

    server = Disk(tool("tree"), tool("search_below", path="string"))
    known = await probe(server, 0, 40)
    assert known.working["search_below"]


# --- values -----------------------------------------------------------------------------------------------------------


def test_values_of_the_command_line_are_found_and_secrets_left_out(tmp_path: Path) -> None:
    target = (
        f"python -m server --repository {tmp_path} --api-key abcd1234 --port=80 --db $DB --url http://u:p@h/x /data"
    )
    assert command_values(ServerConfig(target=target)) == {
        "repository": [str(tmp_path)],
        "port": [80],
        "argument": ["/data"],
    }
    assert command_values(ServerConfig(target="http://127.0.0.1/mcp?key=1")) == {}
    env = {"ROOT_FOLDER": str(tmp_path), "API_TOKEN": "x", "OTHER": "$HOME"}
    assert environment_values(ServerConfig(target="x", env=env)) == {"root_folder": [str(tmp_path)]}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("no longer needed or ordered by mistake.", ["no longer needed", "ordered by mistake"]),
        ("The state, one of: open, paid, or sent", ["open", "paid", "sent"]),
        ("Filter by status (open, in transit, shipped)", ["open", "in transit", "shipped"]),
        ("Priority (low/medium/high), low by default", ["low", "medium", "high"]),
        ("status - open|closed", ["open", "closed"]),
        ("Possible values are red, green and blue.", ["red", "green", "blue"]),
        ("Supported formats: json, csv, xml (default: json)", ["json", "csv", "xml"]),
        ("one of: low (default), high", ["low", "high"]),
        ("Unit of temperature. Use celsius or fahrenheit.", ["celsius", "fahrenheit"]),
        ("How much is told:\n- brief: a line\n- full: everything", ["brief", "full"]),
        ("Use this to find orders or customers.", []),
        ("Name of the customer, in full", []),
        ("Name of the table to describe", []),
        ("The name or the id of the thing", []),
    ],
)
def test_values_that_a_description_lists_are_read(text: str, values: list[str]) -> None:
    assert listed(text) == values


def test_numbers_that_a_description_lists_are_numbers() -> None:
    level = Slot("t", ("level",), {"type": "integer"}, True, "How loud, one of 1, 2, 3")
    assert quoted(level, Tool("t")) == [1, 2, 3]


def test_texts_give_values_by_kind() -> None:
    text = "modified: src/till.py by ana@x.org, see #17 and O-17 at d7aeee78f0 in /srv/data on 2026-03-01, 12 rows"
    assert dict(tokens(text)) == {
        "file": "src/till.py",
        "email": "ana@x.org",
        "code": "O-17",
        "hash": "d7aeee78f0",
        "path": "/srv/data",
        "date": "2026-03-01",
        "number": "12",
    }
    assert short_lines("Branches:\n* main\n  fix-it") == ["main", "fix-it"]


def test_maps_of_ids_are_rows_and_logs_of_calls_are_left_out() -> None:
    assert as_rows({"P-1": {"a": 1, "b": 2}, "P-2": {"a": 3, "b": 4}}) == [
        {"key": "P-1", "a": 1, "b": 2},
        {"key": "P-2", "a": 3, "b": 4},
    ]
    assert as_rows({"city": "Lyon", "street": "Quai 3"}) == {"city": "Lyon", "street": "Quai 3"}
    assert without_logs({"calls": [{"tool": "get", "id": 7}], "n": 1}, {"get"}) == {"calls": [], "n": 1}


def test_slots_convert_ids_match_patterns_and_know_their_order() -> None:
    def slot(key: str, kind: str, **schema: Any) -> Slot:
        return Slot("t", (key,), {"type": kind, **schema}, True, "")

    assert converted(slot("id", "integer"), "#17") == 17
    assert converted(slot("id", "string"), 17) == "17"
    assert converted(slot("id", "integer"), "x") is None
    assert invent(slot("code", "string", pattern=r"^D-\d{3}$"), random.Random(1))[:2] == "D-"
    assert ordered(slot("start_date", "string"), slot("end_date", "string"))
    assert not ordered(slot("end_date", "string"), slot("start_date", "string"))
    assert invent(slot("page", "integer"), random.Random(2)) <= 3
    bags = slot("total_bags", "integer"), slot("free_bags", "integer")
    assert all(invent(each, random.Random(seed)) <= 13 for each in bags for seed in range(20))
    assert [ordered(bags[1], bags[0]), ordered(*bags)] == [True, False]  # not 850 of 382


async def test_an_example_is_kept_once_and_no_end_comes_before_its_begin() -> None:
    class Leave(Fake):
        def answer(self, name: str, arguments: Mapping[str, Any]) -> Any:
            return {"days": [arguments["start_date"], arguments["end_date"]], "left": 3}

    dates = {"type": "string", "format": "date"}
    known: Knowledge = await probe(Leave(tool("get_leave", start_date=dates, end_date=dates)), 0, 60)
    calls = [example.arguments for example in known.examples["get_leave"]]
    assert calls
    assert len({str(call) for call in calls}) == len(calls)
    assert all(call["start_date"] <= call["end_date"] for call in calls)


async def test_a_clock_in_a_result_is_no_sign_that_sessions_share_a_state() -> None:
    server = Clocked(tool("get_banner"), tool("flip_sign", read_only=False))
    known = await probe(server, 0, 60)
    assert not known.shared
    assert known.working["flip_sign"]


class Shy(Fake):
    """A server that shows nothing without a key, a filter or a part of a name."""

    def answer(self, name: str, arguments: Mapping[str, Any]) -> Any:
        things = {"P-31": {"pair": "P-31", "city": "Jena"}, "P-32": {"pair": "P-32", "city": "Brno"}}
        people = ["Ana Haas", "Leon Berg"]
        match name:
            case "get_pair":
                return things.get(arguments["pair"]) or {"error": f"no pair {arguments['pair']}"}
            case "find_people":
                found = [{"name": one, "age": 40 + n} for n, one in enumerate(people) if arguments["full_name"] in one]
                return found or {"error": f"nobody is called {arguments['full_name']}"}
            case "list_meetings":
                if not arguments:
                    return {"error": "give at least one filter"}
                return [{"meeting": 500 + n, "status": "held"} for n in range(3) if arguments.get("status") == "held"]
            case _:
                if arguments["branch"] in ("release/2.4", "fix/login"):
                    return {"branch": arguments["branch"], "head": "3f2a9c1"}
                return {"error": f"no branch {arguments['branch']}; branches: release/2.4, fix/login"}


async def test_a_tool_is_reached_by_what_its_description_shows_its_error_offers_or_a_part_or_a_filter_finds() -> None:
    meetings = Tool(
        "list_meetings",
        "Meetings; give at least one filter.",
        {"properties": {"place": {"type": "string"}, "status": {"type": "string", "enum": ["planned", "held"]}}},
        read_only=True,
    )
    server = Shy(
        tool("get_pair", "One pair, e.g. P-31.", pair="string"),
        tool("find_people", "People by (part of) the name.", full_name="string"),
        meetings,
        tool("branch_info", "A branch.", branch="string"),
    )
    known = await probe(server, 0, 200)
    assert {name for name, count in known.working.items() if count} == {
        "get_pair", "find_people", "list_meetings", "branch_info"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("record", "complete"),
    [
        ({"count": 2}, True),
        ({"total": 3}, False),
        ({"count": 2, "total": 57}, False),
        ({"count": 2, "has_more": True}, False),
        ({"count": 2, "next_cursor": "abc"}, False),
        ({"count": 2, "has_more": False, "next": None}, True),
        ({"pagination": {"total": 57}}, False),
        ({"meta": {"total_pages": 4, "count": 2}}, False),
        ({}, True),
    ],
)
def test_a_list_is_whole_if_all_that_it_says_of_itself_agrees(record: dict[str, Any], complete: bool) -> None:
    rows = [{"id": 1}, {"id": 2}]
    assert is_complete([], {}, {"orders": rows, **record}, rows) is complete


@pytest.mark.parametrize(
    ("schema", "low", "high"),
    [
        ({"type": "integer", "minimum": -(2**53) + 1, "maximum": 2**53 - 1}, 1, 1_001),
        ({"type": "integer", "exclusiveMinimum": 0, "maximum": 2**53 - 1}, 1, 1_001),
        ({"type": "integer", "exclusiveMinimum": 2, "exclusiveMaximum": 5}, 3, 4),
        ({"type": "number", "minimum": 0.1, "maximum": 0.9}, 0.1, 0.9),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, 0.01, 0.99),
    ],
)
def test_a_number_is_within_its_bounds_and_of_a_size_that_people_ask_for(
    schema: dict[str, Any], low: float, high: float
) -> None:
    (slot,) = slots(Tool("find", "", {"type": "object", "properties": {"x": schema}, "required": ["x"]}))
    drawn = {number(slot, random.Random(seed)) for seed in range(200)}
    assert low <= min(drawn)
    assert max(drawn) <= high
    assert len(drawn) > 1


class Counting(Fake):
    def answer(self, name: str, arguments: Mapping[str, Any]) -> Any:
        return {"value": len(self.called)} if "n" in arguments else {"error": "not found"}


async def test_no_huge_number_is_sent_where_it_may_be_how_much_is_computed_and_the_budget_holds() -> None:
    reads = [tool(name, n="integer") for name in ("factorial", "sample_rows")]
    reads += [tool(f"get_{thing}", "", True, **{f"{thing}_id": "string"}) for thing in "abcdefghijklmnop"]
    server = Counting(*reads)
    await probe(server, 0, budget=60)
    assert len(server.called) <= 60
    numbers = [call.arguments["n"] for call in server.called if "n" in call.arguments]
    assert 0 < max(numbers) < 10_000
