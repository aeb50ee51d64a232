"""Prompts that extend what was sampled, calls read from replies, rows that hold the engine's ids alone."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transformers import AutoTokenizer

from mcprl.chat import hermes, prompts
from mcprl.training.rows import certificate, training_rows
from mcprl.types import Call, Completion, Message, Tool, Trajectory

SYSTEM: Message = {"role": "system", "content": "You help."}
USER: Message = {"role": "user", "content": "Which order did C17 place?"}
TOOL = Tool("get_order", "Look an order up.", {"type": "object", "properties": {"id": {"type": "integer"}}})
REPLY = '<tool_call>{"name": "get_order", "arguments": {"id":  42}}</tool_call>'
RESULT: Message = {"role": "tool", "tool_call_id": "call00000", "content": '{"total": 12.50}'}

real_tokenizer = settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def tokenizer(tiny_model: Path) -> Any:
    return AutoTokenizer.from_pretrained(tiny_model)


def assistant(text: str, turn: int = 0) -> Message:
    """A model turn with Hermes calls as a message."""
    return hermes.as_message(hermes.parse_reply(text, turn))


def with_template(tiny_model: Path, template: str) -> Any:
    tokenizer: Any = AutoTokenizer.from_pretrained(tiny_model)
    tokenizer.chat_template = template
    return tokenizer


# --- prompts ----------------------------------------------------------------------------------------------------------


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


# --- replies ----------------------------------------------------------------------------------------------------------

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
    json.dumps(assistant(text), allow_nan=True).encode()


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
    message = assistant("Let me look. " + REPLY, turn=1)
    function = {"name": "get_order", "arguments": '{"id":  42}'}
    assert message == {
        "role": "assistant",
        "content": "Let me look.",
        "tool_calls": [{"id": "call01000", "type": "function", "function": function}],
    }


# --- rows -------------------------------------------------------------------------------------------------------------

ids_st = st.lists(st.integers(0, 5), min_size=1, max_size=4).map(tuple)


@st.composite
def trajectories(draw: st.DrawFn) -> Trajectory:
    """Turns of which some extend the last context and others begin anew, as with a template that rewrites history."""
    turns: list[Completion] = []
    for _ in range(draw(st.integers(1, 5))):
        context = (*turns[-1].prompt_ids, *turns[-1].completion_ids) if turns and draw(st.booleans()) else ()
        ids = draw(ids_st)
        logprobs = tuple(-float(draw(st.integers(0, 9))) for _ in ids)
        turns.append(Completion({}, (*context, *draw(ids_st)), ids, logprobs, "stop"))
    return Trajectory(draw(st.sampled_from("ab")), "s", (), tuple(turns))


@given(trajectories())
def test_every_sampled_token_is_trained_once_in_the_context_the_engine_saw(trajectory: Trajectory) -> None:
    rows = training_rows(trajectory)
    assert all(len(row.ids) == len(row.mask) == len(row.logprobs) for row in rows)
    proof = certificate(rows, [trajectory])
    sampled = [token for turn in trajectory.turns for token in turn.completion_ids]
    assert (proof.trained, proof.exact, proof.exactness) == (len(sampled), len(sampled), 1.0)
    assert [token for row in rows for token, trained in zip(row.ids, row.mask, strict=True) if trained] == sampled


@given(trajectories(), st.data())
def test_the_certificate_sees_every_wrong_id_mask_or_logprob(trajectory: Trajectory, data: st.DataObject) -> None:
    rows = training_rows(trajectory)
    n = data.draw(st.integers(0, len(rows) - 1))
    row = rows[n]
    last = max(at for at, trained in enumerate(row.mask) if trained)
    at = data.draw(st.integers(0, last))
    ids = (*row.ids[:at], row.ids[at] + 10, *row.ids[at + 1 :])
    wrong = data.draw(st.sampled_from(["ids", "mask", "logprobs"]))
    if wrong == "ids":
        rows[n] = replace(row, ids=ids)
    elif wrong == "logprobs":
        rows[n] = replace(row, logprobs=(*row.logprobs[:last], row.logprobs[last] - 1.0, *row.logprobs[last + 1 :]))
    else:
        rows[n] = replace(row, mask=(True,) * len(row.mask))  # trains on the prompt, too
    proof = certificate(rows, [trajectory])
    assert proof.mismatches > 0
    assert proof.exactness < 1.0


def test_rows_of_an_unknown_trajectory_are_all_mismatches() -> None:
    turn = Completion({}, (1, 2), (3, 4), (-1.0, -1.0), "stop")
    rows = training_rows(Trajectory("a", "s", (), (turn,)))
    assert certificate(rows, []).exactness == 0.0
    assert certificate([*rows, *rows], [Trajectory("a", "s", (), (turn,))]).mismatches == 2
    assert certificate([], []).exactness == 1.0
