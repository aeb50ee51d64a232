"""The settings that follow from the model, where the configuration leaves them out: one table, `RULES`.

`Config` itself holds what suits `nano`. Sources: the learning rates are those of Thinking Machines' "LoRA Without
Regret" (Schulman et al., 2025) as their cookbook computes them; the others follow from what a model writes, from the
context it was made for, and from the device.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mcprl.config import NANO, POLICY, Config, Section
from mcprl.models import BEHIND_AN_API, context_limit


@dataclass(frozen=True)
class Facts:
    """What the rules read. `hidden`: the width of the model; `context`: tokens that it can read; `thinks`: whether it
    writes its reasoning before each turn; `calls_tools`: whether its own chat template knows tools; `gpu`: whether a
    GPU trains it; `starter`: the folder of the LoRA that comes with it; `cpu_multiplies_bf16`: whether the CPU has
    instructions for bfloat16."""

    hidden: int
    context: int
    model_type: str
    thinks: bool
    calls_tools: bool
    gpu: bool
    starter: str = ""
    cpu_multiplies_bf16: bool = False


def _supervised_rate(facts: Facts) -> float:
    """5e-5, ten times that for a LoRA, scaled from a width of 2,000 to the model's: steeply for Llama shapes, hardly
    for Qwen's. A starter has taken the large steps already, and who calls tools has only the form to learn."""
    if facts.starter:
        return 5e-4
    if _calls_on_cpu(facts):
        return 2e-4
    exponent = 0.0775 if facts.model_type.startswith("qwen") else 0.781
    return _rounded(5e-4 * (2000 / facts.hidden) ** exponent)


def _calls_on_cpu(facts: Facts) -> bool:
    """Whether it calls tools and is trained on a CPU: then the settings are those of the run in which RL
    brought something (Qwen2.5-Coder-1.5B on the shop, docs/results.md)."""
    return facts.calls_tools and not facts.gpu


def _rounded(value: float) -> float:
    return float(f"{value:.1e}")


WIDE = 768
"""The hidden size from which memory decides: SmolLM2-135M has 576, Qwen2.5-Coder-0.5B 896."""
RULES: dict[str, tuple[Callable[[Facts], Any], str]] = {
    "scenarios.train": (
        lambda facts: 640 if facts.calls_tools else 1_440,
        "640; 1,440 if it learns to call tools here: as many as its steps show, as repeated ones are memorized",
    ),
    "model.dtype": (
        lambda facts: "bfloat16" if facts.gpu or (facts.cpu_multiplies_bf16 and facts.hidden >= WIDE) else "float32",
        "bfloat16 for half the memory, on a GPU, and of wide models on a CPU that multiplies it; else float32, exact",
    ),
    "model.call_form": (
        lambda facts: "any" if facts.calls_tools else "template",
        "any if it calls tools, as models write calls otherwise than their templates; template if it learns that here",
    ),
    "rollout.max_tokens": (
        lambda facts: 2_048 if facts.thinks else 256 if facts.calls_tools else 160,
        "2,048 if it thinks before it calls; 256 if it calls tools; 160 if it learns that here, and writes calls only",
    ),
    "rollout.max_total_tokens": (
        lambda facts: min(16_384 if facts.thinks else 4_096, facts.context),
        "16,384 if it thinks, else 4,096, at most its context",
    ),
    "rollout.deadline_s": (
        lambda facts: 300.0 if facts.gpu else 900.0,
        "300 on a GPU, 900 on a CPU, which samples some hundred tokens a second",
    ),
    "training.recipe": (
        lambda facts: "auto" if facts.gpu else "sft+rl" if facts.calls_tools else "sft",
        "auto on a GPU; on a CPU sft+rl if it calls tools, since RL brought such a model something, else sft",
    ),
    "training.steps": (
        lambda facts: 20 if _calls_on_cpu(facts) else 80,
        "80; 20 if it calls tools, on a CPU: two minutes each for the 1.5B",
    ),
    "training.start": (
        lambda facts: facts.starter,
        "a LoRA trained on procedural servers, for a packaged model that knows no tools",
    ),
    "training.learning_rate": (
        lambda facts: 1e-4 if _calls_on_cpu(facts) else _rounded(_supervised_rate(facts) / 10),
        "a tenth of the supervised rate: larger ones lowered validation; 1e-4 if it calls tools, on a CPU",
    ),
    "training.trained_per_group": (
        lambda facts: 4 if _calls_on_cpu(facts) else 0,
        "0; 4 of 8 if it calls tools, on a CPU: an update costs as much as the sampling of twice its rollouts",
    ),
    "training.advantage_scale": (
        lambda facts: "none" if _calls_on_cpu(facts) else "mean",
        "mean; none if it calls tools, on a CPU: a success of one in eight weighed seven usual ones, and broke it",
    ),
    "training.warm_start_learning_rate": (
        _supervised_rate,
        "LoRA Without Regret: by width and family; 5e-4 with a starter, 2e-4 if it calls tools, on a CPU",
    ),
    "training.warm_start_steps": (
        lambda facts: 24 if facts.calls_tools else 90 if facts.gpu or facts.starter else 360,
        "24 if it calls tools; 90 with a starter or on a GPU, else 360: it has more to learn from plans",
    ),
    "training.warm_start_plans": (
        lambda facts: 16 if facts.gpu or facts.starter else 4,
        "16; 4 without a starter on a CPU: SmolLM2 learned as much from 400 plans in fours as from 800 in eights",
    ),
    "training.scenarios_per_step": (
        lambda facts: 8 if facts.gpu or facts.calls_tools else 4,
        "8 on a GPU or if it calls tools, else 4: half an hour should be many steps",
    ),
    "training.eval_every": (
        lambda facts: 10 if facts.gpu else 20 if facts.calls_tools else 40,
        "10 on a GPU, 40 on a CPU, where a validation takes as long as two steps, and 20 if few are taken",
    ),
    "training.bin_tokens": (
        lambda facts: 8_192 if facts.gpu else 1_024 if facts.hidden >= WIDE else 2_048,
        "8,192 on a GPU; 2,048 on a CPU, 1,024 from a width of 768 on, where larger bins are no faster and take memory",
    ),
}
"""Setting -> its value by the facts, and why."""
_LORA = {"lora_rank", "lora_alpha", "lora_targets", "rslora", "dora"}
"""Settings that make another LoRA than a starter's, which is left out then."""
NANO_READS_NO_ENGLISH = {"tools.max_instruction_bytes": 0}
"""Measured on npm `everything`, 96 tasks: 11.5 and 91.7 % before and after the warm start without its instructions, 0.0
and 76.0 % with them (docs/results.md)."""

