"""The regular-expression policy on the shop: a task that it solves needs no English."""

import random
from collections import Counter

import pytest
from support.regex_policy import play

from mcprl.config import ScenarioConfig, ServerConfig, ToolPolicy
from mcprl.judges.verifier import Verifier
from mcprl.runs.overlap import wording_overlap
from mcprl.scenarios.beside import with_another
from mcprl.scenarios.generate import generate
from mcprl.scenarios.packs.pack import Pack
from mcprl.scenarios.wording import Worded
from mcprl.servers.server import connect

BAR = 0.3
"""The largest share of tasks in forms never used that the policy may solve."""
MODERATE = ScenarioConfig(train=16, val=2, test=10, test_forms=24, probe_calls=200, repeat_after_s=0)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def played(shop: ServerConfig) -> tuple[Pack, dict[str, float]]:
    """A pack for the shop, and the share of each suite of its test that the policy solves."""
    tasks, solved = Counter[str](), Counter[str]()
    async with connect([shop], ToolPolicy()) as server:
        pack = await generate(server, MODERATE, seed=0)
        verifier = Verifier(server.tools)
        for scenario in pack.test:
            tasks[scenario.suite] += 1
            solved[scenario.suite] += bool(verifier.verify(scenario, await play(scenario, server)).success)
    return pack, {suite: solved[suite] / tasks[suite] for suite in tasks}


async def test_the_policy_is_strong_in_forms_that_it_was_written_with(played: tuple[Pack, dict[str, float]]) -> None:
    assert played[1]["entities"] >= 0.5, "a weak adversary proves nothing"


@pytest.mark.xfail(reason="62 % with the pack of 2026-11-23 (benchmarks/results/regex_policy.json)", strict=True)
async def test_the_policy_solves_few_tasks_in_forms_never_used(played: tuple[Pack, dict[str, float]]) -> None:
    assert played[1]["forms"] <= BAR


async def test_no_wording_of_the_forms_suite_stands_in_training(played: tuple[Pack, dict[str, float]]) -> None:
    assert wording_overlap(played[0].test, played[0].train)["forms"][1] == 0


def test_a_request_with_one_code_now_and_then_names_another_of_its_collection() -> None:
    worded, pool = Worded("Mark O-1 as paid.", "set/mark"), [["O-1", "O-2", "open"], ["C-1", "C-2"]]
    outcomes = {
        with_another(worded, ["O-1"], pool, random.Random(seed), lambda _: True, lambda _: True) for seed in range(60)
    }
    assert {other for _, other in outcomes} == {"", "O-2"}
    assert all(("O-2" in said.request) == bool(other) and "O-1" in said.request for said, other in outcomes)
    assert {said.form.partition("+")[0] for said, _ in outcomes} == {"set/mark"}


def test_no_other_code_is_named_that_belongs_to_another_split() -> None:
    worded = Worded("Mark O-1 as paid.", "set/mark")
    for seed in range(30):
        said = with_another(worded, ["O-1"], [["O-1", "O-2"]], random.Random(seed), lambda _: False, lambda _: True)
        assert said == (worded, "")
