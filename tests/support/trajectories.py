"""Trajectories and groups to record, judge and replay."""

from dataclasses import replace

from mcprl.servers.server import Server
from mcprl.types import (
    CallRecord,
    Completion,
    Fact,
    Group,
    Message,
    Scenario,
    Score,
    Session,
    StateHolds,
    Tool,
    ToolResult,
    Trajectory,
)

TOOLS = (Tool("get_order", "Look an order up.", {"type": "object", "properties": {"id": {"type": "string"}}}),)


def conversation(
    answer: str, result: str = '{"id":"O-1","status":"paid"}', call: str = '{"id": "O-1"}'
) -> list[Message]:
    calls = [{"id": f"call_{hash(answer)}", "type": "function", "function": {"name": "get_order", "arguments": call}}]
    return [
        {"role": "user", "content": "What is the status of order O-1?"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": calls[0]["id"], "content": result},
        {"role": "assistant", "content": answer},
    ]


def group(*answers: str) -> Group:
    tried = [Trajectory(f"try-{n}", "s", tuple(conversation(answer)), ()) for n, answer in enumerate(answers)]
    return Group(Scenario("s", "What is the status of order O-1?", (Fact("paid", "status"),)), tuple(tried))


async def replay(server: Server, scenario: Scenario) -> Trajectory:
    """The scenario's own plan and answer as a trajectory, in a session of its own."""
    async with server.session(scenario.setup) as session:
        return await replay_in(session, scenario)


async def replay_in(session: Session, scenario: Scenario) -> Trajectory:
    """The scenario's own plan and answer as a trajectory, in a session that is open."""
    calls: list[CallRecord] = []
    checks = [check for check in scenario.checks if isinstance(check, StateHolds)]
    before = tuple([await session.call(check.tool, check.arguments) for check in checks])
    for turn, call in enumerate(scenario.plan):
        calls.append(CallRecord(turn, call.tool, call.arguments, await session.call(call.tool, call.arguments)))
    state = tuple([await session.call(check.tool, check.arguments) for check in checks])
    messages = ({"role": "user", "content": scenario.request}, {"role": "assistant", "content": scenario.answer})
    return Trajectory(scenario.id, scenario.id, messages, (), tuple(calls), state, before=before)


def trajectory(name: str, scenario: str = "s1") -> Trajectory:
    call = {"id": "c1", "type": "function", "function": {"name": "get", "arguments": '{"id": 7}'}}
    messages = (
        {"role": "user", "content": "What does 7 cost? ½ 😀"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "7: 12.50"},
        {"role": "assistant", "content": "12.50"},
    )
    turns = (
        Completion(messages[1], (1, 2, 3), (4, 151_643), (-0.1, -1e-17), "tool_calls", 3),
        Completion(messages[3], (1, 2, 3, 4, 151_643, 5), (6,), (-0.7234567890123456,), "stop", 3),
    )
    record = CallRecord(0, "get", {"id": 7}, ToolResult("7: 12.50", {"price": 12.5, "n": 1.0}, latency_s=0.01))
    return Trajectory(
        name, scenario, messages, turns, (record, CallRecord(1, "?", None, ToolResult("no", is_error=True)))
    )


GROUP = Group(
    Scenario("s1", "What does 7 cost?", (Fact(12.5),)), (trajectory("a"), replace(trajectory("b"), stop="deadline"))
)
SCORES = [Score("b", 0.1, False, "no answer"), Score("a", 0.95, True, "all facts")]
