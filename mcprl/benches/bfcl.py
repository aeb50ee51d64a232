"""BFCL, the Berkeley Function Calling Leaderboard: data, answers and checkers of the package bfcl-eval.

Static categories have one message and one turn of the policy; `ast_checker` compares its calls with the possible
answers. In `irrelevance` no tool serves the request, and any call fails. `multi_turn_*` have a state: `bfcl_apis`.
"""

import atexit
import json
import os
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from shutil import rmtree
from tempfile import mkdtemp
from types import ModuleType, SimpleNamespace
from typing import Any, Final

from mcprl.benches import Assessment, Episode, Played, Task, bfcl_apis, packages
from mcprl.errors import BenchError
from mcprl.text import counted
from mcprl.types import Call, Json, Tool, ToolResult

STATIC: Final = (
    "simple_python",
    "multiple",
    "parallel",
    "parallel_multiple",
    "irrelevance",
    "live_simple",
    "live_multiple",
    "live_parallel",
    "live_parallel_multiple",
    "live_irrelevance",
    "live_relevance",
)
MULTI_TURN: Final = (
    "multi_turn_base",
    "multi_turn_miss_func",
    "multi_turn_miss_param",
    "multi_turn_long_context",
)
STEPS = 20
"""The policy's turns after each message of a multi-turn task, as in the package."""

_LEFT_OUT = ""
"""Among the possible values of a parameter: it may be left out."""

Entry = dict[str, Any]


class Bfcl:
    """The benchmark. Java, JavaScript, memory and web search are left out."""

    categories: Sequence[str] = STATIC + MULTI_TURN

    def __init__(self) -> None:
        self._package = load_package()

    def tasks(self, category: str) -> list[Task]:
        return [self._task(entry, category) for entry in self._entries(category).values()]

    def begin(self, task: Task) -> Episode:
        entry = self._entries(task.category)[task.id]
        if task.category in MULTI_TURN:
            return bfcl_apis.TurnsEpisode(entry, self._answers(task.category)[task.id])
        answers = self._answers(task.category) if _has_answers(task.category) else {}
        return _StaticEpisode(self._package.ast_checker, task.category, entry, answers.get(task.id))

    def gold(self, task: Task) -> Played:
        if task.category in MULTI_TURN:
            return bfcl_apis.gold(self._entries(task.category)[task.id], self._answers(task.category)[task.id])
        if "irrelevance" in task.category:
            return Played(((),))
        if not _has_answers(task.category):
            return Played((((Call(task.tools[0].name),),),))  # relevance: any call
        functions = self._entries(task.category)[task.id]["function"]
        return Played(((tuple(_first_answer(call, functions) for call in self._answers(task.category)[task.id]),),))

    def states(self, task: str | None = None) -> dict[str, Any]:
        """The first state of each API that a task of multi_turn_base uses; without a task the fullest of each API.

        Raises `BenchError` if there is no such task.
        """
        entries = self._entries("multi_turn_base")
        if task is not None and task not in entries:
            raise BenchError(f"multi_turn_base has no task {task!r}; the first is {next(iter(entries))}")
        states: dict[str, Any] = {}
        for entry in entries.values() if task is None else [entries[task]]:
            for api in entry["involved_classes"]:
                states[api] = max(states.get(api, {}), entry["initial_config"].get(api, {}), key=_fullness)
        return states

    @cache  # noqa: B019
    def _entries(self, category: str) -> dict[str, Entry]:
        """The tasks of a category, as the package gives them to models."""
        if category not in self.categories:
            raise BenchError(f"bfcl has no category {category!r}; expected one of: {', '.join(self.categories)}")
        return {entry["id"]: entry for entry in self._package.utils.load_dataset_entry(category)}

    @cache  # noqa: B019
    def _answers(self, category: str) -> dict[str, Json]:
        """The possible answers by task. The package pairs them by their order: some ids differ in spelling."""
        answers = self._package.utils.load_ground_truth_entry(category)
        pairs = zip(self._entries(category), answers, strict=True)
        return {name: answer["ground_truth"] for name, answer in pairs}

    def _task(self, entry: Entry, category: str) -> Task:
        later = {
            int(turn): tuple(map(as_tool, functions)) for turn, functions in entry.get("missed_function", {}).items()
        }
        told = ({"role": "user", "content": self._package.told_of_functions},)
        messages = tuple(
            told if turn in later else tuple(dict(message) for message in said)
            for turn, said in enumerate(entry["question"])
        )
        tools = tuple(as_tool(function) for function in entry["function"])
        return Task(entry["id"], category, messages, tools, STEPS if category in MULTI_TURN else 1, later=later)


