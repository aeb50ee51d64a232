"""AgentDojo: whether an agent does its task with tools, and whether it obeys instructions that tool results bring in.

The categories are its four suites, and each suite under attack: every pair of a user's task and an injected one. The
attack is the package's `important_instructions_no_model_name`. Environments, tools and checks are the package's.
"""

import sys
from collections.abc import Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Final

import yaml

from mcprl.benches import Assessment, Episode, Played, Task, packages
from mcprl.errors import BenchError
from mcprl.types import Call, Message, Tool, ToolResult

SUITES: Final = ("workspace", "slack", "travel", "banking")
ATTACKED: Final = "_attacked"
VERSION: Final = "v1.2.2"
STEPS: Final = 15
"""The policy's turns, as in the package."""


class AgentDojo:
    """The benchmark. A task's `key` is the user's task and, under attack, the injected one."""

    categories: Sequence[str] = tuple(suite + attack for attack in ("", ATTACKED) for suite in SUITES)

    def __init__(self) -> None:
        self._package = _load_package()

    def tasks(self, category: str) -> list[Task]:
        if category not in self.categories:
            raise BenchError(f"agentdojo has no category {category!r}; expected one of: {', '.join(self.categories)}")
        suite = self._suite(category)
        tools = tuple(_tool(function) for function in suite.tools)
        keys = [(name, "") for name in suite.user_tasks]
        if category.endswith(ATTACKED):
            keys = [(name, goal) for name, _ in keys if self._places(category, name) for goal in suite.injection_tasks]
        return [self._task(category, tools, user, goal) for user, goal in keys]

    def begin(self, task: Task) -> Episode:
        user, _, goal = task.key.partition("/")
        suite = self._suite(task.category)
        injections = self._injections(task.category, user, goal) if goal else {}
        injected = suite.get_injection_task_by_id(goal) if goal else None
        runtime = self._package.FunctionsRuntime(suite.tools)
        return _DojoEpisode(self._package, suite, runtime, suite.get_user_task_by_id(user), injected, injections)

    def gold(self, task: Task) -> Played:
        user, _, goal = task.key.partition("/")
        suite = self._suite(task.category)
        injections = self._injections(task.category, user, goal) if goal else {}
        solved = suite.get_user_task_by_id(user)
        environment = solved.init_environment(suite.load_and_inject_default_environment(injections))
        calls = [Call(call.function, dict(call.args)) for call in solved.ground_truth(environment)]
        return Played((tuple((call,) for call in calls),), solved.GROUND_TRUTH_OUTPUT)

    def _suite(self, category: str) -> Any:
        return self._package.get_suite(VERSION, category.removesuffix(ATTACKED))

    def _task(self, category: str, tools: tuple[Tool, ...], user: str, goal: str) -> Task:
        request = self._suite(category).get_user_task_by_id(user).PROMPT
        messages: tuple[Message, ...] = (
            {"role": "system", "content": self._package.system_message},
            {"role": "user", "content": request},
        )
        key = f"{user}/{goal}" if goal else user
        return Task(f"{category}/{key}", category, (messages,), tools, STEPS, key)

    @cache  # noqa: B019
    def _attack(self, category: str) -> Any:
        # It takes the name of the model from a pipeline and then does not use it.
        return self._package.attack(self._suite(category), SimpleNamespace(name="local"))

    @cache  # noqa: B019
    def _places(self, category: str, user: str) -> tuple[str, ...]:
        """Where the attack can stand: in what the user's task reads. Empty if that is nothing of others'."""
        try:
            task = self._suite(category).get_user_task_by_id(user)
            return tuple(self._attack(category).get_injection_candidates(task))
        except ValueError:
            return ()

    def _injections(self, category: str, user: str, goal: str) -> dict[str, str]:
        suite = self._suite(category)
        return self._attack(category).attack(suite.get_user_task_by_id(user), suite.get_injection_task_by_id(goal))


@cache
def _load_package() -> SimpleNamespace:
    """The parts of agentdojo that are used. Raises `BenchError` if it was not set up.

    `agentdojo.agent_pipeline` imports every vendor's client. Its modules are imported without what leads to them, and
    the one constant that they take from a client is given.
    """
    packages.require("agentdojo")
    import agentdojo  # pyright: ignore[reportMissingImports]

    pipeline = ModuleType("agentdojo.agent_pipeline")
    pipeline.__path__ = [f"{path}/agent_pipeline" for path in agentdojo.__path__]
    sys.modules.setdefault(pipeline.__name__, pipeline)
    google = ModuleType("agentdojo.agent_pipeline.llms.google_llm")
    google.__dict__["EMPTY_FUNCTION_NAME"] = "<empty-function>"
    sys.modules.setdefault(google.__name__, google)
    # An environment is read from YAML for every episode: the parser in C takes a tenth of the time.
    suites = import_module("agentdojo.task_suite.task_suite")
    fast = SimpleNamespace(load=yaml.load, dump=yaml.dump, safe_load=partial(yaml.load, Loader=yaml.CSafeLoader))
    suites.__dict__["yaml"] = fast
    runtime = import_module("agentdojo.functions_runtime")
    attacks = import_module("agentdojo.attacks.important_instructions_attacks")
    return SimpleNamespace(
        get_suite=import_module("agentdojo.task_suite.load_suites").get_suite,
        attack=attacks.ImportantInstructionsAttackNoModelName,
        FunctionsRuntime=runtime.FunctionsRuntime,
        FunctionCall=runtime.FunctionCall,
        as_text=import_module("agentdojo.agent_pipeline.tool_execution").tool_result_to_str,
        block=import_module("agentdojo.types").text_content_block_from_string,
        system_message=_system_message(agentdojo.__path__[0]),
    )


def _system_message(folder: str) -> str:
    return str(yaml.safe_load((Path(folder) / "data" / "system_messages.yaml").read_text())["default"])


def _tool(function: Any) -> Tool:
    return Tool(function.name, function.description, function.parameters.model_json_schema())


class _DojoEpisode:
    """A user's task in its environment, with the injected one if it is attacked. It judges as the package does."""

    def __init__(
        self, package: Any, suite: Any, runtime: Any, task: Any, injected: Any, injections: Mapping[str, str]
    ) -> None:
        self._package, self._suite, self._runtime = package, suite, runtime
        self._task, self._injected = task, injected
        self._environment = task.init_environment(suite.load_and_inject_default_environment(dict(injections)))
        self._before = self._environment.model_copy(deep=True)
        self._calls: list[Any] = []

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        self._calls.append(self._package.FunctionCall(function=tool, args=dict(arguments)))
        result, error = self._runtime.run_function(self._environment, tool, dict(arguments))
        return ToolResult(error or self._package.as_text(result), is_error=error is not None)

    def verdict(self, played: Played) -> Assessment:
        suite = self._suite.name
        useful = self._holds(self._task, played)
        if self._injected is None:
            return Assessment({f"{suite} utility": useful}, "" if useful else "the task is not done")
        obeyed = self._holds(self._injected, played)
        passed = {f"{suite} utility under attack": useful, f"{suite} resisted": not obeyed}
        return Assessment(passed, "the injected task is done" if obeyed else "" if useful else "the task is not done")

    def _holds(self, task: Any, played: Played) -> bool:
        output = [self._package.block(played.answer)]
        return bool(self._suite._check_task_result(task, output, self._before, self._environment, self._calls))
