"""Calls are read from a reply in Hermes' form, and what is malformed is kept with the reason."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcprl.chat import hermes
from mcprl.types import Call

REPLY = '<tool_call>{"name": "get_order", "arguments": {"id":  42}}</tool_call>'

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
arguments_st = st.dictionaries(st.text(), values, max_size=3)
calls_st = st.lists(st.tuples(st.text(min_size=1), arguments_st, st.booleans(), st.sampled_from([None, 2])), max_size=4)
prose = st.text(alphabet="abc <{}\n")


@given(written=calls_st, between=prose, closed=st.booleans())
def test_any_calls_are_read_back_as_written(written: list[Any], between: str, closed: bool) -> None:
    blocks: list[str] = []
    for name, arguments, as_text, indent in written:
        raw = json.dumps(arguments, indent=indent)
        body = json.dumps({"name": name, "arguments": raw if as_text else arguments}, indent=indent)
        blocks.append(f"{between}<tool_call>\n{body}\n</tool_call>")
    text = "".join(blocks)
    reply = hermes.parse_reply(text if closed else text.removesuffix("</tool_call>"), turn=3)
    assert [call.call for call in reply.calls] == [Call(name, arguments) for name, arguments, *_ in written]
    assert reply.malformed == ()
    assert reply.content == "".join(between for _ in written).strip()
    assert [call.id for call in reply.calls] == [f"call03{n:03}" for n in range(len(written))]
    assert all(json.loads(call.arguments) == call.call.arguments for call in reply.calls)


fragments = [
    "<tool_call>",
    "</tool_call>",
    "{",
    "}",
    '"name"',
    ":",
    '"arguments"',
    '"a"',
    ",",
    "[",
    "NaN",
    "1e999",
    "x",
]


@given(st.lists(st.sampled_from(fragments)).map("".join) | st.text())
def test_any_reply_can_be_read_and_what_cannot_stays_in_the_content(text: str) -> None:
    reply = hermes.parse_reply(text)
    assert len(reply.calls) + len(reply.malformed) <= text.count("<tool_call>")
    assert (not reply.malformed) or "<tool_call>" in reply.content
    again = hermes.parse_reply(reply.content)
    assert again.malformed == reply.malformed or reply.calls
    json.dumps(hermes.as_message(hermes.parse_reply(text)), allow_nan=True).encode()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<tool_call>get_order(42)</tool_call>", "expected a JSON object"),
        ('<tool_call>{"name": "a", "arguments": {"x": 1}', "not closed"),
        ('<tool_call>{"name": "a", "arguments": [1]}</tool_call>', '"arguments" are not a JSON object'),
        ('<tool_call>{"name": "a", "arguments": "one"}</tool_call>', "JSON is broken"),
        ('<tool_call>{"arguments": {}}</tool_call>', 'no "name"'),
        ('<tool_call>{"name": "a", "arguments": {"x": NaN}}</tool_call>', "NaN is not JSON"),
        ('<tool_call>{"name": "a", "arguments": {}} and more</tool_call>', "expected </tool_call> after the JSON"),
        ('<tool_call>{"name": "a", "arguments": ' + "[" * 100_000, "nested too deeply"),
    ],
)
def test_a_malformed_call_is_kept_with_the_reason_and_hides_no_good_one(text: str, reason: str) -> None:
    reply = hermes.parse_reply(f"{REPLY}{text}{REPLY}" if text.endswith("</tool_call>") else f"{REPLY}{text}")
    assert len(reply.malformed) == 1
    assert reason in reply.malformed[0]
    assert reply.content == text
    assert {call.call.tool for call in reply.calls} == {"get_order"}


def test_a_message_holds_the_arguments_exactly_as_sampled() -> None:
    message = hermes.as_message(hermes.parse_reply("Let me look. " + REPLY, turn=1))
    function = {"name": "get_order", "arguments": '{"id":  42}'}
    assert message == {
        "role": "assistant",
        "content": "Let me look.",
        "tool_calls": [{"id": "call01000", "type": "function", "function": function}],
    }
