"""Nothing is called that the operator or, for want of one, the server's marks did not allow."""

import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.configs import small
from support.listed import DANGEROUS, HOTEL, READS, Listed, listed
from support.policies import HINTS, allowed, near, random_policy

from mcprl.art.own import train_adapter
from mcprl.config import ScenarioConfig, ServerConfig, ToolPolicy
from mcprl.errors import ConfigError, ServerError
from mcprl.events import Note, ignore
from mcprl.runs.journal import Journal
from mcprl.scenarios.generate import generate, generate_scenarios
from mcprl.scenarios.probing.probe import rehearse
from mcprl.servers.permission import permission
from mcprl.servers.proposals import propose, seems_to_read
from mcprl.servers.server import Server, connect
from mcprl.types import Call, Tool

pytestmark = pytest.mark.anyio
ALL = [tool for tools in DANGEROUS.values() for tool in tools]
HARMLESS = {"get_balance", "list_tables"}
"""Those of the dangerous servers' tools that clearly read."""
FEW = ScenarioConfig(train=6, val=2, test=3, test_forms=0, probe_calls=60, repeat_after_s=0.05)


@asynccontextmanager
async def connected(server: Listed, **policy: Any) -> AsyncGenerator[Server]:
    async with connect([ServerConfig(target=server.command, timeout_s=20)], ToolPolicy(**policy)) as connection:
        yield connection


def tool(name: str, description: str = "", hints: dict[str, bool] | None = None, **properties: Any) -> Tool:
    hints = hints or {}
    schema = {"type": "object", "properties": properties}
    return Tool(
        name, description, schema, read_only=hints.get("readOnlyHint"), destructive=hints.get("destructiveHint")
    )


# --- dangerous servers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DANGEROUS)
async def test_a_server_without_marks_is_never_called_and_the_error_says_what_allows_it(
    name: str, tmp_path: Path
) -> None:
    server = Listed(tmp_path, DANGEROUS[name])
    first = DANGEROUS[name][0]["name"]
    with server.over_http() as url:
        targets = [server.command, url] if name in ("bank", "misc") else [server.command]
        for target in targets:
            with pytest.raises(ServerError, match=r"no tool of the server may be called: .*--assume .*--sandbox"):
                await generate_scenarios(24, target, config=FEW)
            async with connect([ServerConfig(target=target)]) as connection, connection.session() as session:
                assert not connection.tools
                for each in DANGEROUS[name]:
                    assert (await session.call(each["name"], {})).is_error
                with pytest.raises(ServerError, match="not among the allowed tools"):
                    async with connection.session([Call(first)]):
                        pass
    assert server.calls() == []


async def test_probing_tasks_training_and_tests_call_only_what_is_marked(tiny_model: Path, tmp_path: Path) -> None:
    server = Listed(tmp_path / "server", [*HOTEL, *ALL])
    runs = tmp_path / "runs"
    config = small(tiny_model, runs, servers=[{"target": server.command}], tools={})
    notes: list[str] = []
    await train_adapter(config, emit=lambda event: notes.append(event.text) if isinstance(event, Note) else None)
    assert set(server.calls()) == {"list_rooms", "get_room"}
    (note,) = [note for note in notes if "--sandbox" in note]
    assert f"{len(ALL)} of {len(ALL) + 2} tools are not called" in note
    with Journal.open(runs / "small") as journal:
        assert journal.fact("tools") == ["list_rooms", "get_room"]
        assert journal.fact("left_out").keys() == {each["name"] for each in ALL}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
