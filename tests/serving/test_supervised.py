"""`/_train_sft`: a served model is taught demonstrations over HTTP, and from Python."""

import io
import json
import tarfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from openai.types.chat import ChatCompletionMessage
from openai.types.chat.chat_completion import Choice
from support.served import KEY, Endpoint, served_here

from mcprl import RemoteBackend, TrainableModel, TrainSFTConfig, Trajectory, TrajectoryGroup
from mcprl.art.updates import NothingTrained
from mcprl.errors import ConfigError

QUESTION = {"role": "user", "content": "Order 42?"}
TOOL = {"type": "function", "function": {"name": "get_order", "parameters": {"type": "object"}}}
CALL = {"id": "call1", "type": "function", "function": {"name": "get_order", "arguments": '{"order_id": 42}'}}


@pytest.fixture(scope="module")
def endpoint(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[Endpoint]:
    with served_here(str(tiny_model), tmp_path_factory.mktemp("runs")) as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def plain(endpoint: Endpoint) -> Generator[httpx2.Client]:
    with httpx2.Client(base_url=endpoint.root, headers={"Authorization": f"Bearer {KEY}"}, timeout=60) as plain:
        yield plain


def written(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"messages_and_choices": [QUESTION, *messages], **more}


def says(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def train(plain: httpx2.Client, *trajectories: dict[str, Any], **config: Any) -> list[dict[str, Any]]:
    answer = plain.post("/_train_sft", json={"trajectories": trajectories, "config": config})
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def ask(plain: httpx2.Client, tools: list[Any] | None = None) -> dict[str, Any]:
    body = {"model": "latest", "messages": [QUESTION], "temperature": 0, "max_tokens": 48, "tools": tools}
    return plain.post("/v1/chat/completions", json=body).json()["choices"][0]


def weights(plain: httpx2.Client) -> bytes:
    step = plain.get("/_checkpoints").json()["latest"]
    with tarfile.open(fileobj=io.BytesIO(plain.get(f"/_checkpoints/{step}").content)) as archive:
        file = archive.extractfile("adapter_model.safetensors")
        assert file
        return file.read()


def test_demonstrations_are_learned_in_batches_each_of_which_is_a_line(plain: httpx2.Client) -> None:
    demonstrations = [written(says("Paid.")) for _ in range(60)]
    events = train(plain, *demonstrations, learning_rate=0.02, batch_size=2)
    assert [event["type"] for event in events] == ["job", *["gradient_step"] * 30, "adapter"]
    assert events[0]["trajectories"] == 60
    first, last = events[1], events[-2]
    assert first["tokens"] > 2
    assert (first["exactness"], first["kl"], first["gradient_step"], last["gradient_step"]) == (None, None, 1, 30)
    assert last["loss"] < first["loss"] / 4
    assert events[-1]["step"] == plain.get("/health").json()["policy_step"]
    assert ask(plain)["message"]["content"].startswith("P")


def test_what_was_sampled_and_calls_are_demonstrations_as_well(plain: httpx2.Client) -> None:
    exact = {"model": "latest", "messages": [QUESTION], "logprobs": True, "return_token_ids": True, "max_tokens": 8}
    choice = plain.post("/v1/chat/completions", json=exact, headers={"X-Mcprl-Rollout": "r"}).json()["choices"][0]
    ids = {"prompt_token_ids": choice["prompt_token_ids"], "token_ids": choice["token_ids"]}
    turn = ids | {"logprobs": [entry["logprob"] for entry in choice["logprobs"]["content"]]}
    _, by_ids, by_name, _ = train(plain, {"turns": [turn]}, {"rollout": "r"}, batch_size=1, learning_rate=0)
    assert by_ids["tokens"] == by_name["tokens"] == len(choice["token_ids"])
    assert by_ids["loss"] == pytest.approx(by_name["loss"])
    result = {"role": "tool", "tool_call_id": "call1", "content": "paid"}
    calls = written({"role": "assistant", "tool_calls": [CALL]}, result, says("It is paid."), tools=[TOOL])
    steps = train(plain, *[calls] * 80, learning_rate=0.02, batch_size=1)[1:-1]
    assert steps[0]["tokens"] > 20  # the call and the answer
    assert steps[-1]["loss"] < steps[0]["loss"] / 2


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"trajectories": []}, "trajectories", "at least 1"),
    ({"trajectories": [{}]}, "trajectories[0]", "give one of turns, rollout and messages_and_choices"),
    ({"trajectories": [{"rollout": "nobody"}]}, "trajectories[0].rollout", "no turn of a rollout 'nobody'"),
    ({"trajectories": [written()]}, "trajectories[0].messages_and_choices", "no message of the assistant"),
    (
        {"trajectories": [written(says("a")), written({"role": "robot"})]},
        "trajectories[1].messages_and_choices[1].role",
        "'developer'",
    ),
    ({"trajectories": [written({"message": 3})]}, "trajectories[0].messages_and_choices[1]", "dictionary"),
    ({"trajectories": [written(says("a b c " * 3_000))]}, "trajectories[0]", "tokens with its prompt; the model reads"),
    (
        {"trajectories": [written(says("a"), additional_histories=[written()])]},
        "trajectories[0].additional_histories[0].messages_and_choices",
        "no message of the assistant",
    ),
    ({"config": {"epochs": 2}}, "config.epochs", "unknown or not supported"),
    ({"config": {"batch_size": 0}}, "config.batch_size", "greater than or equal to 1"),
    ({"job": "a b"}, "job", "pattern"),
]


