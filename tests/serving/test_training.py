"""`/_train_model`: a served model is trained over HTTP, by token ids, by recorded rollouts and by ART's choices."""

import io
import json
import shutil
import socket
import tarfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openai import AsyncOpenAI, OpenAI
from support.served import KEY, Endpoint, served_here

from mcprl.engines.embedded.engine import EmbeddedEngine
from mcprl.errors import EngineError
from mcprl.types import Adapter

HELLO: list[Any] = [{"role": "user", "content": "Hello"}]
EXACT: dict[str, Any] = {"extra_body": {"return_token_ids": True}, "logprobs": True}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def endpoint(tiny_model: Path, runs: Path) -> Generator[Endpoint]:
    with served_here(str(tiny_model), runs) as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def client(endpoint: Endpoint) -> Generator[OpenAI]:
    with OpenAI(base_url=endpoint.url, api_key=KEY, max_retries=0) as client:
        yield client


@pytest.fixture(scope="module")
def plain(endpoint: Endpoint, client: OpenAI) -> Generator[httpx2.Client]:
    """Any request to the server, after three updates."""
    with httpx2.Client(base_url=endpoint.root, headers={"Authorization": f"Bearer {KEY}"}, timeout=60) as plain:
        for update in range(3):
            group = [{"turns": [turn(client, seed)], "reward": float(seed)} for seed in range(2)]
            _, first, *_ = train(plain, *group, config={"kl_coef": 0.01})
            assert (first["kl"] == pytest.approx(0.0, abs=1e-6)) == (update == 0)
        yield plain


def ask(client: OpenAI, seed: int, rollout: str = "", messages: list[Any] = HELLO, **more: Any) -> Any:
    headers = {"X-Mcprl-Rollout": rollout} if rollout else {}
    asked: dict[str, Any] = {"model": "latest", "messages": messages, "seed": seed, "max_tokens": 8} | more
    return client.chat.completions.create(**asked, extra_headers=headers).choices[0]


def turn(client: OpenAI, seed: int, **more: Any) -> dict[str, Any]:
    """A sampled turn as `/_train_model` takes it."""
    choice = ask(client, seed, **EXACT, **more).to_dict()
    names = ("prompt_token_ids", "token_ids", "temperature", "top_p")
    return {name: choice[name] for name in names} | {"logprobs": [e["logprob"] for e in choice["logprobs"]["content"]]}


