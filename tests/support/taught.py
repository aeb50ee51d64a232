"""Tiny random policies with the chat templates of model families, which are taught one conversation with tool calls.

They learn by the warm start's own supervised steps, so that they call tools as their template does.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from shutil import copy
from typing import Any

import pytest
from safetensors.torch import save_file
from transformers import AutoTokenizer

from mcprl.config import ModelConfig, TrainingConfig
from mcprl.engines import Engine
from mcprl.models.load import LoadedModel, load_model
from mcprl.models.places import NANO
from mcprl.training.demonstrations import demonstration
from mcprl.training.rows import certificate, training_rows
from mcprl.training.trainer import Trainer
from mcprl.types import Completion, CompletionRequest, Message, Tool, Trajectory
from support.models import save_random_model

TEMPERATURE = 0.4  # of what is sampled: few slips, and log-probabilities that differ from those at 1
SHIPPED = Path(__file__).parent / "templates"
TOOL = Tool(
    "get_order",
    "Look an order up.",
    {"type": "object", "properties": {"order_id": {"type": "string"}, "count": {"type": "integer"}}},
)
CONTROL = (
    "<|begin_of_text|> <|start_header_id|> <|end_header_id|> <|eot_id|> <|eom_id|> <|python_tag|> <|start|> <|end|> "
    "<|message|> <|channel|> <|constrain|> <|call|> <|return|> <start_of_turn> <end_of_turn> <|im_middle|> <|im_user|> "
    "<|im_assistant|> <|tool_calls_section_begin|> <|tool_calls_section_end|> <|tool_call_begin|> <|tool_call_end|> "
    "<|tool_call_argument_begin|> <|im_tool|> [INST] [/INST] [TOOL_CALLS] [ARGS] [TOOL_RESULTS] [/TOOL_RESULTS] "
    "<s> </s>"
).split()


@dataclass(frozen=True)
class Case:
    """A family's template, ours if empty. `thought` is what its policy is taught to think, `breaks` says that turns
    start new rows."""

    name: str
    template: str
    parser: str
    parallel: bool = True
    thought: str = ""
    options: tuple[tuple[str, str], ...] = ()
    breaks: bool = False


CASES = [
    Case("Qwen2.5", "qwen2_5", "hermes"),
    Case("Qwen3", "qwen3", "hermes", thought="Let me see."),
    Case("Qwen3 without thinking", "qwen3", "hermes", options=(("enable_thinking", "false"),), breaks=True),
    Case("Qwen3.5", "qwen3_5_think", "qwen3_coder", thought="Let me see."),
    Case("Llama-3.1", "llama3_1", "llama3_json", parallel=False),
    Case("Hermes-3", "qwen2_5", "hermes"),
    Case("gemma-3", "", "hermes"),
    Case("SmolLM2", "", "hermes"),
    Case("gpt-oss", "gptoss", "openai", parallel=False, thought="Let me see."),
    Case("Mistral", "mistral", "mistral"),
    Case("Kimi-K2", "kimi", "kimi_k2"),
]


def template(name: str) -> Path:
    own = SHIPPED / f"{name}.jinja"
    if own.exists():
        return own
    spec = find_spec("trl")
    if spec is None or not spec.origin:
        pytest.skip("TRL, whose copies of the templates are read, is not installed")
    return Path(spec.origin).parent / "chat_templates" / f"{name}.jinja"


def family_model(case: Case, folder: Path) -> LoadedModel:
    """A random model of two layers, 64 wide, in a folder of the family's name, with the family's template."""
    folder = folder / case.name.replace(" ", "-")
    tokenizer: Any = AutoTokenizer.from_pretrained(NANO)
    tokenizer.add_tokens(CONTROL, special_tokens=True)
    tokenizer.bos_token = "<s>"
    save_random_model(
        folder,
        tokenizer,
        seed=3,
        hidden_size=64,
        intermediate_size=128,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=32,  # vLLM on a CPU knows no smaller one
        max_position_embeddings=4096,
        tie_word_embeddings=True,
    )
    if case.template:
        copy(template(case.template), folder / "chat_template.jinja")
    else:  # the family's own is used
        (folder / "chat_template.jinja").unlink()
    return load_model(ModelConfig(name=str(folder), lora_rank=64, lora_alpha=128, template_options=dict(case.options)))


def call(number: int, turn: int, name: str = "") -> dict[str, Any]:
    function = {"name": "get_order", "arguments": f'{{"order_id": "O-{turn}{number}", "count": {number}}}'}
    return {"id": name or f"call{turn:02}{number:03}", "type": "function", "function": function}


def conversation(case: Case) -> list[Message]:
    """Two turns of calls, the second with two at once where the template has room for them, then an answer."""
    thinks: dict[str, Any] = {"reasoning_content": case.thought, "thinking": case.thought} if case.thought else {}
    messages: list[Message] = [{"role": "user", "content": "Where is O-7?"}]
    for turn, many in enumerate((1, 2 if case.parallel else 1)):
        # Kimi's policies write a call's id themselves, with the tool's name in it.
        names = [f"functions.get_order:{n}" if case.parser == "kimi_k2" else "" for n in range(many)]
        calls = [call(n, turn, name) for n, name in enumerate(names)]
        messages.append({"role": "assistant", "content": "", "tool_calls": calls, **thinks})
        messages += [{"role": "tool", "tool_call_id": made["id"], "content": '{"city": "Graz"}'} for made in calls]
    return [*messages, {"role": "assistant", "content": "It is in Graz.", **thinks}]


def taught(case: Case, loaded: LoadedModel) -> Trainer:
    """The model after its own weights, not the LoRA, have learnt the conversation by heart."""
    return learnt(loaded, conversation(case), [TOOL])


def learnt(
    loaded: LoadedModel, messages: Sequence[Message], tools: Sequence[Tool] = (), until: float = 0.003
) -> Trainer:
    """The model after its own weights, not the LoRA, have learnt what the assistant says by heart."""
    rows = training_rows(demonstration(loaded.tokenizer, messages, tools))
    for name, parameter in loaded.model.named_parameters():
        parameter.requires_grad_("lora_" not in name)
    trainer = Trainer(loaded, TrainingConfig(learning_rate=1.5e-3))
    loss = 1.0
    for _ in range(600):
        if loss < until:
            return trainer
        loss = trainer.supervise(rows, 4.5e-3)["loss"]
    raise AssertionError(f"not learnt in 600 steps: {loss}")


def save_taught(loaded: LoadedModel) -> None:
    """Write what the model has learnt into its folder, for an engine that reads it from there."""
    state = loaded.model.get_base_model().state_dict()
    own = {name.replace(".base_layer", ""): tensor for name, tensor in state.items() if "lora_" not in name}
    own.pop("lm_head.weight", None)  # it is the embedding's
    save_file(own, Path(loaded.path) / "model.safetensors", {"format": "pt"})


async def converse(engine: Engine, seed: int) -> Trajectory:
    """A rollout by hand, as mcprl.rollout makes it, without a server."""
    messages: list[Message] = [{"role": "user", "content": "Where is O-7?"}]
    turns: list[Completion] = []
    for turn in range(4):
        context = (*turns[-1].prompt_ids, *turns[-1].completion_ids) if turns else ()
        done = await engine.complete(
            CompletionRequest(tuple(messages), (TOOL,), context, 160, TEMPERATURE, seed + turn)
        )
        turns.append(done)
        messages.append(done.message)
        requested = done.message.get("tool_calls") or []
        messages += [{"role": "tool", "tool_call_id": made["id"], "content": '{"city": "Graz"}'} for made in requested]
        if done.malformed:
            messages.append({"role": "user", "content": "Error: " + "; ".join(done.malformed)})
        if done.finish_reason == "length" or not (requested or done.malformed):
            break
    return Trajectory(f"t{seed}", "s", tuple(messages), tuple(turns))


def check(case: Case, trainer: Trainer, tried: Sequence[Trajectory]) -> dict[str, float]:
    """What was sampled has calls (and thoughts) as they were taught, and is trained in the context that was seen."""
    turns = [turn for one in tried for turn in one.turns]
    made = [turn.message["tool_calls"] for turn in turns if turn.message.get("tool_calls")]
    called = [(call["function"]["name"], json.loads(call["function"]["arguments"])) for calls in made for call in calls]
    assert called.count(("get_order", {"order_id": "O-00", "count": 0})) >= len(tried) / 2
    assert not case.parallel or max(map(len, made)) == 2
    if case.thought:
        thoughts = [turn.message.get("reasoning_content") or turn.message.get("thinking") for turn in turns]
        assert thoughts.count(case.thought) >= len(tried) / 2
        assert not any(case.thought in turn.message["content"] for turn in turns if turn.message.get("tool_calls"))
    rows_B = [row for one in tried for row in training_rows(one)]
    assert not case.breaks or len(rows_B) > len(tried)
    proof = certificate(rows_B, tried)
    assert proof.exactness == 1.0
    assert proof.trained == sum(len(turn.completion_ids) for turn in turns)
    return trainer.update([(row, 1.0) for row in rows_B], TEMPERATURE, proof)
