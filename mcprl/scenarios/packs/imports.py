"""Tasks from elsewhere as a pack: tables of requests, and chat logs with tool calls as OpenAI's API spells them.

With a server each plan is executed twice, and what the execution returns becomes the checks (`scenarios.packs.ground`).
Without one, tables stay as written, and chat logs get their checks from the results that they hold.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import anyio

from mcprl.errors import ScenarioError
from mcprl.files import write_whole
from mcprl.judges.checks import holds, leaves
from mcprl.scenarios.derivable import derivable
from mcprl.scenarios.packs.ground import Execution, UnfitTask, fill, ground
from mcprl.scenarios.packs.handwritten import scenario_of
from mcprl.scenarios.packs.lines import Line, of_each_seed, read_lines
from mcprl.scenarios.packs.pack import SHARES, Pack, dump_task, load_pack, split_of, task_files
from mcprl.servers.digest import digest
from mcprl.types import Call, CallRecord, Json, Scenario, Split, ToolServer

ImportSplit = Literal["test", "train", "val", "auto"]


@dataclass(frozen=True)
class Imported:
    """The pack that was made of a file, and what was left out: each line with its reason."""

    pack: Pack
    left_out: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


@dataclass(frozen=True)
class _Task:
    """A line as a task. `execution` is what a chat log recorded of it."""

    place: str
    scenario: Scenario
    split: Split | None
    execution: Execution | None = None


async def import_tasks(
    path: Path, server: ToolServer | None, seed: int, split: ImportSplit = "test", repeat_after_s: float = 2.0
) -> Imported:
    """A pack of the tasks in a CSV, JSONL or JSON file.

    A line that names no split goes into `split`; "auto" is the split of its values. Raises `ScenarioError` if the file
    cannot be read or no task can be kept.
    """
    left_out: list[tuple[str, str]] = []
    tasks: list[_Task] = []
    for line in chain.from_iterable(map(of_each_seed, read_lines(path))):
        try:
            tasks.append(_task(line))
        except UnfitTask as reason:
            left_out.append((line.place, str(reason)))
    grounded = await _ground(tasks, server, repeat_after_s, left_out)
    kept: dict[str, Scenario] = {}
    for task, scenario in grounded:
        try:
            chosen = task.split or (_auto(seed, scenario) if split == "auto" else split)
        except UnfitTask as reason:
            left_out.append((task.place, str(reason)))
            continue
        if scenario.id in kept:
            left_out.append((task.place, "is the same as an earlier task"))
            continue
        kept[scenario.id] = replace(scenario, split=chosen, suite="people")
    if not kept:
        reasons = "; ".join(f"{place} {reason}" for place, reason in left_out[:3])
        raise ScenarioError(f"{path}: no task could be kept ({reasons or 'the file is empty'})")
    return Imported(Pack(tuple(kept.values()), seed=seed, generator=f"imported from {path.name}"), left_out)


async def add_task(
    folder: Path, tree: dict[str, Any], server: ToolServer | None, split: Split, repeat_after_s: float = 2.0
) -> Scenario:
    """Append one task to a pack: to a JSONL file, or to the file of its split in a folder, which is made if missing.

    Raises `ScenarioError` if a field does not fit, the pack has the task already, or the server refutes it.
    """
    scenario = replace(scenario_of(Line(None, "the new task", tree)), split=split, suite="people")
    if server:
        left_out: list[tuple[str, str]] = []
        grounded = await _ground([_Task("", scenario, split)], server, repeat_after_s, left_out)
        if left_out:
            raise ScenarioError(f"the new task {left_out[0][1]}")
        scenario = grounded[0][1]
    _append(folder, scenario)
    return scenario


def _append(folder: Path, scenario: Scenario) -> None:
    """Write a task behind the others of its split. Raises `ScenarioError` if it is there already."""
    if folder.is_file() and folder.suffix != ".jsonl":
        raise ScenarioError(f"{folder}: tasks are added to .jsonl files; mcprl scenarios import makes one of a table")
    is_pack = folder.is_file() or (folder / "pack.toml").is_file() or any(task_files(folder, split) for split in SHARES)
    for other in load_pack(folder) if is_pack else ():
        if (other.request, other.plan) == (scenario.request, scenario.plan):
            raise ScenarioError(f"{folder} has the task {scenario.request!r} already")
    file = folder if folder.suffix == ".jsonl" else folder / f"{scenario.split}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    before = file.read_bytes() if file.exists() else b""
    end = b"" if not before or before.endswith(b"\n") else b"\n"
    write_whole(file, before + end + dump_task(scenario).encode() + b"\n")


async def _ground(
    tasks: Sequence[_Task], server: ToolServer | None, repeat_after_s: float, left_out: list[tuple[str, str]]
) -> list[tuple[_Task, Scenario]]:
    """The tasks that hold, each with its checks filled. With a server each is executed twice, some time apart."""
    grounded: list[tuple[_Task, Scenario]] = []
    for task in tasks:
        try:
            grounded.append((task, await _ground_one(task, server)))
        except UnfitTask as reason:
            left_out.append((task.place, str(reason)))
    if server is None or not any(task.scenario.plan for task, _ in grounded):
        return grounded
    await anyio.sleep(repeat_after_s)
    repeated: list[tuple[_Task, Scenario]] = []
    for task, scenario in grounded:
        try:
            if await _ground_one(task, server) != scenario:
                raise UnfitTask("changes from one execution to the next")
            repeated.append((task, scenario))
        except UnfitTask as reason:
            left_out.append((task.place, str(reason)))
    return repeated


async def _ground_one(task: _Task, server: ToolServer | None) -> Scenario:
    if server:
        return await ground(task.scenario, server)
    return fill(task.scenario, task.execution, {}) if task.execution else task.scenario


def _auto(seed: int, scenario: Scenario) -> Split:
    """The split of a task's values. Raises `UnfitTask` if they belong to several."""
    splits: set[Split] = {split_of(seed, value) for value in scenario.values or (scenario.id,)}
    if len(splits) > 1:
        raise UnfitTask("names things of several splits; give it a split of its own")
    return splits.pop()


