"""Calls that models write in other forms than their template's are read; JSON that is no call is left alone."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.paths import ROOT
from transformers import AutoTokenizer

from mcprl.chat import families, forms
from mcprl.chat.families import ANY_FORM
from mcprl.types import CompletionRequest, Tool

ORDER = '{"name": "get_order", "arguments": {"id":  42}}'
TOOLS = {"get_order", "add_note"}


@pytest.mark.parametrize(
    ("text", "form", "calls"),
    [
        (f"```json\n{ORDER}\n```", "fence", [("get_order", '{"id":  42}')]),
        (f"```\n{ORDER}", "fence", [("get_order", '{"id":  42}')]),
        (f"Let me look.\n\n```json\n{ORDER}\n```\nIt has shipped.", "fence", [("get_order", '{"id":  42}')]),
        (ORDER, "bare JSON", [("get_order", '{"id":  42}')]),
        (f"Sure: {ORDER}\nThe total is 3.", "bare JSON", [("get_order", '{"id":  42}')]),
        (f"<tools>\n{ORDER}\n</tools>", "tag", [("get_order", '{"id":  42}')]),
        (f"<tool_call>\n{{{ORDER}}}\n</tool_call>", "tag", [("get_order", '{"id":  42}')]),
        (f"{{{ORDER}}}", "bare JSON", [("get_order", '{"id":  42}')]),
        ('{{"name": "get_order", "arguments": {{"id": 1}}}}', "bare JSON", [("get_order", '{"id": 1}')]),
        (
            '```\n{{"name": "get_order", "arguments": {{"id": 1}}}}\n{{"name": "add_note", "arguments": {{}}}}\n```',
            "fence",
            [("get_order", '{"id": 1}'), ("add_note", "{}")],
        ),
        ('{"function": "get_order", "arguments": {}}', "bare JSON", [("get_order", "{}")]),
        (
            '{"type": "function", "function": {"name": "get_order", "arguments": {"id": "ü"}}}',
            "bare JSON",
            [("get_order", '{"id": "ü"}')],
        ),
        ('{"name": "add_note", "arguments": "{\\"text\\": \\"a\\"}"}', "bare JSON", [("add_note", '{"text": "a"}')]),
        (
            '[{"name": "get_order", "arguments": {}}, {"name": "add_note", "arguments": {}}]',
            "bare JSON",
            [("get_order", "{}"), ("add_note", "{}")],
        ),
        (
            '```json\n{"name": "get_order", "arguments": {}}\n{"name": "add_note", "arguments": {}}\n```',
            "fence",
            [("get_order", "{}"), ("add_note", "{}")],
        ),
    ],
)
def test_a_call_is_read_in_the_form_in_which_models_write_it(text: str, form: str, calls: list[Any]) -> None:
    block = forms.find(text, TOOLS)
    assert block is not None
    assert (block.form, list(block.calls)) == (form, calls)


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"name": "cancel_order", "arguments": {"id": 1}}\n```',  # no tool of that name is offered
        '```json\n{"name": "get_order", "arguments": [1]}\n```',
        '```json\n{"name": "get_order"}\n```',
        '```json\n{"name": "get_order", "description": "Look up.", "parameters": {"type": "object"}}\n```',
        '```json\n{"calls": [\n  {"name": "get_order", "arguments": {}}\n]}\n```',
        '```json\n[\n  {"name": "get_order", "arguments": {}},\n  {"id": 3, "total": 12}\n]\n```',
        "```python\nget_order(id=42)\n```",
        '{"name": "Ada", "arguments": {}}',
        "{name: get_order, arguments: {id: 42}}",
        '{"name": "get_order", "arguments": {"id": 42',
        "The order 42 has {3} items [1].",
        "",
    ],
)
def test_what_is_no_call_of_an_offered_tool_is_text(text: str) -> None:
    assert forms.find(text, TOOLS) is None


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.text(), values, max_size=3), st.sampled_from([None, 2]), st.booleans(), st.text("ab \n`.{["))
def test_any_arguments_are_read_as_they_were_written(
    arguments: dict[str, Any], indent: int | None, fence: bool, prose: str
) -> None:
    written = json.dumps({"name": "add_note", "arguments": arguments}, indent=indent, ensure_ascii=True)
    text = f"```json\n{written}\n```\n{prose}" if fence else f"{written}\n\n{prose}"
    block = forms.find(text, TOOLS)
    assert block is not None
    assert [(name, json.loads(raw)) for name, raw in block.calls] == [("add_note", arguments)]


@given(
    st.lists(
        st.sampled_from(["```json\n", "```", "{", "}", "[", "]", ORDER, '"name"', ":", ",", "<tools>", "\n", " a"])
    )
)
def test_any_text_can_be_searched_and_what_is_found_lies_in_it(parts: list[str]) -> None:
    text = "".join(parts)
    block = forms.find(text, TOOLS)
    if block:
        assert 0 <= block.start < block.end <= len(text)
        assert {name for name, _ in block.calls} <= TOOLS


@pytest.fixture
def tokenizer(tiny_model: Path) -> Any:
    loaded: Any = AutoTokenizer.from_pretrained(tiny_model)
    loaded.chat_template = ANY_FORM + loaded.chat_template
    return loaded


def read(tokenizer: Any, text: str) -> tuple[Any, tuple[str, ...]]:
    ids = [*tokenizer.encode(text, add_special_tokens=False), tokenizer.eos_token_id]
    request = CompletionRequest(({"role": "user", "content": "q"},), (Tool("get_order"),))
    return families.reply(tokenizer, ids, [tokenizer.eos_token_id], request)


def test_a_reply_in_a_fence_is_a_turn_with_calls_and_what_follows_it_is_not_read(tokenizer: Any) -> None:
    message, malformed = read(tokenizer, f"I look.\n```json\n{ORDER}\n```\nThe result is 12.")
    function = message["tool_calls"][0]["function"]
    assert (message["content"], function, malformed) == (
        "I look.",
        {"name": "get_order", "arguments": '{"id":  42}'},
        (),
    )
    plain: Any = AutoTokenizer.from_pretrained(tokenizer.name_or_path)
    assert "tool_calls" not in read(plain, f"```json\n{ORDER}\n```")[0], "unless the template has the mark"


def test_the_template_s_own_form_is_read_first_and_its_faults_are_told(tokenizer: Any) -> None:
    message, malformed = read(tokenizer, f"<tool_call>{ORDER}</tool_call>")
    assert message["tool_calls"][0]["function"]["name"] == "get_order"
    message, malformed = read(tokenizer, '<tool_call>{"name": 3}</tool_call>')
    assert malformed == ('the tool call could not be read: it has no "name"',)


def test_a_turn_ends_at_the_fence_that_closes_a_call(tokenizer: Any) -> None:
    def ends(text: str) -> bool:
        return families.ends_turn(tokenizer, tokenizer.encode(text, add_special_tokens=False), TOOLS)

    assert ends(f"```json\n{ORDER}\n```")
    assert not ends("```json\n")
    assert not ends(f"```json\n{ORDER}\n")
    assert not ends('```json\n{"total": 3}\n```')
    assert not ends('```json\n{"name": "add_note", "arguments": {"text": "```')
    assert not ends(f"<think>\nI could write\n```json\n{ORDER}\n```"), "what it thinks is no call"
    assert ends(f"<think>\nI call it.\n</think>\n\n```json\n{ORDER}\n```")


@pytest.mark.parametrize("text", ["{{ " * 30_000, "[ " * 30_000, ' {"a":' * 15_000, "```" * 30_000])
def test_a_text_of_nothing_but_openers_is_searched_in_no_time(text: str) -> None:
    began = time.perf_counter()
    assert forms.find(text, TOOLS) is None
    assert time.perf_counter() - began < 5


RAW = [json.loads(line) for line in Path(__file__).with_name("raw_turns.jsonl").read_text("utf-8").splitlines()]
"""First turns of Qwen2.5-Coder to people's requests and to requests for code, greedy and sampled, sorted by a reader:
the calls that each holds. `frozen`: drawn after the parser was frozen. `broken`: a call that is no JSON.
`definition`: a tool's definition in the form of a call, which is read as one."""


