"""Kinds of tasks with more in them than one lookup or one write: conditions, copies, relations, what is declined."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.paths import NODE_BIN

from mcprl.config import ServerConfig, ToolPolicy
from mcprl.judges.checks import shows
from mcprl.judges.verifier import Verifier
from mcprl.scenarios.catalog import Catalog
from mcprl.scenarios.filling import target_slot
from mcprl.scenarios.kinds.aggregates import topmost
from mcprl.scenarios.kinds.changes import reopens
from mcprl.scenarios.kinds.computes import _listed
from mcprl.scenarios.kinds.declines import forbidden
from mcprl.scenarios.kinds.dependent_writes import conditional
from mcprl.scenarios.kinds.parts import _edges
from mcprl.scenarios.kinds.rows import _between
from mcprl.scenarios.naming import said
from mcprl.scenarios.planner import Planner, word
from mcprl.scenarios.probing.knowledge import Knowledge
from mcprl.scenarios.probing.probe import probe
from mcprl.scenarios.probing.sessions import Renewed
from mcprl.scenarios.slots import Slot, slots
from mcprl.scenarios.steps import Step, in_order
from mcprl.servers.server import Server, connect
from mcprl.types import Call, CallRecord, Fact, Scenario, StateHolds, Tool, ToolResult, Trajectory

BOATS = ("Amber Tern", "Grey Heron", "Little Auk", "Red Kite", "Storm Petrel", "White Stork")
DAY = {"type": "string", "description": "a date, YYYY-MM-DD"}


def test_limits_are_round_numbers_between_the_values() -> None:
    assert [_between(54.75, 82.75), _between(3, 9), _between(1, 2), _between(120, 990)] == [60, 5, None, 500]


def test_a_row_is_shown_only_if_it_has_all_values() -> None:
    edge = StateHolds("read", {}, ("Ana", "Pelican", "manages"), together=True)
    apart = [{"from": "Ana", "to": "Oak", "verb": "manages"}, {"from": "Bo", "to": "Pelican", "verb": "works on"}]
    made = {"from": "Ana", "to": "Pelican", "verb": "manages"}
    for rows, expected in (({"relations": apart}, False), ({"relations": [*apart, made]}, True)):
        assert shows(ToolResult(str(rows), rows), edge) is expected
    assert not shows(ToolResult("Ana Pelican manages"), edge), "a text has no rows"


def test_edges_are_rows_with_two_ends_and_a_verb() -> None:
    record = {"relations": [{"from": "Ana", "to": "Atlas", "relationType": "works_on"}, {"from": "a", "to": "b"}]}
    assert _edges(record) == [("Ana", "works_on", "Atlas")]
    assert _edges({"from": "a", "to": "b", "type": "flight"}) == []


def test_a_connection_that_a_search_found_is_told_as_its_flights() -> None:
    legs = [[{"number": "HAT039"}, {"number": "HAT021"}], [{"number": "HAT039"}, {"number": "HAT100"}]]
    result = ToolResult(json.dumps(legs))
    step = Step(Tool("search"), [], Call("search", {}), result, legs)
    assert _listed(step) == ["HAT039 then HAT021", "HAT039 then HAT100"]
    assert _listed(replace(step, record=[*legs[0], legs[1][1]])) == ["HAT039", "HAT021", "HAT100"]


def test_cities_are_no_begin_and_end() -> None:
    start, end = (Slot("find", (name,), {"type": "string"}, True, "") for name in ("from", "to"))
    assert in_order([(start, "Turin"), (end, "Bilbao")]) == [(start, "Turin"), (end, "Bilbao")]


def test_days_of_a_period_are_in_order_and_said_as_one() -> None:
    properties = {"first_day": DAY, "last_day": DAY}
    between = Tool("jobs_due_between", "", {"type": "object", "properties": properties})
    known = Knowledge({between.name: between}, {between.name: slots(between)})
    first, last = known.slots[between.name]
    filled = in_order([(first, "2026-03-01"), (last, "2026-02-01")])
    assert filled == [(first, "2026-02-01"), (last, "2026-03-01")]
    (period,) = said(Catalog(known), filled)
    assert (period.attribute.label, period.value) == ("due between", "2026-02-01 and 2026-03-01")


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def drawn_tasks(shop: ServerConfig) -> tuple[Server, dict[str, list[Scenario]]]:
    """Tasks of the shop by kind: conditional ones, some whose condition holds and some whose does not; those that copy
    another thing's value; those that take a number of the request."""
    async with connect([shop], ToolPolicy()) as server:
        known = await probe(server, 0)
        planner, tool = Planner(Catalog(known), "train", "entities", 0, 4), known.tools["set_order_status"]
        async with Renewed(server, ()) as clean, Renewed(server, ()) as written:
            drawn = [await conditional(planner, clean, written, known.base, tool) for _ in range(30)]
            slot = target_slot(planner.catalog, tool)
            assert slot
            tops = [await topmost(planner, clean, known.base, tool, slot) for _ in range(10)]
        status = next(own for own in known.slots[tool.name] if own.key == "status")
        assert reopens(planner, [(status, "paid")], {"status": "delivered"}), "nobody pays what is delivered"
        assert not reopens(planner, [(status, "delivered")], {"status": "paid"})
        assert any(top and top[1].reference.top and top[1].plan for top in tops), "the newest order of a customer"
        made = [composed.scenario for task in drawn if task and (composed := word(planner.subset, task))]
        return server, {
            kind: [one for one in made if one.kind == kind] for kind in ("conditional", "likewise", "scaled")
        }