OF_A_TASK: dict[str, Any] = {
    "scenarios.train": 96,
    "scenarios.val": 16,
    "scenarios.test": 48,
    "scenarios.floor": False,
    "rollout.max_turns": 1,
    "judge.name": "ruler:task",
    "judge.model": POLICY,
    "training.recipe": "rl",
    "training.steps": 24,
}
"""Without a server: inputs as a language model writes them in minutes, each answered in one turn, and a judge that
compares answers."""
OF_AN_API = {"rollout.max_tokens": 4_096, "rollout.deadline_s": 300.0}
"""It may think before it calls. Its turns are as many as another model's."""


def with_defaults(config: Config) -> Config:
    """The configuration with the settings that it leaves out as they suit its model. Raises `ModelError`."""
    if config.task:
        config = _with(config, OF_A_TASK)
    if config.model.name == NANO:
        return _with(config, NANO_READS_NO_ENGLISH)
    if config.model.name.startswith(BEHIND_AN_API):
        return _with(config, OF_AN_API)
    if all(_states(config, key) for key in RULES):
        return config
    facts = read_facts(config)
    return _with(config, {key: value(facts) for key, (value, _) in RULES.items()})


def reasons(config: Config) -> dict[str, str]:
    """By key, the rule that gives a setting its value where the configuration leaves it to the model."""
    if config.model.name == NANO or config.model.name.startswith(BEHIND_AN_API):
        return {}
    return {key: f"By the model: {why}." for key, (_, why) in RULES.items() if not _states(config, key)}


def read_facts(config: Config) -> Facts:
    """What the rules read of the configured model. Raises `ModelError`."""
    from mcprl.models.load import find_device, read_info  # torch, which nano's settings are told without
    from mcprl.models.packing import multiplies_bf16

    info = read_info(config.model)
    shape = info.config.get_text_config()
    return Facts(
        hidden=int(shape.hidden_size),
        context=context_limit(info.config),
        model_type=str(shape.model_type),
        thinks=bool(info.family and info.family.reasoning) and not _thinking_is_off(config),
        calls_tools=not (info.family and info.family.template),
        gpu=find_device(config.model.device).type == "cuda",
        starter=starter_of(config),
        cpu_multiplies_bf16=multiplies_bf16(),
    )


def starter_of(config: Config) -> str:
    """The folder of the LoRA that comes with a packaged model; empty if it has none, if another LoRA is stated, or if a
    server trains it, which takes none."""
    from mcprl.models import packaged

    model = config.model
    return "" if model.model_fields_set & _LORA or config.engine.kind == "tinker" else packaged.starter(model.name)


def _with(config: Config, values: Mapping[str, Any]) -> Config:
    """The configuration with these values of the settings that it does not state."""
    for key, value in values.items():
        if not _states(config, key):
            section, _, name = key.partition(".")
            part: Section = getattr(config, section)
            config = config.model_copy(update={section: part.model_copy(update={name: value})})
    return config


def _states(config: Config, key: str) -> bool:
    section, _, name = key.partition(".")
    return name in getattr(config, section).model_fields_set


def _thinking_is_off(config: Config) -> bool:
    return config.model.template_options.get("enable_thinking") == "false"
