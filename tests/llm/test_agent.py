"""A model behind an API beside a model of one's own: its turns over real HTTP, on the live shop, in people's words."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.command_line import mcprl
from support.configs import small
from support.fake_llm import FakeLlm, Reply, Request, serving
from support.journals import played
from support.paths import ROOT, SHOP

from mcprl.art.own import train_adapter
from mcprl.config import Config
from mcprl.errors import BudgetError, ModelError, ServerError
from mcprl.evaluate import evaluate_pack
from mcprl.runs.chart import charted
from mcprl.runs.curve import draw_runs
from mcprl.runs.evaluations import read_evaluation
from mcprl.runs.journal import Journal
from mcprl.runs.paired import compare_runs
from mcprl.runs.settings import parse
from mcprl.scenarios.packs.pack import load_pack

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # litellm's own
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
PRICED = "llm:openai/gpt-4.1-mini"
"""A model whose price litellm knows: 0.4 and 1.6 dollars for a million tokens."""
REQUESTS = 8


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """Requests that people made of the shop and that a call or two serve."""
    lines = (ROOT / "scenarios" / "people" / "shop.jsonl").read_text(encoding="utf-8").splitlines()
    served = [line for line in lines if json.loads(line)["kind"] == "lookup"]
    path = tmp_path / "people.jsonl"
    path.write_text("\n".join(served[:REQUESTS]), encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def settings(pack: Path, fake: FakeLlm, model: str = PRICED, **engine: Any) -> Config:
    tree: dict[str, Any] = {"servers": [{"target": SHOP}], "tools": {"sandbox": True}, "model": {"name": model}}
    return parse(tree | {"scenarios": {"pack": str(pack)}, "engine": {"base_url": fake.url, **engine}})


def expert(pack: Path) -> Callable[[Request, int], Reply]:
    """An agent that makes each request's own calls, one a turn, and then gives its answer."""
    known = {scenario.request: scenario for scenario in load_pack(str(pack)).test}

    def answer(request: Request, _: int) -> Reply:
        user = next(message["content"] for message in request["messages"] if message["role"] == "user")
        made = sum(message["role"] == "tool" for message in request["messages"])
        plan = known[user].plan
        if made == len(plan):
            return Reply(known[user].answer)
        return Reply(calls=[(plan[made].tool, json.dumps(plan[made].arguments))], finish="tool_calls")

    return answer


async def test_it_is_tested_on_the_live_server_with_the_tools_and_the_results_and_told_what_it_cost(pack: Path) -> None:
    with serving(expert(pack)) as fake:
        evaluation = await evaluate_pack(settings(pack, fake))
    assert evaluation.overall[:2] == (REQUESTS, 1.0)
    first = fake.requests[0]
    assert {tool["function"]["name"] for tool in first["tools"]} >= {"get_order", "check_stock"}
    assert (first["temperature"], first["model"]) == (0.0, "gpt-4.1-mini")
    last = next(request for request in fake.requests if request["messages"][-1]["role"] == "tool")
    (*_, asked, result) = last["messages"]
    assert result["tool_call_id"] == asked["tool_calls"][0]["id"]
    assert result["content"]
    assert evaluation.cost == pytest.approx(len(fake.requests) * (1000 * 0.4 + 100 * 1.6) / 1e6)


async def test_what_was_asked_before_is_not_paid_for_again(pack: Path) -> None:
    with serving(expert(pack)) as fake:
        first = await evaluate_pack(settings(pack, fake))
        asked = len(fake.requests)
        again = await evaluate_pack(settings(pack, fake))
    assert len(fake.requests) == asked
    assert (again.overall, again.cost) == (first.overall, first.cost)


async def test_arguments_that_are_no_json_and_a_tool_that_is_not_there_are_told_to_the_model(pack: Path) -> None:
    def answer(request: Request, _: int) -> Reply:
        last = request["messages"][-1]
        if last["role"] == "tool":
            return Reply("I could not find it.")
        if last["content"].startswith("Error: "):
            return Reply(calls=[("no_such_tool", "{}")], finish="tool_calls")
        return Reply(calls=[("get_order", '{"order_id": ')], finish="tool_calls")

    with serving(answer) as fake:
        evaluation = await evaluate_pack(settings(pack, fake))
    assert evaluation.overall[1] == 0.0
    assert evaluation.broken == 0
    told = {request["messages"][-1]["content"] for request in fake.requests if len(request["messages"]) == 3}
    assert told == {'Error: the arguments of get_order are no JSON object: {"order_id": '}
    unknown = [request["messages"][-1]["content"] for request in fake.requests if len(request["messages"]) == 5]
    assert all("no_such_tool" in content for content in unknown)


