"""`mcprl serve --engine vllm`: what the embedded engine's endpoint does, on a real vLLM server."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest
from openai import AsyncOpenAI, BadRequestError
from support.served import KEY, served_here

from mcprl.engines.vllm import environment

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(environment.find() is None, reason="no vLLM environment; make one: mcprl setup vllm"),
]
STATUS: list[Any] = [{"role": "user", "content": "Can you tell me the status of order O-2043?"}]
PARAMETERS = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": "get_order", "description": "Get an order.", "parameters": PARAMETERS}}
]


async def test_vllm_is_sampled_streamed_held_refused_and_trained_as_the_embedded_engine_is(tmp_path: Path) -> None:
    with served_here("nano", tmp_path, "vllm") as endpoint:
        headers = {"Authorization": f"Bearer {KEY}"}
        async with (
            AsyncOpenAI(base_url=endpoint.url, api_key=KEY, max_retries=0, timeout=300) as client,
            httpx2.AsyncClient(base_url=endpoint.root, headers=headers, timeout=300) as plain,
        ):
            await _is_called_and_streamed(client)
            await _is_held_and_refused(client)
            await _trains_while_it_is_sampled(client, plain)


async def _is_called_and_streamed(client: AsyncOpenAI) -> None:
    asked: dict[str, Any] = {"model": "latest", "messages": STATUS, "tools": TOOLS, "temperature": 0}
    whole: Any = (await client.chat.completions.create(**asked, logprobs=True)).choices[0]
    (call,) = whole.message.tool_calls
    assert (call.function.name, json.loads(call.function.arguments)) == ("get_order", {"order_id": "O-2043"})
    assert len(whole.logprobs.content) > 4
    chunks = [chunk async for chunk in await client.chat.completions.create(**asked, stream=True)]
    calls: list[Any] = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or ()]
    assert [each.function.arguments for each in calls] == [call.function.arguments]
    none = (await client.chat.completions.create(**asked, tool_choice="none", max_tokens=8)).choices[0]
    assert none.message.tool_calls is None


async def _is_held_and_refused(client: AsyncOpenAI) -> None:
    def held_to(schema: dict[str, Any]) -> dict[str, Any]:
        form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
        return {"model": "latest", "messages": STATUS, "max_tokens": 40, "response_format": form}

    status = {"type": "object", "properties": {"status": {"enum": ["paid", "sent"]}}, "required": ["status"]}
    held = held_to(status | {"additionalProperties": False})
    for seed in range(12):  # a small model that may write spaces writes them until it has no tokens left
        said = (await client.chat.completions.create(**held, seed=seed, temperature=1.5)).choices[0]
        assert said.message.content in ('{"status":"paid"}', '{"status":"sent"}')
    refused: list[dict[str, Any]] = [
        held_to({"type": "string", "pattern": r"(a)\1"}),
        {"model": "latest", "messages": STATUS, "tools": TOOLS, "tool_choice": "required"},
        {"model": "latest", "messages": [{"role": "user", "content": "x" * 200_000}]},
    ]
    for body in refused:
        with pytest.raises(BadRequestError) as caught:
            await client.chat.completions.create(**body)
        assert len(str(caught.value)) > 40


async def _trains_while_it_is_sampled(client: AsyncOpenAI, plain: httpx2.AsyncClient) -> None:
    async def ask(name: str, number: int) -> Any:
        headers = {"X-Mcprl-Rollout": f"rollout {number}"} if name == "latest" else {}
        asked: dict[str, Any] = {"model": name, "messages": STATUS, "seed": number, "max_tokens": 16}
        return (await client.chat.completions.create(**asked, extra_headers=headers)).choices[0]

    for step in (1, 2):
        numbers = range(step * 10, step * 10 + 4)
        assert {choice.policy_step for choice in [await ask("latest", n) for n in numbers]} == {step - 1}
        group = [{"rollout": f"rollout {n}", "reward": float(n)} for n in numbers]
        body = {"groups": [{"trajectories": group}], "config": {"autocast": "off"}}
        updating = asyncio.create_task(plain.post("/_train_model", json=body))
        meanwhile = [(await ask("base", n)).policy_step for n in range(4)]
        events = [json.loads(line) for line in (await updating).text.splitlines()]
        assert [event["type"] for event in events] == ["job", "gradient_step", "adapter"]
        assert events[1]["exactness"] == 1.0
        assert events[1]["sampler_gap"] < 0.02
        assert meanwhile == [0] * 4
    for name, expected in {"nano@1": 1, "nano@2": 2, "latest": 2, "base": 0}.items():
        assert (await ask(name, 99)).policy_step == expected
