"""An adapter's card says what it was trained with, and whoever puts it on a model reads that."""

import json
from pathlib import Path

import pytest

from mcprl.config import Config, ModelConfig, TrainingConfig
from mcprl.engines.machine import resolve
from mcprl.errors import ModelError
from mcprl.models.adapters import save_adapter
from mcprl.models.load import load_model
from mcprl.runs.cards import CARD, with_card
from mcprl.runs.settings import parse, redacted

PROMPTED = ModelConfig(call_form="any", system_prompt="Be brief.", after_result="Go on or answer.")


def saved(tmp_path: Path) -> Path:
    return save_adapter(load_model(PROMPTED), tmp_path / "adapter")


def test_a_saved_adapter_has_a_card_with_its_base_and_its_prompts(tmp_path: Path) -> None:
    card = json.loads((saved(tmp_path) / CARD).read_text())
    assert card["base_model"] == "nano"
    kept = {name: card["model"][name] for name in ("call_form", "system_prompt", "after_result")}
    assert kept == {"call_form": "any", "system_prompt": "Be brief.", "after_result": "Go on or answer."}
    assert str(tmp_path) not in json.dumps(card)


def test_an_adapter_is_sampled_with_its_own_prompts_unless_others_are_stated(tmp_path: Path) -> None:
    folder = saved(tmp_path)
    config = with_card(Config(), folder)
    assert (config.model.system_prompt, config.model.after_result) == ("Be brief.", "Go on or answer.")
    stated = Config(model=ModelConfig(system_prompt="Mine."))
    assert with_card(stated, folder).model.system_prompt == "Mine."


def test_an_adapter_of_another_base_is_refused_with_both_names(tmp_path: Path) -> None:
    other, folder = Config(model=ModelConfig(name="Qwen/Qwen3-0.6B")), saved(tmp_path)
    said = (
        r"was trained on nano, and is put on Qwen/Qwen3-0\.6B; if these are the same weights, write 'Qwen/Qwen3-0\.6B'"
    )
    with pytest.raises(ModelError, match=said):
        with_card(other, folder)
    (folder / CARD).write_text((folder / CARD).read_text().replace('"nano"', '"Qwen/Qwen3-0.6B"'))
    assert with_card(other, folder).model.system_prompt == "Be brief."


@pytest.mark.parametrize("content", ["{", "[]", '{"model": {"call_form": 5}}', '{"model": 3}'])
def test_a_damaged_card_is_an_error_of_one_line(content: str, tmp_path: Path) -> None:
    (tmp_path / CARD).write_text(content)
    with pytest.raises(ModelError, match=r"card\.json cannot be read as an adapter's card"):
        with_card(Config(), tmp_path)


def test_a_long_prompt_is_a_text_and_is_kept_as_one(tmp_path: Path) -> None:
    prompt = "Answer in German, and be brief about it. " * 12
    config = Config(model=ModelConfig(system_prompt=prompt))
    assert parse(redacted(config)).model.system_prompt == prompt
    (tmp_path / "prompt.txt").write_text("Be brief.\n")
    assert ModelConfig(system_prompt=str(tmp_path / "prompt.txt")).system_prompt == "Be brief."


def test_an_adapter_without_a_card_was_trained_without_prompts(tmp_path: Path) -> None:
    folder = saved(tmp_path)
    (folder / CARD).unlink()
    config = with_card(Config(), folder)
    assert (config.model.call_form, config.model.system_prompt) == ("template", "")


def test_training_that_begins_from_an_adapter_begins_with_its_prompts(tmp_path: Path) -> None:
    config = resolve(Config(training=TrainingConfig(start=str(saved(tmp_path)))))
    assert (config.model.call_form, config.model.after_result) == ("any", "Go on or answer.")