def train(plain: httpx2.Client, *trajectories: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    """The events of an update on one group."""
    answer = plain.post("/_train_model", json={"groups": [{"trajectories": trajectories}], **more})
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def test_a_group_moves_the_served_model_and_each_gradient_step_is_a_line(client: OpenAI, plain: httpx2.Client) -> None:
    group: list[dict[str, Any]] = [{"turns": [turn(client, seed)], "reward": float(seed == 0)} for seed in range(4)]
    known = plain.get("/_checkpoints").json()
    before = known["latest"]
    events = train(plain, *group, config={"learning_rate": 1e-2, "epochs": 2, "kl_coef": 0.01})
    assert [event["type"] for event in events] == ["job", "gradient_step", "gradient_step", "adapter"]
    first = events[1]
    tokens = sum(len(each["turns"][0]["token_ids"]) for each in group)
    assert (first["tokens"], first["exactness"], first["gradient_step"]) == (tokens, 1.0, 1)
    assert first["sampler_gap"] < 1e-3
    assert first["kl"] > 0
    assert events[2]["kl"] > 0
    assert first["grad_norm"] > 0
    assert first["seconds"] > 0
    assert (events[-1]["model"], events[-1]["step"]) == (f"{known['model']}@{before + 1}", before + 1)
    assert plain.get("/health").json()["policy_step"] == before + 1


def test_an_update_goes_on_without_its_client_and_can_be_followed_again(client: OpenAI, plain: httpx2.Client) -> None:
    group: list[dict[str, Any]] = [{"turns": [turn(client, seed)], "reward": float(seed)} for seed in range(3)]
    body = {"groups": [{"trajectories": group}], "job": "followed", "config": {"epochs": 6}}
    with plain.stream("POST", "/_train_model", json=body) as answer:
        lines = answer.iter_lines()
        seen = [json.loads(next(lines)), json.loads(next(lines))]
    rest = [json.loads(line) for line in plain.get("/_jobs/followed", params={"start": 2}).text.splitlines()]
    assert [event["type"] for event in (*seen, *rest)] == ["job", *["gradient_step"] * 6, "adapter"]
    assert plain.post("/_train_model", json=body).text.splitlines() == [json.dumps(e) for e in (*seen, *rest)]
    assert plain.get("/health").json()["policy_step"] == rest[-1]["step"]
    assert plain.get("/_jobs").json()[-1] == {"job": "followed", "done": True, "last": rest[-1]}


def test_groups_without_a_signal_say_why_nothing_changed(client: OpenAI, plain: httpx2.Client) -> None:
    step = plain.get("/health").json()["policy_step"]
    alike = [{"turns": [turn(client, seed)], "reward": 0.5} for seed in range(2)]
    job, unchanged = train(plain, *alike)
    assert job["dropped_groups"] == 1
    assert unchanged["why"] == "no group has a signal: 1 of 1 group with rewards that do not differ"
    assert train(plain, alike[0])[-1]["why"].endswith("1 with one trajectory and nothing to compare it with")
    assert plain.get("/health").json()["policy_step"] == step


def weights(plain: httpx2.Client) -> bytes:
    """The adapter that is served, as a client downloads it."""
    step = plain.get("/_checkpoints").json()["latest"]
    with tarfile.open(fileobj=io.BytesIO(plain.get(f"/_checkpoints/{step}").content)) as archive:
        file = archive.extractfile("adapter_model.safetensors")
        assert file
        return file.read()


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"reward": "much"}, "groups[0].trajectories[1].reward", "valid number"),
    ({"reward": None}, "groups[0].trajectories[1].reward", "is missing"),
    ({"rewrd": 1.0}, "groups[0].trajectories[1].rewrd", "is unknown"),
    ({"turns": []}, "groups[0].trajectories[1]", "give one of turns, rollout and messages_and_choices"),
    ({"rollout": "x"}, "groups[0].trajectories[1]", "give one of turns, rollout and messages_and_choices"),
    ({"turns": [], "rollout": "nobody"}, "groups[0].trajectories[1].rollout", "no turn of a rollout 'nobody'"),
    (
        {"turns": [], "messages_and_choices": [{"role": "user"}]},
        "groups[0].trajectories[1].messages_and_choices",
        "no Choice in it",
    ),
    (
        {"turns": [], "messages_and_choices": [{"message": {"role": "assistant", "content": "never said"}}]},
        "groups[0].trajectories[1].messages_and_choices[0]",
        "no turn recorded here has its conversation",
    ),
]
WRONG_TURNS: list[tuple[dict[str, Any], str, str]] = [
    ({"token_ids": [1, -1]}, "groups[0].trajectories[1].turns[0].token_ids[1]", "greater than or equal to 0"),
    ({"token_ids": [1]}, "groups[0].trajectories[1].turns[0]", "logprobs for 1 token_ids; expected one of each"),
    ({"logprobs": [1.0]}, "groups[0].trajectories[1].turns[0].logprobs[0]", "less than or equal to 0.001"),
    ({"prompt_token_ids": [99_999]}, "groups[0].trajectories[1]", "holds the token 99999; the model has"),
    ({"prompt_token_ids": [1] * 9_000}, "groups[0].trajectories[1]", "tokens with its prompt; the model reads"),
    ({"temperature": 0.5}, "groups[0].trajectories[1]", "at the temperatures 0.5, 1.0; expected one for all"),
    ({"temperature": 0}, "groups[0].trajectories[1].turns[0].temperature", "greater than 0"),
    ({"top_p": 0.9}, "groups[0].trajectories[1].turns[0].top_p", "greater than or equal to 1"),
]


