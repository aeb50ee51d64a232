"""How sessions share a server: one warm process for all where it only reads, and turns where they write.

Starting a process costs a Python server one or two seconds of CPU, and a session that calls an unmarked tool has one of
its own, as nobody said that the tool leaves the state alone. Where every tool that may be called seems to read, known
calls show whether it does: they give the same results in another order and in another process.
"""

from collections.abc import Mapping, Sequence

from mcprl.errors import ServerError, SessionLost
from mcprl.events import Emit, Note
from mcprl.servers.backend import ServerFacts
from mcprl.servers.effects import writes
from mcprl.servers.nearness import spelled
from mcprl.servers.permission import said_of
from mcprl.servers.server import Server
from mcprl.text import counted
from mcprl.types import Call, Scenario

STDIO = "stdio"
_CALLS = 3
"""Calls of each tool that are compared."""
_PURE = "compute"
"""The kind of tasks whose tools were seen to work something out of their arguments, whatever they are named."""


def prospect(server: Server, facts: ServerFacts) -> str:
    """How sessions with a server are kept apart, and of one on stdio how many processes they will take."""
    waiting = _unmarked(server, facts.name)
    if facts.transport != STDIO:
        return facts.sessions
    if not waiting:
        return "one process for all, since every tool that may be called reads"
    if server.policy.share_process and all(server.routes[tool].reads for tool in waiting):
        return f"{facts.sessions}; a run shares one if some calls give the same results in another order"
    return f"{facts.sessions}, where a tool is called that may write"


async def share_processes(server: Server, scenarios: Sequence[Scenario], emit: Emit) -> None:
    """Have all sessions with a server on stdio read through one process, if replayed plans show that nothing of what
    may be called there changes it. Says so. None is replayed where calls are limited, asked for or only repeated."""
    policy = server.policy
    spared = policy.max_calls_per_tool or policy.max_rate or policy.approve or server.repeats or server.resets
    if spared or not policy.share_process:
        return
    planned = _planned(scenarios)
    for facts in server.describe():
        tools = _unmarked(server, facts.name) if facts.transport == STDIO else []
        if not tools or not all(tool in planned and _may_be_pure(server, tool, scenarios) for tool in tools):
            continue
        calls = [call for tool in tools for call in planned[tool][:_CALLS]]
        found = await _results(server, calls)
        if found and found == await _results(server, calls[::-1]):
            server.share(facts.name)
            emit(
                Note(
                    f"{facts.name}: one process serves all sessions, since {counted(len(calls), 'call')} gave the same "
                    "results in another order and another process (--no-share-process starts one for each session)"
                )
            )


def one_at_a_time(server: Server, scenarios: Sequence[Scenario]) -> str:
    """What it costs that scenarios write to a state that all sessions share; empty if none does."""
    writing = sum(writes(scenario, server.tools) for scenario in scenarios) if server.resets else 0
    if not writing:
        return ""
    apart = "; {scratch:DIR} in the server's command, a copy of DIR for each session, lets them run at once"
    on_stdio = any(facts.transport == STDIO for facts in server.describe())
    return (
        f"{writing} of {counted(len(scenarios), 'training task')} may write to what all sessions share, so each of "
        f"their rollouts runs alone, after a reset, which takes several times as long{apart if on_stdio else ''}"
    )


def _unmarked(server: Server, name: str) -> list[str]:
    """The tools that may be called on a server and of which nobody says that they read."""
    return [tool for tool, route in server.routes.items() if route.server == name and not route.stateless]


def _may_be_pure(server: Server, tool: str, scenarios: Sequence[Scenario]) -> bool:
    """Whether a tool is handled as a read, or all that plans use it for is to compute. One of which the server or the
    operator says that it writes is neither."""
    if "write" in said_of({tool, server.routes[tool].tool}, server.policy.assume):
        return False
    marked = next(status.marked for status in server.listing if status.name == tool)
    kinds = {scenario.kind for scenario in scenarios if any(call.tool == tool for call in scenario.plan)}
    return marked == "unmarked" and (server.routes[tool].reads or kinds == {_PURE})


def _planned(scenarios: Sequence[Scenario]) -> Mapping[str, list[Call]]:
    """Different calls of each tool in the scenarios' plans, those of which nothing was set up before."""
    calls: dict[str, dict[str, Call]] = {}
    for call in (call for scenario in scenarios if not scenario.setup for call in scenario.plan):
        calls.setdefault(call.tool, {}).setdefault(spelled(call.arguments), call)
    return {tool: [*of.values()] for tool, of in calls.items()}


async def _results(server: Server, calls: Sequence[Call]) -> dict[str, str] | None:
    """What the calls give, one after another in one session; `None` if it was lost."""
    found: dict[str, str] = {}
    try:
        async with server.session() as session:
            for call in calls:
                result = await session.call(call.tool, call.arguments)
                if result.unanswered:
                    return None
                found[f"{call.tool} {spelled(call.arguments)}"] = f"{result.is_error} {result.text}"
    except (SessionLost, ServerError):
        return None
    return found