async def test_a_model_whose_price_is_not_known_has_no_cost(pack: Path) -> None:
    with serving(lambda *_: Reply("I do not know.")) as fake:
        assert (await evaluate_pack(settings(pack, fake, "llm:openai/of-my-own"))).cost is None


async def test_it_ends_before_it_could_cost_too_much(pack: Path) -> None:
    with serving(expert(pack)) as fake, pytest.raises(BaseExceptionGroup) as caught:
        await evaluate_pack(settings(pack, fake, max_cost=0.006))
    assert caught.group_contains(BudgetError, match="the limit is 0.006 \\(--max-model-cost\\)")


async def test_an_api_that_refuses_is_a_sentence(pack: Path) -> None:
    with (
        serving(lambda *_: Reply(status=401)) as fake,
        pytest.raises(ServerError, match=f"of {REQUESTS} rollouts broke.*401"),
    ):
        await evaluate_pack(settings(pack, fake))


async def test_it_takes_no_adapter_and_is_not_trained(pack: Path, tiny_model: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"gpt-4\.1 is behind an API: mcprl eval and mcprl bench test it"):
        await train_adapter(small(Path("llm:openai/gpt-4.1"), tmp_path))
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    (adapter / "adapter_model.safetensors").touch()
    with serving(expert(pack)) as fake, pytest.raises(ModelError, match="takes no adapter"):
        await evaluate_pack(settings(pack, fake), adapter)


def test_a_key_that_is_not_set_is_a_line_before_anything_starts(pack: Path) -> None:
    done = mcprl("eval", SHOP, "--sandbox", "--pack", str(pack), "--model", "llm:openai/gpt-4.1")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "needs a key in $OPENAI_API_KEY" in done.err


def test_it_stands_beside_a_run_with_an_interval_and_in_its_chart(pack: Path, tmp_path: Path) -> None:
    tasks = load_pack(str(pack)).test
    with Journal.create(tmp_path / "run", Config()) as journal:
        journal.write_scenarios(tasks)
        played(journal, "test:base", 0, tasks, lambda n, _: False)
        played(journal, "test:trained", 5, tasks, lambda n, _: n < 2)
    with serving(expert(pack)) as fake:
        arguments = ("--sandbox", "--pack", str(pack), "--model", PRICED, "--base-url", fake.url, "--json")
        done = mcprl("eval", SHOP, *arguments, "--runs-dir", str(tmp_path))
    assert done.code == 0, done.err
    path = tmp_path / "mini.json"
    path.write_text(done.out)
    (pair,) = compare_runs(tmp_path / "run", path)
    assert (pair.suite, pair.n, pair.first, pair.second, pair.won, pair.lost) == ("people", REQUESTS, 0.25, 1.0, 6, 0)
    (run,) = charted([tmp_path / "run"], evaluations=[path])
    assert [bar.model for bar in run.bars] == ["base", "supervised", PRICED]
    assert run.bars[-1].success == 1.0
    assert run.bars[-1].cost == pytest.approx(1_000 * json.loads(done.out)["cost"] / REQUESTS)
    thrice = json.loads(done.out) | {"rollouts": 3 * REQUESTS}
    path.write_text(json.dumps(thrice))
    assert read_evaluation(path).cost == pytest.approx(1_000 * thrice["cost"] / thrice["rollouts"])
    path.write_text(done.out)
    draw_runs([run], tmp_path / "chart.png")
    shown = mcprl("runs", "compare", str(tmp_path / "run"), str(path))
    assert shown.code == 0, shown.err
    assert "+75.0" in shown.out
    for others, why in (
        ((str(path), str(path)), "are printed evaluations; name the folder of one, runs/evals/NAME"),
        ((str(tmp_path / "run"), str(pack.with_suffix(".json"))), "is not what mcprl eval --json prints"),
    ):
        refused = mcprl("runs", "compare", *others)
        assert (refused.code, refused.err.count("\n")) == (2, 1)
        assert why in refused.err
