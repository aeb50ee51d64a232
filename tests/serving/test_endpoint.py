"""`mcprl serve`: a run of nano in a process of its own, asked by OpenAI's own clients."""

import json
import shutil
import subprocess
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import httpx2
import pytest
from openai import AsyncOpenAI, AuthenticationError, BadRequestError, NotFoundError, OpenAI
from support.command_line import mcprl
from support.paths import SHOP
from support.served import KEY, Endpoint, nano_run, served

from mcprl import RemoteBackend, TrainableModel, Trajectory, TrajectoryGroup
from mcprl.config import Config, EngineConfig, ModelConfig, ServerConfig, ToolPolicy
from mcprl.errors import ConfigError, ModelError
from mcprl.export import ABOUT
from mcprl.runs.cards import CARD, card
from mcprl.runs.settings import parse
from mcprl.servers.server import connect
from mcprl.serving.origin import Origin, as_trained, claimed, find_origin

STATUS = "Can you tell me the status of order O-2043?"
HELLO: list[Any] = [{"role": "user", "content": "Hello"}]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    nano_run(folder)
    return folder


@pytest.fixture(scope="module")
def endpoint(runs: Path) -> Generator[Endpoint]:
    with served("talker", runs) as endpoint:
        yield endpoint


@pytest.fixture
def client(endpoint: Endpoint) -> Generator[OpenAI]:
    with OpenAI(base_url=endpoint.url, api_key=KEY, max_retries=0) as client:
        yield client


@pytest.fixture
async def asynchronous(endpoint: Endpoint) -> AsyncGenerator[AsyncOpenAI]:
    async with AsyncOpenAI(base_url=endpoint.url, api_key=KEY, max_retries=0) as client:
        yield client


async def answered(client: AsyncOpenAI, question: str, stream: bool) -> tuple[str, list[str]]:
    """The answer of an agent that calls the shop's tools, and the names of those that it called."""
    async with connect([ServerConfig(target=SHOP)], ToolPolicy(read_only=True)) as shop, shop.session() as session:
        tools: Any = [tool.as_function() for tool in shop.tools]
        for tool in tools:
            tool["function"]["strict"] = True  # OpenAI's helper for streams takes no others
        messages: list[Any] = [{"role": "user", "content": question}]
        called: list[str] = []
        for _ in range(4):
            asked: dict[str, Any] = {"model": "latest", "messages": messages, "tools": tools, "temperature": 0}
            if stream:
                async with client.chat.completions.stream(**asked) as events:
                    message = (await events.get_final_completion()).choices[0].message
            else:
                message = (await client.chat.completions.create(**asked)).choices[0].message
            messages.append(message.model_dump(exclude_none=True, exclude={"parsed"}))
            for call in messages[-1].get("tool_calls", ()):
                call["function"].pop("parsed_arguments", None)
                call.pop("index", None)
                called.append(call["function"]["name"])
                result = await session.call(called[-1], json.loads(call["function"]["arguments"]))
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result.text})
            if not message.tool_calls:
                return str(message.content), called
    raise AssertionError("no answer in four turns")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_an_agent_on_openais_client_calls_the_shops_tools_and_answers(
    asynchronous: AsyncOpenAI, stream: bool
) -> None:
    answer, called = await answered(asynchronous, STATUS, stream)
    assert called == ["get_order"]
    assert "paid" in answer


def test_what_it_prints_is_what_a_client_needs(endpoint: Endpoint) -> None:
    assert (
        "model  latest, which is talker: training step 2 of nano (others: base, talker@1, talker@2)" in endpoint.printed
    )
    assert f"key    {KEY}\n" in endpoint.printed
    command = endpoint.printed[endpoint.printed.index("curl ") : endpoint.printed.index("\n\nCtrl-C")]
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["choices"][0]["message"]["content"]


def test_each_name_is_sampled_with_its_own_weights(client: OpenAI) -> None:
    names = {model.id: model.to_dict()["policy_step"] for model in client.models.list()}
    assert names == {"latest": 2, "talker": 2, "base": 0, "talker@1": 1, "talker@2": 2}
    said = {
        name: client.chat.completions.create(model=name, messages=HELLO, temperature=0, max_tokens=8) for name in names
    }
    assert {name: one.choices[0].to_dict()["policy_step"] for name, one in said.items()} == names
    texts = {name: one.choices[0].message.content for name, one in said.items()}
    assert texts["latest"] == texts["base"] == texts["talker"] == texts["talker@2"] != texts["talker@1"]


