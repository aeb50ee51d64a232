"""Where a server's 200 tools exceed the budget, the policy finds them by search, and training sees what it saw."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.configs import small
from support.events import Recorder
from support.paths import SERVERS

from mcprl.art.own import train_adapter
from mcprl.chat.families import reply
from mcprl.chat.prompts import encode
from mcprl.chat.tool_search import FOUND, ToolSearch, searching
from mcprl.config import ModelConfig, RolloutConfig, ServerConfig, ToolPolicy
from mcprl.engines.conversation import require_room
from mcprl.engines.embedded.engine import EmbeddedEngine
from mcprl.errors import ConfigError
from mcprl.models.load import load_model
from mcprl.rollout import rollout
from mcprl.servers.server import connect
from mcprl.training.demonstrations import demonstration, transcript
from mcprl.training.rows import certificate, training_rows
from mcprl.types import Call, Completion, CompletionRequest, Scenario, Tool

MANY = f"{sys.executable} {SERVERS / 'many.py'}"
PLAN = (Call("get_harbour_colour", {"harbour_id": "H-12"}),)
TASK = Scenario("s", "What is the colour of harbour H-12?", (), plan=PLAN)
SEARCHED = '<tool_call>\n{"name": "search_tools", "arguments": {"query": "harbour colour"}}\n</tool_call><|im_end|>'


class Searching(EmbeddedEngine):
    """The real engine, whose policy searches first: nano, which knows no English, would not."""

    async def complete(self, request: CompletionRequest) -> Completion:
        completion = await super().complete(request)
        if len(request.messages) > 1:
            return completion
        ids = encode(self._tokenizer, SEARCHED)
        message, _ = reply(self._tokenizer, ids, ids[-1:], request)
        return replace(completion, message=message, completion_ids=ids, logprobs=(-1.0,) * len(ids))


def tools(*names: str) -> list[Tool]:
    return [Tool(name, f"Does {name}.", {"type": "object", "properties": {}}) for name in names]


async def test_a_policy_searches_200_tools_on_the_real_engine_and_its_prompts_extend_each_other_exactly() -> None:
    loaded = load_model(ModelConfig())
    engine = Searching(loaded)
    config = RolloutConfig(max_tokens=64, max_turns=3, tool_search=2_000)
    options: dict[str, Any] = {"name": "train/1/s/0", "seed": 7, "adapter": None}
    try:
        async with connect([ServerConfig(target=MANY)]) as server:
            assert len(server.tools) == 200
            search = searching(server.tools, config.tool_search)
            assert search is not None
            trajectory = await rollout(TASK, server, engine, config, **options)
            ideal = await transcript(server, TASK, search)
            for tool in server.tools:
                assert tool in search.find(search.query_for("Something else.", tool.name))
    finally:
        await engine.close()
    assert len(trajectory.turns[0].prompt_ids) < 200
    found = [json.loads(line)["name"] for line in trajectory.messages[2]["content"].splitlines()]
    assert found[0] == "get_harbour_colour"
    assert len(found) == FOUND
    assert len(trajectory.turns) >= 2
    assert "search_tools" not in {call.tool for call in trajectory.calls}
    for before, after in zip(trajectory.turns, trajectory.turns[1:], strict=False):
        context = (*before.prompt_ids, *before.completion_ids)
        assert after.prompt_ids[: len(context)] == context
    rows = training_rows(trajectory)
    assert len(rows) == 1
    assert certificate(rows, [trajectory]).exactness == 1.0

    roles = [message["role"] for message in ideal]
    assert roles == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    assert json.loads(ideal[2]["content"].splitlines()[0])["name"] == "get_harbour_colour"
    shown = demonstration(loaded.tokenizer, ideal, (search.tool,))
    assert shown.turns[0].prompt_ids == trajectory.turns[0].prompt_ids  # the warm start teaches in the same context
    assert len(training_rows(shown)) == 1


async def test_tools_that_leave_no_room_stop_a_run_before_it_has_a_folder_and_says_what_leaves_room(
    tiny_model: Path, tmp_path: Path
) -> None:
    many = small(tiny_model, tmp_path, servers=[{"target": MANY}])
    with pytest.raises(ConfigError, match=r"of 200 tools take 11,\d{3} of the 2,048 tokens .*--tool-search 1000"):
        await train_adapter(many)
    assert not (tmp_path / "small").exists()
    loaded, emitted = load_model(many.model), Recorder()
    async with connect([ServerConfig(target=MANY)], ToolPolicy(allow=("get_ferry_*",))) as server:
        require_room(RolloutConfig(max_total_tokens=1_000), server, loaded, emitted)
        with pytest.raises(ConfigError, match=r"or --max-total-tokens \d+: the model reads 2,048"):
            require_room(RolloutConfig(max_total_tokens=64), server, loaded)
    assert [note for note in emitted.notes if "of 10 tools take" in note]
    emitted = Recorder()
    async with connect([ServerConfig(target=MANY)]) as server:
        require_room(RolloutConfig(tool_search=1_000), server, loaded, emitted)
    assert not emitted.notes


def test_within_the_budget_and_without_one_all_tools_are_shown() -> None:
    assert searching(tools("a", "b"), 0) is None
    assert searching(tools("a", "b"), 1_000) is None
    assert searching(tools("a", "b"), 10) is not None


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("close an order", "closeOrders"),
        ("ORDER items", "list_order_items"),
        ("items of an order", "list_order_items"),
    ],
)
def test_a_search_reads_names_in_any_case_and_plurals(query: str, best: str) -> None:
    search = ToolSearch(tools("closeOrders", "list_order_items", "list_users", "get_user"))
    assert search.find(query)[0].name == best


def test_a_search_without_a_match_or_a_query_says_so_and_a_servers_own_tool_of_that_name_is_kept() -> None:
    search = ToolSearch(tools("search_tools", *(f"paint_{n}" for n in range(20))))
    assert search.tool.name == "search_tools_"
    assert search.answer({"query": "zebra"}) == "no tool matches 'zebra'; use other words"
    assert search.answer({"words": 1}) == "Error: give search_tools_ a query, in words"
    assert len(search.find("paint")) == FOUND
