"""Parts of the user's own in `train_adapter`. docs/python.md has them in a run, which tests/test_docs.py makes."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.configs import small

from mcprl import OwnParts, train_adapter
from mcprl.art.playing import played
from mcprl.config import RolloutConfig
from mcprl.engines.embedded.engine import EmbeddedEngine
from mcprl.errors import ConfigError, JudgeError
from mcprl.judges import open_judge
from mcprl.judges.own import own_judge
from mcprl.judges.scoring import ask
from mcprl.models.load import load_model
from mcprl.rollout import rollout
from mcprl.training.rows import training_rows
from mcprl.types import Group, Scenario, Tool, ToolResult, Trajectory

TASK = Scenario("task", "Where is O-1?", ())
TOOL = Tool("get_order", "Get an order.")


class Shop:
    """A server of one tool."""

    tools, forbidden, instructions = (TOOL,), (), ""

    def session(self, setup: Any = ()) -> "Shop":
        return self

    async def __aenter__(self) -> "Shop":
        return self

    async def __aexit__(self, *_: object) -> None: ...

    async def call(self, tool: str, arguments: Any) -> ToolResult:
        return ToolResult(f"{tool} {arguments}")


@pytest.fixture(scope="module")
def parts(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    config = small(tiny_model, tmp_path_factory.mktemp("runs"))
    model = load_model(config.model)
    engine = EmbeddedEngine(model)
    yield config, model, engine
    engine._inbox.put(None)


async def sampled(parts: Any, play: Any, temperature: float = 1.0) -> Trajectory:
    config, model, engine = parts
    server: Any = Shop()
    settings = RolloutConfig(retries=0, deadline_s=30)
    converse = played(play, config, model, engine)
    return await rollout(
        TASK, server, engine, settings, name="r", seed=3, adapter=None, temperature=temperature, converse=converse
    )


async def test_a_rollout_function_samples_as_the_run_does_and_each_turn_and_call_is_recorded(parts: Any) -> None:
    async def play(client: Any, session: Any, messages: Any, tools: Any) -> None:
        assert [tool["function"]["name"] for tool in tools] == ["get_order"]
        for turn in range(2):
            said = await client.chat.completions.create(
                model="any", messages=messages, max_tokens=5, temperature=0.1, top_p=0.5, seed=99
            )
            messages.append(said.choices[0].message.model_dump(exclude_none=True))
            result = await session.call("get_order", {"order_id": f"O-{turn}"})
            messages.append({"role": "user", "content": result.text})

    first, again, greedy = [await sampled(parts, play, at) for at in (1.0, 1.0, 0.0)]
    assert [call.turn for call in first.calls] == [0, 1]
    assert first.calls[1].result.text == "get_order {'order_id': 'O-1'}"
    assert len(first.turns) == 2
    assert [message["role"] for message in first.messages] == ["user", "assistant", "user", "assistant"]
    ids = [[turn.completion_ids for turn in each.turns] for each in (first, again, greedy)]
    assert ids[0] == ids[1] != ids[2]  # the run's seed and temperature, not the request's
    (row,) = training_rows(first)
    assert sum(row.mask) == sum(len(turn.completion_ids) for turn in first.turns)


async def test_what_a_rollout_function_does_wrong_is_a_rollout_that_broke(parts: Any) -> None:
    async def silent(client: Any, session: Any, messages: Any, tools: Any) -> None: ...

    async def wrong(client: Any, session: Any, messages: Any, tools: Any) -> None:
        raise KeyError("status")

    async def refused(client: Any, session: Any, messages: Any, tools: Any) -> None:
        await client.chat.completions.create(model="any", messages=[])

    async def endless(client: Any, session: Any, messages: Any, tools: Any) -> None:
        long = [{"role": "user", "content": "word " * 20_000}]
        await client.chat.completions.create(model="any", messages=long)

    async def held(client: Any, session: Any, messages: Any, tools: Any) -> None:
        schema = {"name": "answer", "schema": {"type": "boolean"}}
        form = {"type": "json_schema", "json_schema": schema}
        await client.chat.completions.create(model="any", messages=messages, response_format=form)

    broke = [await sampled(parts, play) for play in (silent, wrong, refused, held)]
    assert [each.stop for each in broke] == ["error"] * 4
    assert "held a turn to a schema, which cannot be trained on" in broke[3].error
    assert "sampled no turn" in broke[0].error
    assert "the rollout function failed: KeyError: 'status'" in broke[1].error
    assert "messages" in broke[2].error
    assert (await sampled(parts, endless)).stop == "max_tokens"


async def test_a_reward_function_scores_by_id_and_its_failure_is_no_score() -> None:
    played = Trajectory("a", "task", (), ()), Trajectory("b", "task", (), (), stop="error")
    group = Group(TASK, played)

    async def later(scenario: Scenario, trajectory: Trajectory) -> float:
        return -0.25

    def failing(scenario: Scenario, trajectory: Trajectory) -> float:
        raise ZeroDivisionError("no calls")

    (score,) = await own_judge(later).score(group)
    assert (score.trajectory_id, score.value, score.success) == ("a", -0.25, False)
    with pytest.raises(JudgeError, match="the judge failed at task: ZeroDivisionError: no calls"):
        await ask(own_judge(failing), group)
    with pytest.raises(JudgeError, match="gave nan for a; expected a finite number"):
        await own_judge(lambda *_: math.nan).score(group)
    judge = open_judge(small(Path("nano"), Path()).judge, (TOOL,))
    assert own_judge(judge) is judge


def test_a_rollout_of_ones_own_begins_without_given(tmp_path: Path) -> None:
    async def play(*_: object) -> None: ...

    config = small(Path("nano"), tmp_path, training={"given_calls": 2})
    assert OwnParts(rollout=play).checked(config).training.given_calls == 0
    assert OwnParts().checked(config).training.given_calls == 2


async def test_a_run_with_a_judge_of_its_own_is_not_judged_by_another(tmp_path: Path) -> None:
    config = OwnParts(judge=lambda *_: 1.0).checked(small(Path("nano"), tmp_path))
    with pytest.raises(ConfigError, match="the judge of this run is Python code; give it"):
        await train_adapter(config)