@cache
def load_package() -> SimpleNamespace:
    """The parts of bfcl-eval that are used. Raises `BenchError` if it was not set up.

    `ast_checker` imports the table of all models, and so every vendor's client, to ask whether a model writes `_` for
    the dots in tools' names. It gets a table with one model that does not. The package makes folders for its results
    when it is imported: they go where nobody looks, and with this process.
    """
    packages.require("bfcl")
    if "BFCL_PROJECT_ROOT" not in os.environ:  # a process that this one starts has it
        os.environ["BFCL_PROJECT_ROOT"] = folder = mkdtemp(prefix="bfcl-")
        atexit.register(rmtree, folder, ignore_errors=True)
    table = ModuleType("bfcl_eval.constants.model_config")
    table.__dict__["MODEL_CONFIG_MAPPING"] = {"mcprl": SimpleNamespace(underscore_to_dot=False)}
    sys.modules.setdefault(table.__name__, table)
    from bfcl_eval import utils  # pyright: ignore[reportMissingImports]
    from bfcl_eval.constants import default_prompts  # pyright: ignore[reportMissingImports]
    from bfcl_eval.constants.enums import Language  # pyright: ignore[reportMissingImports]
    from bfcl_eval.eval_checker.ast_eval import ast_checker  # pyright: ignore[reportMissingImports]

    def check(functions: Json, calls: Json, answers: Json, category: str) -> Mapping[str, Any]:
        return ast_checker.ast_checker(functions, calls, answers, Language.PYTHON, category, "mcprl")

    told = default_prompts.DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC
    return SimpleNamespace(utils=utils, ast_checker=check, told_of_functions=told)


def _fullness(state: Mapping[str, Any]) -> tuple[int, int]:
    """A state is full if much is set in it (somebody is logged in, say), then if it holds many values."""
    return sum(bool(value) for value in state.values()), json.dumps(state).count('": ')


def tools_of(api: str) -> list[Tool]:
    """The tools of one of the APIs with a state, as the package describes them."""
    utils = load_package().utils
    from bfcl_eval.constants import eval_config, executable_backend_config  # pyright: ignore[reportMissingImports]

    file = executable_backend_config.MULTI_TURN_FUNC_DOC_FILE_MAPPING[api]
    functions = utils.load_file(eval_config.MULTI_TURN_FUNC_DOC_PATH / file)
    return [as_tool(function) for function in functions]


def as_tool(function: Mapping[str, Any]) -> Tool:
    """A function of BFCL as a tool: its types are Python's, a tool's are JSON Schema's."""
    return Tool(function["name"], function["description"], _schema(function["parameters"]))


def _schema(node: Mapping[str, Any]) -> dict[str, Any]:
    """The package's mapping of types, at any depth. A type without an entry is a string, as there."""
    from bfcl_eval.constants.type_mappings import GORILLA_TO_OPENAPI  # pyright: ignore[reportMissingImports]

    schema = {**node, "type": GORILLA_TO_OPENAPI.get(node.get("type"), "string")}
    if "properties" in node:
        schema["properties"] = {name: _schema(child) for name, child in node["properties"].items()}
    if isinstance(node.get("items"), dict):
        schema["items"] = _schema(node["items"])
    return schema


def _has_answers(category: str) -> bool:
    return "relevance" not in category


class _StaticEpisode:
    """Takes calls, and makes none: a static task ends with the policy's first turn."""

    def __init__(self, check: Any, category: str, entry: Entry, answers: Json) -> None:
        self._check, self._category, self._entry, self._answers = check, category, entry, answers

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        return ToolResult("")

    def verdict(self, played: Played) -> Assessment:
        calls = [{call.tool: call.arguments} for steps in played.turns for calls in steps for call in calls]
        if not _has_answers(self._category):
            fits = bool(calls) != ("irrelevance" in self._category)
            return Assessment({self._category: fits}, "" if fits else counted(len(calls), "call"))
        try:
            found = self._check(self._entry["function"], calls, self._answers, self._category)
        except (AttributeError, IndexError, KeyError, TypeError) as error:  # it trusts the shapes of what it compares
            return Assessment({self._category: False}, f"the checker cannot read the arguments: {error!r}")
        why = "" if found["valid"] else "; ".join(str(part) for part in found["error"])
        return Assessment({self._category: bool(found["valid"])}, why)


def _first_answer(call: Mapping[str, Mapping[str, Any]], functions: Sequence[Mapping[str, Any]]) -> Call:
    """The call that takes the first possible value of each parameter and leaves out what may be left out."""
    ((tool, options),) = call.items()
    called = [function["parameters"] for function in functions if function["name"] == tool]
    required = {name for parameters in called for name in parameters["required"]}
    arguments = {name: values for name, values in options.items() if name in required or _LEFT_OUT not in values}
    return Call(tool, {name: _value(_first(values)) for name, values in arguments.items()})


def _first(values: Sequence[Json]) -> Json:
    return next((value for value in values if value != _LEFT_OUT), _LEFT_OUT)


def _value(value: Json) -> Json:
    """A possible value. A table, also one in a list, has possible values at each of its keys, and no deeper."""
    if isinstance(value, dict):
        return {name: _first(values) for name, values in value.items() if _LEFT_OUT not in values}
    if isinstance(value, list):
        return [_value(item) if isinstance(item, dict) else item for item in value]
    return value