def joined(chunks: Sequence[Any], index: int) -> dict[str, Any]:
    """A choice as its chunks make it."""
    parts = [choice for chunk in chunks for choice in chunk.choices if choice.index == index]
    message = {"role": parts[0].delta.role, "content": "".join(part.delta.content or "" for part in parts)}
    return {**parts[-1].to_dict(), "delta": message}


def test_a_stream_says_what_the_whole_says(client: OpenAI) -> None:
    asked: dict[str, Any] = {"model": "latest", "messages": HELLO, "n": 3, "seed": 7, "max_tokens": 24}
    asked |= {"logprobs": True, "extra_body": {"return_token_ids": True}}
    whole = client.chat.completions.create(**asked)
    chunks = list(client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True}))
    assert len(chunks) > 12
    for index, choice in enumerate(whole.choices):
        expected, found = choice.to_dict(), joined(chunks, index)
        logprobs: Any = [expected.pop("logprobs"), found.pop("logprobs")]
        values = [[entry.pop("logprob") for entry in each["content"]] for each in logprobs]
        assert values[0] == pytest.approx(values[1], abs=1e-4)  # other streams in the batch round otherwise
        assert logprobs[0] == logprobs[1]
        assert len(values[0]) == len(expected["token_ids"])  # pyright: ignore[reportArgumentType]
        assert found.pop("delta") == {"role": "assistant", "content": choice.message.content}
        assert found == {name: value for name, value in expected.items() if name != "message"}
    assert len({choice.message.content for choice in whole.choices}) == 3
    assert chunks[-1].usage == whole.usage
    assert whole.usage
    assert whole.usage.completion_tokens == sum(len(choice.to_dict()["token_ids"]) for choice in whole.choices)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_stop_sequence_ends_the_text_and_the_ids_with_it(client: OpenAI, stream: bool) -> None:
    asked: dict[str, Any] = {"model": "base", "messages": HELLO, "seed": 3, "max_tokens": 24}
    asked |= {"extra_body": {"return_token_ids": True}}
    whole = client.chat.completions.create(**asked).choices[0]
    text = str(whole.message.content)
    stop = text[8:11]
    if stream:
        found = joined(list(client.chat.completions.create(**asked, stop=stop, stream=True)), 0)
        found |= {"message": found["delta"]}
    else:
        found = client.chat.completions.create(**asked, stop=[stop]).choices[0].to_dict()
    assert found["message"]["content"] == text[: text.index(stop)]
    assert found["finish_reason"] == "stop"
    ids: Any = whole.to_dict()["token_ids"]
    assert found["token_ids"] == ids[: len(found["token_ids"])] != ids


def test_completions_continue_text_and_ids_alike(client: OpenAI) -> None:
    asked: dict[str, Any] = {"model": "base", "max_tokens": 12, "seed": 1, "extra_body": {"return_token_ids": True}}
    said = client.completions.create(prompt="The order is", logprobs=0, **asked)
    choice: Any = said.choices[0].to_dict()
    again = client.completions.create(prompt=choice["prompt_token_ids"], **asked)
    assert again.choices[0].text == choice["text"] == "".join(choice["logprobs"]["tokens"]).removesuffix("<|im_end|>")
    chunks = list(client.completions.create(prompt="The order is", stream=True, **asked))
    assert "".join(chunk.choices[0].text for chunk in chunks) == choice["text"]
    more = client.completions.create(prompt=choice["prompt_token_ids"] + choice["token_ids"][:1], **asked)
    assert more.usage
    assert more.usage.prompt_tokens == len(choice["prompt_token_ids"]) + 1


LOOK_UP = {"type": "function", "function": {"name": "look_up"}}


def held_to(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}


