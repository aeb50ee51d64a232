"""Tasks that a language model writes: executed, grounded, split, counted, and never more than it may cost."""

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.events import Recorder
from support.fake_author import OPENINGS, author, draft, reply, told
from support.fake_llm import Reply, Request, serving
from support.once import replayed
from support.paths import SERVERS

from mcprl.config import ScenarioConfig, ServerConfig, ToolPolicy
from mcprl.errors import BudgetError, ConfigError, LlmError, ScenarioError
from mcprl.events import Emit, ignore
from mcprl.judges.verifier import Verifier
from mcprl.llm.litellm import ChatModel
from mcprl.scenarios.authoring.author import BATCH, Author
from mcprl.scenarios.authoring.drafts import ALIKE, likeness, read, triples
from mcprl.scenarios.generate import generate
from mcprl.scenarios.packs.pack import Pack, load_pack, split_of
from mcprl.scenarios.probing.probe import probe
from mcprl.servers.server import connect
from mcprl.types import CallMade, Fact, SaysMissing, StateHolds

pytestmark = [
    pytest.mark.usefixtures("probed_once"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # litellm's own
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


def settings(url: str, **more: Any) -> ScenarioConfig:
    tree: dict[str, Any] = {"train": 12, "val": 4, "test": 6, "probe_calls": 150, "repeat_after_s": 0.1}
    own = {"generator": "llm:openai/gpt-4o", "generator_base_url": url, "generator_cache": ""}
    return ScenarioConfig.model_validate(tree | own | more)


async def written(
    shop: ServerConfig,
    answer: Callable[[Request, int], Reply],
    policy: ToolPolicy | None = None,
    emit: Emit = ignore,
    **more: Any,
) -> Pack:
    with serving(answer) as fake:
        async with connect([shop], policy or ToolPolicy()) as server:
            return await generate(server, settings(fake.url, **more), 3, emit)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def pack(shop: ServerConfig, probed_once: None) -> Pack:
    return await written(shop, author)


# --- what is kept -----------------------------------------------------------------------------------------------------


async def test_a_model_fills_every_split_with_tasks_that_the_server_proved(pack: Pack) -> None:
    assert Counter(s.split for s in pack.scenarios) == {"train": 12, "val": 4, "test": 6}
    assert pack.generator == "llm:openai/gpt-4o"
    assert {"lookup", "chain", "missing", "write"} <= {s.kind for s in pack.scenarios}
    assert all(s.checks for s in pack.scenarios)
    kinds = {type(check) for s in pack.scenarios for check in s.checks}
    assert kinds == {Fact, CallMade, SaysMissing, StateHolds}
    chain = next(s for s in pack.scenarios if s.kind == "chain")
    assert re.fullmatch(r"SKU-\d+", chain.plan[1].arguments["sku"])


async def test_plan_and_answer_of_every_written_task_pass_its_checks_in_a_fresh_process(
    shop: ServerConfig, pack: Pack
) -> None:
    async with connect([shop], ToolPolicy()) as server:
        verifier = Verifier(server.tools)
        played = await replayed(server, pack.scenarios)
        scores = [verifier.verify(scenario, one) for scenario, one in zip(pack.scenarios, played, strict=True)]
    assert [score.explanation for score in scores if not score.success] == []


async def test_no_entity_of_a_held_out_task_stands_in_training_and_no_two_tasks_read_alike(pack: Pack) -> None:
    def values(split: str) -> set[str]:
        return {value.casefold() for s in pack.scenarios if s.split == split for value in s.values}

    assert not values("train") & (values("val") | values("test"))
    assert all(split_of(3, value) == s.split for s in pack.scenarios for value in s.values)
    read_as = [triples(s.request) for s in pack.scenarios]
    assert all(likeness(a, b) < ALIKE for n, a in enumerate(read_as) for b in read_as[:n])


async def test_what_was_thrown_out_is_kept_with_the_pack(pack: Pack, tmp_path: Path) -> None:
    pack.save(tmp_path)
    assert load_pack(tmp_path).thrown_out == pack.thrown_out


# --- what is thrown out -----------------------------------------------------------------------------------------------

GET = [("get_order", {"order_id": "O-2001"})]
UNFIT = {
    "calls a tool that may not be called": draft("Delete order O-2001.", [("delete_order", {"order_id": "O-2001"})]),
    "has no plan": draft("Summarize the year.", [], {"summary": "good"}),
    "has a plan that is too long": draft("Read order O-2001 five times over.", GET * 5, {"quantity": "@1.quantity"}),
    "gives an argument that neither the request nor an earlier result states": draft(
        "How many pieces did our best customer order?", GET, {"quantity": "@1.quantity"}
    ),
    "refers to what no earlier result says": draft("Who drove order O-2001?", GET, {"driver": "@1.driver"}),
    "has a plan that fails": draft(
        "When was O-9999 made?", [("get_order", {"order_id": "O-9999"})], {"day": "@1.ordered"}
    ),
    "has a plan that finds nothing": draft(
        "Which customers live in Atlantis?", [("list_customers", {"city": "Atlantis"})], {"name": "@1.0.name"}
    ),
    "states a fact that no result shows": draft("What does order O-2001 weigh?", GET, {"weight": "12.75 kg"}),
    "gives its answer away": draft("Is C-1001 or C-1060 or O-2001 the id of order O-2001?", GET, {"id": "@1.order_id"}),
    "says that something is missing which is there": draft("Is there an order O-2001 at all?", GET, missing=True),
    "has nothing that can be checked (--open-tasks keeps such tasks)": draft(
        "Say something kind about order O-2001.", GET
    ),
    "names things of several splits": draft(
        "How do orders O-2001, O-2002, O-2003, O-2004 and O-2005 differ in size?", GET, {"quantity": "@1.quantity"}
    ),
    "could not be read": {"request": "No plan and no facts."},
}


async def test_a_draft_that_is_no_task_is_thrown_out_for_a_reason_that_is_counted(shop: ServerConfig) -> None:
    def answer(request: Request, number: int) -> Reply:
        return author(request, number) if number else reply(*UNFIT.values())

    thrown_out = (await written(shop, answer)).thrown_out
    assert {reason: min(1, thrown_out.get(reason, 0)) for reason in UNFIT} == dict.fromkeys(UNFIT, 1)


async def test_a_tool_that_the_policy_leaves_out_is_neither_shown_nor_called(shop: ServerConfig) -> None:
    shown: list[dict[str, Any]] = []

    def answer(request: Request, number: int) -> Reply:
        shown.append(told(request))
        return author(request, number)

    pack = await written(shop, answer, ToolPolicy(read_only=True))
    assert "set_order_status" not in json.dumps(shown)
    assert not any(call.tool == "set_order_status" for s in pack.scenarios for call in s.plan)
    assert pack.thrown_out["calls a tool that may not be called"] > 0


async def test_tasks_that_no_check_can_tell_are_kept_for_training_where_they_are_wanted(shop: ServerConfig) -> None:
    def answer(request: Request, number: int) -> Reply:
        if number % 2:
            return author(request, number)
        orders = told(request)["values"].get("get_order.order_id", ())
        return reply(
            *(
                draft(f"{OPENINGS[n]} a kind word about order {o}", [("get_order", {"order_id": o})])
                for n, o in enumerate(orders)
            )
        )

    pack = await written(shop, answer, open_tasks=True)
    free = [s for s in pack.scenarios if not s.checks]
    assert free
    assert {(s.split, s.kind) for s in free} == {("train", "open")}


async def test_tasks_that_mean_the_same_are_one_where_an_embedding_model_tells(shop: ServerConfig) -> None:
    def answer(request: Request, number: int) -> Reply:
        if "input" not in request:
            return author(request, number)
        assert request["model"] == "fake-embedding"
        texts: list[str] = request["input"]
        alone = {text: 2 + int.from_bytes(text.encode()[-8:]) % 197 for text in texts}
        return Reply(vectors=[[1.0, *[0.0] * 199] if "supplies" in t else _axis(alone[t]) for t in texts])

    pack = await written(shop, answer, embedding_model="openai/fake-embedding")
    assert sum(s.kind == "chain" for s in pack.scenarios) == 1
    assert pack.thrown_out["is much like another task"] > 0


# --- how it is asked --------------------------------------------------------------------------------------------------


async def test_the_model_is_given_tools_values_results_and_instructions_and_asked_for_what_is_uncovered(
    shop: ServerConfig,
) -> None:
    asked: list[Request] = []

    def answer(request: Request, number: int) -> Reply:
        asked.append(request)
        return author(request, number)

    await written(shop, answer, train=30, instructions="Ask as a tired night porter would.")
    first = told(asked[0])
    assert {tool["name"] for tool in first["tools"]} >= {"get_order", "set_order_status"}
    assert any(value.startswith("O-") for own in first["values"].values() for value in own if isinstance(value, str))
    assert all(call["result"] for call in first["calls"])
    assert "- Ask as a tired night porter would." in asked[0]["messages"][0]["content"]
    assert asked[0]["response_format"]["json_schema"]["schema"]["required"] == ["tasks"]
    assert "No task uses" not in asked[0]["messages"][1]["content"]
    later = asked[-1]["messages"][1]["content"]
    assert "No task uses these tools and parameters yet" in later
    assert "list_customers" in later.rpartition("No task uses")[2]
    assert "get_order." not in later.rpartition("No task uses")[2]


async def test_a_reply_that_breaks_off_is_read_as_far_as_it_goes_and_a_refusal_is_asked_again(
    shop: ServerConfig,
) -> None:
    def answer(request: Request, number: int) -> Reply:
        if number == 0:
            return Reply("", refusal="I cannot help with that.")
        text = author(request, number).content
        return Reply(text[: 2 * len(text) // 3], finish="length")

    pack = await written(shop, answer)
    assert Counter(s.split for s in pack.scenarios) == {"train": 12, "val": 4, "test": 6}
    assert pack.thrown_out["a reply without tasks"] == 1


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('{"tasks": [%s, %s]}', 2),
        ("Here you are:\n```json\n[%s, %s]\n```\nDone.", 2),
        ('{"tasks": [%s, {"request": "cut o', 1),
        ("I will not.", 0),
        ("", 0),
        ('{"tasks": []}', 0),
        ("[[[[" * 2_000, 0),
    ],
)
def test_replies_are_read_whole_fenced_or_cut(text: str, kept: int) -> None:
    good = json.dumps(draft("What is up with O-2001?", GET, {"status": "@1.status"}))
    found, unreadable = read(text.replace("%s", good))
    assert (len(found), unreadable) == (kept, 0)
    assert all(one.plan[0].arguments == {"order_id": "O-2001"} for one in found)


def test_a_task_with_half_a_character_could_not_be_sent_and_is_none() -> None:
    halves = [draft("What is up with \ud83d?", GET, {}), draft("Where is it?", [("get_order", {"id": "\ud83d"})], {})]
    assert read(json.dumps({"tasks": halves})) == ([], 2)


async def test_a_model_that_only_refuses_is_an_error_that_quotes_it(shop: ServerConfig) -> None:
    with pytest.raises(ScenarioError, match=r"wrote no task that could be kept .*a reply without tasks"):
        await written(shop, lambda *_: Reply("As a model of manners I decline."))
    with pytest.raises(LlmError, match="status 401"):
        await written(shop, lambda *_: Reply(status=401))


async def test_what_it_may_cost_is_forecast_and_not_passed_and_what_was_written_is_kept(shop: ServerConfig) -> None:
    def dear(request: Request, number: int) -> Reply:
        return replace(author(request, number), tokens=(10_000, 2_000))

    emitted = Recorder()
    pack = await written(shop, dear, emit=emitted, train=400, max_generator_cost=0.2)
    assert re.search(
        r"openai/gpt-4o will be asked for tasks \d+ times or more, for about \d+\.\d\d dollars", emitted.notes[0]
    )
    ends = [note for note in emitted.notes if note.startswith("writing tasks ends")]
    assert len(ends) == 1
    assert "the limit is 0.2 (--max-generator-cost)" in ends[0]
    assert 0 < len(pack.split("train")) < 400
    with pytest.raises(BudgetError, match=r"the limit is 0 \(--max-generator-cost\)"):
        await written(shop, author, max_generator_cost=0)


async def test_what_was_written_once_is_not_paid_for_again(shop: ServerConfig, tmp_path: Path) -> None:
    with serving(author) as fake:
        async with connect([shop], ToolPolicy()) as server:
            config = settings(fake.url, generator_cache=str(tmp_path))
            one = await generate(server, config, 3)
            asked = len(fake.requests)
            assert await generate(server, config, 3) == one
            assert len(fake.requests) == asked


async def test_auto_takes_a_model_where_a_key_is_set_and_says_which(
    shop: ServerConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"):
        monkeypatch.delenv(key, raising=False)
    emitted = Recorder()
    pack = await written(shop, author, emit=emitted, generator="auto")
    assert pack.generator == "grounded"
    assert emitted.notes == ["tasks are written by the grounded generator, since no provider's key is set"]
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    pack = await written(shop, author, emit=emitted, generator="auto")
    assert pack.generator == "llm:openai/o4-mini"
    assert emitted.notes[1] == "tasks are written by openai/o4-mini, since OPENAI_API_KEY is set"
    with pytest.raises(ConfigError, match="unknown generator 'gpt'; expected grounded, llm:MODEL or auto"):
        await written(shop, author, generator="gpt")


def test_the_command_writes_a_pack_and_shows_what_was_thrown_out(shop: ServerConfig, tmp_path: Path) -> None:
    def answer(request: Request, number: int) -> Reply:
        good = json.loads(author(request, number).content)["tasks"]
        return reply(*good, *(list(UNFIT.values()) if number == 0 else []))

    sizes = ["--train-tasks", "8", "--val-tasks", "2", "--test-tasks", "4", "--test-forms", "0", "--probe-calls", "200"]
    with serving(answer) as fake:
        own = ["--generator", "llm:openai/gpt-4o", "--generator-base-url", fake.url, "--generator-cache", ""]
        out = ["--out", str(tmp_path / "pack"), "--instructions", "Be brief."]
        command = [sys.executable, "-m", "mcprl", "scenarios", "--server", shop.target, *sizes, *own, *out]
        result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert "Be brief." in fake.requests[0]["messages"][0]["content"]
    assert result.returncode == 0, result.stderr
    assert "openai/gpt-4o will be asked for tasks 3 times or more" in result.stdout
    assert re.search(r"\n +1 states a fact that no result shows\n", result.stdout)
    assert len(load_pack(tmp_path / "pack").split("test")) == 4
    assert BATCH > 4


def _axis(at: int) -> list[float]:
    return [float(n == at) for n in range(200)]


async def test_nothing_is_written_on_a_server_whose_state_stays(tmp_path: Path) -> None:
    file = tmp_path / "notes.json"
    file.write_text('{"first": "one", "second": "two"}')
    shown: list[set[str]] = []

    def answer(request: Request, number: int) -> Reply:
        shown.append({tool["name"] for tool in told(request)["tools"]})
        arguments = {"name": f"n{number}", "text": "made up"}
        return reply(draft(f"Set note n{number} to made up.", [("set_note", arguments)], answer="Done."))

    target = f"{sys.executable} {SERVERS / 'shared_notes.py'} {file}"
    with serving(answer) as fake:
        async with connect([ServerConfig(target=target)]) as server:
            known = await probe(server, 3, 150)
            assert known.shared
            before = file.read_text()
            author = Author(server, known, settings(fake.url), 3, ChatModel("openai/gpt-4o", base_url=fake.url))
            with pytest.raises(ScenarioError, match="calls a tool that may not be called"):
                await author.write({"train": 4})
    assert file.read_text() == before
    assert "get_note" in shown[0]
    assert "set_note" not in shown[0]
