"""Starters: the LoRA that comes with a packaged model fits it, is used where nothing speaks against it, and its
training goes on where it was."""

import json
from pathlib import Path

import pytest
import starter
import talks
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM

from mcprl.config import Config, ModelConfig, TrainingConfig
from mcprl.models import defaults, packaged
from mcprl.models.defaults import Facts, with_defaults
from mcprl.models.load import load_model
from mcprl.scenarios.writers.plain import DECLINED

SHIPPED = Path(packaged.starter("smollm2"))


def test_the_starter_of_smollm2_has_a_matrix_for_each_linear_layer_of_its_size() -> None:
    shape = LlamaConfig(
        hidden_size=576,
        intermediate_size=1536,
        num_hidden_layers=30,
        num_attention_heads=9,
        num_key_value_heads=3,
    )
    with torch.device("meta"):
        model = LlamaForCausalLM(shape)
    layers = {n: m for n, m in model.named_modules() if isinstance(m, torch.nn.Linear) and n != "lm_head"}
    expected = {f"base_model.model.{n}.lora_A.weight": (16, layer.in_features) for n, layer in layers.items()}
    expected |= {f"base_model.model.{n}.lora_B.weight": (layer.out_features, 16) for n, layer in layers.items()}
    with safe_open(SHIPPED / "adapter_model.safetensors", framework="pt") as file:
        assert {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()} == expected  # noqa: SIM118


def test_the_starter_names_no_folder_of_the_machine_that_made_it() -> None:
    lora = json.loads((SHIPPED / "adapter_config.json").read_text())
    assert lora["base_model_name_or_path"] == "HuggingFaceTB/SmolLM2-135M-Instruct"


@pytest.mark.parametrize(
    ("model", "training", "start"),
    [
        (ModelConfig(name="smollm2"), TrainingConfig(), str(SHIPPED)),
        (ModelConfig(name="smollm2"), TrainingConfig(start=""), ""),
        (ModelConfig(name="smollm2", lora_rank=8), TrainingConfig(), ""),
    ],
)
def test_training_begins_from_the_starter_unless_another_start_or_lora_is_stated(
    model: ModelConfig, training: TrainingConfig, start: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def facts(config: Config) -> Facts:
        return Facts(576, 8_192, "llama", False, False, False, starter=defaults.starter_of(config))

    monkeypatch.setattr(defaults, "read_facts", facts)  # the model itself is not on every machine
    assert with_defaults(Config(model=model, training=training)).training.start == start


def test_a_starter_s_training_goes_on_where_it_was(tiny_model: Path, tmp_path: Path) -> None:
    config = with_defaults(Config(model=ModelConfig(name=str(tiny_model))))
    for steps in (1, 2):
        loaded = load_model(config.model)
        starter.train(loaded, config, tmp_path, steps, held_out=starter.unseen(loaded.tokenizer, 1))
    log = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [(record["step"], record["seed"]) for record in log] == [(1, 1), (2, 2)]
    assert log[1]["held_out_loss"] < log[0]["held_out_loss"]
    assert log[1]["written_loss"] < log[0]["written_loss"]
    assert (tmp_path / "adapter" / "adapter_model.safetensors").is_file()


def test_what_none_of_the_tools_shown_serves_is_declined() -> None:
    declined = 0
    for seed in range(12):
        tools, own = talks.lesson(seed)
        asked = {messages[0]["content"] for _, messages in own}
        for shown, (_, messages) in starter.strangers(tools, seed):
            assert {tool.name for tool in shown} <= {tool.name for tool in tools}
            assert [message["role"] for message in messages] == ["user", "assistant"]
            assert messages[1]["content"] in DECLINED
            assert messages[0]["content"] not in asked
            declined += 1
    assert declined == 24


def test_of_loras_the_mean_is_published_each_named_as_often_as_it_counts(tmp_path: Path) -> None:
    names = [str(tmp_path / name) for name in ("first", "second")]
    for name, value in zip(names, (1.0, 4.0), strict=True):
        Path(name).mkdir()
        save_file({"lora_A": torch.full((2, 2), value)}, Path(name) / "adapter_model.safetensors")
        (Path(name) / "adapter_config.json").write_text(json.dumps({"r": 2, "target_modules": ["b", "a"]}))
    made = starter.mean([*names, names[0]], tmp_path / "mean")
    starter.publish(made, tmp_path / "published", "hub/model")
    with safe_open(tmp_path / "published" / "adapter_model.safetensors", framework="pt") as file:
        assert torch.equal(file.get_tensor("lora_A"), torch.full((2, 2), 2.0, dtype=torch.bfloat16))
    lora = json.loads((tmp_path / "published" / "adapter_config.json").read_text())
    assert lora == {"r": 2, "target_modules": ["a", "b"], "base_model_name_or_path": "hub/model"}