def test_a_reply_is_held_to_its_schema_and_no_update_trains_on_it(endpoint: Endpoint, client: OpenAI) -> None:
    properties = {"status": {"enum": ["paid", "sent"]}, "left": {"type": "integer", "minimum": 0, "maximum": 9}}
    schema = {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}
    asked: dict[str, Any] = {"model": "latest", "messages": HELLO, "seed": 1, "response_format": held_to(schema)}
    said = client.chat.completions.create(**asked, logprobs=True, extra_body={"return_token_ids": True}).choices[0]
    assert {name: type(value) for name, value in json.loads(str(said.message.content)).items()} == {
        "status": str,
        "left": int,
    }
    chunks = client.chat.completions.create(**asked, stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == said.message.content
    asked |= {"response_format": {"type": "json_object"}, "max_tokens": 24}
    any_object: Any = client.chat.completions.create(**asked)
    assert str(any_object.choices[0].message.content).startswith("{")
    group = {"trajectories": [{"messages_and_choices": [*HELLO, said.to_dict()], "reward": 1.0}]}
    with httpx2.Client(headers={"Authorization": f"Bearer {KEY}"}) as plain:
        answer = plain.post(f"{endpoint.root}/_train_model", json={"groups": [group]})
    assert answer.json()["error"]["param"].endswith("messages_and_choices[1].held_to_schema")


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"top_logprobs": 3, "logprobs": True}, "top_logprobs", "less than or equal to 0"),
    ({"tool_choice": "required"}, "tool_choice", "a call cannot be forced"),
    ({"tool_choice": {"type": "function", "function": {"name": "a"}}}, "tool_choice", "a call cannot be forced"),
    ({"tool_choice": "any"}, "tool_choice", "'auto' or 'none', not 'any'"),
    ({"response_format": {"type": "xml"}}, "response_format.type", "'json_schema'"),
    ({"response_format": {"type": "json_schema"}}, "response_format", "a json_schema belongs to the type"),
    ({"response_format": {"type": "json_object"}, "tools": [LOOK_UP]}, "response_format", "no tool can be called"),
    ({"response_format": held_to({"type": "x"})}, "response_format.json_schema", "no JSON Schema"),
    (
        {"response_format": held_to({"type": "string", "pattern": r"(a)\1"})},
        "response_format",
        "cannot be held to its schema",
    ),
    ({"parallel_tool_calls": False}, "parallel_tool_calls", "True"),
    ({"frequency_penalty": 0.5}, "frequency_penalty", "less than or equal to 0"),
    ({"extra_body": {"temperture": 1}}, "temperture", "unknown or not supported here; leave it out"),
    ({"temperature": -1}, "temperature", "greater than or equal to 0, not '-1'"),
    ({"n": 65}, "n", "less than or equal to 64"),
    ({"stream_options": {"include_usage": True}}, "stream_options", "belong to stream = true"),
    ({"messages": [*HELLO, {"role": "robot", "content": "x"}]}, "messages[1].role", "'developer'"),
    ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages[0].content", "'image_url'"),
    ({"messages": [{"role": "tool", "content": "x"}]}, "messages[0]", "needs a tool_call_id"),
    ({"messages": []}, "messages", "at least 1"),
    ({"tools": [{"type": "function", "function": {"name": "a b"}}]}, "tools[0].function.name", "pattern"),
    (
        {"tools": [{"type": "function", "function": {"name": "a", "strict": True, "parameters": {"type": "x"}}}]},
        "tools[0].function",
        "its parameters are no JSON Schema",
    ),
    ({"messages": [{"role": "user", "content": "x" * 30_000}]}, "messages", "tokens; the model reads"),
]


@pytest.mark.parametrize(("more", "param", "says"), REFUSED, ids=[f"{each[1]}" for each in REFUSED])
def test_what_is_not_supported_is_refused_by_name(client: OpenAI, more: dict[str, Any], param: str, says: str) -> None:
    with pytest.raises(BadRequestError) as caught:
        asked: dict[str, Any] = {"model": "latest", "messages": HELLO, **more}
        client.chat.completions.create(**asked)
    assert caught.value.param == param
    assert says in caught.value.message
    assert caught.value.type == "invalid_request_error"


