"""Final answers that readers sorted, and what the verifier says of them. A line of a file is one rollout:

- `id`, and the task: `pack` and `scenario`, a JSONL file of tasks (from the root of the repository) and the id of one;
  or `request`, `checks` and `plan`, the task's own.
- `calls`: `{"tool": ..., "arguments": {...}}` each, with `"writes": true` if the tool may write, and `results`, for
  each call `{"text": ..., "structured": ..., "is_error": ...}`, or the structured result alone.
- `answer`, or `messages`, the last of which is the answer; `stop` if it is not `answered`.
- `before` and `after`, for tasks with a state: the results of its reads, in the order of the checks.
- `others`: further tools that may write. `schemas`: input schemas by tool.
- `right`: true or false, else the file's name ends with `right` or `wrong`; or `readers`, what each of several readers
  said. Answers that they do not agree on are left out and counted.
"""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from mcprl.judges.verifier import Verifier
from mcprl.types import CallRecord, Message, Scenario, Score, Tool, ToolResult, Trajectory

ROOT = Path(__file__).parents[2]
TASK: TypeAdapter[Scenario] = TypeAdapter(Scenario)
Line = dict[str, Any]


def lines(path: Path) -> list[Line]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def is_right(line: Line, path: Path) -> bool | None:
    """What the readers said, `None` if they do not agree."""
    said = {*line.get("readers", [line.get("right", not path.stem.endswith("wrong"))])}
    return said.pop() if len(said) == 1 else None


def scenario(line: Line) -> Scenario:
    if "pack" in line:
        return _tasks(line["pack"])[line["scenario"]]
    own = {key: line[key] for key in ("id", "request", "checks", "plan", "answer") if key in line}
    return TASK.validate_python(own)


def trajectory(line: Line) -> Trajectory:
    task = scenario(line)
    messages: list[Message] = [{"role": "user", "content": task.request}]
    records: list[CallRecord] = []
    for number, (call, content) in enumerate(zip(line["calls"], line["results"], strict=True)):
        result = _result(task, call, content, structured="plan" not in line and "pack" not in line)
        function = {"name": call["tool"], "arguments": json.dumps(call["arguments"])}
        wire = {"id": f"call_{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [wire]})
        messages.append({"role": "tool", "tool_call_id": wire["id"], "content": result.text})
        records.append(CallRecord(number, call["tool"], call["arguments"], result))
    messages.append({"role": "assistant", "content": line.get("answer", "")})
    before, after = (tuple(ToolResult(**look) for look in line.get(when, ())) for when in ("before", "after"))
    told = tuple(line.get("messages", messages))
    stop = line.get("stop", "answered")
    return Trajectory(line["id"], task.id, told, (), tuple(records), after, stop, before=before)


def tools(line: Line) -> tuple[Tool, ...]:
    schemas = {
        call["tool"]: {"type": "object", "properties": {name: {} for name in call["arguments"] or ()}}
        for call in line["calls"]
    }
    schemas |= line.get("schemas", {}) | {name: {} for name in line.get("others", ()) if name not in schemas}
    writing = {call["tool"] for call in line["calls"] if call.get("writes")} | {*line.get("others", ())}
    return tuple(Tool(name, name, schema, read_only=name not in writing) for name, schema in schemas.items())


def judged(line: Line) -> Score:
    return Verifier(tools(line)).verify(scenario(line), trajectory(line))


def _result(task: Scenario, call: Line, content: Any, structured: bool) -> ToolResult:
    if not structured:
        return ToolResult(**content)
    failed = any(check.failed and check.tool == call["tool"] for check in task.checks if check.kind == "call")
    if isinstance(content, str):
        return ToolResult(content, is_error=failed and content != "[]")
    return ToolResult(json.dumps(content, ensure_ascii=False), content, is_error="error" in content)


@lru_cache(maxsize=32)
def _tasks(pack: str) -> dict[str, Scenario]:
    tasks = [TASK.validate_json(line) for line in (ROOT / pack).read_text(encoding="utf-8").splitlines()]
    return {task.id: task for task in tasks}
