"""The calls that the user's hints name, made first: what works teaches where values come from."""

from mcprl.scenarios.probing.hints import Hints
from mcprl.scenarios.probing.reading import Reader, worked
from mcprl.servers.effects import is_read


async def try_hints(reader: Reader, hints: Hints, most: int) -> None:
    """Make the hinted calls of tools that only read, `most` of them; calls of other tools are left to the writes."""
    known = reader.known
    end = reader.calls + most
    for call in hints.calls():
        tool = known.tools.get(call.tool)
        if tool is None or not is_read(tool) or reader.calls >= end or reader.late():
            continue
        result = await reader.call(tool, call.arguments)
        if worked(known, tool.name, call.arguments, result):
            known.learn(known.base, tool, hints.picked(known, call), result)
