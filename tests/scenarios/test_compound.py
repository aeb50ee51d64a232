"""Requests with more in them than one lookup or one write: two in one, conditions, slips, codes typed in haste."""

import json
import random
import re
from pathlib import Path

import pytest
from support.paths import NODE_BIN

from mcprl.config import ServerConfig, ToolPolicy
from mcprl.judges.checks import shows
from mcprl.judges.verifier import Verifier
from mcprl.scenarios.beside import respelled, with_another
from mcprl.scenarios.catalog import Catalog
from mcprl.scenarios.intents import Attribute, Both, Change, Combine, Conditional, Lookup, Reference, Value
from mcprl.scenarios.kinds.abstain import forbidden
from mcprl.scenarios.kinds.aggregates import topmost
from mcprl.scenarios.kinds.conditions import conditional
from mcprl.scenarios.kinds.likewise import likewise
from mcprl.scenarios.kinds.rows import _between
from mcprl.scenarios.kinds.scaled import scaled
from mcprl.scenarios.kinds.statuses import reopens
from mcprl.scenarios.planner import Planner
from mcprl.scenarios.probing.probe import probe
from mcprl.scenarios.probing.renewed import Renewed
from mcprl.scenarios.wording import Worded, answer, say
from mcprl.servers.server import Server, connect
from mcprl.types import CallRecord, Fact, Scenario, StateHolds, ToolResult, Trajectory

PRICE, SHELF = Attribute("price", "price", "money", "EUR"), Attribute("shelf", "shelf", "place")
BOATS = ("Amber Tern", "Grey Heron", "Little Auk", "Red Kite", "Storm Petrel", "White Stork")
STATUS = Attribute("status", "status", "status", choices=("open", "paid", "sent"))


def product(code: str) -> Reference:
    return Reference("product", (Value(Attribute("sku", "SKU", "identifier"), code),))


def always(_: object) -> bool:
    return True


def test_each_of_two_requests_is_in_a_construction_of_its_suite() -> None:
    intent = Both((Lookup(product("P-1"), (PRICE,)), Lookup(product("P-2"), (SHELF,))))
    seen: set[str] = set()

    def allowed(form: str) -> bool:
        seen.add(form)
        misspelled = form.endswith(("+typo", "+hasty"))  # akso
        return not misspelled and form.startswith(("both/also", "lookup.money", "lookup.place"))

    for seed in range(40):
        worded = say(intent, random.Random(seed), allowed)
        assert worded
        assert worded.form.startswith("both/also")
        assert re.search(r"P-1\b.*\balso\b.*P-2\b", worded.request, re.IGNORECASE)
    assert any(form.startswith("lookup.frame") for form in seen), "the parts' constructions are asked for, too"
    assert say(intent, random.Random(0), lambda form: form.startswith("both/")) is None


def test_the_answers_name_what_they_are_about() -> None:
    rng = random.Random(0)
    both = Both((Lookup(product("P-1"), (PRICE,)), Lookup(product("P-2"), (SHELF,))))
    assert answer(both, ((3.5,), ("E-2",)), rng) == "P-1 costs EUR 3.5. P-2 is on shelf E-2."
    order = Reference("order", (Value(Attribute("order_id", "order", "identifier"), "O-7"),))
    change = Change("set_status", "", "set", order, (Value(STATUS, "paid"),))
    assert answer(Conditional(change, Value(STATUS, "open"), True), (), rng) == "Done. The status of O-7 is now paid."
    left = answer(Conditional(change, Value(STATUS, "open"), False), ("sent",), rng)
    assert left == "I didn't change anything: O-7's status is sent."
    assert answer(Combine((product("P-1"), product("P-2")), PRICE, "sum"), (7.25,), rng) == "Together that's EUR 7.25."


def test_a_slip_names_the_other_thing_first_and_the_right_one_last() -> None:
    worded, pool = Worded("Mark O-1 as paid.", "set/mark"), [["O-1", "O-2"]]
    slips = [
        with_another(worded, ["O-1"], pool, random.Random(seed), always, lambda form: form == "beside/i-mean")[0]
        for seed in range(30)
    ]
    assert {slip.request for slip in slips} == {worded.request, "Mark O-2 as paid. Sorry, I mean O-1, not O-2."}