def test_wrong_keys_models_routes_and_bodies_are_errors_of_openais_shape(endpoint: Endpoint, client: OpenAI) -> None:
    with pytest.raises(AuthenticationError, match="the key is missing or wrong"):
        client.with_options(api_key="other").models.list()
    with pytest.raises(NotFoundError, match="no model 'talker@9'; there are 'latest', 'talker', 'base', 'talker@1'"):
        client.chat.completions.create(model="talker@9", messages=HELLO)
    with httpx2.Client(headers={"Authorization": f"Bearer {KEY}"}) as plain:
        answers = [
            plain.post(f"{endpoint.url}/nothing"),
            plain.get(f"{endpoint.url}/chat/completions"),
            plain.post(f"{endpoint.url}/chat/completions", content=b"{"),
            plain.post(f"{endpoint.url}/completions", json={"model": "base", "prompt": [999_999]}),
        ]
    assert [answer.status_code for answer in answers] == [404, 405, 400, 400]
    assert all({"message", "type", "param", "code"} == {*answer.json()["error"]} for answer in answers)


def test_a_body_that_says_it_is_too_large_is_refused_before_it_is_sent(endpoint: Endpoint) -> None:
    with closing(HTTPConnection(endpoint.root.removeprefix("http://"))) as connection:
        connection.putrequest("POST", "/v1/completions")
        connection.putheader("Authorization", f"Bearer {KEY}")
        connection.putheader("Content-Length", str(2**26 + 1))
        connection.endheaders()
        answer = connection.getresponse()
        assert (answer.status, json.load(answer)["error"]["code"]) == (413, "body_too_large")


def test_health_needs_no_key_and_every_other_route_does(endpoint: Endpoint) -> None:
    assert httpx2.get(f"{endpoint.root}/health").json() == {"status": "ok", "policy_step": 2}
    with httpx2.Client(base_url=endpoint.root) as plain:
        schema = plain.get("/openapi.json", headers={"Authorization": f"Bearer {KEY}"}).json()
        routes = [(path, method) for path, methods in schema["paths"].items() for method in methods]
        assert len(routes) > 5
        answers = {route: plain.request(route[1].upper(), route[0]).status_code for route in routes}
    assert answers == dict.fromkeys(routes, 401) | {("/health", "get"): 200}


def test_prometheus_reads_what_was_sampled(endpoint: Endpoint, client: OpenAI) -> None:
    def figure(name: str) -> float:
        text = httpx2.get(f"{endpoint.root}/metrics", headers={"Authorization": f"Bearer {KEY}"}).text
        return float(next((line.split()[-1] for line in text.splitlines() if line.startswith(name)), 0))

    tokens, requests = (
        'mcprl_tokens_total{kind="completion"}',
        'mcprl_requests_total{route="/v1/chat/completions",status="200"}',
    )
    before = figure(tokens), figure(requests)
    said = client.chat.completions.create(model="latest", messages=HELLO, max_tokens=5)
    assert said.usage
    assert (figure(tokens) - before[0], figure(requests) - before[1]) == (said.usage.completion_tokens, 1)
    assert figure("mcprl_policy_step") == 2


def test_a_strict_tool_is_never_called_with_arguments_that_break_its_schema(client: OpenAI) -> None:
    schema = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
    strict = schema | {"properties": {"order_id": {"type": "string", "maxLength": 2}}}
    messages: list[Any] = [{"role": "user", "content": STATUS}]

    def asked(parameters: dict[str, Any], is_strict: bool) -> Any:
        function = {"name": "get_order", "description": "Get an order.", "parameters": parameters, "strict": is_strict}
        tools: list[Any] = [{"type": "function", "function": function}]
        return client.chat.completions.create(model="latest", messages=messages, tools=tools, temperature=0).choices[0]

    for given, is_strict in ((schema, True), (strict, False)):
        choice = asked(given, is_strict)
        assert choice.finish_reason == "tool_calls"
        assert json.loads(choice.message.tool_calls[0].function.arguments) == {"order_id": "O-2043"}
    refused = asked(strict, True)
    assert (refused.finish_reason, refused.message.tool_calls) == ("stop", None)
    assert "O-2043" in refused.message.content
    assert refused.malformed == ["the call of get_order does not meet its schema: 'O-2043' is too long"]


