"""The run's own model as judge: the real engine, with the adapter that it has learnt off."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest
import torch
from support.configs import small
from support.fake_llm import scored, tries
from support.taught import CASES, family_model, learnt
from support.trajectories import TOOLS, group

from mcprl.art.groups import Trajectory, TrajectoryGroup, ruler, ruler_score_group
from mcprl.art.model import TrainableModel
from mcprl.art.own import train_adapter
from mcprl.config import JudgeConfig
from mcprl.engines.embedded.engine import EmbeddedEngine
from mcprl.errors import ConfigError, EngineError, JudgeError, LlmError
from mcprl.judges import open_judge
from mcprl.judges.prompt import Record, write
from mcprl.judges.ruler import Ruler, load_rubric
from mcprl.llm.policy import PolicyLlm
from mcprl.models.adapters import save_adapter
from mcprl.models.load import LoadedModel
from mcprl.runs.journal import Journal
from mcprl.types import Adapter, Completion, CompletionRequest, Message

TRIED = group("It is paid.", "It is shipped.")
RUBRIC = 'name = "right"\ntext = "Is it right?"\n'
TOLD: dict[str, Any] = {"temperature": 0.0, "max_tokens": 200}


NEVER: Any = None
"""The engine of a model that must not be asked."""


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def rubric(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("rubrics") / "right.toml"
    path.write_text(RUBRIC)
    return str(path)


@pytest.fixture(scope="module")
def record() -> Record:
    return write([tried.messages for tried in TRIED.trajectories], seed=(0, 0))


@pytest.fixture(scope="module")
def chat(record: Record, rubric: str) -> list[Message]:
    """What the judge is asked about the tries."""
    return [*Ruler(PolicyLlm(NEVER), load_rubric(rubric)).chat(record)]


@pytest.fixture(scope="module")
def judge(chat: list[Message], record: Record, tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """A tiny model that knows one judgement by heart: 0.9 and 0.2 for the two tries."""
    loaded = family_model(CASES[0], tmp_path_factory.mktemp("judge"))
    known = dict(zip(record.ids, (0.9, 0.2), strict=True))
    verdict = scored({name: known[name] for name in record.distinct})  # in the order of the text, which a reply keeps
    learnt(loaded, [*chat, {"role": "assistant", "content": verdict}], until=0.03)
    return loaded


@pytest.fixture(scope="module")
async def engine(judge: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[EmbeddedEngine]:
    """That model in its engine, an adapter on it that says something else."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        for name, parameter in judge.model.named_parameters():
            if "lora_B" in name:
                parameter.data.normal_()
    folder = tmp_path_factory.mktemp("adapters") / "step-1"
    save_adapter(judge, folder)
    engine = EmbeddedEngine(judge)
    await engine.load_adapter(Adapter(str(folder), 1))
    yield engine
    await engine.close()


async def test_the_base_judges_however_far_the_adapter_has_moved(
    engine: EmbeddedEngine, chat: list[Message], rubric: str
) -> None:
    own = PolicyLlm(engine)
    opened = open_judge(JudgeConfig(name=f"ruler:{rubric}", model="policy"), (), 0, own)
    assert [score.value for score in await opened.score(TRIED)] == [0.9, 0.2]
    assert own.calls == 1
    assert await opened.forecast(4, TRIED) == "the judge policy will be asked up to 4 times, at no cost but its time"
    moved = await engine.complete(CompletionRequest(tuple(chat), adapter="step-1", **TOLD))
    assert moved.message.get("content") != await own.reply(chat)


async def test_ids_that_a_model_does_not_know_are_given_and_what_it_cannot_read_is_an_error(
    engine: EmbeddedEngine,
) -> None:
    own = PolicyLlm(engine)
    scores = await Ruler(own, load_rubric("concise"), seed=1).score(TRIED)  # it knows another order's ids
    assert [0 <= score.value <= 1 for score in scores] == [True, True]
    with pytest.raises(LlmError, match=r"policy, the run's own model: the prompt has \d+ tokens; the model reads 4095"):
        await own.reply([{"role": "user", "content": "order " * 9_000}])


