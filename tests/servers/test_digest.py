"""Tool results as the text that a model reads."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcprl.servers.digest import MAX_VALUES, as_read, cap, digest

values: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.parametrize(
    ("text", "structured", "expected", "value"),
    [
        ("two words", None, "two words", None),
        ("ignored", {"id": 7, "tags": ["a", "b"]}, '{"id":7,"tags":["a","b"]}', {"id": 7, "tags": ["a", "b"]}),
        ('{"id": 7,\n "name": "Zoë"}', None, '{"id":7,"name":"Zoë"}', {"id": 7, "name": "Zoë"}),
        ("", {"result": [1, 2]}, "[1,2]", [1, 2]),
        ("", {"result": 5}, "5", 5),
        ("", {"content": "plain text"}, "plain text", None),
        ("", {"result": '{"a": 1}'}, '{"a":1}', {"a": 1}),
        ("said in text", {}, "said in text", None),
        ("[not json", None, "[not json", None),
        ("12", None, "12", None),
    ],
)
def test_structured_content_is_preferred_unwrapped_and_compact(
    text: str, structured: Any, expected: str, value: Any
) -> None:
    result = digest(text, structured)
    assert (result.text, result.structured, result.is_error) == (expected, value, False)


@pytest.mark.parametrize(
    ("text", "structured"),
    [
        ("Error: no such table", None),
        ("error executing query", None),
        ("Exception in thread main", None),
        ("Traceback (most recent call last):\n  File ...", None),
        ("ValueError: bad id", None),
        ("MCP error -32602: bad arguments", None),
        ('{"error": "not found", "code": 404}', None),
        ("", {"success": False, "reason": "locked"}),
        ("", {"ok": False}),
    ],
)
def test_error_shaped_results_count_as_errors_though_the_server_says_they_are_fine(text: str, structured: Any) -> None:
    assert digest(text, structured).is_error


@pytest.mark.parametrize(
    ("text", "structured"),
    [
        ("2 errors were fixed", None),
        ("terror", None),
        ("", {"error": None, "id": 1}),
        ("", {"id": 1, "error": "shown in a field of a good answer"}),
        ("", {"success": True}),
        ("", {"title": "Error: the film"}),
    ],
)
def test_results_that_only_mention_errors_are_not_errors(text: str, structured: Any) -> None:
    assert not digest(text, structured).is_error


def test_the_servers_own_error_flag_is_kept() -> None:
    assert digest("no such order", is_error=True).is_error


@settings(deadline=None, max_examples=60)
@given(st.text(), st.integers(min_value=0, max_value=60))
def test_the_cut_falls_between_characters_and_says_how_much_it_took(text: str, max_bytes: int) -> None:
    size = len(text.encode())
    kept, cut = cap(text, max_bytes)
    if cut:
        kept, marker = kept.removesuffix(f"... [cut {cut} bytes]"), kept[-len(f"... [cut {cut} bytes]") :]
        assert marker == f"... [cut {cut} bytes]"
        assert max_bytes - 3 <= len(kept.encode()) <= max_bytes
    assert text.startswith(kept)
    assert len(kept.encode()) + cut == size


@settings(deadline=None, max_examples=60)
@given(values)
def test_any_json_value_digests_to_text_that_a_tokenizer_can_take(value: Any) -> None:
    result = digest("", value, max_bytes=10_000_000)
    result.text.encode()
    if isinstance(value, dict) and len(value) > 1:
        assert json.loads(result.text) == value


def test_a_lone_surrogate_becomes_a_question_mark() -> None:
    assert digest("caf\ud800").text == "caf?"


def test_json_of_very_many_values_is_kept_as_text_alone() -> None:
    most = {"a": [{"n": n} for n in range(MAX_VALUES // 2 - 1)]}  # two values each, and the outer two
    assert digest("", most, max_bytes=50) == digest(json.dumps(most), max_bytes=50)
    assert digest("", most).structured == most
    more = digest("", {"a": [*most["a"], 1]}, max_bytes=50)
    assert more.structured is None
    assert more.text.startswith('{"a":[{"n":0}')
    assert digest("", {"error": [0] * MAX_VALUES}).is_error


def test_json_that_cannot_be_written_down_or_computed_with_is_mended_or_left_as_text() -> None:
    odd = digest('{"title": "a\\ud83c", "price": NaN, "most": Infinity, "modulus": ' + "9" * 400 + "}").structured
    assert isinstance(odd, dict)
    json.dumps(odd, ensure_ascii=False).encode()
    assert (odd["price"], odd["most"], odd["modulus"]) == (None, None, "9" * 400)
    deep = "[" * 80 + "]" * 80
    assert (digest(deep).structured, digest(deep).text) == (None, deep)


def test_of_a_result_that_was_cut_a_model_reads_what_the_text_shows() -> None:
    rows = [{"n": n, "text": "door opened " * 20} for n in range(100)]
    cut = digest("", {"room": "R3", "events": rows, "count": 100})
    assert cut.structured == {"room": "R3", "events": rows, "count": 100}, "probing harvests all of it"
    read = as_read(cut)
    whole_rows = cut.text.count('"n":') - 1  # the last one in the text is cut
    assert read.structured == {"room": "R3", "events": rows[:whole_rows]}
    assert read.text == cut.text
    numbers = digest("", [*range(1_000, 4_000)])  # the marker behind the text has numbers, too
    shown = as_read(numbers).structured
    assert shown == [*range(1_000, 1_000 + len(shown))]
    assert len(shown) == 800  # of four digits and a comma each
    whole = digest("", {"room": "R3"})
    assert as_read(whole) is whole
