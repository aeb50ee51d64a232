"""Failures are told from results by what a tool returns for nonsense."""

# ruff: noqa: E501
from collections.abc import Mapping

import pytest

from mcprl.scenarios.probing.failures import Failures
from mcprl.servers.digest import digest
from mcprl.types import ToolResult

Learnt = list[tuple[Mapping[str, object], str]]

SQL: Learnt = [({"query": "xyzzy plugh"}, 'Database error: near "xyzzy": syntax error')]
ORDERS: Learnt = [({"order_id": "paddle"}, "Order not found: paddle")]
SPANISH: Learnt = [({"pedido": "paddle"}, "Lo siento, no encuentro el pedido paddle."), ({"pedido": "mirror"}, "Lo siento, no encuentro el pedido mirror.")]  # fmt: skip
SEARCH: Learnt = [({"q": "zq paddle"}, "Your search for 'zq paddle' did not match anything.")]
JSONS: Learnt = [({"id": "paddle"}, '{"ok": true, "message": "There is no order paddle", "order": null}')]
PATHS: Learnt = [({"path": "/paddle"}, "Access denied - path outside allowed directories: /paddle not in /tmp/files")]
CITY: Learnt = [({"city": "paddle"}, "I do not know the city paddle"), ({"city": "young mirror"}, "I do not know the city young mirror")]  # fmt: skip


def taught(learnt: Learnt) -> Failures:
    failures = Failures()
    for arguments, text in learnt:
        failures.learn("tool", arguments, digest(text))
    return failures


@pytest.mark.parametrize(
    ("learnt", "arguments", "text"),
    [
        (SQL, {"query": "select * from paddle"}, "Database error: no such table: paddle"),
        (SQL, {"query": "select pice from products"}, "Database error: no such column: pice"),
        (SQL, {"query": "select"}, "Database error: incomplete input given"),
        (ORDERS, {"order_id": "O-9"}, "Order not found: O-9"),
        (SPANISH, {"pedido": "O-9"}, "Lo siento, no encuentro el pedido O-9."),
        (SPANISH, {"pedido": "O-9"}, "Lo siento, el pedido O-9 ya no existe."),
        (SEARCH, {"q": "oak"}, "Your search for 'oak' did not match anything."),
        (JSONS, {"id": "O-9"}, '{"ok": true, "message": "There is no order O-9", "order": null}'),
        (PATHS, {"path": "/etc/x"}, "Access denied - path outside allowed directories: /etc/x not in /tmp/files"),
        (CITY, {"city": "Qom"}, "I do not know the city Qom"),
        ([], {}, "[]"),
        ([], {}, ""),
        ([], {"q": "a"}, "No results."),
        ([], {}, '{"entities":[],"relations":[]}'),
        ([], {}, '{"orders":[],"total":0}'),
        ([], {}, "Traceback (most recent call last):\n  File x\nKeyError: 'a'"),
        ([], {}, "KeyError: 'a'"),
        ([], {}, "sqlite3.OperationalError: no such table: a"),
        ([], {}, "Database error: no such table: a"),
    ],
)
def test_a_failure_is_told(learnt: Learnt, arguments: dict[str, object], text: str) -> None:
    assert taught(learnt).is_failure("tool", arguments, digest(text))


@pytest.mark.parametrize(
    "short", ["open", "12", "true", "false", "Done", "Ana Kovac", "EUR 12.50", "No", "0", '{"open":false}']
)
@pytest.mark.parametrize("learnt", [[], SQL, ORDERS, SPANISH, SEARCH, JSONS, CITY])
def test_a_short_result_is_no_failure(learnt: Learnt, short: str) -> None:
    assert not taught(learnt).is_failure("tool", {"id": "O-17"}, digest(short))


@pytest.mark.parametrize(
    ("learnt", "arguments", "text"),
    [
        (SQL, {"query": "select name from products"}, "[{'name': 'Oak shelf'}]"),
        (SQL, {"query": "insert into towns values('Lyon')"}, "[{'affected_rows': 1}]"),
        (ORDERS, {"order_id": "O-17"}, "Order O-17 is open."),
        ([({"id": "paddle"}, "The order paddle was not found.")], {"id": "O-17"}, "The order O-17 is open."),
        ([({"id": "paddle"}, "Status: not known here")], {"id": "O-17"}, "Status: open"),
        (JSONS, {"id": "O-17"}, '{"ok": true, "message": "Found it", "order": {"id": "O-17", "total": 12.5}}'),
        ([({"a": 17, "b": 4}, "The sum of 17 and 4 is 21."), ({"a": 3, "b": 9}, "The sum of 3 and 9 is 12.")], {"a": 1, "b": 2}, "The sum of 1 and 2 is 3."),
        ([({"a": 17, "b": 4}, "The sum of 17 and 4 is 21.")], {"a": 1, "b": 2}, "The sum of 1 and 2 is 3."),
        ([({"city": "paddle"}, '{"city":"paddle","temp":12,"sky":"clear"}')], {"city": "Lyon"}, '{"city":"Lyon","temp":15,"sky":"clear"}'),
        ([({"q": "paddle"}, '[{"a":"x y"},{"a":"z w"}]')], {"q": "oak"}, '[{"a":"x y"},{"a":"z w"}]'),
        ([], {}, "Mean error: 0.3"),
        ([], {}, "Nothing else matters by Metallica, 1991"),
        (PATHS, {"path": "/tmp/files"}, "[FILE] a.txt\n[DIR] docs"),
    ],
)  # fmt: skip
def test_a_result_is_no_failure(learnt: Learnt, arguments: dict[str, object], text: str) -> None:
    assert not taught(learnt).is_failure("tool", arguments, digest(text))


def test_an_echo_is_no_failure() -> None:
    failures = Failures()
    failures.learn("echo", {"message": "paddle"}, ToolResult("Echo: paddle"))
    failures.learn("echo", {"message": "young mirror"}, ToolResult("Echo: young mirror"))
    assert not failures.is_failure("echo", {"message": "hello"}, ToolResult("Echo: hello"))


def test_what_one_tool_fails_with_is_known_of_another() -> None:
    failures = Failures()
    failures.learn("read_query", {"query": "xyzzy"}, ToolResult('Datenbank Fehler: near "xyzzy": syntax error'))
    assert failures.is_failure("describe_table", {"table_name": "a"}, ToolResult("Datenbank Fehler: no such table: a"))
    assert not failures.is_failure("describe_table", {"table_name": "a"}, ToolResult("id, name"))


def test_a_nonsense_reply_of_a_megabyte_is_fast() -> None:
    failures = Failures()
    failures.learn("tool", {"q": "x" * 100_000}, ToolResult("y " * 500_000))
    assert not failures.is_failure("tool", {"q": "z"}, ToolResult("y " * 500_000))
