"""What a tool does to its server: whether it only reads, as far as its hints and its name tell."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Literal

from mcprl.servers.proposals import propose
from mcprl.types import RewardCheck, Scenario, StateHolds, TakesTurns, Tool

Mark = Literal["read-only", "writes", "destructive", "unmarked"]
"""What a server's hints say that a tool does, with the protocol's defaults: a tool that is not said to be read-only or
not destructive is destructive (MCP 2025-06-18, "ToolAnnotations"). One without either hint is unmarked."""

VERBS = frozenset(
    (
        "add append approve archive assign book browse buy calc calculate cancel change check clear close compare "
        "compute configure convert copy count create defer delete describe disable do drop edit enable estimate "
        "exchange explore fetch filter find format get give insert inspect invite link list load lock log look lookup "
        "mark measure merge modify move patch pay peek place post print publish purchase put query read record redeem "
        "refund register reject remove rename replace request reserve reset restore retrieve return run save scan "
        "schedule search see send set show start stop store submit tag tell toggle transfer trigger unlink unlock "
        "update upload upsert view write "
    ).split()
)
"""The verbs of tool names, apart from which a name says what the tool is about."""


def mark(tool: Tool) -> Mark:
    """The tool's mark. One that is said to be both read-only and destructive is destructive."""
    if tool.destructive or (tool.read_only is False and tool.destructive is None):
        return "destructive"
    if tool.read_only:
        return "read-only"
    return "unmarked" if tool.destructive is None else "writes"


def writes(scenario: Scenario, tools: Sequence[Tool]) -> bool:
    """Whether a scenario's setup or plan may write, or its checks expect a change."""
    reading = {tool.name for tool in tools if is_read(tool)}
    writing = {tool.name for tool in tools} - reading
    return (
        any(call.tool in writing for call in scenario.plan)
        or any(call.tool not in reading for call in scenario.setup)
        or any(isinstance(check, StateHolds | RewardCheck) for check in scenario.checks)
    )


def turn_on(server: object, writing: bool) -> AbstractAsyncContextManager[None]:
    """A turn for one session, where the server's sessions share a state that is reset; else nothing is waited for."""
    return server.turn(writing) if isinstance(server, TakesTurns) else nullcontext()


def is_reset(server: object) -> bool:
    """Whether what a session writes on the server is undone before the next turn."""
    return isinstance(server, TakesTurns) and server.resets


def is_read(tool: Tool) -> bool:
    """Whether the tool is handled as one that only reads, which probing calls freely.

    Its mark decides; an unmarked tool reads if its name, description and schema clearly say so (`propose`). Whether it
    may be called at all is another question, which `permission` answers.
    """
    marked = mark(tool)
    return marked == "read-only" or (marked == "unmarked" and propose(tool) == "read")