async def test_ten_thousand_random_actions_reach_only_what_the_policy_allows(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    names = [each["name"] for each in [*HOTEL, *ALL]]
    reached = denied = 0
    for number in range(14):
        tools = [listed(name, "", rng.choice(HINTS)) for name in names]
        server = Listed(tmp_path / str(number), tools)
        policy = random_policy(rng, names)
        may = {each["name"] for each in tools if allowed(each, policy)}
        async with connected(server, **policy) as connection, connection.session() as session:
            assert {each.name for each in connection.tools} == may
            for _ in range(240):
                name = near(rng.choice(names), rng)
                result = await session.call(name, {"id": "x"})
                assert result.is_error == (name not in may)
                reached, denied = reached + (name in may), denied + (name not in may)
        assert set(server.calls()) <= may
    assert reached > 300
    assert reached + denied == 14 * 240


# --- who says what ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "hints", "policy", "outcome"),
    [
        ("get_x", None, {}, ""),
        ("get_x", None, {"allow": ["get_*"]}, "read"),
        ("tie_x", None, {"allow": ["*"]}, "write"),
        ("tie_x", None, {"assume": {"t*": "read"}}, "read"),
        ("tie_x", None, {"assume": {"t*": "read", "*": "write"}}, "write"),
        ("tie_x", None, {"assume": {"tie_x": "read", "*": "write"}}, "read"),
        ("get_x", None, {"sandbox": True}, "read"),
        ("tie_x", None, {"sandbox": True}, "write"),
        ("tie_x", None, {"sandbox": True, "deny": ["tie*"]}, ""),
        ("tie_x", None, {"allow_destructive": True}, ""),
        ("get_x", None, {"read_only": True, "sandbox": True}, ""),
        ("tie_x", None, {"read_only": True, "assume": {"*": "read"}}, "read"),
        ("tie_x", None, {"read_only": True, "assume": {"*": "write"}}, ""),
        ("tie_x", {}, {}, ""),
        ("tie_x", READS, {}, "read"),
        ("tie_x", READS, {"assume": {"*": "write"}}, "write"),
        ("tie_x", READS | {"destructiveHint": True}, {}, ""),
        ("tie_x", READS | {"destructiveHint": True}, {"sandbox": True}, "write"),
        ("get_x", {"readOnlyHint": False}, {}, ""),
        ("get_x", {"readOnlyHint": False}, {"assume": {"*": "read"}}, ""),
        ("get_x", {"readOnlyHint": False}, {"allow": ["get_*"]}, ""),
        ("get_x", {"readOnlyHint": False}, {"allow": ["get_x"]}, "write"),
        ("get_x", {"readOnlyHint": False, "destructiveHint": False}, {}, "write"),
        ("get_x", {"destructiveHint": False}, {}, "write"),
        ("get_x", {"destructiveHint": True}, {"allow_destructive": True}, "write"),
    ],
)
def test_the_operator_decides_then_the_marks_and_a_name_never(
    name: str, hints: dict[str, bool] | None, policy: dict[str, Any], outcome: str
) -> None:
    status = permission("server", name, tool(name, hints=hints), ToolPolicy(**policy))
    assert status.tool is not None
    assert (("read" if status.tool.read_only else "write") if status.allowed else "") == outcome
    assert status.reason


@given(
    name=st.sampled_from([each["name"] for each in ALL]),
    hints=st.sampled_from(HINTS),
    policy=st.randoms(use_true_random=False).map(lambda rng: random_policy(rng, [each["name"] for each in ALL])),
)
@settings(max_examples=1000, deadline=None)
def test_every_policy_is_the_documented_rule(name: str, hints: dict[str, bool] | None, policy: dict[str, Any]) -> None:
    status = permission("server", name, tool(name, hints=hints), ToolPolicy(**policy))
    assert status.allowed == allowed(listed(name, "", hints), policy)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ({"allow": ["list_roms"]}, "--allow-tool 'list_roms' matches no tool; the nearest are list_rooms"),
        ({"deny": ["list_rooms", "nosuchtool"]}, "--deny-tool 'nosuchtool' matches no tool; the nearest are "),
        (
            {"max_calls_per_tool": {"rooms": 3}},
            "--max-calls-per-tool 'rooms' matches no tool",
        ),
        ({"assume": {"get_rom*": "read"}}, r"--assume 'get_rom\*' matches no tool; the nearest are get_room"),
    ],
)
async def test_a_pattern_that_matches_no_tool_is_an_error_with_the_nearest_names(
    policy: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=message):
        async with connected(Listed(tmp_path, HOTEL), **policy):
            pass


