"""BFCL's eight APIs with a state, which its multi-turn tasks use, and the package's checker of those tasks."""

import ast
import copy
import json
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from inspect import Parameter, signature
from itertools import count
from keyword import iskeyword
from typing import Any, Final

from mcprl.benches import Assessment, Played
from mcprl.types import Call, Json, ToolResult

CLASSES: Final = (
    "GorillaFileSystem",
    "MathAPI",
    "MessageAPI",
    "TwitterAPI",
    "TicketAPI",
    "TradingBot",
    "TravelAPI",
    "VehicleControlAPI",
)
_CHECKED = count()
_MOST_DIGITS = 1_000


class Apis:
    """Instances of some APIs in a task's first state, called by the names of their functions."""

    def __init__(self, classes: Iterable[str], initial: Mapping[str, Any], long_context: bool = False) -> None:
        self._functions: dict[str, Any] = {}
        for name in classes:
            instance = _class(name)()
            if hasattr(instance, "_load_scenario"):
                instance._load_scenario(copy.deepcopy(initial.get(name, {})), long_context=long_context)
            for function in dir(instance):
                if not function.startswith("_") and callable(getattr(instance, function)):
                    self._functions[function] = getattr(instance, function)

    def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """The result as the package writes it. An API says `error` in a table, or raises."""
        if tool not in self._functions:
            return ToolResult(f"Error during execution: name {tool!r} is not defined", is_error=True)
        if _is_endless(tool, arguments):
            return ToolResult("Error during execution: the result would have too many digits", is_error=True)
        # Copies, also of defaults: the APIs keep the lists that they are given, and extend them.
        defaults = {name: each.default for name, each in signature(self._functions[tool]).parameters.items()}
        given = {name: value for name, value in defaults.items() if value is not Parameter.empty} | dict(arguments)
        try:
            result = self._functions[tool](**copy.deepcopy(given))
            text = _text(result)
        except Exception as error:  # the package takes any exception of its APIs for a result
            return ToolResult(f"Error during execution: {error}", is_error=True)
        return ToolResult(text, is_error=isinstance(result, dict) and "error" in result)

    def bound(self, tool: str, positional: Sequence[Json]) -> dict[str, Json]:
        """Positional arguments of a function by name."""
        return dict(signature(self._functions[tool]).bind_partial(*positional).arguments)


def _is_endless(tool: str, arguments: Mapping[str, Any]) -> bool:
    """Whether a number has more digits than anybody waits for."""
    bound = {"power": "exponent", "logarithm": "precision"}.get(tool, "")
    value = arguments.get(bound, 0)
    return isinstance(value, int | float) and abs(value) > _MOST_DIGITS


def _class(name: str) -> Any:
    from bfcl_eval.constants.executable_backend_config import (  # pyright: ignore[reportMissingImports]
        CLASS_FILE_PATH_MAPPING,
    )

    return getattr(import_module(CLASS_FILE_PATH_MAPPING[name]), name)


def _text(result: Any) -> str:
    if isinstance(result, str):
        return result
    try:
        return json.dumps(result) if isinstance(result, dict) else str(result)
    except TypeError:
        return str(result)


class TurnsEpisode:
    """A multi-turn task. The package's checker makes the calls again, beside its own, and compares state and results
    after each of the user's turns."""

    def __init__(self, entry: Mapping[str, Any], answers: Sequence[Sequence[str]]) -> None:
        self._entry, self._answers = entry, answers
        self._category = entry["id"].rpartition("_")[0]
        self._apis = apis(entry)

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        return self._apis.call(tool, arguments)

    def verdict(self, played: Played) -> Assessment:
        from bfcl_eval.eval_checker.multi_turn_eval import (  # pyright: ignore[reportMissingImports]
            multi_turn_checker,
            multi_turn_utils,
        )

        later = self._entry.get("missed_function", {}).values()
        tools = {function["name"] for functions in (self._entry["function"], *later) for function in functions}
        turns = [[[_code(call, tools) for call in calls] for calls in steps if calls] for steps in played.turns]
        if len(turns) != len(self._answers):
            why = f"{len(turns)} of {len(self._answers)} messages were answered within the limits"
            return Assessment({self._category: False}, why)
        name = f"mcprl_{next(_CHECKED)}"  # the checker keeps instances by this name, for good
        try:
            found = multi_turn_checker.multi_turn_checker(
                turns, list(self._answers), dict(self._entry), self._category, name
            )
        finally:
            kept = vars(multi_turn_utils)
            for key in [key for key in kept if key.startswith(f"{name}_")]:
                del kept[key]
        return Assessment({self._category: bool(found["valid"])}, str(found.get("error_message", "")))


def apis(entry: Mapping[str, Any]) -> Apis:
    """The APIs of a multi-turn task in its first state."""
    return Apis(entry["involved_classes"], entry["initial_config"], "long_context" in entry["id"])


def _code(call: Call, tools: set[str]) -> str:
    """The call as the checker takes it: as Python, which it evaluates. So only the task's tools get through, with names
    for parameters; any other call becomes one that fails, as it would there."""
    named = all(name.isidentifier() and not iskeyword(name) for name in call.arguments)
    if call.tool not in tools or not named or _is_endless(call.tool, call.arguments):
        return "no_such_function()"
    return f"{call.tool}({','.join(f'{name}={value!r}' for name, value in call.arguments.items())})"


def gold(entry: Mapping[str, Any], answers: Sequence[Sequence[str]]) -> Played:
    """The package's own calls of a multi-turn task, which it writes as Python."""
    known = apis(entry)
    return Played(tuple((tuple(_parsed(text, known) for text in turn),) if turn else () for turn in answers))


def _parsed(text: str, known: Apis) -> Call:
    node = ast.parse(text, mode="eval").body
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        raise ValueError(f"{text!r} is not the call of a function")
    positional = [ast.literal_eval(value) for value in node.args]
    named = {keyword.arg: ast.literal_eval(keyword.value) for keyword in node.keywords if keyword.arg}
    return Call(node.func.id, known.bound(node.func.id, positional) | named)