@pytest.mark.parametrize("frozen", [False, True])
def test_the_calls_of_real_turns_are_read(frozen: bool) -> None:
    turns = [turn for turn in RAW if turn["frozen"] is frozen and turn["calls"]]
    assert len(turns) > 80
    read = [found_in(turn) == turn["calls"] for turn in turns]
    assert sum(read) >= 0.98 * len(turns)


def test_no_real_turn_without_a_call_is_read_as_one() -> None:
    turns = [turn for turn in RAW if not turn["calls"] and not turn.get("definition")]
    assert [turn["text"] for turn in turns if found_in(turn)] == []


def test_no_fence_without_a_call_is_read_as_one() -> None:
    """Those that the models wrote when they were asked for code and examples, and those of this repository's pages."""
    offered = {tool for turn in RAW for tool in turn["tools"]}
    written = [turn["text"] for turn in RAW if "```" in turn["text"] and not turn["calls"] and "definition" not in turn]
    pages = [
        path.read_text("utf-8") for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("*/README.md"))
    ]
    fences = [fence for page in pages for fence in re.findall(r"(?ms)^```[^`\n]*\n.*?^```", page)]
    assert len(written) > 30
    assert len(written) + len(fences) >= 100
    assert [text for text in (*written, *fences) if forms.find(text, offered)] == []


def found_in(turn: Any) -> list[Any]:
    found = forms.find(turn["text"], set(turn["tools"]))
    return [[name, json.loads(raw)] for name, raw in found.calls] if found else []
