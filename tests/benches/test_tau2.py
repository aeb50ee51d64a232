"""tau2's own calls leave the database as it wants it, and an empty policy only where nothing is to be changed."""

import pytest

from mcprl.benches import Bench, Played, nothing, open_bench, replay
from mcprl.benches.measure import drawn
from mcprl.benches.tau2 import DOMAINS
from mcprl.errors import BenchError


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
