"""A language model words executed plans: what it says is vetted, and what does not pass stays plain."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from support.events import Recorder
from support.fake_llm import Reply, Request, serving

from mcprl.config import ScenarioConfig, ServerConfig
from mcprl.errors import BudgetError, ConfigError, LlmError
from mcprl.events import Note
from mcprl.llm.litellm import ChatModel
from mcprl.scenarios.brief import Brief, BriefedCall
from mcprl.scenarios.generate import generate
from mcprl.scenarios.writers.model import ModelWriter
from mcprl.servers.server import connect

pytestmark = [
    pytest.mark.usefixtures("probed_once"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # litellm's own
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


def briefs(request: Request) -> list[dict[str, Any]]:
    body = re.search(r"<(briefs-\w+)>(.*)</\1>", request["messages"][1]["content"], re.DOTALL)
    assert body
    return json.loads(body[2])


def is_choosing(request: Request) -> bool:
    return "Which of these briefs" in request["messages"][0]["content"]


def answer(request: Request, number: int) -> Reply:
    """Writes one request that says all it must, one that says nothing, and finds each to be of its own brief."""
    if not is_choosing(request):
        written = [
            {
                "id": item["id"],
                "texts": [f"pls tell me about {' and '.join(map(str, item['said']))}, {number}-{n}", "hm"],
            }
            for n, item in enumerate(briefs(request))
        ]
        return Reply(json.dumps({"requests": written}))
    shown = json.loads(request["messages"][1]["content"])["briefs"]
    own = next(at for at, brief in shown.items() if "asked: price" in brief or "asked: shelf" in brief)
    return Reply(json.dumps({"choice": int(own)}))


async def made(shop: ServerConfig, answer: Any, **more: Any) -> tuple[list[Any], list[str], list[Request]]:
    record = Recorder()
    with serving(answer) as fake:
        settings: dict[str, Any] = {
            "writer": "llm:openai/gpt-4o",
            "writer_base_url": fake.url,
            "writer_cache": "",
        } | more
        config = ScenarioConfig(train=16, val=2, test=6, test_forms=0, repeat_after_s=0, **settings)
        async with connect([shop]) as server:
            pack = await generate(server, config, emit=record)
        return list(pack), [event.text for event in record.events if isinstance(event, Note)], fake.requests


async def test_what_passes_is_in_the_models_words_and_the_rest_is_plain(shop: ServerConfig) -> None:
    tasks, notes, requests = await made(shop, answer)
    written = [task for task in tasks if task.form.startswith("written/llm:")]
    assert written
    assert len(written) < len(tasks)
    for task in written:
        assert task.request.startswith("pls tell me about ")
        assert not task.request.endswith("hm")
    assert any("openai/gpt-4o will word" in note for note in notes)
    assert any("in the llm:openai/gpt-4o writer's words" in note and "lacks a value" in note for note in notes)
    (shares,) = (note for note in notes if note.startswith("written, by kind: "))
    kinds, calls, shared = shares.split("; ")
    for part in (kinds, calls):
        assert sum(int(kept) for kept in re.findall(r"(\d+) of \d+", part)) == len(written)
    assert re.fullmatch(r"words shared with the plain request: kept \d+%, refused \d+%", shared)
    choosing = [request for request in requests if is_choosing(request)]
    assert len(choosing) % 2 == 0, "each choice is asked for in two orders"


async def test_a_request_that_the_model_gives_to_another_brief_is_not_taken(shop: ServerConfig) -> None:
    def confused(request: Request, number: int) -> Reply:
        return Reply('{"choice": 0}') if is_choosing(request) else answer(request, number)

    tasks, _, _ = await made(shop, confused)
    alone = [task for task in tasks if task.kind == "lookup" and len(task.checks) == 1]
    assert alone
    assert not [task for task in alone if task.form.startswith("written/")]


BRIEF = Brief("b", "lookup", (BriefedCall("get", "", {"id": "O-1"}),), "Sent.", (("status", "sent"),), ("O-1",), (), ())


async def test_a_model_that_cannot_be_asked_ends_it_and_one_that_stops_leaves_the_rest_unwritten() -> None:
    class Model:
        name, cost, calls = "m", 0.0, 0

        def __init__(self, failing: int) -> None:
            self.failing = failing

        async def reply(self, messages: Any, schema: Any = None) -> str:
            self.calls += 1
            if self.calls > self.failing:
                raise LlmError("no answer came")
            return json.dumps({"requests": [{"id": n, "texts": [f"O-1 {n}"]} for n in range(10)]})

        def require(self) -> None: ...

        async def price(self, messages: Any, calls: int) -> str:
            return "which costs nothing"

    with pytest.raises(LlmError):
        await ModelWriter(Model(0), 0).write([BRIEF], 2)
    record = Recorder()
    written = await ModelWriter(Model(1), 0, record).write([BRIEF] * 12, 2)
    assert written[:10] == [[f"O-1 {n}", ""] for n in range(10)]
    assert written[10:] == [["", ""], ["", ""]]
    assert record.events[-1] == Note("writing ends: no answer came")


async def test_a_reply_that_cannot_be_read_writes_nothing() -> None:
    class Model:
        name, cost, calls = "m", 0.0, 0

        async def reply(self, messages: Any, schema: Any = None) -> str:
            return "I would rather not."

        def require(self) -> None: ...

        async def price(self, messages: Any, calls: int) -> str:
            return ""

    assert await ModelWriter(Model(), 0).write([BRIEF], 2) == [["", ""]]


@pytest.mark.parametrize("name", ["poet", "llm:", "llm:policy"])
async def test_an_unknown_writer_is_named(name: str, shop: ServerConfig) -> None:
    async with connect([shop]) as server:
        with pytest.raises(ConfigError, match=f"unknown writer '{name}'; expected plain or llm:MODEL"):
            await generate(server, ScenarioConfig(writer=name))


async def test_a_key_that_is_not_set_is_asked_for_before_the_server_is_probed(
    shop: ServerConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    async with connect([shop]) as server:
        with pytest.raises(LlmError, match="OPENAI_API_KEY, which is not set"):
            await generate(server, ScenarioConfig(writer="llm:openai/gpt-4o"))


async def test_what_it_may_cost_is_not_passed_and_the_rest_stays_unwritten(shop: ServerConfig) -> None:
    def dear(request: Request, number: int) -> Reply:
        return replace(answer(request, number), tokens=(10_000, 2_000))

    with pytest.raises(BudgetError, match=r"the limit is 0 \(--max-writer-cost\)"):
        await made(shop, dear, max_writer_cost=0)
    record = Recorder()
    with serving(dear) as fake:
        model = ChatModel("openai/gpt-4o", fake.url, max_cost=0.05)
        written = await ModelWriter(model, 0, record).write([BRIEF] * 20, 2)
        assert len(fake.requests) == 1
    assert [bool(each[0]) for each in written] == [True] * 10 + [False] * 10
    assert record.notes[-1].startswith("writing ends: 0.0450 dollars are spent")
