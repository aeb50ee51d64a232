"""The folder behind `{scratch}`, written `/scratch` in all that a server tells and is told.

So a tool is listed alike, and gives the same results, in every process. `folder` is empty where there is none.
"""

import json
import re
from dataclasses import replace

from mcprl.servers.protocol import Malformed
from mcprl.types import Json, Tool

_NAME = "/scratch"
_WHOLE = re.compile(rf"(?<![\w./-]){_NAME}(?![\w-])")
_TOLD = ("description", "title", "input_schema", "output_schema")


def inward(value: Json, folder: str) -> Json:
    """Arguments with the folder's path for `/scratch`."""
    if not folder:
        return value
    if isinstance(value, str):
        return _WHOLE.sub(lambda _: folder, value)
    if isinstance(value, list):
        return [inward(each, folder) for each in value]
    return {key: inward(each, folder) for key, each in value.items()} if isinstance(value, dict) else value


def outward(value: Json, folder: str) -> Json:
    """What a server tells, with `/scratch` for the folder's path."""
    return json.loads(json.dumps(value).replace(folder, _NAME)) if folder else value


def without_folder(tool: Tool | Malformed, folder: str) -> Tool | Malformed:
    """A listed tool whose texts have `/scratch` for the folder's path."""
    if isinstance(tool, Malformed) or not folder:
        return tool
    return replace(tool, **{name: outward(getattr(tool, name), folder) for name in _TOLD})