def played(scenario: Scenario, calls: list[CallRecord], text: str, looks: int) -> Trajectory:
    before, after = ToolResult("status: open"), ToolResult("status: sent")
    return Trajectory(
        "t", scenario.id, ({"role": "assistant", "content": text},), (), tuple(calls), (after,) * looks,
        before=(before,) * looks,
    )  # fmt: skip


async def test_a_write_whose_condition_does_not_hold_fails_and_so_does_saying_nothing(
    drawn_tasks: tuple[Server, dict[str, list[Scenario]]],
) -> None:
    server, scenarios = drawn_tasks[0], drawn_tasks[1]["conditional"]
    verifier = Verifier(server.tools)
    untrue = [scenario for scenario in scenarios if isinstance(scenario.checks[0], Fact)]
    true = [scenario for scenario in scenarios if isinstance(scenario.checks[0], StateHolds)]
    assert untrue
    assert true
    for scenario in untrue:
        fact = scenario.checks[0]
        assert isinstance(fact, Fact)
        read = CallRecord(
            0, scenario.plan[-1].tool, scenario.plan[-1].arguments, ToolResult(f'{{"status": "{fact.value}"}}')
        )
        order = scenario.plan[-1].arguments
        wrote = CallRecord(1, "set_order_status", {**order, "status": "paid"}, ToolResult("ok"))
        assert verifier.verify(scenario, played(scenario, [read], scenario.answer, 0)).success
        assert not verifier.verify(scenario, played(scenario, [read, wrote], scenario.answer, 0)).success
        assert not verifier.verify(scenario, played(scenario, [read], "Done.", 0)).success
    assert not any(verifier.verify(scenario, played(scenario, [], scenario.answer, 0)).success for scenario in true)


@pytest.mark.npm
@pytest.mark.skipif(not (NODE_BIN / "mcp-server-memory").exists(), reason="no node_modules: make test installs them")
async def test_what_the_policy_leaves_out_is_asked_for_and_must_be_declined(tmp_path: Path) -> None:
    graph = [{"type": "entity", "name": name, "entityType": "boat", "observations": ["old"]} for name in BOATS]
    (tmp_path / "graph.json").write_text("\n".join(map(json.dumps, graph)))
    env = {"MEMORY_FILE_PATH": str(tmp_path / "graph.json")}
    policy = ToolPolicy(assume=dict.fromkeys(("read_graph", "open_nodes", "search_nodes"), "read"))
    async with connect([ServerConfig(target=str(NODE_BIN / "mcp-server-memory"), env=env)], policy) as server:
        known = await probe(server, 0)
        assert "delete_entities" in {tool.name for tool in known.forbidden}
        planner = Planner(Catalog(known), "train", "entities", 0, 4)
        async with Renewed(server, ()) as session:
            drawn = [await forbidden(planner, session, known.base) for _ in range(40)]
        scenarios = [composed.scenario for task in drawn if task and (composed := word(planner.subset, task))]
        verifier = Verifier(server.tools)
        assert scenarios
        for scenario in scenarios:
            assert any(boat in scenario.request for boat in BOATS)
            assert verifier.verify(scenario, played(scenario, [], scenario.answer, 0)).success
            assert not verifier.verify(scenario, played(scenario, [], "Done, it is gone.", 0)).success
