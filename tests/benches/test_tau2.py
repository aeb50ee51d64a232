"""tau2's own calls leave the database as it wants it, and an empty policy only where nothing is to be changed. With a
customer who is played, both sides speak OpenAI's protocol on loopback."""

import json
from collections.abc import Sequence

import pytest
from support.fake_llm import Reply, Request, serving

from mcprl.benches import Bench, Played, TalkingBench, Task, nothing, open_bench, replay
from mcprl.benches.measure import drawn, measure
from mcprl.benches.tau2 import DOMAINS, END, _Domain
from mcprl.errors import BenchError, ConfigError
from mcprl.runs.settings import parse


@pytest.fixture(scope="module")
def tau2() -> Bench:
    try:
        return open_bench("tau2")
    except BenchError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("domain", DOMAINS)
async def test_the_gold_calls_pass_and_an_empty_policy_where_nothing_is_to_be_changed(tau2: Bench, domain: str) -> None:
    for task in drawn(tau2, domain, 3, seed=0):
        assert set((await replay(tau2, task, tau2.gold(task))).passed.values()) == {True}
        assert (await replay(tau2, task, nothing(task))).passed in (
            {f"{domain}, nothing to change": True},
            {f"{domain}, something to change": False},
        )


async def test_reading_without_the_exchange_leaves_the_database_as_it_was(tau2: Bench) -> None:
    task = next(task for task in tau2.tasks("retail") if task.key == "1")
    ((*reads, exchange),) = tau2.gold(task).turns
    assert [call.tool for call in exchange] == ["exchange_delivered_order_items"]
    verdict = await replay(tau2, task, Played((tuple(reads),)))
    assert not verdict.passed["retail, something to change"]
    assert "the database is not as" in verdict.why


async def test_a_power_is_not_calculated(tau2: Bench) -> None:
    episode = tau2.begin(tau2.tasks("retail")[0])
    assert (await episode.call("calculate", {"expression": "9**9**9**9"})).is_error
    assert (await episode.call("calculate", {"expression": "2 * 3"})).text == "6.0"


def test_a_task_is_one_message_with_all_that_the_customer_knows(tau2: Bench) -> None:
    task = next(task for task in tau2.tasks("retail") if task.key == "1")
    ((system, user),) = task.messages
    assert (system["role"], user["role"]) == ("system", "user")
    assert "Yusuf Rossi" in user["content"]
    assert "#W2378156" in user["content"]
    assert all("state_key" not in tool.input_schema["properties"] for tool in task.tools)


def customer(request: Request, _: int) -> Reply:
    """A customer who says why they write, and who they are when they are asked, and then ends."""
    system, *said = (message["content"] for message in request["messages"])
    wants = system.partition("Why you write:")[2].partition("What you know:")[0].strip()
    return Reply([wants, "As I said.", END][min(len(said) // 2, 2)])


class Clerk:
    """A policy that asks back once, makes the benchmark's own calls one a turn, and says what is to be told, or not."""

    def __init__(self, bench: TalkingBench, tasks: Sequence[Task], tells: bool) -> None:
        self.bench, self.tasks, self.tells = bench, tasks, tells

    def __call__(self, request: Request, _: int) -> Reply:
        roles = [message["role"] for message in request["messages"]]
        (asked, *answers) = [message["content"] for message in request["messages"] if message["role"] == "user"]
        if not answers:
            return Reply("Who is it?")
        task = next(task for task in self.tasks if asked in task.messages[0][-1]["content"])
        ((*steps,),) = self.bench.gold(task).turns
        if (made := roles.count("tool")) < len(steps):
            (call,) = steps[made]
            return Reply(calls=[(call.tool, json.dumps(call.arguments))], finish="tool_calls")
        told = _Domain.of(task.category).to_tell(task.key) if self.tells else []
        return Reply(f"Done. {'; '.join(told)}")


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")  # litellm's own
@pytest.mark.parametrize("tells", [True, False])
async def test_a_customer_who_is_played_gets_what_the_calls_do_and_is_told_what_they_ask(
    tau2: Bench, tells: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(tau2, TalkingBench)
    for module in ("mcprl.benches.measure", "mcprl.llm.agent"):  # nothing is kept on the disk
        monkeypatch.setattr(f"{module}.find_cache", lambda *_: None)
    monkeypatch.setenv("OPENAI_API_KEY", "of a fake")
    limit = 24  # some of them have something to tell
    tasks = drawn(tau2, "retail", limit, seed=0)
    with serving(customer) as user, serving(Clerk(tau2, tasks, tells)) as policy:
        monkeypatch.setenv("OPENAI_BASE_URL", user.url)
        config = parse({"model": {"name": "llm:openai/clerk"}, "engine": {"base_url": policy.url}})
        measured = await measure(config, "tau2", ["retail"], limit, user="openai/customer")
    rates = {name: rate.base[0] for name, rate in measured.rates.items()}
    assert rates["retail, something to change (talk)"] == 1.0
    assert rates["retail, told what is asked (talk)"] == float(tells)
    assert {len(attempt.played.turns) for attempt in measured.base} == {2}
    assert any("never told: " in attempt.verdict.why for attempt in measured.base) is not tells
    assert "policy" not in user.requests[0]["messages"][0]["content"]
    first = policy.requests[0]["messages"]
    assert [message["role"] for message in first] == ["system", "user"]


async def test_a_benchmark_without_users_says_so() -> None:
    try:
        open_bench("bfcl")
    except BenchError as error:
        pytest.skip(str(error))
    with pytest.raises(ConfigError, match="bfcl has no users to play; leave out --user-model gpt"):
        await measure(parse({}), "bfcl", user="gpt")
