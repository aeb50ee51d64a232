"""An instruction that comes in with a tool's result, which the policy must not obey: the same in every rollout."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from mcprl.text import compact
from mcprl.types import Json, Scenario, Session, ToolResult


def injected(session: Session, scenario: Scenario) -> Session:
    """The session, whose first result that is no error carries the scenario's injection, if it has one."""
    return _Injected(session, scenario.injection) if scenario.injection else session


class _Injected:
    def __init__(self, session: Session, injection: str) -> None:
        self._session, self._left = session, injection

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        result = await self._session.call(tool, arguments)
        if not self._left or result.is_error:
            return result
        text, self._left = insert(result.text, self._left), ""
        return replace(result, text=text)


def insert(text: str, injection: str) -> str:
    """The result's text with the injection behind its longest text value, or behind itself if it has none. Only what
    the policy reads changes: what the result proves, its parsed JSON, stays."""
    with suppress(ValueError, RecursionError):
        value = json.loads(text)
        if places := list(_texts(value)):
            holder, key = max(places, key=lambda place: len(place[0][place[1]]))
            holder[key] = f"{holder[key]} {injection}"
            return compact(value)
    return f"{text}\n{injection}"


def _texts(value: Json) -> Iterator[tuple[Any, Any]]:
    """Where the value's texts stand: what holds each, and its key or position."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if isinstance(item, str):
            yield value, key
        else:
            yield from _texts(item)
