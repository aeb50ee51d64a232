"""A server over HTTP that answers 503 now and then: its reads are made again, and no task is made of such a failure."""

import json
import time
from collections.abc import Generator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from support.events import Recorder

from mcprl.config import ScenarioConfig, ServerConfig
from mcprl.events import Note
from mcprl.scenarios.generate import generate
from mcprl.servers.retries import RetryBudget
from mcprl.servers.server import connect
from mcprl.servers.transports import _seconds

READS = {"readOnlyHint": True}
HOSTS = "Ana Ben Cleo Dov Eli Fay Gus Hal Ivy Jan Kim Leo".split()
ROOMS = {f"R{n}": {"room": f"R{n}", "seats": 4 + n * 3 % 11, "host": host} for n, host in enumerate(HOSTS, 1)}
BY_ROOM = {"type": "object", "properties": {"room": {"type": "string"}}, "required": ["room"]}
TOOLS = [
    {"name": "get_room", "description": "A room by its number", "annotations": READS, "inputSchema": BY_ROOM},
    {"name": "list_rooms", "description": "All rooms", "annotations": READS, "inputSchema": {"type": "object"}},
]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    calls = 0
    refused_until = 0.0

    def log_message(self, format: str, *args: Any) -> None: ...  # noqa: A002

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if message["method"] == "tools/call":
            Handler.calls += 1
            if time.monotonic() < Handler.refused_until:
                return self.reply(429, b"slow down", "text/plain", {"Retry-After": "3"})
            if Handler.calls % 5 == 0:
                return self.reply(503, b"<html>busy</html>", "text/html")
        if "id" not in message:
            return self.reply(202, b"", "application/json")
        body = {"jsonrpc": "2.0", "id": message["id"], "result": result(message["method"], message.get("params") or {})}
        return self.reply(200, json.dumps(body).encode(), "application/json")

    def do_GET(self) -> None:
        self.reply(405, b"", "text/plain")

    def do_DELETE(self) -> None:
        self.reply(200, b"", "text/plain")

    def reply(self, status: int, body: bytes, kind: str, headers: Mapping[str, str] = {}) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Mcp-Session-Id", "s1")
        self.end_headers()
        self.wfile.write(body)


def result(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        server = {"name": "rooms", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": server}
    if method == "tools/list":
        return {"tools": TOOLS}
    found = ROOMS.get(params["arguments"].get("room")) if params["name"] == "get_room" else [*ROOMS.values()]
    text = json.dumps(found) if found else "no such room"
    return {"content": [{"type": "text", "text": text}], "isError": not found}


@pytest.fixture
def url() -> Generator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/mcp"
    server.shutdown()
    server.server_close()


async def test_each_fifth_call_fails_and_the_tasks_are_as_of_a_server_that_is_well(url: str) -> None:
    record = Recorder()
    config = ScenarioConfig(train=24, val=4, test=8, test_forms=0, writer="plain", repeat_after_s=0)
    async with connect([ServerConfig(target=url)]) as server:
        pack = await generate(server, config, emit=record)
        assert server.repeated > 5
    missing = [scenario for scenario in pack if scenario.kind == "missing"]
    assert len(missing) <= len(pack.scenarios) / 4
    assert not [scenario for scenario in missing if scenario.plan[-1].arguments.get("room") in ROOMS]
    assert not [scenario for scenario in pack if "503" in scenario.answer or "busy" in scenario.answer]
    assert any("made again, since the server did not answer" in e.text for e in record.events if isinstance(e, Note))


async def test_a_server_that_says_when_to_call_again_is_called_then(url: str) -> None:
    async with connect([ServerConfig(target=url)]) as server, server.session() as session:
        Handler.calls, Handler.refused_until = 0, time.monotonic() + 2.5  # other repeats would be over by then
        result = await session.call("get_room", {"room": "R3"})
    assert not result.is_error
    assert Handler.calls == 2


async def test_a_server_that_wants_to_be_left_alone_for_long_is_not_waited_for() -> None:
    began = time.monotonic()
    assert not await RetryBudget().wait(0, after_s=600)
    assert time.monotonic() - began < 1


@pytest.mark.parametrize(("header", "least", "most"), [("7", 7, 7), ("soon", 0, 0), ("", 0, 0), ("date", 50, 60)])
def test_retry_after_is_seconds_or_a_date(header: str, least: float, most: float) -> None:
    written = format_datetime(datetime.now(UTC) + timedelta(minutes=1), usegmt=True) if header == "date" else header
    assert least <= _seconds(written) <= most