# --- chat logs --------------------------------------------------------------------------------------------------------


def _task(line: Line) -> _Task:
    """A line as a task: of a chat log, or as `scenarios.packs.handwritten` reads it. Raises `UnfitTask`."""
    messages = _messages(line.tree)
    if messages is None:
        scenario = scenario_of(line)
        return _Task(line.place, scenario, scenario.split if "split" in line.tree else None)
    request, calls, answer = _first_turn(line, messages)
    if not request:
        raise UnfitTask("has no message of a user")
    if not calls:
        raise UnfitTask("has no tool call in answer to the first message of the user")
    kept = [record for record in calls if not record.result.is_error or record is calls[-1]]
    _validate_origin(request, kept)
    tree = {"request": request, "plan": [{"tool": record.tool, "arguments": record.arguments} for record in kept]}
    scenario = replace(scenario_of(replace(line, tree=tree)), answer=answer, kind="lookup")
    return _Task(line.place, scenario, None, Execution(tuple(kept)))


def _validate_origin(request: str, records: Sequence[CallRecord]) -> None:
    """Raise `UnfitTask` if a code or a number of a call comes neither from the request nor from an earlier result."""
    seen = ""
    for record in records:
        for _, value in leaves(record.arguments or {}):
            code = not isinstance(value, bool) and any(char.isdigit() for char in str(value)) and len(str(value)) > 2
            if code and not derivable(value, request) and not holds(seen, value):
                raise UnfitTask(f"calls {record.tool} with {value!r}, which neither its request nor a result gives")
        seen += f" {record.result.text}"


def _messages(tree: dict[str, Any]) -> list[Any] | None:
    """The messages of a chat log: of a conversation, or of a recorded request with its response. `None` for a task."""
    if isinstance(tree.get("messages"), list):
        return tree["messages"]
    request, response = tree.get("request"), tree.get("response")
    if isinstance(request, dict) and isinstance(request.get("messages"), list):  # pyright: ignore[reportUnknownMemberType]
        choices: Any = response.get("choices", []) if isinstance(response, dict) else []  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        last = [choice["message"] for choice in choices[:1] if isinstance(choice, dict) and "message" in choice]  # pyright: ignore
        return [*request["messages"], *last]  # pyright: ignore[reportUnknownVariableType]
    return None


def _first_turn(line: Line, messages: Sequence[Any]) -> tuple[str, list[CallRecord], str]:
    """The first request of a conversation, the calls made for it with their results, and the answer to it.

    A result is an error if its text says so. Later requests are left out: they may rest on what was said before.
    """
    request, answer = "", ""
    calls: dict[str, Call] = {}
    results: dict[str, str] = {}
    for number, message in enumerate(messages):
        if not isinstance(message, dict):
            raise line.error(f"messages.{number}", "is not an object")
        role, content = message.get("role"), _text(message.get("content"))  # pyright: ignore
        if role == "user" and request:
            break
        if role == "user":
            request = content
        elif role == "assistant" and request:
            answer = content or answer
            for call in message.get("tool_calls") or []:  # pyright: ignore
                calls[str(call.get("id", len(calls)))] = _call(line, number, call)  # pyright: ignore
            if legacy := message.get("function_call"):  # pyright: ignore
                calls[f"call {len(calls)}"] = _call(line, number, legacy)  # pyright: ignore
        elif role == "function":  # the result of the legacy call before it
            results[f"call {len(calls) - 1}"] = content
        elif role == "tool":
            results[str(message.get("tool_call_id", len(results)))] = content  # pyright: ignore
    records = [
        CallRecord(turn, call.tool, call.arguments, digest(results.get(name, "")))
        for turn, (name, call) in enumerate(calls.items())
    ]
    return request, records, answer


def _call(line: Line, number: int, written: Json) -> Call:
    """A tool call of a message. Raises `UnfitTask` if its arguments are no JSON, as models write some, and the line's
    error if it is no call at all."""
    try:
        function = written.get("function") or written
        name, arguments = str(function["name"]), function.get("arguments") or {}
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except ValueError:
                raise UnfitTask(f"has a call of {name} whose arguments are no JSON: {arguments[:60]}") from None
        return Call(name, dict(arguments))
    except (AttributeError, KeyError, TypeError, ValueError):
        raise line.error(
            f"messages.{number}.tool_calls", 'not as OpenAI writes them: {"function": {"name": ..., "arguments": ...}}'
        ) from None


def _text(content: Json) -> str:
    """The text of a message, whose content may be a list of parts."""
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict)).strip()  # pyright: ignore
    return str(content or "").strip()
