"""The number by which a server scores a rollout: the call of its reward tool, and how the number is read."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from mcprl.config import ToolPolicy, read_reward
from mcprl.errors import ScenarioError, ServerError
from mcprl.text import shortened
from mcprl.types import Json, LooksBehind, Rewarded, Scenario, Session, ToolResult, ToolServer


async def look(session: Session, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
    """A call that mcprl makes in a rollout's session, not the policy."""
    return await (session.look if isinstance(session, LooksBehind) else session.call)(tool, arguments)


async def reward(session: Session, check: Rewarded) -> float:
    """The number (0..1) that the server gives the rollout. Raises `ServerError` if it gives none, or another."""
    result = await look(session, check.tool, check.arguments)
    if result.is_error:
        raise ServerError(f"the reward tool {check.tool} failed: {shortened(result.text, 200)}")
    value = _at(result.structured, check.path) if result.structured is not None else _number(result.text)
    if isinstance(value, bool):
        value = float(value)
    if not isinstance(value, int | float) or not 0 <= value <= 1:
        where = f" in its field {check.path!r}" if check.path else ""
        raise ServerError(
            f"the reward tool {check.tool} gave {shortened(result.text, 200)!r}, where a number in 0..1 was "
            f"expected{where}; --reward-tool NAME:FIELD names the field of its result"
        )
    return float(value)


def _at(value: Json, path: str) -> Json:
    """What stands at a path of names; the value itself if the path is empty, `None` if it does not lead anywhere."""
    for name in filter(None, path.split(".")):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def rewarded(scenario: Scenario, policy: ToolPolicy) -> Scenario:
    """The scenario with the configured reward as its check, unless it has a reward of its own."""
    if not policy.reward or own_reward(scenario):
        return scenario
    tool, path, at_least = read_reward(policy.reward)
    return replace(scenario, checks=(*scenario.checks, Rewarded(tool, path=path, at_least=at_least)))


def own_reward(scenario: Scenario) -> Rewarded | None:
    """The reward among a scenario's checks."""
    return next((check for check in scenario.checks if isinstance(check, Rewarded)), None)


def require_behind(scenarios: Iterable[Scenario], server: ToolServer) -> None:
    """Raise `ScenarioError` if a tool that sets a task up or scores it may not be called, with the flag for it."""
    offered = {tool.name for tool in (*server.tools, *server.behind)}
    for scenario in scenarios:
        check = own_reward(scenario)
        named = [("setup", call.tool) for call in scenario.setup] + ([("reward", check.tool)] if check else [])
        for use, name in named:
            if name not in offered:
                known = name in {tool.name for tool in server.forbidden}
                why = "which may not be called" if known else "which the server does not offer"
                hint = f"; --{use}-tool {name} lets mcprl alone call it" if known else ""
                raise ScenarioError(f"the {use} of the task {scenario.request!r} calls {name!r}, {why}{hint}")
