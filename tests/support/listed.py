"""Servers with any tools, which keep a record of every call (`servers/listed.py`)."""

import json
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.loopback import http
from support.paths import SERVERS


class Listed:
    """A server with these tools: its command for stdio, and what was called so far."""

    def __init__(self, folder: Path, tools: Sequence[dict[str, Any]]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._tools, self._log = folder / "tools.json", folder / "calls.log"
        self._tools.write_text(json.dumps(tools))
        self._words = (sys.executable, SERVERS / "listed.py", self._tools, self._log)
        self.command = " ".join(map(str, self._words))

    @contextmanager
    def over_http(self) -> Generator[str]:
        with http([*self._words, "--http"]) as url:
            yield url

    def calls(self) -> list[str]:
        return self._log.read_text().splitlines() if self._log.exists() else []


def listed(
    name: str, description: str = "", hints: dict[str, bool] | None = None, /, **parameters: str
) -> dict[str, Any]:
    """A tool as a server lists it; each parameter with its type, and required."""
    properties = {parameter: {"type": kind} for parameter, kind in parameters.items()}
    schema = {"type": "object", "properties": properties, "required": list(parameters)}
    tool: dict[str, Any] = {"name": name, "description": description, "inputSchema": schema}
    return tool | ({"annotations": hints} if hints is not None else {})


READS = {"readOnlyHint": True}
DANGEROUS: dict[str, list[dict[str, Any]]] = {
    "bank": [
        listed("transfer_money", "Transfer money to an account.", account="string", amount="number"),
        listed("withdraw", "Withdraw cash.", amount="number"),
        listed("get_balance", "Returns the balance of an account.", account="string"),
    ],
    "database": [
        listed("drop_table", "Drop a table.", table="string"),
        listed("execute_sql", "Run any statement.", sql="string"),
        listed("list_tables", "List the tables."),
    ],
    "shell": [listed("run_command", "Run a command.", command="string"), listed("kill_process", "", pid="integer")],
    "disk": [listed("wipe_disk", "Wipe a disk.", device="string"), listed("wipe", ""), listed("format_volume", "")],
    "git": [
        listed("git_push", "Pushes the branch.", branch="string"),
        listed("git_reset", "Unstages all.", repo="string"),
        listed("git_log", "Shows the commit logs", repo="string"),
    ],
    "payments": [listed("charge_card", "Charge a card.", card="string", cents="integer"), listed("payout", "")],
    "orders": [listed("refund_order", "", order_id="string"), listed("return_items", "", order_id="string")],
    "access": [listed("revoke_token", "", token="string"), listed("grant_role", "", user="string", role="string")],
    "release": [listed("deploy_service", "", service="string"), listed("rollback", ""), listed("scale_to_zero", "")],
    "mail": [listed("send_email", "", to="string", body="string"), listed("unsubscribe_all", "")],
    "support": [
        listed("transfer_to_human_agents", "Hands over.", summary="string"),
        listed("discard", "", id="string"),
    ],
    "chat": [listed("post_message", "", channel="string", text="string"), listed("invite_user", "", user="string")],
    "home": [listed("unlock_door", "", door="string"), listed("open_garage", ""), listed("start_oven", "")],
    "cloud": [listed("terminate_instance", "", id="string"), listed("purge_cache", ""), listed("rotate_keys", "")],
    "market": [listed("place_order", "", symbol="string", shares="integer"), listed("sell_all", "")],
    "people": [listed("terminate_employee", "", name="string"), listed("approve_leave", "", id="string")],
    "queue": [
        listed("get_next_job", "Takes the next job and marks it as taken."),
        listed("get_and_delete", "Returns a message.", id="string"),
        listed("fetch_and_merge", ""),
    ],
    "browser": [listed("browser_click", "", selector="string"), listed("submit_form", "", fields="string")],
    "crm": [listed("convert_lead", "Converts a lead.", id="string"), listed("merge_contacts", "", ids="string")],
    "misc": [listed("tie_cards", ""), listed("launch", "", code="string"), listed("отправить", "Отправить письмо")],
}
"""Twenty servers whose tools have no annotations."""
ROOMS: list[dict[str, Any]] = [
    {"room": f"R-{number}", "floor": number // 10, "guest": guest, "rate": 60 + 7 * number}
    for number, guest in enumerate(("Ada Moss", "Ben Hale", "Cleo Park", "Dirk Voss", "Ena Lund", "Fay Ruiz") * 6, 11)
]
HOTEL: list[dict[str, Any]] = [
    listed("list_rooms", "List all rooms.", READS) | {"rows": ROOMS},
    listed("get_room", "Get a room with its guest and rate.", READS, room="string") | {"rows": ROOMS},
]
"""Two tools that are marked as reading, with data for tasks."""
