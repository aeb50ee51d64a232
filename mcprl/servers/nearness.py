"""Whether a recorded call is the call that is made, and if not, how far it is from it.

A recorded call is near if every required argument agrees, and at least half of all that either call names. Texts agree
whatever their case and spaces, a number agrees with its digits as text, and a missing argument is its schema's default.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from mcprl.servers.arguments import same_arguments
from mcprl.types import Json

_HIDDEN = "***"

Arguments = Mapping[str, Any]


def spelled(arguments: Arguments) -> str:
    """Arguments as text, equal for equal arguments."""
    return json.dumps(arguments, sort_keys=True, ensure_ascii=False)


def is_same(made: Arguments, recorded: Arguments, schema: Arguments) -> bool:
    """Whether it is the same call. What was hidden as a secret when it was recorded equals anything."""
    if same_arguments(made, recorded, schema):
        return True
    parts = spelled(recorded).split(_HIDDEN)
    return len(parts) > 1 and re.fullmatch('[^"]*'.join(map(re.escape, parts)), spelled(made)) is not None


def distance(made: Arguments, recorded: Arguments, schema: Arguments) -> int | None:
    """The number of arguments that do not agree; `None` if the recorded call is not near."""
    properties: dict[str, Any] = schema.get("properties", {})
    names = {*made, *recorded}
    defaults = {name: _default(properties, name) for name in names}
    one, other = defaults | dict(made), defaults | dict(recorded)
    differing = {name for name in names if _loosely(one[name]) != _loosely(other[name])}
    near = differing.isdisjoint(schema.get("required", ())) and 2 * len(differing) <= len(names)
    return len(differing) if near else None


def _default(properties: Mapping[str, Any], name: str) -> Json:
    described = properties.get(name)
    return described.get("default") if isinstance(described, dict) else None


def _loosely(value: Json) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return " ".join(text.split()).casefold()