def test_a_malformed_demonstration_is_named_and_leaves_the_weights_as_they_were(plain: httpx2.Client) -> None:
    train(plain, written(says("a")))
    before = weights(plain)
    for wrong, param, problem in WRONG:
        answer = plain.post("/_train_sft", json={"trajectories": [written(says("a"))], **wrong})
        error = answer.json()["error"]
        assert (answer.status_code, error["param"]) == (400, param), error
        assert problem in error["message"]
    assert weights(plain) == before


def test_supervised_steps_that_fail_leave_the_weights_as_they_were(plain: httpx2.Client) -> None:
    before, said = weights(plain), ask(plain)["message"]
    events = train(plain, *[written(says("Paid."))] * 6, learning_rate=1e30, batch_size=1)
    assert events[-1]["type"] == "error"
    assert "steps in a row gave loss" in events[-1]["error"]["message"]
    assert weights(plain) == before
    assert ask(plain)["message"] == said
    assert train(plain, written(says("a")))[-1]["type"] == "adapter"


async def test_the_client_teaches_what_others_said_and_rl_goes_on_from_there(
    endpoint: Endpoint, plain: httpx2.Client
) -> None:
    teacher = Choice(index=0, finish_reason="stop", message=ChatCompletionMessage(role="assistant", content="Sent."))
    backend = RemoteBackend(endpoint.url, KEY)
    async with TrainableModel("pupil", backend=backend) as model, model.openai_client() as client:
        shown = [Trajectory(messages_and_choices=[QUESTION, teacher]) for _ in range(30)]
        before = await model.get_step()
        metrics = await model.train_sft(shown, TrainSFTConfig(learning_rate=0.02, batch_size=1))
        assert (metrics["trajectories"], await model.get_step()) == (30.0, before + 1)
        assert ask(plain)["message"]["content"].startswith("S")
        messages: list[Any] = [QUESTION]
        group = TrajectoryGroup()
        for n in range(2):
            said = await client.chat.completions.create(model="latest", messages=messages, seed=n, max_tokens=8)
            group.trajectories.append(Trajectory(messages_and_choices=[*messages, said.choices[0]], reward=n))
        assert (await model.train([group]))["exact_tokens"] == 1.0
        with pytest.raises(ConfigError, match=r"trajectories\[0\].messages_and_choices: there is no message of the"):
            await model.train_sft([Trajectory(messages_and_choices=messages)])
        with pytest.warns(NothingTrained, match="it was given no trajectory"):
            assert await model.train_sft([]) == {"trajectories": 0.0}
