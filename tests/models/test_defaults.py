"""Settings that follow from the model: each has a rule, what is stated wins, and a stopped run keeps what it had."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.command_line import mcprl

from mcprl.config import BY_MODEL, Config, ModelConfig, Section, ServerConfig, TrainingConfig
from mcprl.engines.machine import resolve
from mcprl.models.defaults import RULES, Facts, with_defaults
from mcprl.runs.settings import dump_config, parse


def marked() -> Iterator[str]:
    for section, info in Config.model_fields.items():
        if isinstance(info.annotation, type) and issubclass(info.annotation, Section):
            names = (name for name, field in info.annotation.model_fields.items() if BY_MODEL in field.metadata)
            yield from (f"{section}.{name}" for name in names)


def test_each_setting_that_is_marked_has_a_rule_and_no_other_has() -> None:
    assert {*marked()} == {*RULES}


def value(key: str, facts: Facts) -> Any:
    return RULES[key][0](facts)


SMOLLM2 = Facts(hidden=576, context=8_192, model_type="llama", thinks=False, calls_tools=False, gpu=False)
QWEN3_4B = Facts(hidden=2_560, context=40_960, model_type="qwen3", thinks=True, calls_tools=True, gpu=True)


def test_from_a_starter_fewer_and_smaller_steps_are_taken() -> None:
    from_starter = replace(SMOLLM2, starter="folder")
    assert value("training.start", from_starter) == "folder"
    rates = ("training.warm_start_learning_rate", "training.learning_rate")
    for key in ("training.warm_start_steps", *rates):
        assert value(key, from_starter) < value(key, SMOLLM2)


def test_a_model_that_calls_tools_is_trained_on_a_cpu_as_the_run_was_that_rl_brought_something() -> None:
    """docs/results.md, Qwen2.5-Coder-1.5B on the shop."""
    training = TrainingConfig(
        recipe="sft+rl",
        warm_start_steps=24,
        warm_start_plans=4,
        warm_start_learning_rate=2e-4,
        steps=20,
        learning_rate=1e-4,
        scenarios_per_step=8,
        group_size=8,
        trained_per_group=4,
        advantage_scale="none",
    )
    rules = [name for name in training.model_fields_set if f"training.{name}" in RULES]
    qwen = Facts(hidden=1_536, context=32_768, model_type="qwen2", thinks=False, calls_tools=True, gpu=False)
    assert {name: value(f"training.{name}", qwen) for name in rules} == {
        name: getattr(training, name) for name in rules
    }
    assert TrainingConfig().group_size == training.group_size  # which no rule changes


@pytest.mark.parametrize(
    ("key", "small", "large"),
    [
        ("training.warm_start_learning_rate", 1.3e-3, 4.9e-4),
        ("training.learning_rate", 1.3e-4, 4.9e-5),
        ("rollout.max_tokens", 160, 2_048),
        ("rollout.max_total_tokens", 4_096, 16_384),
        ("model.dtype", "float32", "bfloat16"),
        ("training.recipe", "sft", "auto"),
    ],
)
def test_what_suits_a_small_model_on_a_cpu_and_a_thinking_one_on_a_gpu(key: str, small: object, large: object) -> None:
    assert (value(key, SMOLLM2), value(key, QWEN3_4B)) == (small, large)


def test_what_is_left_out_follows_from_the_model_and_what_is_stated_stays(tiny_model: Path) -> None:
    model = ModelConfig(name=str(tiny_model))
    config = with_defaults(Config(model=model, training=TrainingConfig(learning_rate=3e-5)))
    assert config.training.learning_rate == 3e-5
    assert config.training.recipe == "sft+rl"
    assert config.training.warm_start_learning_rate != TrainingConfig().warm_start_learning_rate
    assert with_defaults(Config()).tools.max_instruction_bytes == 0
    assert with_defaults(Config()).training == Config().training


def test_what_follows_from_the_model_is_printed_with_its_rule(tiny_model: Path) -> None:
    printed = mcprl("train", "demo:shop", "--model", str(tiny_model), "--learning-rate", "3e-5", "--print-config").out
    above = dict(re.findall(r"((?:# .*\n)+)(\w+) = ", printed))
    rules = {name: comment for comment, name in above.items()}
    assert rules["max_total_tokens"].endswith("# By the model: 16,384 if it thinks, else 4,096, at most its context.\n")
    assert "By the model" not in rules["learning_rate"]  # it was given
    assert "By the model" not in mcprl("train", "demo:shop", "--print-config").out


def test_a_stopped_run_keeps_the_settings_that_it_began_with(tiny_model: Path) -> None:
    model = ModelConfig(name=str(tiny_model))
    begun = resolve(Config(model=model))
    kept = parse(tomllib.loads(dump_config(begun)))
    assert resolve(kept) == begun


def test_a_servers_settings_alone_leave_the_rates_to_the_model(tiny_model: Path) -> None:
    """A benchmark wrote all of nano's settings beside a server: SmolLM2 learned at nine times its rate."""
    told = tomllib.loads(dump_config(Config(servers=(ServerConfig(target="demo:shop"),)), "servers", "tools"))
    assert {*told} == {"servers", "tools"}
    read = resolve(parse({**told, "model": {"name": str(tiny_model)}}))
    assert read.training == resolve(Config(model=ModelConfig(name=str(tiny_model)))).training


@pytest.mark.parametrize(("recipe", "steps"), [("sft", (120, 0)), ("rl", (0, 80)), ("sft+rl", (120, 80))])
def test_a_recipe_leaves_out_a_phase(recipe: str, steps: tuple[int, int]) -> None:
    training = resolve(parse({"training": {"recipe": recipe}})).training
    assert (training.warm_start_steps, training.steps) == steps