async def test_an_engine_that_dies_is_asked_again(engine: EmbeddedEngine, chat: list[Message]) -> None:
    class Dying:
        asked = waited = 0

        async def ready(self) -> None:
            self.waited += 1

        async def complete(self, request: CompletionRequest) -> Completion:
            self.asked += 1
            if self.asked < 3:
                raise EngineError("the server has died")
            return await engine.complete(request)

    dying: Any = Dying()
    assert "0.9" in await PolicyLlm(dying).reply(chat)
    assert dying.waited == 3
    dying.asked = -5
    with pytest.raises(LlmError, match="the server has died"):
        await PolicyLlm(dying).reply(chat)


async def test_a_reply_that_does_not_come_is_not_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    class Mute:
        asked = 0

        async def ready(self) -> None:
            """At once."""

        async def complete(self, request: CompletionRequest) -> Completion:
            self.asked += 1
            await anyio.sleep_forever()
            raise AssertionError

    mute: Any = Mute()
    monkeypatch.setattr("mcprl.llm.policy._DEADLINE_S", 0.05)
    with pytest.raises(LlmError, match=r"no reply within 0.05 s"):
        await PolicyLlm(mute).reply([{"role": "user", "content": "Who wins?"}])
    assert mute.asked == 1


async def test_a_trainable_model_judges_with_its_base(judge: LoadedModel, tmp_path: Path) -> None:
    given = [Trajectory(messages_and_choices=[{"role": "user", "content": "hello"}]) for _ in range(2)]
    async with TrainableModel("judge", base_model="nano", runs_dir=tmp_path) as model:
        with pytest.raises(JudgeError, match="policy gave no usable scores"):  # the nano model was not taught to judge
            await ruler_score_group(TrajectoryGroup(given), model.judge())
        assert await ruler_score_group(TrajectoryGroup(given), model.judge(), swallow_exceptions=True) is None


async def test_it_is_named_only_where_there_is_a_run(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"judge\.model names 'policy', a run's own model, but there is no run here"):
        open_judge(JudgeConfig(name="ruler:default", model="policy"), TOOLS)
    with pytest.raises(ConfigError, match=r"give the judge\(\) of a TrainableModel"):
        await ruler([[{"role": "user", "content": "hello"}]], "policy")
    with pytest.raises(ConfigError, match=r"has no endpoint; leave judge\.base_url"):
        open_judge(JudgeConfig(name="ruler:default", model="policy", base_url="http://x"), TOOLS, 0, PolicyLlm(NEVER))


def speak(monkeypatch: pytest.MonkeyPatch) -> list[CompletionRequest]:
    """Let the embedded engine answer a judge's request as a large model would; the requests it got."""
    asked: list[CompletionRequest] = []
    sample = EmbeddedEngine.complete

    async def complete(self: EmbeddedEngine, request: CompletionRequest) -> Completion:
        if request.schema is None:
            return await sample(self, request)
        asked.append(request)
        told = {"messages": request.messages}
        likes = {name: min(1.0, len(str(m)) / 3_000) for name, m in tries(told).items()}
        return Completion({"role": "assistant", "content": scored(likes)}, (), (), (), "stop")

    monkeypatch.setattr(EmbeddedEngine, "complete", complete)
    return asked


async def test_a_run_whose_own_model_judges_the_tries(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = speak(monkeypatch)
    more: dict[str, Any] = {
        "judge": {"name": "ruler:tool_use", "model": "policy"},
        "training": {"warm_start_steps": 0},
    }
    await train_adapter(small(tiny_model, tmp_path, **more))
    assert len(asked) == 2 * 2
    assert all(request.adapter is None and request.temperature == 0 for request in asked)
    with Journal.open(tmp_path / "small") as journal:
        assert all("ruler 0." in score.explanation for score in journal.scores("train"))
        assert [step.metrics["judge_calls"] for step in journal.steps()] == [2, 4]
