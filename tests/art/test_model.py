"""ART's loop from Python: scenarios, tries, RULER, training on the embedded engine with what was sampled."""

import asyncio
import json
import math
from collections.abc import Generator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import pytest
from openai import BadRequestError, InternalServerError
from openai.types.chat import ChatCompletionMessage
from openai.types.chat.chat_completion import Choice
from support.cutting import AT_ONCE, cutting
from support.fake_llm import serving
from support.loopback import odd_http, shop_over_http
from support.reading_judge import judge
from support.served import KEY, served_here

from mcprl import (
    Config,
    History,
    LocalBackend,
    RemoteBackend,
    TrainableModel,
    Trajectory,
    TrajectoryGroup,
    gather_trajectory_groups,
    generate_scenarios,
    ruler_score_group,
)
from mcprl.art.bodies import as_body
from mcprl.art.updates import NothingTrained
from mcprl.config import RolloutConfig, ScenarioConfig, TrainingConfig
from mcprl.errors import ConfigError, EngineError, ServerError
from mcprl.runs.settings import parse
from mcprl.scenarios.packs.pack import Pack
from mcprl.training.forward import Forward
from mcprl.training.loss import BOUNDS
from mcprl.types import Row

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # litellm's own
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

TOOL = {
    "type": "function",
    "function": {"name": "get_order", "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}}},
}


@pytest.fixture(scope="module")
def shop() -> Generator[str]:
    with shop_over_http() as url:
        yield url


@pytest.fixture(scope="module")
def scenarios(shop: str) -> Pack:
    few = ScenarioConfig(probe_calls=150, repeat_after_s=0.1)
    return anyio.run(partial(generate_scenarios, num_scenarios=8, server_url=shop, config=few))


def tiny(model: Path, runs: Path, name: str = "tiny") -> TrainableModel:
    config = parse({"model": {"lora_rank": 4}, "rollout": {"max_tokens": 12}, "training": {"learning_rate": 1e-2}})
    return TrainableModel(name, "tests", str(model), config=config, runs_dir=runs)


async def said(
    model: TrainableModel, text: str, seed: int = 0, name: str | int | None = None, **more: Any
) -> tuple[list[Any], Any]:
    messages: list[Any] = [{"role": "user", "content": text}]
    asked = name if isinstance(name, str) else model.get_inference_name(name)
    async with model.openai_client() as client:
        completion = await client.chat.completions.create(
            model=asked, messages=messages, seed=seed, max_tokens=12, **more
        )
    return messages, completion.choices[0]


async def tried(model: TrainableModel, text: str, reward: float, seed: int, **more: Any) -> Trajectory:
    messages, choice = await said(model, text, seed, **more)
    return Trajectory(messages_and_choices=[*messages, choice], reward=reward)


async def test_the_loop_of_arts_users_runs_on_the_embedded_engine(shop: str, scenarios: Pack, tmp_path: Path) -> None:
    assert (len(scenarios.train), len(scenarios.val), len(scenarios.test)) == (5, 1, 2)
    assert len(scenarios) == len(list(scenarios)) == 8
    exact = parse({"training": {"autocast": "off"}})  # the engine samples in float32
    async with TrainableModel("shop", "tests", "nano", config=exact, runs_dir=tmp_path) as model:
        with serving(judge) as fake:
            params = {"api_base": fake.url, "api_key": "x"}
            judged = await gather_trajectory_groups(
                (TrajectoryGroup(model.rollout(s, shop, seed=n) for n in range(3)) for s in scenarios.train[:2]),
                after_each=lambda group: ruler_score_group(group, "openai/fake", params, swallow_exceptions=True),
            )
        assert [len(group) for group in judged] == [3] * 2
        assert all("independent_reward" in one.metrics and "success" in one.metrics for g in judged for one in g)
        for group in judged:
            for n, one in enumerate(
                group
            ):  # a user's own reward beside the judge's, so that no group is without signal
                one.reward += n / 10
        metrics = await model.train(judged)
        assert metrics["exact_tokens"] == 1.0
        assert metrics["sampler_gap_max"] < 1e-3
        assert await model.get_step() == 1
        assert isinstance(model.backend, LocalBackend)
        result = await model.backend.train(model, judged, learning_rate=0.0)
        assert (result.step, result.metrics["exact_tokens"]) == (2, 1.0)
        assert result.metrics["learning_rate"] == 0.0
        again = await model.rollout(scenarios.test[0], shop, seed=0)
        assert {item.policy_step for item in again.messages_and_choices if not isinstance(item, dict)} == {2}
        assert again.metadata["split"] == "test"


async def test_tasks_are_made_for_a_server_that_wants_a_header() -> None:
    make = partial(generate_scenarios, 8, config=ScenarioConfig(probe_calls=10, repeat_after_s=0.1))
    with odd_http("key") as url:
        with pytest.raises(ServerError, match="401"):
            await make(url)
        with pytest.raises(ServerError, match="no tool of the server may be called"):  # it is reached
            await make(url, headers={"Authorization": "Bearer sesame"})


async def test_training_moves_the_model_to_what_was_rewarded(tiny_model: Path, tmp_path: Path) -> None:
    async with tiny(tiny_model, tmp_path) as model:
        group = TrajectoryGroup([await tried(model, "Order 42?", float(n == 0), n) for n in range(6)])
        good = group.trajectories[0].messages_and_choices[-1]
        for _ in range(6):
            await model.train([group])
        _, after = await said(model, "Order 42?", temperature=0)
        assert good.token_ids[0] == after.token_ids[0]
        assert after.policy_step == 6


async def test_a_model_of_the_same_name_goes_on_where_it_was(tiny_model: Path, tmp_path: Path) -> None:
    async with tiny(tiny_model, tmp_path) as model:
        await model.train([TrajectoryGroup([await tried(model, "Order 42?", float(n), n) for n in range(2)])])
        _, one = await said(model, "Order 42?", 5)
    async with tiny(tiny_model, tmp_path) as again:
        assert await again.get_step() == 1
        _, other = await said(again, "Order 42?", 5)
    assert one.token_ids == other.token_ids
    async with tiny(tiny_model, tmp_path, "other") as fresh:
        assert await fresh.get_step() == 0


async def test_the_next_turn_of_a_conversation_extends_the_ids_of_the_last(tiny_model: Path, tmp_path: Path) -> None:
    async with tiny(tiny_model, tmp_path) as model:
        messages, first = await said(model, "Order 42?", tools=[TOOL])
        more: list[Any] = [
            *messages,
            first.message.model_dump(exclude_none=True),
            {"role": "user", "content": "And 43?"},
        ]
        async with model.openai_client() as client:
            tools: list[Any] = [TOOL]
            asked = client.chat.completions.create(model="latest", messages=more, tools=tools, max_tokens=8)
            second: Any = (await asked).choices[0]
    before = first.prompt_token_ids + first.token_ids
    assert second.prompt_token_ids[: len(before)] == before
    assert len(second.logprobs.content) == len(second.token_ids)
    assert all(math.isfinite(entry.logprob) and entry.logprob <= 0 for entry in second.logprobs.content)


async def test_what_cannot_be_trained_on_as_it_was_sampled_is_refused(tiny_model: Path, tmp_path: Path) -> None:
    foreign = Choice(index=0, finish_reason="stop", message=ChatCompletionMessage(role="assistant", content="42"))
    user = {"role": "user", "content": "Order 42?"}

    def group(*items: Any) -> TrajectoryGroup:
        return TrajectoryGroup([Trajectory(messages_and_choices=[user, *items], reward=float(n)) for n in range(2)])

    async with tiny(tiny_model, tmp_path) as model:
        with pytest.raises(ConfigError, match=r"messages_and_choices\[1\]: this Choice carries no token ids"):
            await model.train([group(foreign)])
        with pytest.raises(ConfigError, match="no Choice in it, so no turn that was sampled"):
            await model.train([group({"role": "assistant", "content": "42"})])
        with pytest.raises(ConfigError, match=r"rewards must be finite numbers, got .*nan"):
            await model.train([TrajectoryGroup([await tried(model, "Order 42?", math.nan, 0)])])
        greedy = [await tried(model, "Order 42?", float(n), n, temperature=0) for n in range(2)]
        with pytest.raises(
            ConfigError, match=r"trajectories\[0\]\.messages_and_choices\[1\]\.temperature: .*greater than 0"
        ):
            await model.train([TrajectoryGroup(greedy)])


async def test_a_group_without_a_difference_teaches_nothing_and_a_failed_judge_leaves_none(
    tiny_model: Path, tmp_path: Path
) -> None:
    async with tiny(tiny_model, tmp_path) as model:
        alike = TrajectoryGroup([await tried(model, "Order 42?", 0.5, n) for n in range(2)])
        with pytest.warns(NothingTrained, match="no group has a signal: 1 of 1 group with rewards that do not differ"):
            assert await model.train([alike, None]) == {"groups": 1.0, "dropped_groups": 1.0}
        with pytest.warns(NothingTrained, match="it was given no trajectory"):
            assert await model.train([None]) == {"groups": 0.0, "dropped_groups": 0.0}
        assert await model.get_step() == 0


async def test_a_try_can_run_with_settings_of_its_own(
    shop: str, scenarios: Pack, tiny_model: Path, tmp_path: Path
) -> None:
    async with tiny(tiny_model, tmp_path) as model:
        short = await model.rollout(scenarios.train[0], shop, config=RolloutConfig(max_turns=1, max_tokens=8))
    assert sum(not isinstance(item, dict) for item in short.messages_and_choices) == 1
    with pytest.raises(ConfigError, match="num_scenarios is 4; a split into train, val and test needs at least 8"):
        await generate_scenarios(4, shop)
    assert Config().rollout.max_turns > 1


async def test_a_config_given_to_train_replaces_every_setting_of_the_updates(tiny_model: Path, tmp_path: Path) -> None:
    async with tiny(tiny_model, tmp_path) as model:
        group = TrajectoryGroup([await tried(model, "Order 42?", float(n), n) for n in range(2)])
        given = TrainingConfig(loss="ppo", bin_tokens=512, share_prefixes=False, autocast="off", epochs=2)
        metrics = await model.train([group], given)
        connection = await model._open()
        trainer = connection.learner._trainer if connection.learner else None
    assert trainer
    assert (trainer.clip_low, trainer.clip_high) == BOUNDS["ppo"]
    assert (trainer.forward.max_tokens, trainer.forward.shares, trainer.forward.bf16) == (512, False, False)
    assert trainer.step == 2
    assert metrics["exact_tokens"] == 1.0


async def test_an_update_whose_rows_share_no_prefixes_warns_of_it(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(self: Forward, rows: Sequence[Row]) -> float:
        raise NotImplementedError("layers of another kind")

    monkeypatch.setattr(Forward, "try_sharing", fails)
    async with tiny(tiny_model, tmp_path) as model:
        group = TrajectoryGroup([await tried(model, "Order 42?", float(n), n) for n in range(2)])
        with pytest.warns(UserWarning, match="prefixes are not shared"):
            await model.train([group])


async def test_the_client_is_openais_own_and_is_refused_what_the_endpoint_refuses(
    tiny_model: Path, tmp_path: Path
) -> None:
    hello: list[Any] = [{"role": "user", "content": "Order 42?"}]
    async with tiny(tiny_model, tmp_path) as model, model.openai_client() as client:
        asked: dict[str, Any] = {"model": model.get_inference_name(), "messages": hello, "max_tokens": 8}
        several = await client.chat.completions.create(**asked, n=3, top_p=0.9, tool_choice="none", timeout=30)
        assert len({tuple(choice.to_dict()["token_ids"]) for choice in several.choices}) == 3  # pyright: ignore[reportArgumentType]
        whole = await client.chat.completions.create(**asked, seed=1)
        stream = await client.chat.completions.create(**asked, seed=1, stream=True)
        texts = [chunk.choices[0].delta.content or "" async for chunk in stream]
        assert "".join(texts) == whole.choices[0].message.content
        with pytest.raises(BadRequestError) as caught:
            await client.chat.completions.create(**asked, tool_choice="required")
        assert (caught.value.param, caught.value.code) == ("tool_choice", "unsupported_value")
        assert [each.id async for each in client.models.list()] == ["latest", "tiny", "base"]
        with pytest.raises(ConfigError, match=r"has no address; register a RemoteBackend\(url, key\)"):
            _ = model.inference_base_url


async def test_a_model_that_cannot_be_loaded_says_so_to_the_client(tmp_path: Path) -> None:
    async with (
        TrainableModel("none", base_model="nothing", runs_dir=tmp_path) as model,
        model.openai_client() as client,
    ):
        with pytest.raises(InternalServerError, match="model 'nothing' is none of"):
            await client.models.list()


async def test_additional_histories_share_the_reward_and_are_trained(tiny_model: Path, tmp_path: Path) -> None:
    async with tiny(tiny_model, tmp_path) as model:
        group: list[Trajectory] = []
        sampled = 0
        for n in range(2):
            messages, choice = await said(model, "Order 42?", n)
            more, other = await said(model, "Order 43?", n)
            side = History(messages_and_choices=[*more, other])
            main = Trajectory(messages_and_choices=[*messages, choice], additional_histories=[side], reward=n)
            group.append(main.finish())
            sampled += len(choice.token_ids) + len(other.token_ids)
        assert all(each.metrics["duration"] > 0 for each in group)
        metrics = await model.train([TrajectoryGroup(group)])
        assert (metrics["trained_tokens"], metrics["exact_tokens"]) == (sampled, 1.0)


async def test_checkpoints_are_kept_deleted_and_forked_and_trajectories_logged(
    tiny_model: Path, tmp_path: Path
) -> None:
    backend = LocalBackend(tmp_path / "elsewhere")
    async with tiny(tiny_model, tmp_path) as model:
        await model.register(backend)
        with pytest.raises(ConfigError, match="in use at another backend"):
            await model.register(LocalBackend())
        group = TrajectoryGroup([await tried(model, "Order 42?", float(n), n) for n in range(2)])
        for _ in range(3):
            await model.train([group])
        logged = await model.log([group, *group], split="val")
        assert logged == {"val/reward": 0.5}
        lines = (model.folder / "log" / "val.jsonl").read_text().splitlines()
        assert [json.loads(line)["step"] for line in lines] == [3] * 4
        _, before = await said(model, "Order 43?", 5)
        assert await model.delete_checkpoints(keep=[1]) == [2]
        forks = await asyncio.gather(*(model.fork("twice", backend) for _ in range(2)), return_exceptions=True)
        assert sorted(type(each).__name__ for each in forks) == ["ConfigError", "TrainableModel"]
        async with await model.fork("older", backend, step=1) as older:
            assert await older.get_step() == 1
        async with await model.fork("other", backend) as other:
            assert await other.get_step() == 3
            _, after = await said(other, "Order 43?", 5)
            assert after.token_ids == before.token_ids
            await other.train([group])
            assert (await other.get_step(), await model.get_step()) == (4, 3)
        with pytest.raises(ConfigError, match="holds a model already"):
            await model.fork("other", backend)
    left = sorted(path.name for path in (tmp_path / "elsewhere").glob("tests/tiny/adapters/*"))
    assert left == ["step-0", "step-1", "step-3"]  # step 0 is the base model, to go back to


async def test_the_best_by_a_logged_metric_stays_and_another_word_for_it_deletes_nothing(
    tiny_model: Path, tmp_path: Path
) -> None:
    async with tiny(tiny_model, tmp_path) as model:
        (_, choice), (_, base) = [await said(model, "Order 42?", 1, name=name) for name in (0, "base")]
        assert choice.token_ids == base.token_ids  # step 0 is the base model, before any training
        for step in range(1, 5):
            await model.train([TrajectoryGroup([await tried(model, "Order 42?", float(n), n) for n in range(2)])])
            won = Trajectory(reward=-step, metrics={"correct": step == 2})
            assert await model.log([won], split="val") == {"val/reward": -step, "val/correct": step == 2}
        with pytest.raises(ConfigError, match="the metric 'correct' names no split; expected one such as 'val/reward'"):
            await model.delete_checkpoints("correct")
        assert await model.delete_checkpoints("val/correct", keep=[1]) == [3]
        assert await model.delete_checkpoints() == [2]  # the best by its reward is that of step 1


@pytest.mark.parametrize("wait", [False, True])
async def test_requests_during_an_update_get_the_adapter_before_it_or_wait_for_its_own(
    wait: bool, tiny_model: Path, tmp_path: Path
) -> None:
    async with tiny(tiny_model, tmp_path) as model:
        await model.register(LocalBackend(requests_wait=wait))
        group = TrajectoryGroup([await tried(model, "Order 42?", float(n), n) for n in range(2)])
        connection = await model._open()
        events = connection.learner.model if connection.learner else None
        assert events
        computed, go_on = anyio.Event(), anyio.Event()
        serve = events.serve

        async def late(adapter: Any) -> None:
            computed.set()
            await go_on.wait()
            await serve(adapter)

        events.serve = late
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(model.train, [group])
            await computed.wait()
            asked = asyncio.create_task(said(model, "Order 43?"))
            done, _ = await asyncio.wait({asked}, timeout=0.3 if wait else 60)
            assert bool(done) != wait
            go_on.set()
            _, choice = await asked
            assert choice.policy_step == int(wait)


async def test_the_same_code_trains_a_model_that_is_served_elsewhere(tiny_model: Path, tmp_path: Path) -> None:
    import litellm

    with served_here(str(tiny_model), tmp_path / "there") as endpoint:
        backend = RemoteBackend(endpoint.url, KEY)
        async with TrainableModel("mine", "", str(tiny_model), backend, runs_dir=tmp_path / "here") as model:
            group = TrajectoryGroup([await tried(model, "Hello", float(n), n) for n in range(3)])
            assert model.inference_base_url == endpoint.url
            metrics = await model.train([group], TrainingConfig(epochs=2))
            assert metrics["exact_tokens"] == 1.0
            assert (await model.get_step(), model.get_inference_name(1)) == (1, f"{tiny_model.name}@1")
            _, choice = await said(model, "Hello", 7)
            asked = {**model.litellm_completion_params(1), "messages": [{"role": "user", "content": "Hello"}]}
            answer: Any = await anyio.to_thread.run_sync(lambda: litellm.completion(**asked, seed=7, max_tokens=12))
            assert answer.choices[0].message.content.strip() == str(choice.message.content).strip()
            choices = [litellm.Choices(**choice.model_dump()) for choice in (answer.choices[0],)]
            choices[0].message.provider_specific_fields = {"refusal": None}
            litellms = Trajectory(messages_and_choices=[{"role": "user", "content": "Hello"}, *choices], reward=1.0)
            assert (await model.train([TrajectoryGroup([litellms, *group])]))["exact_tokens"] == 1.0
            async with await model.fork("brought-home", step=1) as home:
                _, same = await said(home, "Hello", 7)
            assert (same.token_ids, same.policy_step) == (choice.token_ids, 1)
        with pytest.raises(ConfigError, match="is served there, and not 'smollm2'"):
            await TrainableModel("other", base_model="smollm2", backend=RemoteBackend(endpoint.url, KEY)).get_step()
        with pytest.raises(ConfigError, match="the key is missing or wrong"):
            await TrainableModel("other", backend=RemoteBackend(endpoint.url, "wrong")).get_step()
    with pytest.raises(EngineError, match="is mcprl serve running there"):
        await TrainableModel("gone", backend=RemoteBackend(endpoint.url, KEY)).get_step()


async def test_an_update_is_followed_to_its_end_through_connections_that_are_cut(
    tiny_model: Path, tmp_path: Path
) -> None:
    with served_here(str(tiny_model), tmp_path / "there") as endpoint:
        marks = [b'"type": "job"', b'"gradient_step": 3', AT_ONCE]
        async with cutting(httpx2.URL(endpoint.root).port or 0, marks) as proxy:
            backend = RemoteBackend(f"http://127.0.0.1:{proxy.port}", KEY)
            async with TrainableModel("cut", backend=backend, runs_dir=tmp_path) as model:
                turns = [as_body(await tried(model, "Hello", float(n), n)) for n in range(2)]
                body = {"groups": [{"trajectories": turns}], "config": {"epochs": 6}}
                connection = await backend.connect("cut", Config(), tmp_path)
                events = [event async for event in connection.lines("/_train_model", body, "the-job")]
                assert [event["type"] for event in events] == ["job", *["gradient_step"] * 6, "adapter"]
                assert [event["gradient_step"] for event in events[1:-1]] == [1, 2, 3, 4, 5, 6]
                assert proxy.marks == []  # every cut was made
                assert [job["job"] for job in await connection.get("/_jobs")] == ["the-job"]  # begun once
                assert await model.get_step() == 1
                with pytest.raises(ConfigError, match="there is no job 'other'; a server that was started again"):
                    await connection.get("/_jobs/other")
                await connection.close()
