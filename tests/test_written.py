"""The servers that were written down whole: every call runs, and none is a double of a server that tests are about."""

import json

import anyio
import pytest
import written
from support.paths import TESTS

from mcprl.text import stems
from mcprl.types import ToolResult

SHOWN_ON = json.loads((TESTS / "support" / "shown_on.json").read_text())
KINDS = {"lookup", "chain", "write", "list", "missing", "ask", "decline"}


@pytest.mark.parametrize("name", written.names())
def test_what_people_ask_a_written_server_is_served_by_its_tools(name: str) -> None:
    tools, talks = written.conversations(name)
    assert len(talks) == 60
    assert {kind for kind, _ in talks} == KINDS
    listed = {tool.name for tool in tools}
    for kind, (request, *turns, answer) in talks:
        calls = [turn["tool_calls"][0]["function"] for turn in turns if turn["role"] == "assistant"]
        results = [turn["content"] for turn in turns if turn["role"] == "tool"]
        assert {call["name"] for call in calls} <= listed, request
        assert bool(calls) == (kind not in ("ask", "decline")), request
        assert not any("validation error" in result for result in results), (request, results)
        assert all(turn["content"].strip() for turn in (request, answer))


def test_no_tool_of_a_written_server_has_the_name_of_one_that_models_are_shown_on() -> None:
    shown = {tuple(sorted(stems(tool))) for tools in SHOWN_ON.values() for tool in tools}
    assert not [
        (name, tool.name)
        for name in written.names()
        for tool in written.conversations(name)[0]
        if tuple(sorted(stems(tool.name))) in shown
    ]


def test_no_two_requests_are_the_same() -> None:
    asked = [talk[0]["content"] for name in written.names() for _, talk in written.conversations(name)[1]]
    assert len({request.casefold() for request in asked}) == len(asked) == 60 * len(written.names())


def test_a_step_has_a_server_s_conversations_and_strangers_and_none_that_is_held_out() -> None:
    parts = [written.chunk(number) for number in range(4 * (len(written.names()) - len(written.HELD_OUT)))]
    assert {name for name, _ in parts} == {*written.names()} - {*written.HELD_OUT}
    assert len({talk[0]["content"] for _, talks in parts for _, talk in talks}) == 60 * len({name for name, _ in parts})
    asked = {talk[0]["content"]: name for name in written.names() for _, talk in written.conversations(name)[1]}
    for number in range(20):
        both = list(written.strangers("library", number))
        assert len(both) == 2
        assert not {asked[request["content"]] for _, (_, (request, _)) in both} & {"library", *written.HELD_OUT}


def test_sessions_of_a_written_server_share_nothing() -> None:
    """Neither with one that is open, nor with one that has ended."""
    server = written.Written(written.FOLDER / "library")
    tasks = [json.loads(line) for line in (server.folder / "tasks.jsonl").read_text().splitlines()]
    call = next(task["calls"][-1] for task in tasks if task["kind"] == "write")

    async def results() -> list[ToolResult]:
        async with server.session() as one, server.session() as other:
            first = [await session.call(call["tool"], call["arguments"]) for session in (one, other)]
        async with server.session() as again:
            return [*first, *[await again.call(call["tool"], call["arguments"]) for _ in range(2)]]

    one, other, later, repeated = anyio.run(results)
    assert one == other == later
    assert repeated != one, "the write is seen in its own session"
