"""Policies that do not do the task pass next to nothing; the plans pass everything. On the shop, a real server."""

import json
from collections.abc import AsyncGenerator

import pytest
from support.loopback import shop_over_http

from mcprl.config import ScenarioConfig, ServerConfig, ToolPolicy
from mcprl.judges.adversaries import ADVERSARIES, Move, play, quality, swap_parts
from mcprl.judges.verifier import Verifier
from mcprl.scenarios.generate import generate
from mcprl.servers.server import Server, connect
from mcprl.types import Call, CallMade, Declines, Fact, SaysMissing, Scalar, Scenario, StateHolds

SMALL = ScenarioConfig(train=24, val=6, test=12, test_forms=0, probe_calls=250, repeat_after_s=0.1)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def server(anyio_backend: str) -> AsyncGenerator[Server]:
    with shop_over_http() as url:
        async with connect([ServerConfig(target=url)], ToolPolicy()) as server:
            yield server


@pytest.fixture(scope="module")
async def tasks(server: Server) -> list[Scenario]:
    """Tasks with rivals and subjects, as the planner makes them, of the shop's first rows."""
    return await hand_made(server)


async def record(server: Server, tool: str, **arguments: Scalar) -> dict[str, Scalar]:
    async with server.session() as session:
        return json.loads((await session.call(tool, arguments)).text)


async def hand_made(server: Server) -> list[Scenario]:
    made: list[Scenario] = []
    for number in range(301, 305):
        sku, other = f"SKU-{number}", f"SKU-{number + 20}"
        product, second = [await record(server, "get_product", sku=key) for key in (sku, other)]
        stock = await record(server, "check_stock", sku=sku)
        order = f"O-{number + 1700}"
        placed = await record(server, "get_order", order_id=order)
        price = Fact(product["price"], "price", "money", "EUR", str(product["name"]), tuple(product.values()))
        rival = Fact(second["price"], "price", "money", "EUR", str(second["name"]), tuple(second.values()))
        units = Fact(stock["units"], "units", "count", rivals=(stock["shelf"], product["price"]))
        lookup = (Call("get_product", {"sku": sku}),)
        both = (*lookup, Call("get_product", {"sku": other}))
        name, another = product["name"], second["name"]
        answers = {
            "price": f"The {name} costs EUR {product['price']}.",
            "each": f"The {name} costs EUR {product['price']} and the {another} costs EUR {second['price']}.",
            "two": f"It costs EUR {product['price']} and there are {stock['units']} left.",
            "order": f"It was placed on {placed['ordered']}.",
        }
        ordered = Fact(placed["ordered"], "ordered", "date", rivals=tuple(placed.values()))
        made += [
            Scenario(f"price{sku}", f"how much is {sku}?", (price,), lookup, answers["price"]),
            Scenario(f"each{sku}", f"what do {sku} and {other} cost", (price, rival), both, answers["each"]),
            Scenario(
                f"two{sku}",
                f"what does {sku} cost, and how many are left?",
                (Fact(product["price"], "price", "money", "EUR", rivals=units.rivals[:1]), units),
                (*lookup, Call("check_stock", {"sku": sku})),
                answers["two"],
            ),
            Scenario(
                f"date{order}",
                f"When was {order} placed?",
                (ordered,),
                (Call("get_order", {"order_id": order}),),
                answers["order"],
            ),
            Scenario(
                f"missing{number}",
                f"how much is SKU-{number + 600}",
                (CallMade("get_product", {"sku": f"SKU-{number + 600}"}, failed=True), SaysMissing()),
                (Call("get_product", {"sku": f"SKU-{number + 600}"}),),
                "There is no such product.",
            ),
        ]
        status = "packed" if placed["status"] != "packed" else "paid"
        change = Call("set_order_status", {"order_id": order, "status": status})
        look = StateHolds("get_order", {"order_id": order}, (status,))
        checks = (look, CallMade(change.tool, change.arguments))
        made.append(Scenario(f"write{order}", f"Mark {order} as {status}.", checks, (change,), "Done."))
    for category in ("lighting", "kitchen", "garden", "textiles"):
        search = Call("search_products", {"category": category})
        async with server.session() as session:
            found = json.loads((await session.call(search.tool, search.arguments)).text)
        cheapest, *others = sorted(found, key=lambda row: row["price"])
        pick = Fact(cheapest["name"], "name", "name", rivals=tuple(row["name"] for row in others), derived=True)
        answer = f"The {cheapest['name']}."
        made.append(Scenario(f"pick{category}", f"cheapest thing in {category}?", (pick,), (search,), answer))
    return [*made, Scenario("flight", "Book me a flight.", (Declines(),), (), "I can't book flights.")]


async def test_no_adversary_passes_what_it_has_no_right_to(server: Server, tasks: list[Scenario]) -> None:
    shares = await quality(server, tasks, Verifier(server.tools), most=len(tasks))
    assert shares["gold"].rate == 1.0
    assert shares.keys() == {"gold", *ADVERSARIES}
    assert not {name: share.requests for name, share in shares.items() if name != "gold" and share.rate >= 0.1}
    least = {"does nothing": 20, "always refuses": 16, "echoes the whole result": 12, "swaps the parts": 8}
    assert not {name: shares[name].tasks for name, count in least.items() if shares[name].tasks < count}
    assert all(share.tasks for share in shares.values())


async def test_a_generated_pack_holds_against_them(server: Server) -> None:
    pack = await generate(server, SMALL, seed=5)
    shares = await quality(server, pack.scenarios, Verifier(server.tools), most=20)
    assert (shares["gold"].rate, shares["gold"].tasks) == (1.0, 20)
    assert not {name: share.requests for name, share in shares.items() if name != "gold" and share.rate >= 0.1}


async def test_a_right_answer_with_a_write_beside_it_fails(server: Server, tasks: list[Scenario]) -> None:
    verifier = Verifier(server.tools)
    scenario = tasks[0]
    write = Call("set_order_status", {"order_id": "O-2090", "status": "packed"})
    trajectory = await play(server, scenario, Move((*scenario.plan, write), scenario.answer))
    assert not any(record.result.is_error for record in trajectory.calls)
    score = verifier.verify(scenario, trajectory)
    assert not score.success
    assert "set_order_status {'order_id': 'O-2090', 'status': 'packed'} changed what nobody" in score.explanation


def test_swapping_leaves_plain_lists_alone() -> None:
    listed = Scenario("s", "?", (Fact("O-1", "order"), Fact("O-2", "order")), (), "O-1 and O-2")
    assert swap_parts(listed, (), ()).right
    each = Scenario("s", "?", (Fact(5, "price", subject="A1"), Fact(7, "price", subject="B1")), (), "A1: 5, B1: 7")
    assert swap_parts(each, (), ()) == Move((), "A1: 7, B1: 5")
