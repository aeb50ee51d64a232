"""What a tool does to its server: whether it only reads, as far as its hints and its name tell."""

from collections.abc import Sequence

from mcprl.text import stems, words
from mcprl.types import Scenario, StateHolds, Tool

_WRITES = frozenset(
    (
        "add append approve archive assign book buy cancel change clear close configure copy create delete "
        "disable edit enable exchange insert invite link lock log mark merge modify move patch pay place post "
        "publish purchase put record redeem refund register reject remove rename replace request reserve "
        "reset restore save schedule send set start stop store submit tag toggle transfer trigger unlink "
        "update upload upsert write "
    ).split()
)
VERBS = _WRITES | frozenset(
    (
        "browse calc calculate check compare compute convert count describe do estimate explore fetch filter find "
        "format get give inspect list load look lookup measure peek print query read retrieve return run scan "
        "search see show tell view "
    ).split()
)
_READS = VERBS - _WRITES - {"return"}  # `return_order` gives goods back; what a tool returns, its description says
_PLAIN = frozenset("count describe get list show view".split())
_TOLD = frozenset("count describe display fetch get give list look provide read retrieve return show view".split())


def writes(scenario: Scenario, tools: Sequence[Tool]) -> bool:
    """Whether a scenario's plan may write, or its checks expect a change."""
    writing = {tool.name for tool in tools if not is_read(tool)}
    return any(call.tool in writing for call in scenario.plan) or any(
        isinstance(check, StateHolds) for check in scenario.checks
    )


def is_read(tool: Tool) -> bool:
    """Whether the tool may be called freely while probing.

    The server's hint decides if there is one. Otherwise the tool must not be marked destructive and its name must have
    no writing verb, except as a noun of a tool that says twice that it reads (`get_call_log`: "Returns the calls"). If
    the name has no reading verb either, its title and description must not begin with a writing one (`open_issue`:
    "Creates an issue").
    """
    if tool.read_only is not None:
        return tool.read_only
    verbs = {*words(tool.name)}
    heads = {head for text in (tool.title or "", tool.description) for head in stems(text)[:1]}
    if words(tool.name)[:1] and words(tool.name)[0] in _PLAIN and heads & _TOLD and not verbs & {"and", "or"}:
        return not tool.destructive
    if not verbs & _READS:
        verbs |= heads
    return not tool.destructive and not verbs & _WRITES
