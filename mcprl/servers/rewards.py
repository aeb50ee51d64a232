"""The number by which a server scores a rollout: the call of its reward tool, and how the number is read."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcprl.config import ToolPolicy, read_reward
from mcprl.errors import ConfigError, ScenarioError, ServerError
from mcprl.text import shortened
from mcprl.types import Json, LooksBehind, RewardCheck, Scenario, Session, ToolResult

if TYPE_CHECKING:
    from mcprl.servers.server import Server


async def look(session: Session, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
    """A call that mcprl makes in a rollout's session, not the policy."""
    return await (session.look if isinstance(session, LooksBehind) else session.call)(tool, arguments)


async def reward(session: Session, check: RewardCheck) -> float:
    """The number (0..1) that the server gives the rollout. Raises `ServerError` if it gives none, or another."""
    result = await look(session, check.tool, check.arguments)
    value = _at(result.structured, check.path) if result.structured is not None else _number(result.text)
    if isinstance(value, bool):
        value = float(value)
    if isinstance(value, int | float) and 0 <= value <= 1:  # also of a result that reads as an error: {"ok": false}
        return float(value)
    if result.is_error:
        raise ServerError(f"the reward tool {check.tool} failed: {shortened(result.text, 200)}")
    where = f" in its field {check.path!r}" if check.path else ""
    raise ServerError(
        f"the reward tool {check.tool} gave {shortened(result.text, 200)!r}, where a number in 0..1 was "
        f"expected{where}; --reward-tool NAME:FIELD names the field of its result"
    )


def _at(value: Json, path: str) -> Json:
    """What stands at a path of names; the value itself if the path is empty, `None` if it does not lead anywhere.
    `result` alone may name a value that stood in a wrapper (`digest`)."""
    if path == "result" and not isinstance(value, dict):
        return value
    for name in filter(None, path.split(".")):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def scoring(tool_names: Sequence[str], policy: ToolPolicy) -> RewardCheck | None:
    """The configured reward as a check, of the tool that is listed under one of these names. Raises `ConfigError` if
    there are several, or if another rule leaves it out."""
    if not policy.reward:
        return None
    if not tool_names:
        raise ConfigError(f"--reward-tool {policy.reward} is left out by another rule (inspect it without the flag)")
    if len(tool_names) > 1:
        raise ConfigError(f"--reward-tool names several tools: {', '.join(tool_names)}; give one of these names")
    _, path, at_least = read_reward(policy.reward)
    return RewardCheck(tool_names[0], path=path, at_least=at_least)


def rewarded(scenario: Scenario, check: RewardCheck | None) -> Scenario:
    """The scenario with the server's reward as its check, unless it has a reward of its own."""
    return replace(scenario, checks=(*scenario.checks, check)) if check and not scenario.reward_check else scenario


def require_behind(scenarios: Iterable[Scenario], server: "Server") -> None:
    """Raise `ScenarioError` if a tool that sets a task up or scores it may not be called, or if the policy may call
    those of a task that the server scores; with the flag for it."""
    shown = {tool.name for tool in server.tools}
    behind, forbidden = {tool.name for tool in server.behind}, {tool.name for tool in server.forbidden}
    for scenario in scenarios:
        check = scenario.reward_check
        for use, name in [("setup", call.tool) for call in scenario.setup] + (
            [("reward", check.tool)] if check else []
        ):
            task = f"{name!r} is the {use} of the task {scenario.request!r}"
            if name in behind or (name in shown and not check):
                continue
            if name in shown:
                raise ScenarioError(f"{task}, and the policy may call it as well; --{use}-tool {name} keeps it from it")
            if name in forbidden:
                raise ScenarioError(f"{task} and is left out (see mcprl inspect); --{use}-tool {name} allows it")
            raise ScenarioError(f"{task}, and the server does not offer it")