@pytest.mark.parametrize(
    ("documented", "spellings"),
    [("Order id, such as O-2107", {"O-1?", "o-1?", "O 1?"}), ("The id of an order", {"O-1?"})],
)
def test_a_code_is_typed_in_haste_only_where_the_tools_say_how_it_is_spelled(
    documented: str, spellings: set[str]
) -> None:
    found = {respelled(Worded("O-1?", "f"), ["O-1"], documented, random.Random(seed)).request for seed in range(80)}
    assert found == spellings


def test_limits_are_round_numbers_between_the_values() -> None:
    assert [_between(54.75, 82.75), _between(3, 9), _between(1, 2), _between(120, 990)] == [60, 5, None, 500]


def test_a_row_is_shown_only_if_it_has_all_values() -> None:
    edge = StateHolds("read", {}, ("Ana", "Pelican", "manages"), together=True)
    apart = [{"from": "Ana", "to": "Oak", "verb": "manages"}, {"from": "Bo", "to": "Pelican", "verb": "works on"}]
    made = {"from": "Ana", "to": "Pelican", "verb": "manages"}
    for rows, expected in (({"relations": apart}, False), ({"relations": [*apart, made]}, True)):
        assert shows(ToolResult(str(rows), rows), edge) is expected
    assert not shows(ToolResult("Ana Pelican manages"), edge), "a text has no rows"


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
            drawn += [await likewise(planner, clean, written, known.base, tool) for _ in range(12)]
            drawn += [await scaled(planner, clean, known.base) for _ in range(30)]
            slot = planner.target(tool)
            assert slot
            tops = [await topmost(planner, clean, known.base, tool, slot) for _ in range(10)]
        status = next(own for own in known.slots[tool.name] if own.key == "status")
        assert reopens(planner, [(status, "paid")], {"status": "delivered"}), "nobody pays what is delivered"
        assert not reopens(planner, [(status, "delivered")], {"status": "paid"})
        assert any(top and top.reference.top and top.plan for top in tops), "the newest order of a customer"
        made = [scenario for task in drawn if task and (scenario := planner.word(task))]
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


async def test_a_copied_value_is_read_first_and_not_said(
    drawn_tasks: tuple[Server, dict[str, list[Scenario]]],
) -> None:
    tasks = drawn_tasks[1]["likewise"]
    assert tasks
    for task in tasks:
        *reads, write = task.plan
        assert reads, "the other order is read"
        assert write.tool == "set_order_status"
        assert not re.search(rf"\b{write.arguments['status']}\b", task.request)
        assert isinstance(task.checks[0], StateHolds)


async def test_what_is_worked_out_is_neither_number_that_it_is_made_of(
    drawn_tasks: tuple[Server, dict[str, list[Scenario]]],
) -> None:
    server, tasks = drawn_tasks[0], drawn_tasks[1]["scaled"]
    assert tasks
    for task in tasks:
        fact = task.checks[0]
        assert isinstance(fact, Fact)
        found, said = fact.rivals
        shown = ToolResult(f'{{"{fact.name}": {found}}}')
        reads = [CallRecord(turn, call.tool, call.arguments, shown) for turn, call in enumerate(task.plan)]
        verify = Verifier(server.tools).verify
        assert verify(task, played(task, reads, task.answer, 0)).success
        assert not verify(task, played(task, reads, f"It is {found}.", 0)).success
        assert str(said).removesuffix(".0") in task.request


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
        scenarios = [scenario for task in drawn if task and (scenario := planner.word(task))]
        verifier = Verifier(server.tools)
        assert scenarios
        for scenario in scenarios:
            assert any(boat in scenario.request for boat in BOATS)
            assert verifier.verify(scenario, played(scenario, [], scenario.answer, 0)).success
            assert not verifier.verify(scenario, played(scenario, [], "Done, it is gone.", 0)).success
