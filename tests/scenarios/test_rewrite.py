"""Requests in other words: kept if no value is lost and a solver who sees nothing else gets the same facts."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.events import Recorder
from support.fake_llm import Reply, Request, serving
from support.fake_rewriter import Solution, is_rewriting, items, rewriter

from mcprl.config import ScenarioConfig, ServerConfig, ToolPolicy
from mcprl.errors import BudgetError, ConfigError, LlmError
from mcprl.events import Emit, ignore
from mcprl.scenarios.authoring.rewrite import open_rewriter
from mcprl.scenarios.generate import generate
from mcprl.servers.server import connect
from mcprl.types import Call, CallMade, Fact, SaysMissing, Scenario, StateHolds

pytestmark = [
    pytest.mark.usefixtures("probed_once"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # litellm's own
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

MISSING = CallMade("get_order", {"order_id": "O-9"}, failed=True), SaysMissing()
SHIP = {"order_id": "O-2074", "status": "delivered"}


def task(name: str, request: str, tool: str, arguments: dict[str, Any], *checks: Any, **more: Any) -> Scenario:
    return Scenario(name, request, tuple(checks), (Call(tool, arguments),), **more)


async def read(server: Any, tool: str, **arguments: Any) -> Any:
    async with server.session() as session:
        return json.loads((await session.call(tool, arguments)).text)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def tasks(shop: ServerConfig) -> dict[str, Scenario]:
    """A lookup, one that is missing, a write, and tests of both suites, about orders of the shop."""
    async with connect([shop]) as server:
        orders = {name: await read(server, "get_order", order_id=name) for name in ("O-2046", "O-2050", "O-2060")}
    made = [
        task("day", "What is the ordered of order O-2046?", "get_order", {"order_id": "O-2046"},
             Fact(orders["O-2046"]["ordered"], "ordered")),
        task("none", "What is the status of order O-9?", "get_order", {"order_id": "O-9"}, *MISSING, kind="missing"),
        task("ship", "Set the status of O-2074 to delivered.", "set_order_status", SHIP,
             StateHolds("get_order", {"order_id": "O-2074"}, ("delivered",)), kind="write", split="val"),
        task("entity", "What is the ordered of order O-2050?", "get_order", {"order_id": "O-2050"},
             Fact(orders["O-2050"]["ordered"], "ordered"), split="test"),
        task("form", "When was O-2060 made?", "get_order", {"order_id": "O-2060"},
             Fact(orders["O-2060"]["ordered"], "ordered"), split="test", suite="forms"),
    ]  # fmt: skip
    return {scenario.id: scenario for scenario in made}


REWRITES = {
    "What is the ordered of order O-2046?": "hey when did they place order 2046",
    "What is the status of order O-9?": "I'm told there is an O-9, where is it?",
    "Set the status of O-2074 to delivered.": "The parcel of O-2074 has arrived at the customer's door.",
    "When was O-2060 made?": "Dear team, since when do we have o-2060 in the books? Thanks, Ana",
}


def solutions(tasks: dict[str, Scenario]) -> dict[str, Solution]:
    return {
        REWRITES[tasks["day"].request]: ([("get_order", {"order_id": "O-2046"})], f"On {_day(tasks['day'])}."),
        REWRITES[tasks["none"].request]: ([("get_order", {"order_id": "O-9"})], "It does not exist."),
        REWRITES[tasks["ship"].request]: ([("set_order_status", SHIP)], "It is marked as delivered."),
        REWRITES[tasks["form"].request]: ([("get_order", {"order_id": "O-2060"})], f"On {_day(tasks['form'])}."),
    }


def _day(scenario: Scenario) -> str:
    return str(next(check.value for check in scenario.checks if isinstance(check, Fact)))


async def rewritten(
    shop: ServerConfig, scenarios: list[Scenario], answer: Any, emit: Emit = ignore, **more: Any
) -> tuple[list[Scenario], Counter[str], list[Request]]:
    with serving(answer) as fake:
        settings = {"rewriter": "llm:openai/gpt-4o", "generator_base_url": fake.url, "generator_cache": ""} | more
        async with connect([shop], ToolPolicy()) as server:
            made = open_rewriter(server, ScenarioConfig.model_validate(settings), 3, emit)
            assert made
            return await made.rewrite(scenarios), made.thrown_out, fake.requests


async def test_a_rewrite_replaces_the_wording_of_training_validation_and_the_forms_test(
    shop: ServerConfig, tasks: dict[str, Scenario]
) -> None:
    emitted = Recorder()
    before = list(tasks.values())
    after, thrown_out, requests = await rewritten(shop, before, rewriter(REWRITES, solutions(tasks)), emitted)
    assert thrown_out == Counter()
    assert [one.request for one in after] == [REWRITES.get(one.request, one.request) for one in before]
    assert after[3] == tasks["entity"]  # tests training's own forms, so it keeps them
    for one, other in zip(after, before, strict=True):
        assert replace(one, request="", form="", id="") == replace(other, request="", form="", id="")
    personas = {one.id: one.form.partition("/") for one in after if one.form}
    assert len(personas) == 4
    assert {start for start, _, _ in personas.values()} == {"rewritten"}
    assert after[4].form.removeprefix("rewritten/") in {"non-native", "letter", "spoken", "worried", "colleague"}
    assert len({one.id for one in after} | {one.id for one in before}) == 9
    (asked,) = filter(is_rewriting, requests)
    assert [item["keep"] for item in items(asked)] == [["O-2046"], ["O-9"], ["O-2074"], ["O-2060"]]
    assert "delivered" not in str(items(asked)[2]["keep"])  # a value of the schema's enum may be told as an event
    assert emitted.notes[-1] == "4 of 4 requests in other words"
    assert "openai/gpt-4o will rewrite 4 requests and solve each, for about" in emitted.notes[0]


UNFIT = {
    "a rewrite without a value that the task needs": "when did they place that order",
    "a rewrite in the same words": "what is the ordered of order o-2046",
    "a rewrite that gives the answer away": "Was order O-2046 made on {day}?",
    "a rewrite that was not solved from its words alone": "Something about O-2046 and its ordered day, please",
    "a request that was not rewritten": "",
    "a rewrite that another task has": "What is the ordered of order O-2050?, O-2046",
}


@pytest.mark.parametrize("reason", UNFIT)
async def test_a_rewrite_that_is_no_task_is_thrown_out_for_a_reason_that_is_counted(
    shop: ServerConfig, tasks: dict[str, Scenario], reason: str
) -> None:
    text = UNFIT[reason].replace("{day}", _day(tasks["day"]))
    other = replace(tasks["entity"], request=text)
    known = {text: ([("get_order", {"order_id": "O-2046"})], f"On {_day(tasks['day'])}.")}
    solved = known if "solved" not in reason else {text: ([("get_order", {"order_id": "O-2050"})], "On a day.")}
    scenarios = [tasks["day"], other] if "another" in reason else [tasks["day"]]
    after, thrown_out, _ = await rewritten(shop, scenarios, rewriter({tasks["day"].request: text}, solved))
    assert after == scenarios
    assert thrown_out == {reason: 1}


async def test_the_solver_sees_only_the_request_and_the_tools_and_what_it_makes_up_does_no_harm(
    shop: ServerConfig, tasks: dict[str, Scenario]
) -> None:
    def answer(request: Request, number: int) -> Reply:
        if is_rewriting(request):
            return rewriter(REWRITES, {})(request, number)
        if len(request["messages"]) < 6:
            calls = [{"tool": "drop_all", "arguments": "{}"}, {"tool": "get_order", "arguments": "nonsense"}]
            return Reply(json.dumps({"calls": calls, "answer": ""}))
        return Reply("In plain words: no.")

    _, thrown_out, requests = await rewritten(shop, [tasks["day"]], answer)
    assert thrown_out == {"a rewrite that was not solved from its words alone": 1}
    asked = [request for request in requests if not is_rewriting(request)]
    assert asked[0]["messages"][1]["content"] == REWRITES[tasks["day"].request]
    assert tasks["day"].request not in json.dumps(asked)
    assert _day(tasks["day"]) not in json.dumps(asked)
    assert "there is no tool 'drop_all'" in asked[1]["messages"][-1]["content"]
    assert "not a JSON object" in asked[1]["messages"][-1]["content"]


async def test_what_it_may_cost_is_not_passed_and_what_was_rewritten_is_kept(
    shop: ServerConfig, tasks: dict[str, Scenario]
) -> None:
    with pytest.raises(BudgetError, match=r"the limit is 0 \(--max-generator-cost\)"):
        await rewritten(shop, [tasks["day"]], rewriter(REWRITES, {}), max_generator_cost=0)
    with pytest.raises(LlmError, match="status 401"):
        await rewritten(shop, [tasks["day"]], lambda *_: Reply(status=401))
    many = [replace(tasks["day"], id=f"{n}", request=f"What is the ordered of order O-2046? {n}") for n in range(40)]
    rewrites = {each.request: f"hey {each.id} when did they place order 2046" for each in many}
    solved: dict[str, Solution] = {
        text: ([("get_order", {"order_id": "O-2046"})], f"On {_day(tasks['day'])}.") for text in rewrites.values()
    }
    emitted = Recorder()
    after, _, _ = await rewritten(shop, many, rewriter(rewrites, solved), emitted, max_generator_cost=0.1)
    kept = sum(bool(each.form) for each in after)
    assert 0 < kept < 40
    assert any("rewriting ends: " in note and "--max-generator-cost" in note for note in emitted.notes)
    assert emitted.notes[-1] == f"{kept} of 40 requests in other words"


async def test_what_was_rewritten_once_is_not_paid_for_again(
    shop: ServerConfig, tasks: dict[str, Scenario], tmp_path: Path
) -> None:
    answer = rewriter(REWRITES, solutions(tasks))
    with serving(answer) as fake:
        settings = {"rewriter": "llm:openai/gpt-4o", "generator_base_url": fake.url, "generator_cache": str(tmp_path)}
        async with connect([shop], ToolPolicy()) as server:
            config = ScenarioConfig.model_validate(settings)
            runs: list[list[Scenario]] = []
            asked = 0
            for _ in range(2):
                made = open_rewriter(server, config, 3)
                assert made
                runs.append(await made.rewrite(list(tasks.values())))
                asked = len(fake.requests)
            assert runs[0] == runs[1]
            assert len(fake.requests) == asked


async def test_the_generator_rewrites_its_own_tasks_and_counts_what_was_not_kept(shop: ServerConfig) -> None:
    def answer(request: Request, number: int) -> Reply:
        if not is_rewriting(request):
            return Reply(json.dumps({"calls": [], "answer": "I could not find it."}))
        written = [{"id": each["id"], "request": f"um, {each['request']}"} for each in items(request)]
        return Reply(json.dumps({"rewrites": written}))

    sizes = {
        "train": 6,
        "val": 2,
        "test": 3,
        "test_forms": 0,
        "probe_calls": 100,
        "repeat_after_s": 0.1,
        "generator_cache": "",
    }
    with serving(answer) as fake:
        settings = {"rewriter": "llm:openai/gpt-4o", "generator_base_url": fake.url}
        async with connect([shop], ToolPolicy()) as server:
            pack = await generate(server, ScenarioConfig.model_validate(sizes | settings), 3)
    assert pack.generator == "grounded"
    rewritten = [scenario for scenario in pack if scenario.split != "test"]
    assert pack.thrown_out["a rewrite that was not solved from its words alone"] == len(rewritten) > 5


async def test_the_setting_names_a_model_or_the_policy(shop: ServerConfig) -> None:
    async with connect([shop], ToolPolicy()) as server:
        assert open_rewriter(server, ScenarioConfig(), 0) is None
        with pytest.raises(ConfigError, match="unknown rewriter 'gpt'; expected llm:MODEL or policy"):
            open_rewriter(server, ScenarioConfig(rewriter="gpt"), 0)
        with pytest.raises(ConfigError, match="a run's own model, but there is no run here"):
            open_rewriter(server, ScenarioConfig(rewriter="policy"), 0)
