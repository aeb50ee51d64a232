"""BFCL's own answers pass its own checkers through our seam, and an empty policy does not."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from support.paths import ROOT

from mcprl.benches import Bench, Played, Task, nothing, open_bench, replay
from mcprl.benches.bfcl import MULTI_TURN, STATIC
from mcprl.benches.measure import attempts, drawn, measure
from mcprl.config import Config
from mcprl.engines import Engine
from mcprl.engines.machine import resolve
from mcprl.errors import BenchError
from mcprl.models.adapters import save_adapter
from mcprl.models.load import load_model
from mcprl.servers.server import connect
from mcprl.types import Call, Completion, CompletionRequest

UNSOLVABLE = {"live_simple_106-63-0", "live_simple_112-68-0", "live_multiple_862-181-3", "live_multiple_964-207-0"}
"""Tasks whose description and answers contradict each other: the package's checker accepts no calls."""


@pytest.fixture(scope="module")
def bfcl() -> Bench:
    try:
        return open_bench("bfcl")
    except BenchError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("category", STATIC + MULTI_TURN)
async def test_the_gold_answers_pass(bfcl: Bench, category: str) -> None:
    tasks = drawn(bfcl, category, 25, seed=0)
    failed = {task.id for task in tasks if not (await replay(bfcl, task, bfcl.gold(task))).passed[category]}
    assert failed <= UNSOLVABLE


@pytest.mark.parametrize("category", STATIC + MULTI_TURN)
async def test_an_empty_policy_passes_only_where_no_tool_serves_the_request(bfcl: Bench, category: str) -> None:
    for task in drawn(bfcl, category, 25, seed=1):
        assert (await replay(bfcl, task, nothing(task))).passed[category] == ("irrelevance" in category)


async def test_a_call_fails_an_irrelevance_task(bfcl: Bench) -> None:
    task = bfcl.tasks("irrelevance")[0]
    called = Played((((Call(task.tools[0].name),),),))
    assert not (await replay(bfcl, task, called)).passed["irrelevance"]


async def test_a_wrong_value_and_one_call_too_many_fail_with_the_checkers_reason(bfcl: Bench) -> None:
    task = bfcl.tasks("simple_python")[0]
    (((call,),),) = bfcl.gold(task).turns
    wrong = replace(call, arguments=call.arguments | {"base": 11})
    assert "base" in (await replay(bfcl, task, Played((((wrong,),),)))).why
    assert "number of functions" in (await replay(bfcl, task, Played((((call, call),),)))).why


def first(bench: Bench) -> Task:
    return bench.tasks("multi_turn_base")[0]


async def test_a_turn_without_its_last_call_fails_on_the_state(bfcl: Bench) -> None:
    gold = bfcl.gold(first(bfcl))
    ((calls,), *others) = gold.turns
    verdict = await replay(bfcl, first(bfcl), Played(((calls[:-1],), *others)))
    assert "does not match the state" in verdict.why


