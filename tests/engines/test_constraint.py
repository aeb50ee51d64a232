"""A reply that is held to a schema is JSON of it, whatever the model's weights; others beside it are left alone."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.sampling import complete_all

from mcprl.config import ModelConfig
from mcprl.engines.embedded.decoder import Decoder
from mcprl.engines.embedded.engine import EmbeddedEngine
from mcprl.errors import EngineError
from mcprl.judges.prompt import read, reply_schema
from mcprl.models.load import load_model
from mcprl.types import CompletionRequest

VERDICT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "winner": {"enum": ["first", "second"]},
        "points": {"type": "integer", "minimum": 0, "maximum": 10},
        "sure": {"type": "boolean"},
    },
    "required": ["winner", "points", "sure"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
async def engine(tiny_model: Path) -> AsyncGenerator[EmbeddedEngine]:
    engine = EmbeddedEngine(load_model(ModelConfig(name=str(tiny_model), lora_rank=4)))
    yield engine
    await engine.close()


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


def request(seed: int, schema: dict[str, Any] | None = VERDICT, **more: Any) -> CompletionRequest:
    return CompletionRequest(({"role": "user", "content": "who wins?"},), seed=seed, schema=schema, **more)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
async def test_replies_of_random_weights_are_json_of_the_schema(engine: EmbeddedEngine, temperature: float) -> None:
    done = await complete_all(engine, [request(seed, temperature=temperature) for seed in range(12)])
    for reply in done:
        assert reply.finish_reason == "stop"
        jsonschema.validate(json.loads(reply.message["content"]), VERDICT)
        assert all(logprob <= 1e-6 for logprob in reply.logprobs)
    assert (len({reply.message["content"] for reply in done}) == 1) == (temperature == 0)


async def test_the_choices_that_the_schema_leaves_follow_the_models_own_odds(engine: EmbeddedEngine) -> None:
    done = await complete_all(engine, [request(seed, {"enum": ["a", "b"]}) for seed in range(60)])
    odds: dict[str, set[float]] = {}
    for reply in done:
        odds.setdefault(json.loads(reply.message["content"]), set()).add(round(sum(reply.logprobs), 4))
    assert all(len(totals) == 1 for totals in odds.values()), "what is forced has the log-probability 0"
    if len(odds) == 2:
        assert sum(2.718281828 ** next(iter(totals)) for totals in odds.values()) == pytest.approx(1, abs=1e-3)


async def test_streams_without_a_schema_beside_it_sample_what_they_sample_alone(engine: EmbeddedEngine) -> None:
    free = [request(seed, None, max_tokens=12) for seed in range(3)]
    alone = [reply.completion_ids for reply in await complete_all(engine, free)]
    beside = await complete_all(engine, [*free, *(request(seed) for seed in range(3))])
    assert [reply.completion_ids for reply in beside[:3]] == alone


async def test_what_is_forced_takes_no_passes_of_its_own(
    engine: EmbeddedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes: list[int] = []
    forward = Decoder._forward  # pyright: ignore[reportPrivateUsage]

    def counted(self: Decoder, plan: Any) -> Any:
        passes.append(1)
        return forward(self, plan)

    monkeypatch.setattr(Decoder, "_forward", counted)
    (reply,) = await complete_all(engine, [request(0, {"const": {"winner": "the second of the two", "points": 7}})])
    assert json.loads(reply.message["content"]) == {"winner": "the second of the two", "points": 7}
    assert len(passes) < len(reply.completion_ids) / 3
    assert sum(reply.logprobs) == pytest.approx(0, abs=1e-4)


async def test_the_judges_own_schema_can_be_held(engine: EmbeddedEngine) -> None:
    schema = reply_schema(["bade", "kilo"])
    asked = [request(seed, schema, max_tokens=1_500) for seed in range(4)]
    for reply in await complete_all(engine, asked):
        assert reply.finish_reason == "stop", "its bounds end a reply that would go on"
        jsonschema.validate(json.loads(reply.message["content"]), schema)
        assert read(reply.message["content"], ["bade", "kilo"])


async def test_a_schema_that_is_none_is_refused_in_one_line(engine: EmbeddedEngine) -> None:
    with pytest.raises(EngineError, match="the reply cannot be held to its schema: ") as refused:
        await engine.complete(request(0, {"type": "nosuch"}))
    assert "\n" not in str(refused.value)
    assert len(await complete_all(engine, [request(0)])) == 1, "the engine goes on"


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(st.text('abc "\\é\n', max_size=6), min_size=1, max_size=4, unique=True), seed=st.integers(0, 99))
async def test_any_strings_may_be_the_choices(engine: EmbeddedEngine, values: list[str], seed: int) -> None:
    (reply,) = await complete_all(engine, [request(seed, {"enum": values})])
    assert json.loads(reply.message["content"]) in values
