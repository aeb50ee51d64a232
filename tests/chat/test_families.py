"""Every family's chat template: its calls are read back, and what a policy samples is trained in the context it saw.

The templates are TRL's copies of the published ones, read by path, and two of the same shape in
`tests/support/templates`.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from support.taught import CASES, CONTROL, TOOL, Case, check, converse, family_model, taught, template
from transformers import AutoTokenizer

from mcprl.chat import families, prompts
from mcprl.config import ModelConfig
from mcprl.engines.embedded.engine import EmbeddedEngine
from mcprl.errors import ModelError
from mcprl.models.load import LoadedModel, read_info
from mcprl.models.places import NANO
from mcprl.training.rows import certificate, training_rows
from mcprl.types import Completion, CompletionRequest, Message, Tool, Trajectory


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.name)
def case(request: pytest.FixtureRequest) -> Case:
    return request.param


@pytest.fixture(scope="module")
def loaded(case: Case, tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return family_model(case, tmp_path_factory.mktemp("models"))


def test_the_template_is_read_by_its_familys_parser(case: Case, loaded: LoadedModel) -> None:
    style = families.dialect(loaded.tokenizer)
    assert (style.name, style.parallel) == (case.parser, case.parallel)
    known = families.family(loaded.path)
    assert known is not None
    assert known.parser == case.parser


def test_the_template_shows_a_system_message_beside_the_tools(case: Case, loaded: LoadedModel) -> None:
    messages = prompts.opening_messages("Where is order 17?", "Orders before customers.")
    text = prompts.render(loaded.tokenizer, messages, [TOOL])
    assert "Orders before customers." in text
    assert "get_order" in text
    head = prompts.head_ids(loaded.tokenizer, messages, [TOOL])
    assert prompts.prompt_ids(loaded.tokenizer, messages, [TOOL])[: len(head)] == head


@pytest.mark.slow
async def test_what_the_policy_samples_is_trained_in_the_context_that_it_saw(case: Case, loaded: LoadedModel) -> None:
    trainer = taught(case, loaded)
    engine = EmbeddedEngine(loaded)
    try:
        tried = [await converse(engine, 100 * seed) for seed in range(6)]
    finally:
        await engine.close()
    assert check(case, trainer, tried)["sampler_gap_mean"] < 1e-3


@pytest.mark.parametrize(("name", "thinks"), [("qwen3", True), ("qwen3_instruct_2507", False)])
def test_a_family_reasons_where_its_template_does(name: str, thinks: bool) -> None:
    family = families.family(name.replace("_", "-"))
    assert family is not None
    own = family.of_template(template(name).read_text())
    assert own.reasoning == ("qwen3" if thinks else "")
    assert ("thinking" in own.note) is thinks


def test_thinking_that_is_stripped_from_history_starts_a_new_row() -> None:
    tokenizer: Any = AutoTokenizer.from_pretrained(NANO)
    tokenizer.add_tokens(CONTROL, special_tokens=True)
    tokenizer.chat_template = template("qwen3").read_text()
    first = prompts.prompt_ids(tokenizer, [{"role": "user", "content": "Hello"}], [TOOL])
    sampled = tuple(tokenizer.encode("<think>\nHm.\n</think>\n\nHi.<|im_end|>", add_special_tokens=False))
    request = CompletionRequest(({"role": "user", "content": "Hello"},), (TOOL,))
    message, _ = families.reply(tokenizer, sampled, (tokenizer.eos_token_id,), request)
    assert message == {"role": "assistant", "content": "Hi.", "reasoning_content": "Hm."}
    again = [{"role": "user", "content": "Hello"}, message, {"role": "user", "content": "Again"}]
    second = prompts.prompt_ids(tokenizer, again, [TOOL], (*first, *sampled))
    assert "Hm." not in tokenizer.decode(second)
    turns = (
        Completion(message, first, sampled, (-1.0,) * len(sampled), "stop"),
        Completion(message, second, sampled, (-1.0,) * len(sampled), "stop"),
    )
    tried = Trajectory("t", "s", (), turns)
    assert len(training_rows(tried)) == 2
    assert certificate(training_rows(tried), [tried]).exactness == 1.0


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
    assert prompts.render(tokenizer, [*request.messages, message, told], [TOOL])


@pytest.mark.parametrize("name", ["qwen3", "qwen3_5_think", "gptoss"])
def test_a_turn_that_is_held_to_a_schema_is_its_value_and_nothing_of_it_is_a_call_or_a_thought(name: str) -> None:
    tokenizer = nano_with(template(name).read_text())
    asked = CompletionRequest(({"role": "user", "content": "Score it."},), schema={"type": "object"})
    text = '{"score": 1, "why": "<tool_call> {} </think>"}'
    message, malformed = families.reply(tokenizer, tokenizer.encode(text, add_special_tokens=False), (), asked)
    assert (message, malformed) == ({"role": "assistant", "content": text}, ())


@pytest.mark.parametrize("text", ['<tool_call>\n{"name": "Answer", "arguments": {}}\n</tool_call>', "<tool_call>{"])
def test_what_looks_like_a_call_is_text_where_no_tool_is_offered(text: str) -> None:
    tokenizer = nano_with(template("qwen3").read_text())
    asked = CompletionRequest(({"role": "user", "content": "Say hello."},))
    ids = [*tokenizer.encode(text, add_special_tokens=False), tokenizer.eos_token_id]
    said, malformed = families.reply(tokenizer, ids, (tokenizer.eos_token_id,), asked)
    assert (said, malformed) == ({"role": "assistant", "content": text}, ())


CALLED = '<tool_call>\n{"name": "get_order", "arguments": {"order_id": "</think>"}}\n</tool_call>'


@pytest.mark.parametrize(
    ("text", "thought", "arguments"),
    [
        (CALLED, None, "</think>"),
        (f"<think>\nI could use {CALLED.replace('</think>', 'O-1')}", "I could use", None),
        (f"<think>\nHm.\n</think>\n{CALLED}", "Hm.", "</think>"),
    ],
)
def test_what_is_thought_is_no_call_and_what_is_called_is_no_thought(
    text: str, thought: str | None, arguments: str | None
) -> None:
    tokenizer = nano_with(template("qwen3").read_text())
    asked = CompletionRequest(({"role": "user", "content": "Where is it?"},), (TOOL,))
    message, _ = families.reply(tokenizer, tokenizer.encode(text, add_special_tokens=False), (), asked)
    assert message.get("reasoning_content", "").startswith(thought or "")
    assert ("reasoning_content" in message) == (thought is not None)
    calls = [json.loads(call["function"]["arguments"]) for call in message.get("tool_calls", ())]
    assert calls == ([{"order_id": arguments}] if arguments else [])


def test_every_family_names_a_parser_of_the_table_and_a_template_that_is_there() -> None:
    known, parsers = families.table()
    assert {family.parser for family in known} <= set(parsers)
    assert [family.name for family in known if family.template and not family.chat_template] == []
    assert len({family.pattern for family in known}) == len(known)


# --- our own templates ------------------------------------------------------------------------------------------------

SCHEMA: dict[str, Any] = {
    "type": "object",
    "$defs": {
        "Colour": {"enum": ["red", "blue"], "type": "string"},
        "Node": {"type": "object", "properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/Node"}}},
    },
    "properties": {
        "colour": {"$ref": "#/$defs/Colour", "description": "Which colour. Only these exist."},
        "some": {"type": "array", "items": {"$ref": "#/$defs/Colour"}},
        "tree": {"$ref": "#/$defs/Node"},
        "size": {"anyOf": [{"type": "null"}, {"type": "integer"}]},
        "key": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
        "share": {"type": ["null", "number"]},
        "other": {"allOf": [{"$ref": "#/$defs/Colour"}]},
        "rest": {},
    },
    "required": ["colour"],
}
SIGNATURE = (
    'paint(colour: "red"|"blue" (Which colour), some?: ["red"|"blue"], tree?: {name?: str, '
    'next?: object}, size?: int, key?: str|int, share?: num, other?: "red"|"blue", rest?: any) Paint it'
)


@pytest.mark.parametrize("name", ["nano", "SmolLM2"])
def test_a_signature_shows_enumerations_unions_and_definitions_in_few_words(name: str) -> None:
    tokenizer: Any = AutoTokenizer.from_pretrained(NANO)
    known = families.family(name)
    assert known is not None
    tokenizer.chat_template = known.chat_template or tokenizer.chat_template
    again = Tool("other", "", {"properties": {"colour": {"$ref": "#/$defs/Colour"}}})  # not the first one's colours
    text = prompts.render(tokenizer, [{"role": "user", "content": "Go"}], [Tool("paint", "Paint it.", SCHEMA), again])
    assert SIGNATURE in text.splitlines()
    assert "other(colour?: any)<|im_end|>" in text.splitlines()


def test_a_long_description_is_cut_between_words() -> None:
    tokenizer: Any = AutoTokenizer.from_pretrained(NANO)
    described = {"type": "string", "description": "The identifier under which the warehouse has stored the article"}
    tool = Tool("find", "", {"properties": {"key": described}})
    text = prompts.render(tokenizer, [{"role": "user", "content": "Go"}], [tool])
    assert "find(key?: str (The identifier under which the warehouse has stored the))" in text


def test_smollm2_is_told_how_to_call_and_keeps_its_own_system_message_without_tools() -> None:
    tokenizer: Any = AutoTokenizer.from_pretrained(NANO)
    known = families.family("HuggingFaceTB/SmolLM2-135M-Instruct", "llama")
    assert known is not None
    assert known.name == "SmolLM2"
    tokenizer.chat_template = known.chat_template
    talk = prompts.opening_messages("Where is order 17?", "Orders before customers.")
    system, user, answer = prompts.render(tokenizer, talk, [TOOL]).split("<|im_end|>\n")
    head, instructions, form, *signatures = system.splitlines()
    assert (head, instructions) == ("<|im_start|>system", "Orders before customers.")
    assert '<tool_call>{"name": NAME, "arguments": {...}}</tool_call>' in form
    assert signatures == ["get_order(order_id?: str, count?: int) Look an order up"]
    assert (user, answer) == ("<|im_start|>user\nWhere is order 17?", "<|im_start|>assistant\n")
    plain = prompts.render(tokenizer, talk[1:])
    assert plain.startswith(
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|"
    )


def test_a_models_own_template_is_kept_if_it_shows_tools(tmp_path: Path) -> None:
    case = next(case for case in CASES if case.name == "SmolLM2")
    folder = Path(family_model(case, tmp_path).path)
    assert read_info(ModelConfig(name=str(folder))).tokenizer.chat_template == families.family("smollm2").chat_template  # pyright: ignore[reportOptionalMemberAccess]
    own = template("qwen2_5").read_text()
    (folder / "chat_template.jinja").write_text(own)
    assert read_info(ModelConfig(name=str(folder))).tokenizer.chat_template == own
