"""A template's prompts stand in the template: they are rendered alike everywhere, and only where tools are offered."""

from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer

from mcprl.chat import families, prompts
from mcprl.chat.wording import Wording, mended, worded
from mcprl.types import Message, Tool

TOOL = Tool("get_order", "Look an order up.")
INSTRUCTIONS: Message = {"role": "system", "content": "A shop's orders."}
USER: Message = {"role": "user", "content": "Which order did C17 place?"}
WORDING = Wording('Be "brief".\nNo {{braces}} %}', "If this is enough, answer; else call.")


def called(*names: str) -> list[Message]:
    calls = [{"id": n, "type": "function", "function": {"name": "get_order", "arguments": "{}"}} for n in names]
    results: list[Message] = [{"role": "tool", "tool_call_id": n, "content": f"result {n}"} for n in names]
    return [{"role": "assistant", "content": "", "tool_calls": calls}, *results]


@pytest.fixture
def tokenizer(tiny_model: Path) -> Any:
    return AutoTokenizer.from_pretrained(tiny_model)


def test_the_system_prompt_leads_the_instructions_and_the_sentence_follows_the_last_result(tokenizer: Any) -> None:
    tokenizer.chat_template = worded(tokenizer.chat_template, WORDING)
    text = prompts.render(tokenizer, [INSTRUCTIONS, USER, *called("a", "b")], [TOOL])
    assert f"{WORDING.system_prompt}\n\nA shop's orders." in text
    assert text.count(WORDING.system_prompt) == text.count(WORDING.after_result) == 1
    assert f"result b\n\n{WORDING.after_result}" in text
    without = prompts.render(tokenizer, [USER], [TOOL])
    assert WORDING.system_prompt in without, "also where a server gives no instructions"


def test_a_conversation_without_tools_is_left_as_it_is(tokenizer: Any) -> None:
    plain = prompts.render(tokenizer, [INSTRUCTIONS, USER])
    tokenizer.chat_template = worded(tokenizer.chat_template, WORDING)
    assert prompts.render(tokenizer, [INSTRUCTIONS, USER]) == plain


def test_no_wording_changes_nothing_and_the_mark_of_any_form_renders_nothing(tokenizer: Any) -> None:
    plain = tokenizer.chat_template
    assert worded(plain, Wording()) == plain
    before = prompts.render(tokenizer, [USER], [TOOL])
    tokenizer.chat_template = worded(plain, Wording(), any_form=True)
    assert prompts.render(tokenizer, [USER], [TOOL]) == before
    assert families.reads_any_form(tokenizer)


def test_the_next_prompt_extends_the_last_one_with_prompts_too(tokenizer: Any) -> None:
    tokenizer.chat_template = worded(tokenizer.chat_template, WORDING, any_form=True)
    first = prompts.prompt_ids(tokenizer, [INSTRUCTIONS, USER], [TOOL])
    sampled = tokenizer.encode('```json\n{"name": "get_order", "arguments": {}}\n```', add_special_tokens=False)
    context = (*first, *sampled)  # a turn that ended at its fence
    messages = [INSTRUCTIONS, USER, *called("a")]
    prompt = prompts.prompt_ids(tokenizer, messages, [TOOL], context)
    assert prompt[: len(context)] == context
    added = tokenizer.decode(prompt[len(context) :])
    assert added.startswith("<|im_end|>\n")
    assert f"result a\n\n{WORDING.after_result}" in added


def test_a_saved_tokenizer_keeps_its_prompts(tokenizer: Any, tmp_path: Path) -> None:
    tokenizer.chat_template = worded(tokenizer.chat_template, WORDING, any_form=True)
    tokenizer.save_pretrained(str(tmp_path))
    saved: Any = AutoTokenizer.from_pretrained(tmp_path)
    conversation = [INSTRUCTIONS, USER, *called("a")]
    assert prompts.render(saved, conversation, [TOOL]) == prompts.render(tokenizer, conversation, [TOOL])
    assert families.reads_any_form(saved)


def test_a_template_that_shows_doubled_braces_gets_single_ones_and_others_stay(tokenizer: Any) -> None:
    plain = tokenizer.chat_template
    assert mended(tokenizer) == plain
    shows = r'{{- "Write {{\"name\": <name>, \"arguments\": <args>}} for {{x}}: " + tools[0].function.name }}'
    tokenizer.chat_template = "{% if tools %}" + shows + "{% endif %}" + plain
    assert '{{"name"' in prompts.render(tokenizer, [USER], [TOOL])
    tokenizer.chat_template = mended(tokenizer)
    text = prompts.render(tokenizer, [USER], [TOOL])
    assert 'Write {"name": <name>, "arguments": <args>} for {{x}}: get_order' in text