def test_a_malformed_trajectory_is_named_and_leaves_the_weights_as_they_were(
    client: OpenAI, plain: httpx2.Client
) -> None:
    good = {"turns": [turn(client, 0)], "reward": 1.0}
    before = weights(plain)
    bodies = [({"groups": [{"trajectories": [good, good | wrong]}]}, param, says) for wrong, param, says in WRONG]
    for wrong, param, says in WRONG_TURNS:
        bad = {"turns": [turn(client, 1) | wrong], "reward": 0.0}
        bodies.append(({"groups": [{"trajectories": [good, bad]}]}, param, says))
    bodies += [
        ({"groups": []}, "groups", "at least 1"),
        ({"groups": [{"trajectories": []}]}, "groups[0].trajectories", "at least 1"),
        ({"groups": [{"trajectories": [good]}], "config": {"steps": 3}}, "config.steps", "no setting of an update"),
        (
            {"groups": [{"trajectories": [good]}], "config": {"epochs": 0}},
            "config.epochs",
            "greater than or equal to 1",
        ),
    ]
    for body, param, says in bodies:
        answer = plain.post("/_train_model", json=body)
        error = answer.json()["error"]
        assert (answer.status_code, error["param"]) == (400, param), error
        assert says in error["message"]
    assert weights(plain) == before


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["reward", "turns", "rollout", "messages_and_choices", "tools", "additional_histories"]), JSON)
def test_no_trajectory_whatever_its_content_is_an_error_of_the_server(
    plain: httpx2.Client, name: str, value: Any
) -> None:
    turn = {"prompt_token_ids": [1], "token_ids": [2], "logprobs": [-1.0]}
    body = json.dumps({"groups": [{"trajectories": [{"turns": [turn], "reward": 1.0} | {name: value}]}]})
    answer = plain.post("/_train_model", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (200, 400), answer.text  # one trajectory alone has no signal: 200 trains nothing
    assert '"adapter"' not in answer.text


def test_an_update_that_fails_leaves_the_weights_as_they_were(client: OpenAI, plain: httpx2.Client) -> None:
    group: list[dict[str, Any]] = [{"turns": [turn(client, seed)], "reward": float(seed)} for seed in range(2)]
    before = weights(plain)
    group[0]["turns"][0]["logprobs"] = [-1e30] * len(group[0]["turns"][0]["logprobs"])
    events = train(plain, *group, config={"epochs": 4, "loss": "ppo"})
    assert events[-1]["type"] == "error"
    assert "steps in a row gave loss" in events[-1]["error"]["message"]
    assert weights(plain) == before
    group[0]["turns"] = [turn(client, 0)]
    assert train(plain, *group)[-1]["type"] == "adapter"


def test_an_update_that_cannot_be_served_is_not_part_of_the_next_one(
    client: OpenAI, plain: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(self: EmbeddedEngine, adapter: Adapter) -> None:
        raise EngineError("no memory for another adapter")

    group = [{"turns": [turn(client, seed)], "reward": float(seed)} for seed in range(2)]
    with monkeypatch.context() as broken:
        broken.setattr(EmbeddedEngine, "load_adapter", fails)
        _, lost, failed = train(plain, *group)
    assert "no memory for another adapter" in failed["error"]["message"]
    _, first, adapter = train(plain, *group)
    assert first["grad_norm"] == pytest.approx(lost["grad_norm"])
    assert adapter["step"] == failed["step"] + 1


def test_turns_that_name_a_rollout_are_recorded_and_train_exactly(client: OpenAI, plain: httpx2.Client) -> None:
    lengths: list[int] = []
    for n in range(3):
        first = ask(client, n, f"game-{n}", **EXACT)
        talk = [*HELLO, {"role": "assistant", "content": first.message.content}, {"role": "user", "content": "And?"}]
        second = ask(client, n + 50, f"game-{n}", talk, **EXACT)
        before = first.prompt_token_ids + first.token_ids
        assert second.prompt_token_ids[: len(before)] == before
        lengths.append(len(first.token_ids) + len(second.token_ids))
    events = train(plain, *({"rollout": f"game-{n}", "reward": float(n)} for n in range(3)))
    step = events[1]
    assert (step["tokens"], step["exactness"]) == (sum(lengths), 1.0)
    assert step["sampler_gap"] < 1e-3
    nucleus = ask(client, 1, "nucleus", top_p=0.5)
    assert nucleus.finish_reason
    answer = plain.post("/_train_model", json={"groups": [{"trajectories": [{"rollout": "nucleus", "reward": 1}]}]})
    assert answer.json()["error"]["param"] == "groups[0].trajectories[0].rollout.top_p"


def test_choices_handed_back_as_they_came_match_the_turns_that_were_recorded(
    client: OpenAI, plain: httpx2.Client
) -> None:
    tools: list[Any] = [{"type": "function", "function": {"name": "get_order", "parameters": {"type": "object"}}}]
    group: list[dict[str, Any]] = []
    said = 0
    for n in range(3):
        choice = ask(client, 100 + n, tools=tools)  # neither ids nor logprobs: as ART's users ask
        completion = {"messages_and_choices": [*HELLO, choice.to_dict()], "tools": tools, "reward": float(n)}
        group.append(completion)
        said += len(ask(client, 100 + n, tools=tools, **EXACT).token_ids)
    step = train(plain, *group)[1]
    assert (step["tokens"], step["exactness"]) == (said, 1.0)
    assert step["sampler_gap"] < 1e-3
    moved = group[0] | {"tools": []}
    answer = plain.post("/_train_model", json={"groups": [{"trajectories": [moved]}]})
    assert "keep messages and tools as they were" in answer.json()["error"]["message"]


@pytest.fixture
def known(plain: httpx2.Client) -> dict[str, Any]:
    """The name of the served model and its kept steps."""
    return plain.get("/_checkpoints").json()


async def test_many_clients_at_once_are_sampled_with_the_weights_that_they_name_during_updates(
    endpoint: Endpoint, client: OpenAI, plain: httpx2.Client, known: dict[str, Any]
) -> None:
    group: list[dict[str, Any]] = [{"turns": [turn(client, seed)], "reward": float(seed)} for seed in range(3)]
    kept = {f"{known['model']}@{step}": step for step in known["steps"][-3:]}
    names = ["latest", "base", *kept]
    assert len(names) == 5  # more adapters than the engine has at once
    said: dict[tuple[int, int], set[str]] = {}
    seen: dict[str, set[int]] = {name: set() for name in names}

    async with AsyncOpenAI(base_url=endpoint.url, api_key=KEY, max_retries=0) as many:

        async def one(number: int) -> None:
            for place in range(2):
                name = names[(number + place) % len(names)]
                asked: dict[str, Any] = {"model": name, "max_tokens": 8, "temperature": 0}
                messages: list[Any] = [{"role": "user", "content": f"Order {number % 4}?"}]
                answer: Any = (await many.chat.completions.create(messages=messages, **asked)).choices[0]
                seen[name].add(answer.policy_step)
                said.setdefault((answer.policy_step, number % 4), set()).add(answer.message.content)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anyio.to_thread.run_sync, lambda: train(plain, *group, config={"epochs": 3}))
            for number in range(64):
                tasks.start_soon(one, number)
    assert seen["latest"] <= {known["latest"], known["latest"] + 1}
    assert seen == {"base": {0}, "latest": seen["latest"]} | {name: {step} for name, step in kept.items()}
    assert all(len(texts) == 1 for texts in said.values())  # greedy: one text for weights and prompt


def test_a_turn_whose_client_is_gone_is_abandoned(endpoint: Endpoint, plain: httpx2.Client) -> None:
    def abandoned() -> bool:
        line = 'mcprl_requests_total{route="/v1/chat/completions",status="499"}'
        return line in plain.get("/metrics").text

    assert not abandoned()
    body = {"model": "base", "messages": HELLO, "max_tokens": 1_500, "temperature": 2, "n": 8}
    with socket.create_connection(("127.0.0.1", httpx2.URL(endpoint.root).port or 0)) as connection:
        content = json.dumps(body)
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {KEY}\r\n"
        kind = f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        connection.sendall((head + kind + content).encode())
        until = time.monotonic() + 30
        while "mcprl_requests_running 2.0" not in plain.get("/metrics").text:  # that one, and this
            assert time.monotonic() < until
    while not abandoned():
        assert time.monotonic() < until


def test_kept_adapters_are_listed_downloaded_and_deleted(plain: httpx2.Client) -> None:
    known = plain.get("/_checkpoints").json()
    assert plain.delete(f"/_checkpoints/{known['latest']}").status_code == 409
    left = plain.delete(f"/_checkpoints/{known['steps'][0]}").json()["steps"]
    assert left == known["steps"][1:]
    assert plain.get(f"/_checkpoints/{known['steps'][0]}").status_code == 404


def test_a_server_that_comes_back_goes_on_from_the_newest_adapter(
    runs: Path, tiny_model: Path, endpoint: Endpoint, plain: httpx2.Client, tmp_path: Path
) -> None:
    step = plain.get("/health").json()["policy_step"]
    assert step > 2
    left = shutil.copytree(runs, tmp_path / "left")  # what it leaves if it ends now
    with served_here(str(tiny_model), left) as again:
        assert again.root != endpoint.root
        assert httpx2.get(f"{again.root}/health").json()["policy_step"] == step
