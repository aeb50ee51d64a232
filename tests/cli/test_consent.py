"""What a user allows of unmarked tools: asked on a terminal, remembered, shown, and taken back."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.command_line import mcprl
from support.listed import HOTEL, Listed, listed
from support.terminal import answered

from mcprl.cli.consent import Answers, Undecided
from mcprl.scenarios.packs.pack import tool_hash
from mcprl.types import Tool

TOOLS = [
    listed("get_balance", "Returns the balance of an account.", account="string"),
    listed("add_note", "Add a note.", text="string"),
    listed("transfer_money", "Transfer money to an account.", amount="number"),
    listed("tie_knot", "Off it goes."),
]


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "mcprl" / "tools.json"


WHICH, MAY = "Which may be called?", "[a]lways:"
"""How the questions end: which of the unmarked tools, and whether one tool."""


def rows(printed: str) -> dict[str, str]:
    return {line.split()[0]: line for line in printed.splitlines() if line.strip()}


def test_the_answer_is_asked_for_once_remembered_shown_and_taken_back(tmp_path: Path, state: Path) -> None:
    server = Listed(tmp_path / "server", TOOLS)
    plan = ["scenarios", "--plan-calls", "--server", server.command]
    printed, shown, code = answered([(WHICH, "p")], *plan)
    assert code == 0, shown
    assert "does not mark what 4 of its tools do" in shown
    assert "transfer_money dangerous" in shown
    assert f"remembered in {state}" in shown
    assert rows(printed)["get_balance"].split()[1] == "read"
    assert rows(printed)["add_note"].split()[1] == "write"
    assert {"transfer_money", "tie_knot"}.isdisjoint(rows(printed))
    assert {entry["name"] for entry in json.loads(state.read_text())[server.command].values()} == {
        tool["name"] for tool in TOOLS
    }

    again, shown, _ = answered([], *plan)
    assert again == printed
    assert "Which may be called" not in shown
    inspected = rows(mcprl("inspect", "--server", server.command).out)
    assert "read (remembered)" in inspected["get_balance"]
    assert "you answered no (--forget asks again)" in inspected["transfer_money"]

    forgotten = mcprl("inspect", "--server", server.command, "--forget")
    assert forgotten.out.startswith("4 answers forgotten")
    assert "read (" not in mcprl("inspect", "--server", server.command).out
    assert server.calls() == []


def test_a_tool_that_changed_is_another_one(tmp_path: Path) -> None:
    server = Listed(tmp_path / "server", [*HOTEL, *TOOLS])
    answered([(WHICH, "r")], "scenarios", "--plan-calls", "--server", server.command)
    plan = ["scenarios", "--plan-calls", "--server", server.command]
    assert "get_balance" in rows(mcprl(*plan).out)
    assert "add_note" not in rows(mcprl(*plan).out)
    changed = [{**TOOLS[0], "description": "Returns the balance, and closes the account."}]
    Listed(tmp_path / "server", [*HOTEL, *changed])
    assert "get_balance" not in rows(mcprl(*plan).out)


def test_without_a_terminal_a_line_names_the_flags_and_nothing_is_asked(tmp_path: Path, state: Path) -> None:
    server = Listed(tmp_path, [*HOTEL, *TOOLS])
    done = mcprl("scenarios", "--plan-calls", "--server", server.command)
    assert done.code == 0
    for flag in ("get_balance=read", "add_note=write", "transfer_money=write", "tie_knot=write"):
        assert f"--assume {flag}" in done.err
    assert done.err.count("\n") == 1
    assert set(rows(done.out)) >= {"list_rooms", "get_room"}
    assert not state.exists()
    assert server.calls() == []


def test_no_is_an_answer_and_then_nothing_is_left_to_call(tmp_path: Path) -> None:
    runs = ["--runs-dir", str(tmp_path / "none")]
    _, shown, code = answered([(WHICH, "n")], "train", "--server", Listed(tmp_path, TOOLS).command, *runs)
    assert code == 2
    assert "no tool of the server may be called: 4 of 4 tools are not called" in shown
    assert not (tmp_path / "none").exists()


def test_names_and_descriptions_cannot_write_on_the_terminal(tmp_path: Path) -> None:
    server = Listed(tmp_path, [listed("get_x\x1b[2J", "Reads\x1b[1A it. \u202egood\x07"), *HOTEL])
    _, shown, _ = answered([(WHICH, "n")], "scenarios", "--plan-calls", "--server", server.command)
    printed = mcprl("inspect", "--server", server.command).out
    for mark in ("\x1b[2J", "\x1b[1A", "\u202e", "\x07"):
        assert mark not in shown + printed
    assert "get_x?[2J" in printed


def test_a_name_that_is_a_glob_allows_itself_alone(tmp_path: Path) -> None:
    server = Listed(tmp_path, [listed("get_*", "Gets it"), listed("get_and_close", "Gets and closes it"), *HOTEL])
    plan = ["scenarios", "--plan-calls", "--server", server.command]
    for answers in ([(WHICH, "r")], []):
        printed, _, _ = answered(answers, *plan)
        assert "get_*" in rows(printed)
        assert "get_and_close" not in rows(printed)


def test_approval_is_asked_for_once_a_tool_and_always_is_remembered(tmp_path: Path) -> None:
    server = Listed(tmp_path / "server", HOTEL)
    make = ["scenarios", "--approve", "--small-pack", "--test-forms", "0", "--server", server.command]
    sizes = [
        "--train-tasks",
        "4",
        "--val-tasks",
        "2",
        "--test-tasks",
        "2",
        "--probe-calls",
        "20",
        "--repeat-after-s",
        "0.1",
    ]
    _, shown, code = answered([(MAY, "a"), (MAY, "n")], *make, *sizes)
    assert code == 0, shown
    assert shown.count("be called (read-only)?") == 2
    assert "May list_rooms be called" in shown
    assert {*server.calls()} == {"list_rooms"}

    alone = mcprl(*make, *sizes)
    assert alone.code == 2
    assert "there is none to ask about get_room; name what may be called with --allow-tool" in alone.err
    assert alone.err.count("\n") == 1
    assert mcprl(*make, *sizes, "--deny-tool", "get_room").code == 0

    _, shown, code = answered([(MAY, "y")], *make, *sizes)
    assert code == 0, shown
    assert "May list_rooms" not in shown
    assert "get_room" in server.calls()
    assert mcprl("inspect", "--server", server.command, "--forget").out.startswith("1 answer forgotten")


def test_what_is_approved_and_what_a_tool_does_are_remembered_beside_each_other(state: Path) -> None:
    one = Undecided("server", "get_balance", Tool("get_balance"))
    Answers().remember([one], {one.name: "read"})
    assert not Answers().approves(one)
    Answers().approve(one)
    assert Answers().approves(one)
    assert Answers().of([one]) == {one.name: "read"}
    assert not Answers().approves(Undecided("server", "get_balance", Tool("get_balance", "Another one.")))


def test_a_damaged_memory_allows_nothing(tmp_path: Path, state: Path) -> None:
    server = Listed(tmp_path / "server", [*HOTEL, *TOOLS])
    state.parent.mkdir(parents=True)
    hashes = {tool_hash([Tool(tool["name"], tool["description"], tool["inputSchema"])]): tool for tool in TOOLS}
    damaged: tuple[Any, ...] = ([], "all", {"name": "x"}, {"name": "x", "answer": "all"})
    contents = [json.dumps({server.command: dict.fromkeys(hashes, entry)}) for entry in damaged]
    for content in ("{", *contents):
        state.write_text(content)
        assert "2 of 6 tools may be called" in mcprl("inspect", "--server", server.command).out
    state.write_text(json.dumps({server.command: {key: {"name": "x", "answer": "read"} for key in hashes}}))
    assert "6 of 6 tools may be called" in mcprl("inspect", "--server", server.command).out
