"""A library that lists nothing by itself: `python lending.py FILE`. Members and loans are addressed by their ids.

Every result stands in an envelope, every tool takes a namespace, sessions share the file, one tool resets it and one
lists the calls. No tool has hints. It imports nothing slow: a session of a server without hints is a process.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

FILE = Path(sys.argv[1])
FIRST = ("Ada", "Bruno", "Chiara", "Dilek", "Emre", "Farah")
LAST = ("Ruiz", "Okafor", "Lund", "Moreau")
TITLES = ("Tin Harbour", "Slow Rivers", "The Ninth Kite", "Salt and Slate", "A Lamp at Noon")
MEMBERS = 48
State = dict[str, Any]


def fresh() -> State:
    members: State = {}
    loans: State = {}
    for n in range(MEMBERS):
        key, mine = f"m_{7000 + 13 * n}", [f"L{300 + 7 * n + i}" for i in range(1 + n % 3)]
        name = {"first_name": FIRST[n % 6], "last_name": LAST[n // 6 % 4]}
        members[key] = {"member_id": key, "name": name, "postcode": str(10_000 + 37 * n), "loans": mine}
        for i, loan in enumerate(mine):
            title, due = TITLES[(n + i) % 5], f"2026-{1 + n % 12:02}-{10 + i:02}"
            fine = round(0.35 * (n % 9), 2)
            loans[loan] = {"loan_id": loan, "member_id": key, "title": title, "due_date": due, "fine": fine}
    return {"members": members, "loans": loans, "calls": []}


def find_member_id(state: State, first_name: str, last_name: str, postcode: str) -> str:
    """Find the id of a member by name and postcode."""
    wanted = {"first_name": first_name, "last_name": last_name}, postcode
    found = [key for key, one in state["members"].items() if (one["name"], one["postcode"]) == wanted]
    return found[0] if found else state["members"][f"{first_name} {last_name}"]


def get_member_details(state: State, member_id: str) -> State:
    """Get the details of a member, including the loans."""
    return state["members"][member_id]


def get_loan_details(state: State, loan_id: str) -> State:
    """Get the title, the due date and the fine of a loan."""
    return state["loans"][loan_id]


def update_loan_due_date(state: State, loan_id: str, due_date: str) -> State:
    """Change the due date of a loan."""
    state["loans"][loan_id]["due_date"] = due_date
    return state["loans"][loan_id]


def update_member_postcode(state: State, member_id: str, postcode: str) -> State:
    """Change the postcode of a member."""
    state["members"][member_id]["postcode"] = postcode
    return state["members"][member_id]


def reset_state(state: State) -> str:
    """Reset the state of a namespace."""
    state.update(fresh())
    return "reset"


def get_call_log(state: State) -> State:
    """Return the calls made so far."""
    return {"calls": state["calls"][-20:]}


READS = (find_member_id, get_member_details, get_loan_details, get_call_log)
TOOLS: dict[str, Callable[..., Any]] = {
    act.__name__: act for act in (*READS, update_loan_due_date, update_member_postcode, reset_state)
}


def listed(name: str) -> dict[str, Any]:
    keys = [key for key in TOOLS[name].__annotations__ if key not in ("state", "return")]
    properties = {key: {"type": "string"} for key in (*keys, "namespace")}
    schema = {"type": "object", "properties": properties, "required": keys}
    return {"name": name, "description": TOOLS[name].__doc__, "inputSchema": schema}


def called(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The result of a call in its envelope; the state is read from the file and written back."""
    state = json.loads(FILE.read_text()) if FILE.exists() else fresh()
    given = {key: value for key, value in arguments.items() if key != "namespace"}
    try:
        content, ok = TOOLS[name](state, **given), True
    except (KeyError, TypeError) as error:
        content, ok = f"Error: {error.args[0]} is not known", False
    state["calls"].append({"name": name, "arguments": given})
    FILE.write_text(json.dumps(state))
    result = {"ok": ok, "tool": name, "arguments": given, "call": len(state["calls"]), "content": content}
    return {"content": [{"type": "text", "text": json.dumps(result)}], "isError": not ok}


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    match message["method"]:
        case "initialize":
            info = {"name": "lending", "version": "1"}
            answer = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            answer = {"tools": [listed(name) for name in TOOLS]}
        case "tools/call":
            answer = called(message["params"]["name"], message["params"].get("arguments") or {})
        case _:
            answer = {}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer}) + "\n")
    sys.stdout.flush()
