"""What people reported of servers, clients, models and judges, made small. docs/outside.md names the reports."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from support.fake_llm import Reply, serving

from mcprl.chat import forms
from mcprl.config import ServerConfig
from mcprl.errors import ServerError
from mcprl.judges.prompt import read
from mcprl.llm.litellm import ChatModel
from mcprl.servers.clients import read_servers
from mcprl.servers.server import connect

WILD = Path(__file__).with_name("wild.py")
pytestmark = pytest.mark.anyio


def wild(quirk: str, timeout_s: float = 20) -> ServerConfig:
    return ServerConfig(target=f"{sys.executable} {WILD} {quirk}", timeout_s=timeout_s)


@pytest.mark.parametrize(
    "quirk", ["crlf", "bom", "text_id", "no_capability", "null_error", "noise", "logs", "ends_empty", "same_cursor"]
)
async def test_a_server_with_this_quirk_is_used(quirk: str) -> None:
    async with connect([wild(quirk)]) as server, server.session() as session:
        assert len(server.listing) == 1
        result = await session.call(server.tools[0].name, {})
    assert json.loads(result.text) == {"seats": 12}


@pytest.mark.parametrize(
    ("quirk", "said"),
    [
        ("zero_id", "listing its tools failed: no answer within 2 s"),
        ("future", "Unsupported protocol version from the server: 2031-01-01"),
        ("batch", "no answer within 2 s; is it an MCP server?"),
    ],
)
async def test_a_server_that_cannot_be_used_ends_in_one_line(quirk: str, said: str) -> None:
    with pytest.raises(ServerError, match=said):
        async with connect([wild(quirk, timeout_s=2)]):
            pass


async def test_an_empty_cursor_leads_to_the_next_page() -> None:
    async with connect([wild("empty_cursor")]) as server:
        assert [tool.name for tool in server.tools] == ["first", "second"]


async def test_one_tool_with_a_schema_that_is_none_does_not_take_the_others_along() -> None:
    async with connect([wild("schemas")]) as server, server.session() as session:
        left_out = {status.name: status.reason for status in server.listing if not status.allowed}
        assert left_out == {
            "none": "malformed: inputSchema: Input should be a valid dictionary",
            "missing": "malformed: inputSchema: Field required",
        }
        for tool in server.tools:
            assert not (await session.call(tool.name, {})).is_error


async def test_results_are_read_whatever_their_tool_promised() -> None:
    async with connect([wild("results")]) as server, server.session() as session:
        results = {tool.name: await session.call(tool.name, {}) for tool in server.tools}
    for name in ("no_structure", "structure_alone", "content_null"):
        assert json.loads(results[name].text) == {"seats": 12}, name
        assert not results[name].is_error
    assert json.loads(results["other_shape"].text) == {"chairs": "many"}
    assert results["error_with_structure"].is_error
    assert "no such room" in results["error_with_structure"].text
    for name in ("content_text", "content_object", "legacy"):
        assert results[name].is_error, name
        assert "the server's reply is not MCP: content: " in results[name].text


async def test_tools_are_called_by_the_names_that_servers_give_them() -> None:
    async with connect([wild("names")]) as server, server.session() as session:
        assert len(server.tools) == 6
        for tool in server.tools:
            assert json.loads((await session.call(tool.name, {})).text) == {"seats": 12}


CALLS: dict[str, tuple[str, str | None]] = {
    "braces in a text": (
        '<tool_call>\n{"name": "run", "arguments": {"command": "mkdir -p test/{a,b"}}\n</tool_call>',
        '{"command": "mkdir -p test/{a,b"}',
    ),
    "no arguments": ('<tool_call>{"name": "run"}</tool_call>', "{}"),
    "a name alone outside of a tag": ('One of them is {"name": "run"}.', None),
    "arguments of null": ('{"name": "run", "arguments": null}', "{}"),
    "arguments as an empty text": ('{"name": "run", "arguments": ""}', "{}"),
    "arguments as a text": ('<tool_call>{"name": "run", "arguments": "{\\"a\\": 1}"}</tool_call>', '{"a": 1}'),
    "arguments as a text in a text": (
        json.dumps({"name": "run", "arguments": json.dumps(json.dumps({"a": 1}))}),
        '{"a": 1}',
    ),
    "arguments that are none": ('{"name": "run", "arguments": "now"}', None),
    "a definition": ('```json\n{"name": "run", "parameters": {"type": "object"}}\n```', None),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_are_read_as_small_models_write_them(name: str) -> None:
    text, arguments = CALLS[name]
    found = forms.find(text, {"run"})
    assert (found and found.calls) == ((("run", arguments),) if arguments else None)


@pytest.mark.parametrize(
    ("entry", "read_as"),
    [
        ({"httpUrl": "https://x/mcp"}, {"target": "https://x/mcp"}),
        ({"type": "http", "url": "https://x/mcp?ref=${REF}"}, {"target": "https://x/mcp?ref=abc"}),
        (
            {"url": "https://x/mcp", "headers": {"Authorization": "Bearer ${env:TOKEN}"}},
            {"headers": {"Authorization": "Bearer ${TOKEN}"}},
        ),
        ({"command": "node", "env": {"ROOT": "${workspaceFolder}"}}, {"env": {"ROOT": "FOLDER"}}),
        ({"command": "node", "args": ["${UNSET_HERE:-/data}"]}, {"target": "node /data"}),
    ],
)
def test_the_entries_of_other_clients_files_are_read(
    entry: dict[str, Any], read_as: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REF", "abc")
    monkeypatch.setenv("TOKEN", "s3cret")
    path = tmp_path / ".vscode" / "mcp.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"servers": {"it": entry}}))
    [server] = read_servers(str(path), ["it"])
    right = json.loads(json.dumps(read_as).replace("FOLDER", str(tmp_path)))
    assert {key: server[key] for key in right} == right
    assert "s3cret" not in json.dumps(server)


VERDICT = json.dumps({"scores": [{"trajectory_id": "t1", "score": 0.5}]})


@pytest.mark.parametrize(
    "reply", [f"```json\n{VERDICT}\n```", f"Looking at both, [1] is better.\n```\n{VERDICT}\n```", VERDICT]
)
def test_verdicts_are_found_in_fences_and_prose(reply: str) -> None:
    assert read(reply, ["t1"])["t1"].score == 0.5


async def test_a_verdict_that_a_server_leaves_in_the_models_thoughts_is_read() -> None:
    schema = {"type": "object", "properties": {"scores": {"type": "array"}}}
    ask = [{"role": "user", "content": "Judge."}]
    with serving(lambda *_: Reply("", thought=VERDICT, finish="stop")) as fake:
        model = ChatModel("openai/fake", fake.url, extra={"api_key": "x"})
        assert await model.reply(ask, schema) == VERDICT
        assert "it is empty" in getattr(await model.reply(ask), "fault", "")
