"""The calls that the user's hints name, made first: what works teaches where values come from."""

from mcprl.scenarios.probing.hints import Hints
from mcprl.scenarios.probing.reading import Reader, worked
from mcprl.servers.effects import is_read


async def try_hints(reader: Reader, hints: Hints) -> None:
    """Make the hinted calls of tools that only read; calls of other tools are left to the writes."""
    known = reader.known
    for call in hints.calls():
        tool = known.tools.get(call.tool)
        if tool is None or not is_read(tool):
            continue
        result = await reader.call(tool, call.arguments)
        if worked(known, tool.name, call.arguments, result):
            known.learn(known.base, tool, hints.picked(known, call), result)
