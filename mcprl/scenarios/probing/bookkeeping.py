"""Tools and parameters that serve the server's own bookkeeping: nobody who uses the server asks for them."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from mcprl.scenarios.fields import record_of
from mcprl.scenarios.probing.knowledge import Knowledge
from mcprl.scenarios.probing.tokens import without_logs
from mcprl.scenarios.slots import Slot
from mcprl.text import words
from mcprl.types import Session, Tool, ToolResult

LOGS = "it lists the calls that each session makes itself"
DEPRECATED = "its description says that it is deprecated"
RESETS = "it resets the server, which --reset-tool {} does between rollouts"

_LEAST_TOOLS = 5
_AMBIENT_SHARE = 0.8
_WHOLE = frozenset(
    "all app data database db demo environment env everything sandbox server session simulation state store world "
    "namespace the a to initial default".split()
)
"""Words for all that a server holds."""


def resets(tool: Tool) -> bool:
    """Whether a tool brings the whole server back into its first state, by its name: `reset_state`, `reset`."""
    verb, *rest = words(tool.name) or ("",)
    needed = tool.input_schema.get("required") or []
    return verb == "reset" and {*rest} <= _WHOLE and not needed


def is_deprecated(tool: Tool) -> bool:
    """Whether a tool is only there for those who know no better: `Reads a file. DEPRECATED: use read_text_file`."""
    begins = r"(?:^|[.;(\[])\s*\W*(?:this tool is )?deprecated\b"
    return bool(re.search(begins + r"\W*(?:[:.)\]-]|use\b|in favou?r\b|$)", tool.description, re.IGNORECASE))


def without_ambient(slots: Mapping[str, Sequence[Slot]], used: Collection[str] = ()) -> dict[str, list[Slot]]:
    """The slots of each tool without those that say in which context a call is made and not what it is about: an
    optional text that nearly all tools take, such as a namespace. A name in `used` is kept.
    """
    taken = Counter(slot.key for own in slots.values() for slot in own if _is_optional_text(slot))
    needed = {slot.key for own in slots.values() for slot in own if slot.required}
    least = max(_LEAST_TOOLS, _AMBIENT_SHARE * len(slots))
    ambient = {key for key, count in taken.items() if count >= least} - needed - {*used}
    return {name: [slot for slot in own if slot.key not in ambient] for name, own in slots.items()}


def _is_optional_text(slot: Slot) -> bool:
    return not slot.required and len(slot.path) == 1 and slot.kind == "string" and not slot.choices


async def set_logs_aside(known: Knowledge, session: Session, most: int) -> None:
    """Leave the tools out of all tasks that return the calls made so far. At most `most` tools are called again."""
    for tool in known.reads():
        results = [example.result for example in known.examples.get(tool.name, ())[:3]]
        if most > 0 and not any(slot.required for slot in known.slots[tool.name]):
            most -= 1
            results.append(await session.call(tool.name, {}))
        if any(_lists_calls(result, known.tools) for result in results):
            known.set_aside(tool.name, LOGS)


def _lists_calls(result: ToolResult, tools: Collection[str]) -> bool:
    record = record_of(result)
    return record != without_logs(record, tools)