def test_an_export_and_a_model_are_found_as_well(runs: Path, tmp_path: Path) -> None:
    engine = EngineConfig(kind="embedded")
    out = shutil.copytree(runs / "talker" / "adapters" / "step-2", tmp_path / "exported")
    (out / ABOUT).write_text(json.dumps({"form": "adapter", "base_model": "nano", "step": 2}))
    exported, model = find_origin(str(out), str(runs), engine), find_origin("nano", str(runs), engine)
    assert exported.latest
    assert (exported.name, exported.latest.step, exported.config.model.lora_rank) == ("exported", 2, 4)
    assert (model.name, model.latest, model.config.engine) == ("nano", None, engine)
    with pytest.raises(ModelError, match=r"'nothing' is no run in .* and no export; model 'nothing' is none of"):
        find_origin("nothing", str(runs), engine)


def test_what_was_trained_of_another_origin_is_not_served_under_the_same_name(runs: Path, tmp_path: Path) -> None:
    """All exports lie in a folder `adapter` by default, and so had their name, and their adapters, in common."""
    origins: list[Origin] = []
    for run in ("a", "b"):
        out = shutil.copytree(runs / "talker" / "adapters" / "step-2", tmp_path / run / "export" / "adapter")
        (out / ABOUT).write_text(json.dumps({"form": "adapter", "base_model": "nano", "step": 2}))
        origins.append(find_origin(str(out), str(runs), EngineConfig(kind="embedded")))
    served = tmp_path / "served" / "adapter"
    served.mkdir(parents=True)
    with claimed(served, origins[0]), pytest.raises(ConfigError, match="is being served"), claimed(served, origins[0]):
        pass
    with claimed(served, origins[0]):
        pass
    with pytest.raises(ConfigError, match=r"of .*a/export/adapter, not of .*--name"), claimed(served, origins[1]):
        pass


def test_an_address_that_is_taken_is_one_line(endpoint: Endpoint, runs: Path) -> None:
    done = mcprl("serve", "talker", "--runs-dir", str(runs), "--port", endpoint.root.rpartition(":")[2])
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "Address already in use; choose another with --host, --port" in done.err


async def test_trajectories_go_up_and_the_adapter_comes_down_between_processes_with_a_home_each(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    """It trains what the tests above ask, so it is the last."""
    here = parse({"model": {"lora_rank": 4}})
    async with (
        TrainableModel("mine", "", "nano", RemoteBackend(endpoint.url, KEY), config=here, runs_dir=tmp_path) as model,
        model.openai_client() as client,
    ):
        group = TrajectoryGroup()
        for n in range(2):
            said = await client.chat.completions.create(model="latest", messages=HELLO, seed=n, max_tokens=8)
            group.trajectories.append(Trajectory(messages_and_choices=[*HELLO, said.choices[0]], reward=float(n)))
        assert (await model.train([group]))["exact_tokens"] == 1.0
        there: Any = await client.chat.completions.create(model="latest", messages=HELLO, temperature=0, max_tokens=16)
        async with await model.fork("brought-home") as home, home.openai_client() as own:
            here_said: Any = await own.chat.completions.create(
                model="latest", messages=HELLO, temperature=0, max_tokens=16
            )
    assert here_said.choices[0].token_ids == there.choices[0].token_ids
    assert here_said.choices[0].policy_step == there.choices[0].policy_step == 3
    assert (tmp_path / "brought-home" / "adapters" / "step-3" / "adapter_model.safetensors").is_file()


def test_a_model_that_was_trained_as_it_is_served_keeps_the_prompts_of_its_adapters(tmp_path: Path) -> None:
    origin = Origin("m", Config(model=ModelConfig(name="m", call_form="any")))
    assert as_trained(origin, tmp_path) is origin.config, "before the first update a trial chooses them"
    (tmp_path / "step-0").mkdir()
    (tmp_path / "step-3").mkdir()
    made = as_trained(origin, tmp_path).model
    assert (made.call_form, made.after_result) == ("template", ""), "an adapter without a card was trained without"
    assert {"after_result", "system_prompt"} <= made.model_fields_set, "so that no trial chooses others"
    settings = ModelConfig(name="m", call_form="any", after_result="Answer now.")
    (tmp_path / "step-12").mkdir()
    (tmp_path / "step-12" / CARD).write_text(json.dumps(card(settings)))
    made = as_trained(origin, tmp_path).model
    assert (made.call_form, made.after_result, made.name) == ("any", "Answer now.", "m")
