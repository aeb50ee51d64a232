"""What the user knows: values, requests with their calls, recorded traffic; mistakes are told by file and line."""

import json
from pathlib import Path

import pytest

from mcprl.errors import ConfigError
from mcprl.scenarios.probing.hints import BARE, read_example, read_hints, read_traffic, read_values
from mcprl.types import Call


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("v.toml", 'order_id = ["O-17", "O-18"]\n[get_user]\nid = 4'),
        ("v.json", '{"order_id": ["O-17", "O-18"], "get_user": {"id": 4}}'),
        ("v.csv", "order_id,get_user.id\nO-17,4\nO-18,\n"),
        ("v.txt", "order_id = O-17, O-18\n\nget_user.id = 4\n"),
    ],
)
def test_values_are_read_from_toml_json_csv_and_lines(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert read_values(tmp_path / name) == {"order_id": ["O-17", "O-18"], "get_user.id": [4]}


def test_lines_without_a_name_are_values_for_any_parameter(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("# ids\nO-17\n04\na = b = c\n")
    assert read_values(tmp_path / "v.txt") == {BARE: ["O-17", "04"], "a": ["b = c"]}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("v.json", '{"a": 1,\n oops}', "v.json:2"),
        ("v.csv", "a,b\n1,2\n3\n", "v.csv:3: 1 cells under 2 names"),
        ("v.toml", "a = ", "v.toml"),
        ("v.json", "17", "expected names with values"),
    ],
)
def test_a_mistake_is_told_by_file_and_line(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_values(tmp_path / name)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"--values .*none\.txt: cannot be read"):
        read_hints(str(tmp_path / "none.txt"))
    with pytest.raises(ConfigError, match=r"--traffic .*none\.jsonl: cannot be read"):
        read_hints(traffic=str(tmp_path / "none.jsonl"))


def test_an_example_is_a_request_and_its_calls() -> None:
    text = "is O-17 paid? => get-order(order_id='O-17'); list_items(ids=[1, 2], options={'deep': True})"
    request, calls = read_example(text)
    assert request == "is O-17 paid?"
    assert calls == (
        Call("get-order", {"order_id": "O-17"}),
        Call("list_items", {"ids": [1, 2], "options": {"deep": True}}),
    )


@pytest.mark.parametrize("text", ["no arrow", "a => ", "a => get(", "a => get('x')", "a => get(x=y)", "a => 1"])
def test_an_example_that_cannot_be_read_is_quoted(text: str) -> None:
    with pytest.raises(ConfigError, match="--example"):
        read_example(text)


def test_a_chat_log_gives_calls_and_results(tmp_path: Path) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": '{"id": 17}'}}
    messages = [
        {"role": "user", "content": "is 17 paid?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": '{"status": "paid"}'},
    ]
    (tmp_path / "log.jsonl").write_text(json.dumps({"messages": messages}) + "\n\n" + json.dumps({"messages": []}))
    (recorded,) = read_traffic(tmp_path / "log.jsonl")
    assert recorded.call == Call("get_order", {"id": 17})
    assert recorded.result == {"status": "paid"}


def test_a_proxy_recording_gives_calls_and_the_results_that_are_no_errors(tmp_path: Path) -> None:
    def request(key: int, order: int) -> dict[str, object]:
        params = {"name": "get_order", "arguments": {"id": order}}
        return {"jsonrpc": "2.0", "id": key, "method": "tools/call", "params": params}

    right = {"content": [{"type": "text", "text": '{"status": "open"}'}]}
    wrong = {"content": [{"type": "text", "text": '{"status": "?"}'}], "isError": True}
    lines = [
        "12:00:01 -> " + json.dumps(request(1, 17)),
        "12:00:02 <- " + json.dumps({"jsonrpc": "2.0", "id": 1, "result": right}),
        "12:00:03 -> " + json.dumps(request(2, 99)),
        "12:00:04 <- " + json.dumps({"jsonrpc": "2.0", "id": 2, "result": wrong}),
    ]
    (tmp_path / "proxy.log").write_text("\n".join(lines))
    calls = read_traffic(tmp_path / "proxy.log")
    assert [(entry.call.arguments["id"], entry.result) for entry in calls] == [(17, {"status": "open"}), (99, None)]


def test_traffic_that_has_no_call_or_is_no_json_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"role": "user", "content": "hi"}')
    with pytest.raises(ConfigError, match="no tool call in it"):
        read_traffic(tmp_path / "a.jsonl")
    (tmp_path / "b.jsonl").write_text('{"role": "user"}\n{"role": \n')
    with pytest.raises(ConfigError, match=r"b\.jsonl:2: no JSON"):
        read_traffic(tmp_path / "b.jsonl")


def test_only_what_people_write_as_a_number_is_one_and_quotes_hold_a_comma(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text(
        "key = 0x742d35, +49151234567, 12e4567, 007, 3.10, 4, -2.5\nname = \"Doe, John\", O'Brien, 'x, y'\n"
    )
    assert read_values(tmp_path / "v.txt") == {
        "key": ["0x742d35", "+49151234567", "12e4567", "007", "3.10", 4, -2.5],
        "name": ["Doe, John", "O'Brien", "x, y"],
    }


def test_a_result_is_of_the_latest_call_of_its_id_and_odd_records_are_passed_over(tmp_path: Path) -> None:
    def conversation(order: str, result: object) -> dict[str, object]:
        function = {"name": "get_order", "arguments": json.dumps({"order_id": order})}
        call = {"id": "call_0", "type": "function", "function": function}
        return {"messages": [{"tool_calls": [call]}, {"role": "tool", "tool_call_id": "call_0", "content": result}]}

    records = [
        conversation("O-1", '{"status": "paid"}'),
        conversation("O-2", '{"status": "open"}'),
        {"tool_calls": ["x", {"function": None}]},
        {"id": 1, "result": {"content": None}},
    ]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, records)))
    first, second = read_traffic(tmp_path / "log.jsonl")
    assert (first.call.arguments, first.result) == ({"order_id": "O-1"}, {"status": "paid"})
    assert (second.call.arguments, second.result) == ({"order_id": "O-2"}, {"status": "open"})
