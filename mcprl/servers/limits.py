"""The operator's limits on the calls of a tool that may be called: how many, how fast, and with which arguments."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import anyio
from jsonschema import Draft202012Validator, SchemaError
from referencing import Registry

from mcprl.config import ToolPolicy
from mcprl.errors import ConfigError
from mcprl.servers.permission import matches, said_of
from mcprl.text import seconds_between


class Pace:
    """Calls that begin at least `interval_s` seconds apart, first come first served."""

    def __init__(self, interval_s: float) -> None:
        self._interval_s = interval_s
        self._next = 0.0
        self._line = anyio.Lock()

    async def wait(self) -> None:
        """Wait for the next turn. Who is cancelled while waiting leaves it to the next."""
        async with self._line:
            await anyio.sleep_until(self._next)
            self._next = anyio.current_time() + self._interval_s


@dataclass
class Limits:
    """The limits of one tool, and the calls that were made of it. `most` is `None` if any number may be made, `pace` if
    they may follow each other at once.
    """

    most: int | None
    rules: tuple[Draft202012Validator, ...]
    pace: Pace | None = None
    calls: int = 0

    def refuse(self, arguments: Mapping[str, Any]) -> str:
        """Why a call with these arguments must not be made; empty if it may, and then it is counted."""
        for rule in self.rules:
            for error in rule.iter_errors(dict(arguments)):
                return f"the operator's rule forbids it: {error.message[:300]}"
        if self.most is not None and self.calls >= self.most:
            return f"the {self.most} calls of it that the operator allows are made"
        self.calls += 1
        return ""


def limits(names: Collection[str], policy: ToolPolicy) -> Limits:
    """The limits that the policy sets to a tool. Raises `ConfigError` for a rule that is not a JSON Schema."""
    rules = [_rule(text) for pattern, text in policy.argument_rules.items() if matches(names, [pattern])]
    most = min(said_of(names, policy.max_calls_per_tool), default=None)
    slowest = max(map(seconds_between, said_of(names, policy.max_rate)), default=None)
    return Limits(most, tuple(rules), Pace(slowest) if slowest else None)


def _rule(text: str) -> Draft202012Validator:
    try:
        schema = json.loads(text)
        Draft202012Validator.check_schema(schema)
    except (ValueError, SchemaError) as error:
        reason = error.message if isinstance(error, SchemaError) else str(error)
        raise ConfigError(f"--argument-rule {text[:80]!r} is not a JSON Schema: {reason[:200]}") from None
    return Draft202012Validator(schema, registry=Registry())  # a registry of nothing: no reference is fetched
