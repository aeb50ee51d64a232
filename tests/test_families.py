"""Every family's chat template: its calls are read back, and what a policy samples is trained in the context it saw.

The policies are tiny random models that are taught one conversation by the warm start's own supervised steps, so that
they call tools as their template does. The templates are TRL's copies of the published ones, read by path.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from shutil import copy
from typing import Any

import pytest
import torch
from transformers import AutoTokenizer, Qwen3Config, Qwen3ForCausalLM

from mcprl import families, tokens
from mcprl.config import ModelConfig, TrainingConfig
from mcprl.engines.embedded import EmbeddedEngine
from mcprl.errors import ModelError
from mcprl.models.peft import NANO, LoadedModel, load
from mcprl.trainer import Trainer
from mcprl.types import Completion, CompletionRequest, Message, Tool, Trajectory

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
    """A family's template; `thought` is what its policy is taught to think, `breaks` says that turns start new rows."""

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


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.name)
def case(request: pytest.FixtureRequest) -> Case:
    return request.param


@pytest.fixture(scope="module")
def loaded(case: Case, tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """A random model of three layers, 64 wide, in a folder of the family's name, with the family's template."""
    folder = tmp_path_factory.mktemp("models") / case.name.replace(" ", "-")
    tokenizer: Any = AutoTokenizer.from_pretrained(NANO)
    tokenizer.add_tokens(CONTROL, special_tokens=True)
    tokenizer.bos_token = "<s>"
    tokenizer.save_pretrained(str(folder))
    if case.template:
        copy(template(case.template), folder / "chat_template.jinja")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        config = Qwen3Config(
            vocab_size=len(tokenizer),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            head_dim=16,
            max_position_embeddings=4096,
            tie_word_embeddings=True,
            eos_token_id=tokenizer.eos_token_id,
        )
        Qwen3ForCausalLM(config).save_pretrained(str(folder))
    return load(ModelConfig(name=str(folder), lora_rank=64, lora_alpha=128, template_options=dict(case.options)))


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
    rows = tokens.rows(tokens.demonstration(loaded.tokenizer, conversation(case), [TOOL]))
    for name, parameter in loaded.model.named_parameters():
        parameter.requires_grad_("lora_" not in name)
    trainer = Trainer(loaded, TrainingConfig(learning_rate=1.5e-3))
    loss = 1.0
    for _ in range(600):
        if loss < 0.003:  # so that most conversations sampled at temperature 1 have no slip
            return trainer
        loss = trainer.supervise(rows)["loss"]
    raise AssertionError(f"not learnt in 600 steps: {loss}")


async def converse(engine: EmbeddedEngine, seed: int, results: Sequence[str]) -> Trajectory:
    """A rollout by hand, as mcprl.rollout makes it, without a server."""
    messages: list[Message] = [{"role": "user", "content": "Where is O-7?"}]
    turns: list[Completion] = []
    for turn in range(4):
        context = (*turns[-1].prompt_ids, *turns[-1].completion_ids) if turns else ()
        done = await engine.complete(CompletionRequest(tuple(messages), (TOOL,), context, 160, 1.0, seed + turn))
        turns.append(done)
        messages.append(done.message)
        requested = done.message.get("tool_calls") or []
        messages += [{"role": "tool", "tool_call_id": made["id"], "content": results[0]} for made in requested]
        if done.malformed:
            messages.append({"role": "user", "content": "Error: " + "; ".join(done.malformed)})
        if done.finish_reason == "length" or not (requested or done.malformed):
            break
    return Trajectory(f"t{seed}", "s", tuple(messages), tuple(turns))


def test_the_template_is_read_by_its_familys_parser(case: Case, loaded: LoadedModel) -> None:
    style = families.dialect(loaded.tokenizer)
    assert (style.name, style.parallel) == (case.parser, case.parallel)
    known = families.family(loaded.path)
    assert known is not None
    assert known.parser == case.parser


def test_what_the_policy_samples_is_trained_in_the_context_that_it_saw(case: Case, loaded: LoadedModel) -> None:
    import anyio

    trainer = taught(case, loaded)

    async def sample() -> list[Trajectory]:
        engine = EmbeddedEngine(loaded)
        try:
            return [await converse(engine, 100 * seed, ['{"city": "Graz"}']) for seed in range(6)]
        finally:
            await engine.close()

    tried = anyio.run(sample)
    calls = [len(turn.message.get("tool_calls") or ()) for one in tried for turn in one.turns]
    assert sum(calls) >= 4, "the policy was taught to call tools"
    assert not case.parallel or max(calls) == 2
    made = tried[0].turns[0].message["tool_calls"][0]["function"]
    assert (made["name"], made["arguments"].replace(" ", "")) == ("get_order", '{"order_id":"O-00","count":0}')
    if case.thought:
        said = tried[0].turns[0].message
        assert (said.get("reasoning_content") or said.get("thinking")) == case.thought
        assert case.thought not in said["content"]

    rows_B = [row for one in tried for row in tokens.rows(one)]
    assert not case.breaks or len(rows_B) > len(tried)
    proof = tokens.certificate(rows_B, tried)
    assert proof.exactness == 1.0
    assert proof.trained == sum(len(turn.completion_ids) for one in tried for turn in one.turns)
    metrics = trainer.update([(row, 1.0) for row in rows_B], certificate=proof)
    assert metrics["sampler_gap_mean"] < 1e-3


def test_thinking_that_is_stripped_from_history_starts_a_new_row() -> None:
    tokenizer: Any = AutoTokenizer.from_pretrained(NANO)
    tokenizer.add_tokens(CONTROL, special_tokens=True)
    tokenizer.chat_template = template("qwen3").read_text()
    first = tokens.prompt_ids(tokenizer, [{"role": "user", "content": "Hello"}], [TOOL])
    sampled = tuple(tokenizer.encode("<think>\nHm.\n</think>\n\nHi.<|im_end|>", add_special_tokens=False))
    request = CompletionRequest(({"role": "user", "content": "Hello"},), (TOOL,))
    message, _ = families.reply(tokenizer, sampled, (tokenizer.eos_token_id,), request)
    assert message == {"role": "assistant", "content": "Hi.", "reasoning_content": "Hm."}
    again = [{"role": "user", "content": "Hello"}, message, {"role": "user", "content": "Again"}]
    second = tokens.prompt_ids(tokenizer, again, [TOOL], (*first, *sampled))
    assert "Hm." not in tokenizer.decode(second)
    turns = (
        Completion(message, first, sampled, (-1.0,) * len(sampled), "stop"),
        Completion(message, second, sampled, (-1.0,) * len(sampled), "stop"),
    )
    tried = Trajectory("t", "s", (), turns)
    assert len(tokens.rows(tried)) == 2
    assert tokens.certificate(tokens.rows(tried), [tried]).exactness == 1.0


# --- unknown models, unreadable calls ---------------------------------------------------------------------------------


def nano_with(text: str) -> Any:
    tokenizer: Any = AutoTokenizer.from_pretrained(NANO)
    tokenizer.add_tokens(CONTROL, special_tokens=True)
    tokenizer.name_or_path = "somebody/model-of-no-family"
    tokenizer.chat_template = text
    return tokenizer


def test_a_model_of_no_family_gets_the_parser_that_reads_its_template() -> None:
    assert families.dialect(nano_with(template("gptoss").read_text())).name == "openai"
    assert families.dialect(nano_with(template("nemotron_3_nano").read_text())).name == "qwen3_coder"


def test_a_template_that_no_parser_reads_is_refused_with_what_it_writes() -> None:
    with pytest.raises(ModelError, match=r"somebody/model-of-no-family.*arg_key.*no parser reads"):
        families.dialect(nano_with(template("glm4moe").read_text()))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gptoss", '<|channel|>commentary to=functions.get_order <|constrain|>json<|message|>{"order_id": <|call|>'),
        ("qwen3_5_think", "<tool_call>\n<function=get_order>\n<parameter=order_id>O-1"),
        ("llama3_1", '{"name": "get_order", "parameters": [1]}<|eot_id|>'),
        ("mistral", "[TOOL_CALLS]get_order[ARGS]{nothing}</s>"),
        ("qwen3", '<think>\n</think>\n\n<tool_call>{"name": "get_order"'),
    ],
)
def test_a_call_that_cannot_be_read_is_said_to_the_model_and_ends_no_turn_of_another(name: str, text: str) -> None:
    tokenizer = nano_with(template(name).read_text())
    request = CompletionRequest(({"role": "user", "content": "Hello"},), (TOOL,))
    message, malformed = families.reply(tokenizer, tokenizer.encode(text, add_special_tokens=False), (), request)
    assert "tool_calls" not in message or name == "qwen3_5_think"
    assert malformed or name == "qwen3_5_think"  # its parameters need no end
    told: Message = {"role": "user", "content": "Error: " + "; ".join(malformed)}
    assert tokens.render(tokenizer, [*request.messages, message, told], [TOOL])


def test_every_family_names_a_parser_of_the_table_and_a_template_that_is_there() -> None:
    known, parsers = families.table()
    assert {family.parser for family in known} <= set(parsers)
    assert [family.name for family in known if family.template and not family.chat_template] == []
    assert len({replace(Case(family.name, "", ""), name=family.pattern).name for family in known}) == len(known)