async def test_an_argument_that_is_code_is_not_evaluated(bfcl: Bench, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    code = f"a=__import__('pathlib').Path({str(mark)!r}).touch(), b"
    gold = bfcl.gold(first(bfcl))
    for call in (Call("mkdir", {code: 1}), Call(f"__import__('pathlib').Path({str(mark)!r}).touch", {})):
        assert not (await replay(bfcl, first(bfcl), Played((((call,),), *gold.turns[1:])))).passed["multi_turn_base"]
    assert not mark.exists()


class Recording:
    """An engine that answers every turn at once, and keeps what it was asked."""

    def __init__(self) -> None:
        self.requests: list[CompletionRequest] = []

    async def ready(self) -> None: ...

    async def complete(self, request: CompletionRequest) -> Completion:
        self.requests.append(request)
        prompt = (*request.context_ids, len(self.requests))
        return Completion({"role": "assistant", "content": "I cannot."}, prompt, (0,), (0.0,), "stop")


@pytest.mark.parametrize("tool_search", [0, 200])
async def test_a_missing_function_comes_with_its_turn_and_the_prompt_begins_anew(bfcl: Bench, tool_search: int) -> None:
    task = bfcl.tasks("multi_turn_miss_func")[0]
    ((turn, (missing,)),) = task.later.items()
    assert missing.name not in {tool.name for tool in task.tools}
    assert "updated some more functions" in task.messages[turn][0]["content"]
    engine = Recording()
    config = resolve(Config.model_validate({"rollout": {"tool_search": tool_search}}))
    (attempt,) = await attempts(config, bfcl, [task], cast(Engine, engine), None)
    assert len(attempt.played.turns) == len(task.messages) == len(engine.requests)
    for at, request in enumerate(engine.requests):
        offered = "search_tools" if tool_search else missing.name
        assert (offered in {tool.name for tool in request.tools}) == (bool(tool_search) or at >= turn)
        assert bool(request.context_ids) == (at not in (0, turn))


async def test_lists_that_an_api_keeps_are_not_shared_by_its_sessions(bfcl: Bench) -> None:
    task = next(task for task in bfcl.tasks("multi_turn_base") if task.id == "multi_turn_base_147")
    posted: list[str] = []
    for _ in range(2):
        episode = bfcl.begin(task)
        posted.append((await episode.call("post_tweet", {"content": "Hello"})).text)
        await episode.call("mention", {"tweet_id": 1, "mentioned_usernames": ["@ada"]})
    assert posted[0] == posted[1]


def squeezed(text: str) -> str:
    """A result without blanks: a server's JSON is digested into its shortest form."""
    return "".join(text.split())


async def test_the_server_answers_as_the_task_does(bfcl: Bench) -> None:
    task = first(bfcl)
    script = ROOT / "examples/servers/bfcl.py"
    command = f"env PYTHONPATH={ROOT} {sys.executable} {script} --task {task.id}"
    config = Config.model_validate({"servers": [{"target": command}], "tools": {"sandbox": True}})
    calls = [call for steps in bfcl.gold(task).turns for step in steps for call in step]
    episode = bfcl.begin(task)
    expected = [squeezed((await episode.call(call.tool, call.arguments)).text) for call in calls]
    async with connect(config.servers, config.tools) as server:
        assert {tool.name for tool in server.tools} == {tool.name for tool in task.tools}
        async with server.session() as session:
            assert [squeezed((await session.call(call.tool, call.arguments)).text) for call in calls] == expected


async def test_a_model_and_an_adapter_that_changes_nothing_are_measured_alike_on_drawn_tasks(
    bfcl: Bench, tmp_path: Path
) -> None:
    config = resolve(Config.model_validate({"runs_dir": str(tmp_path), "rollout": {"max_tokens": 32}}))
    adapter = save_adapter(load_model(config.model), tmp_path / "adapter")
    measured = await measure(config, "bfcl", ["simple_python", "irrelevance"], limit=3, adapter=adapter)
    assert [attempt.task.category for attempt in measured.base] == ["simple_python"] * 3 + ["irrelevance"] * 3
    assert [attempt.played for attempt in measured.trained] == [attempt.played for attempt in measured.base]
    for name, rate in measured.rates.items():
        passed = [attempt.verdict.passed[name] for attempt in measured.base if name in attempt.verdict.passed]
        assert (rate.tasks, rate.base[0]) == (3, sum(passed) / 3)
        assert rate.base[1] <= rate.base[0] <= rate.base[2]
        assert rate.trained == rate.base
        assert rate.gain is not None
        assert rate.gain[0] == 0


def test_the_packages_own_folders_go_with_the_process(bfcl: Bench, tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if name != "BFCL_PROJECT_ROOT"}
    read = "from mcprl.benches.bfcl import load_package; load_package()"
    subprocess.run([sys.executable, "-c", read], env=kept | {"TMPDIR": str(tmp_path)}, check=True)
    assert list(tmp_path.glob("bfcl-*")) == []


def test_an_unknown_category_is_refused_with_those_that_there_are(bfcl: Bench) -> None:
    with pytest.raises(BenchError, match="no category 'simple'; expected one of: simple_python"):
        bfcl.tasks("simple")