async def test_a_pattern_may_match_the_tools_of_one_server_among_several(tmp_path: Path) -> None:
    servers = [Listed(tmp_path / name, HOTEL) for name in ("one", "two")]
    configs = [ServerConfig(target=server.command, name=f"hotel{n}") for n, server in enumerate(servers)]
    async with connect(configs, ToolPolicy(deny=("hotel0__get_*", "list_rooms"))) as connection:
        assert [each.name for each in connection.tools] == ["hotel1__get_room"]
    with pytest.raises(ConfigError, match=r"the nearest are .*hotel1__get_room"):
        async with connect(configs, ToolPolicy(deny=("hotel1__get_rom",))):
            pass


async def test_assumed_reads_share_a_process_and_guessed_ones_do_not(tmp_path: Path) -> None:
    server = Listed(tmp_path, [listed("get_a"), listed("get_b")])
    async with connected(server, assume={"get_a": "read"}, sandbox=True) as connection:
        assert [(status.reason, status.stateless) for status in connection.listing] == [
            ("--assume", True),
            ("--sandbox", False),
        ]
        assert [each.read_only for each in connection.tools] == [True, True]


async def test_a_tool_is_called_as_often_as_its_budget_says_in_all_sessions_together(tmp_path: Path) -> None:
    server = Listed(tmp_path, [*HOTEL, listed("add_note", "", {"readOnlyHint": False, "destructiveHint": False})])
    async with connected(server, max_calls_per_tool={"list_rooms": 3, "*": 5, "*note": 1}) as connection:
        texts: list[str] = []
        for _ in range(4):
            async with connection.session() as session:
                texts += [(await session.call(each.name, {})).text for each in connection.tools for _ in range(2)]
        assert "Error: 'list_rooms' is not called: the 3 calls of it that the operator allows are made" in texts
        with pytest.raises(ServerError, match="refused: the 1 calls of it"):
            async with connection.session([Call("add_note")]):
                pass
    calls = server.calls()
    assert {name: calls.count(name) for name in calls} == {"list_rooms": 3, "get_room": 5, "add_note": 1}


async def test_a_call_is_made_only_if_its_arguments_meet_every_rule_of_the_operator(tmp_path: Path) -> None:
    server = Listed(tmp_path, [listed("refund", "", {"readOnlyHint": False, "destructiveHint": False}), *HOTEL])
    rules = {
        "refund": '{"properties": {"amount": {"maximum": 5}}, "required": ["amount"]}',
        "*": '{"properties": {"amount": {"type": "number"}}}',
        "*_room*": '{"not": {"required": ["all"]}}',
    }
    async with connected(server, argument_rules=rules) as connection, connection.session() as session:
        for amount, made in ((5, True), (6, False), (4.5, True), ("4", False)):
            assert (await session.call("refund", {"amount": amount})).is_error != made
        refused = await session.call("refund", {})
        assert (
            refused.text
            == "Error: 'refund' is not called: the operator's rule forbids it: 'amount' is a required property"
        )
        assert (await session.call("list_rooms", {"all": True})).is_error
        with pytest.raises(ServerError, match="refused: the operator's rule forbids it: 8 is greater"):
            async with connection.session([Call("refund", {"amount": 8})]):
                pass
    assert server.calls() == ["refund", "refund"]


