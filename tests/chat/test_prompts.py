"""Prompts extend what was sampled, and only the chat template writes control tokens."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transformers import AutoTokenizer

from mcprl.chat import prompts
from mcprl.chat.hermes import as_message, parse_reply
from mcprl.types import Message, Tool

SYSTEM: Message = {"role": "system", "content": "You help."}
USER: Message = {"role": "user", "content": "Which order did C17 place?"}
TOOL = Tool("get_order", "Look an order up.", {"type": "object", "properties": {"id": {"type": "integer"}}})
REPLY = '<tool_call>{"name": "get_order", "arguments": {"id":  42}}</tool_call>'
RESULT: Message = {"role": "tool", "tool_call_id": "call00000", "content": '{"total": 12.50}'}

real_tokenizer = settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])


def assistant(text: str) -> Message:
    """A model turn with Hermes calls as a message."""
    return as_message(parse_reply(text))


@pytest.fixture(scope="module")
def tokenizer(tiny_model: Path) -> Any:
    return AutoTokenizer.from_pretrained(tiny_model)


def with_template(tiny_model: Path, template: str) -> Any:
    tokenizer: Any = AutoTokenizer.from_pretrained(tiny_model)
    tokenizer.chat_template = template
    return tokenizer


def test_the_next_prompt_extends_the_sampled_ids_and_keeps_the_separator(tokenizer: Any) -> None:
    first = prompts.prompt_ids(tokenizer, [SYSTEM, USER], [TOOL])
    # Sampled character by character: no tokenizer would write these ids for this text.
    sampled = [token for letter in REPLY for token in tokenizer.encode(letter, add_special_tokens=False)]
    context = (*first, *sampled, tokenizer.eos_token_id)
    messages = [SYSTEM, USER, assistant(REPLY), RESULT]
    prompt = prompts.prompt_ids(tokenizer, messages, [TOOL], context)
    assert prompt[: len(context)] == context
    assert tokenizer.decode(prompt) == prompts.render(tokenizer, messages, [TOOL])
    assert tokenizer.decode(prompt[len(context) :]).startswith("\n<|im_start|>tool\n")
    assert prompt != prompts.prompt_ids(tokenizer, messages, [TOOL])


def test_a_completion_cut_at_the_limit_gets_its_end_of_turn_from_the_template(tokenizer: Any) -> None:
    first = prompts.prompt_ids(tokenizer, [SYSTEM, USER], [TOOL])
    context = (*first, *tokenizer.encode("I think that", add_special_tokens=False))
    messages = [SYSTEM, USER, assistant("I think that"), {"role": "user", "content": "Go on."}]
    prompt = prompts.prompt_ids(tokenizer, messages, [TOOL], context)
    assert prompt[: len(context)] == context
    assert tokenizer.decode(prompt[len(context) :]).startswith("<|im_end|>\n<|im_start|>user\nGo on.")


def test_a_template_that_rewrites_history_is_rendered_anew(tiny_model: Path) -> None:
    stripping = with_template(
        tiny_model,
        "{% for m in messages %}<|im_start|>{{ m.role }}\n"
        "{{ m.content.split('</think>')[-1] if not loop.last else m.content }}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
    )
    messages = [USER, assistant("<think>so</think>yes"), {"role": "user", "content": "Sure?"}]
    prompt = prompts.prompt_ids(stripping, messages, (), (1, 2, 3))
    assert stripping.decode(prompt) == prompts.render(stripping, messages)


def test_a_conversation_is_rendered_once_and_anew_where_the_template_changes(tiny_model: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    rendered: list[str] = []
    apply = tokenizer.apply_chat_template

    def count(*given: Any, **options: Any) -> Any:
        rendered.append(tokenizer.chat_template)
        return apply(*given, **options)

    tokenizer.apply_chat_template = count
    said: list[Message] = [{"role": "user", "content": "Where is order 17?"}]
    assert prompts.prompt_ids(tokenizer, said) == prompts.prompt_ids(tokenizer, [dict(said[0])])
    assert len(rendered) == 1
    first = prompts.render(tokenizer, said)
    tokenizer.chat_template = "{{ messages[0].content }}"
    assert prompts.render(tokenizer, said) == "Where is order 17?" != first


def test_a_template_that_quotes_arguments_itself_gets_them_parsed(tiny_model: Path) -> None:
    quoting = with_template(
        tiny_model,
        "{% for m in messages %}{{ m.role }}:{{ m.content }}{% for c in m.tool_calls or [] %}"
        "{{ c.function.arguments | tojson }}{% endfor %}<|im_end|>{% endfor %}",
    )
    said = assistant(REPLY)
    assert '{"id": 42}' in prompts.render(quoting, [USER, said])
    assert said["tool_calls"][0]["function"]["arguments"] == '{"id":  42}'


def test_no_tools_render_as_a_conversation_without_a_tool_section(tokenizer: Any) -> None:
    text = "<|im_start|>user\nWhich order did C17 place?<|im_end|>\n<|im_start|>assistant\n"
    assert prompts.render(tokenizer, [USER], []) == text


def test_the_head_is_what_every_conversation_with_the_tools_begins_with(tokenizer: Any) -> None:
    head = prompts.head_ids(tokenizer, [SYSTEM, USER], [TOOL])
    other = prompts.prompt_ids(tokenizer, [SYSTEM, {"role": "user", "content": "Else"}], [TOOL])
    assert other[: len(head)] == head
    assert tokenizer.decode(head).endswith("Look an order up<|im_end|>\n<|im_start|>user\n")


forged = st.lists(st.sampled_from(["<|im_start|>", "<|im_end|>", "<|im_", "start|>", "system\n", " "])).map("".join)


@real_tokenizer
@given(said=forged | st.text(), result=forged, described=forged)
def test_nobody_but_the_template_writes_control_tokens(tokenizer: Any, said: str, result: str, described: str) -> None:
    tool = Tool("get_order", described, {"type": "object", "properties": {"id": {"description": described}}})
    messages = [SYSTEM, {"role": "user", "content": said}, assistant("ok"), RESULT | {"content": result}]
    ids = prompts.prompt_ids(tokenizer, messages, [tool])
    start, end = (tokenizer.get_added_vocab()[text] for text in ("<|im_start|>", "<|im_end|>"))
    assert (ids.count(start), ids.count(end)) == (5, 4)
