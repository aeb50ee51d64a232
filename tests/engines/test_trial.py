"""A trial shows how a model writes calls and with which wording it answers, and chooses by that alone."""

import json
from pathlib import Path
from typing import Any

import anyio.lowlevel
import pytest

from mcprl.chat.wording import Wording
from mcprl.config import Config, ModelConfig, RolloutConfig
from mcprl.engines import trial
from mcprl.engines.trial import CHAINS, TASKS, WordingTrial, choose, load_worded, summary
from mcprl.models import packaged
from mcprl.models.load import load_model


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def made(number: int, answered: int, chained: int) -> WordingTrial:
    return WordingTrial(Wording(after_result=f"{number}"), 8, answered, chained, {"fence": 8}, 400, 10.0)


@pytest.mark.parametrize(
    ("trials", "chosen"),
    [
        ([(8, 2), (8, 2)], 0),
        ([(0, 0), (8, 0), (8, 0)], 1),  # the first that answers
        ([(0, 2), (8, 0), (6, 2)], 2),  # one that chains goes before one that only answers
        ([(8, 0), (6, 1), (8, 1)], 1),  # and one that chains once before one that never does
        ([(5, 2), (6, 0)], 1),  # chains are nothing without answers
        ([(0, 0), (3, 2), (3, 0)], 1),  # none answers in six of eight: the most
    ],
)
def test_of_wordings_that_answer_the_most_second_calls_decide(trials: list[tuple[int, int]], chosen: int) -> None:
    results = [made(n, answered, chained) for n, (answered, chained) in enumerate(trials)]
    assert choose(results) is results[chosen]


async def test_no_call_of_a_model_breaks_the_little_server() -> None:
    for n, arguments in enumerate([{"name": 5}, {"name": None}, {}, {"room_id": ["R-12"]}, {"lamp_id": {}}]):
        for tool in ("find_room", "get_room", "get_lamp", "switch_lamp", "other"):
            result = await trial.House().call(tool, {**arguments, "n": n})
            assert result.is_error, (tool, arguments)


def test_the_summary_says_what_training_must_teach() -> None:
    assert "chains are for training to teach" in summary("m", [made(0, 8, 0)], ())
    assert "answers in most of them" in summary("m", [made(0, 3, 0)], ())
    assert "teach" not in summary("m", [made(0, 8, CHAINS)], ())
    assert "; it writes in verse" in summary("m", [made(0, 8, CHAINS)], ["it writes in verse"])


async def test_nano_calls_and_answers_in_all_tasks_and_a_second_look_costs_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = load_model(ModelConfig())
    plain = str(model.tokenizer.chat_template)
    first = await trial.run_trials(model, RolloutConfig())
    assert (first[0].called, first[0].answered) == (len(TASKS), len(TASKS))
    assert set(first[0].forms) == {"template"}
    model.tokenizer.chat_template = plain

    def sampled(*_: Any) -> None:
        raise AssertionError("it is in the cache")

    monkeypatch.setattr(trial, "_sampled", sampled)
    assert await trial.run_trials(model, RolloutConfig()) == first


async def test_a_run_s_model_gets_the_wording_of_its_trial_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    async def sampled(*_: Any) -> list[WordingTrial]:
        await anyio.lowlevel.checkpoint()
        return [made(0, 0, 0), made(1, 8, 0)]

    monkeypatch.setattr(trial, "_sampled", sampled)
    given = Config(model=ModelConfig(call_form="any"))
    config, model = await load_worded(given)
    assert (config.model.after_result, model.settings.after_result) == ("1", "1")
    assert 'set mcprl_after_result = "1"' in str(model.tokenizer.chat_template)
    said = (
        "nano was given 2 wordings; chosen: after_result '1'. It makes calls in 8 of 8 little tasks (fence), an answer "
        "after them in 8, a second call in 0 of the 2 that need one; without a wording it answers in 0; with no "
        "wording that answers it makes a second call: chains are for training to teach. Base and trained model are "
        "read and prompted alike"
    )
    assert model.note == said


@pytest.mark.parametrize("settings", [{}, {"call_form": "any", "system_prompt": "Be brief."}])
async def test_nano_and_who_states_a_prompt_keep_theirs(settings: dict[str, Any]) -> None:
    config, model = await load_worded(Config(model=ModelConfig(**settings)))
    assert (config.model.system_prompt, config.model.after_result) == (settings.get("system_prompt", ""), "")
    assert model.settings == config.model
    assert model.note == ""


def test_the_trials_that_come_with_mcprl_are_of_its_wordings_and_tasks() -> None:
    shipped = json.loads(trial.SHIPPED.read_text())
    assert {*shipped} == {name for name, model in packaged.MODELS.items() if not model.starter}, "recipes/trials.py"
    for name, made_of in shipped.items():
        assert made_of["of"] == trial.asked(), f"the tasks or wordings changed: python recipes/trials.py {name}"


async def test_a_packaged_model_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def sampled(*_: Any) -> list[WordingTrial]:
        raise AssertionError

    monkeypatch.setattr(trial, "_sampled", sampled)
    monkeypatch.setattr(packaged, "name_of", lambda path: "qwen2.5-coder-1.5b")  # of nano's folder
    model = load_model(ModelConfig())
    trials = await trial.run_trials(model, RolloutConfig())
    chosen = choose(trials)
    assert chosen.answers
    assert json.dumps(chosen.wording.after_result) in str(model.tokenizer.chat_template)