@pytest.mark.parametrize("rule", ["{", '{"type": "strange"}', "7"])
async def test_a_rule_that_is_no_schema_is_an_error_of_one_line(rule: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is not a JSON Schema: "):
        async with connected(Listed(tmp_path, HOTEL), argument_rules={"*": rule}):
            pass


# --- proposals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("each", ALL, ids=lambda each: each["name"])
def test_a_dangerous_name_or_description_never_proposes_a_read(each: dict[str, Any]) -> None:
    proposed = propose(Tool(each["name"], each["description"], each["inputSchema"]))
    assert (proposed == "read") == (each["name"] in HARMLESS), proposed


@pytest.mark.parametrize(
    ("name", "description", "proposal"),
    [
        ("get_call_log", "Returns the calls", "read"),
        ("get_call_log", "", "unknown"),
        ("list_orders", "Orders of a customer", "read"),
        ("searchFlights", "", "read"),
        ("find_user_id_by_email", "Find user id by email.", "read"),
        ("slack_list_channels", "List public channels", "read"),
        ("wish_list_refill", "Refills it", "unknown"),
        ("get_deploy_status", "Returns the deploy status", "read"),
        ("check_stock", "", "read"),
        ("check_out", "", "dangerous"),
        ("open_issue", "Creates an issue.", "write"),
        ("get_refund", "Refund an order", "dangerous"),
        ("get_invoice", "Gets the invoice. Charges the card on file.", "dangerous"),
        ("get_invoice", "Gets the invoice and emails it to the customer.", "dangerous"),
        ("read_query", "Execute a SELECT query", "dangerous"),
        ("add_note", "Add a note", "write"),
        ("weather", "Returns the weather", "unknown"),
        ("", "", "unknown"),
    ],
)
def test_only_what_clearly_reads_is_proposed_as_a_read(name: str, description: str, proposal: str) -> None:
    assert propose(Tool(name, description)) == proposal


@pytest.mark.parametrize(
    ("name", "description", "reads"),
    [
        ("swimmer_card", "Full member card by licence number.", True),
        ("gardenerInfo", "Details of one gardener: phone, joining date.", True),
        ("animal-record", "Full record of a patient by its id.", True),
        ("jobInfo", "Everything about one job.", True),
        ("tastings", "Tasting notes, newest last.", True),
        ("open_work", "List the jobs in a stage.", True),
        ("open_account", "Open an account for a customer.", False),
        ("list_orders", "Orders of a customer", True),
        ("read_query", "Execute a SELECT query", True),
        ("query", "Validates and executes a SELECT query.", True),
        ("fetch_and_delete", "Fetches messages and deletes them.", False),
        ("get_and_clear_queue", "", False),
        ("next_message", "Gets the next message and marks it as read.", False),
        ("get_orders", "Gets customers and orders. Use it before you create one.", True),
        ("mention", "This tool belongs to the posting API. Mention specified users in a tweet.", False),
        ("activateParkingBrake", "This tool belongs to the vehicle control system.", False),
        ("mute", "Mute channel for an hour", False),
        ("feed_animal", "Feed animal by its id", False),
        ("get_call_log", "Return the calls made so far.", True),
        ("assign_plot", "Gives a vacant plot to a gardener.", False),
        ("extendRental", "Give an open rental a later due date", False),
        ("check_in", "Check in an expected guest.", False),
        ("count-copies", "Enter how many copies of a score there are now.", False),
        ("bed_water", "Waters a bed", False),
        ("drop_from_list", "Takes an entry off the list by its number.", False),
    ],
)
def test_where_everything_may_be_called_a_name_without_a_verb_reads_what_its_description_names(
    name: str, description: str, reads: bool
) -> None:
    """They are how other people name what reads; tasks for such a tool asked to "full member card by number"."""
    assert seems_to_read(Tool(name, description)) == reads


def test_a_tool_that_runs_what_it_is_given_is_dangerous() -> None:
    assert propose(tool("query_orders", "Query the orders", sql={"type": "string"})) == "dangerous"


# --- before anything is called ----------------------------------------------------------------------------------------


async def test_a_rehearsal_names_the_calls_of_probing_and_makes_none(tmp_path: Path) -> None:
    server = Listed(tmp_path, [*HOTEL, listed("add_note", text="string"), listed("wipe_disk")])
    async with connected(server, assume={"add_note": "write"}) as connection:
        calls = await rehearse(connection, 0, 60)
    assert server.calls() == []
    assert {call.tool for call in calls} == {"list_rooms", "get_room", "add_note"}
    assert all(call.arguments["text"] for call in calls if call.tool == "add_note")
    async with connected(server, assume={"add_note": "write"}) as connection:
        await generate(connection, FEW, emit=ignore)
    assert set(server.calls()) == {call.tool for call in calls}


async def test_of_a_tool_that_is_listed_twice_the_mildest_listing_does_not_count(tmp_path: Path) -> None:
    twice = [listed("wipe", "", {"destructiveHint": True}), listed("wipe", "", READS), *[listed("look", "", READS)] * 2]
    async with connected(Listed(tmp_path, twice)) as connection:
        assert [each.name for each in connection.tools] == ["look"]
        reasons = [status.reason for status in connection.listing if not status.allowed]
    assert reasons == ["listed twice and not alike", "listed twice and not alike", "listed twice"]
