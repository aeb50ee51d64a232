"""tau2: a shop's and an airline's customers, whose requests must leave the database as the benchmark's own calls do.

The package holds tau2's databases, policies, tools and tasks. In tau2 a model plays the customer. Here the customer
says all in one message, unless a model plays them (`customer.md`), and the database decides: what a model would have to
judge is not scored, so figures do not compare with tau2's own. A task in which the right thing is to change nothing is
counted apart: a policy that does nothing passes it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from mcprl.benches import Assessment, Episode, Played, Talking, Task, packages
from mcprl.errors import BenchError
from mcprl.llm import LanguageModel
from mcprl.types import Call, Json, Message, Tool, ToolResult

DOMAINS: Final = ("retail", "airline")
STEPS: Final = 30
"""The policy's turns; the longest of the benchmark's own solutions takes about half."""
CUSTOMER: Final = Path(__file__).parent / "customer.md"
GREETING, END = "Hello. How can I help you today?", "###END###"
"""What a played customer answers first, and how they say that they are done."""


class Tau2:
    """The benchmark. Its categories are its domains, with all of their tasks."""

    categories: Sequence[str] = DOMAINS

    def __init__(self) -> None:
        packages.require("tau2")

    def tasks(self, category: str) -> list[Task]:
        if category not in DOMAINS:
            raise BenchError(f"tau2 has no category {category!r}; expected one of: {', '.join(DOMAINS)}")
        domain = _Domain.of(category)
        return [domain.task(name) for name in domain.entries]

    def begin(self, task: Task) -> Episode:
        domain = _Domain.of(task.category)
        return _DomainEpisode(domain, domain.actions(task.key))

    def talk(self, task: Task, user: LanguageModel) -> Talking:
        domain = _Domain.of(task.category)
        return _DomainTalk(domain, task.key, user)

    def gold(self, task: Task) -> Played:
        return Played((tuple((call,) for call in _Domain.of(task.category).actions(task.key)),))


class _Domain:
    """One of the two servers' modules with its data."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.module = import_module(f"tau2_{name}_mcp.server")
        path = getattr(self.module, f"_{name}_data_path")
        self._database = path("db.json").read_text()
        self._policy = path("policy.md").read_text()
        self.entries: dict[str, Any] = {entry["id"]: entry for entry in json.loads(path("tasks.json").read_text())}
        self._tools = tuple(
            _tool(each) for each in self.module._list_tools() if each["name"] in self.module.BUSINESS_TOOLS
        )

    @staticmethod
    @cache
    def of(name: str) -> "_Domain":
        return _Domain(name)

    def task(self, name: str) -> Task:
        told = self.entries[name]["user_scenario"]["instructions"]
        parts = [told[part] for part in ("known_info", "reason_for_call", "task_instructions") if told.get(part)]
        messages: tuple[Message, ...] = (
            {"role": "system", "content": self._policy},
            {"role": "user", "content": "\n\n".join(parts)},
        )
        return Task(f"{self.name}/{name}", self.name, (messages,), self._tools, STEPS, name)

    def customer(self, name: str) -> str:
        """What a model reads that plays the customer of a task."""
        told = self.entries[name]["user_scenario"]["instructions"]
        parts = {part: told.get(part) or "Nothing." for part in ("reason_for_call", "known_info", "unknown_info")}
        return CUSTOMER.read_text().format(**parts, task_instructions=told.get("task_instructions") or "Nothing.")

    def to_tell(self, name: str) -> list[str]:
        """What the customer must be told, in tau2's words, digits without separators."""
        return self.entries[name]["evaluation_criteria"].get("communicate_info") or []

    def actions(self, name: str) -> list[Call]:
        """The benchmark's own calls."""
        actions = self.entries[name]["evaluation_criteria"].get("actions") or []
        return [Call(action["name"], action["arguments"]) for action in actions]

    def database(self) -> Json:
        return json.loads(self._database)

    def call(self, database: Json, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """The result as the server writes it. `calculate` evaluates what it is given: powers may never end."""
        if "**" in str(arguments.get("expression", "")):
            return ToolResult("Error: powers are not calculated", is_error=True)
        try:
            result = self.module._execute_tool(database, tool, dict(arguments))
        except Exception as error:  # the server takes any exception of its tools for a result
            return ToolResult(f"Error: {error}", is_error=True)
        return ToolResult(self.module._content_from_result(result))


def _tool(declared: Mapping[str, Any]) -> Tool:
    """A tool without the parameter that keeps sessions apart."""
    schema = declared["inputSchema"]
    parameters = {name: each for name, each in schema["properties"].items() if name != "state_key"}
    return Tool(declared["name"], declared["description"], {**schema, "properties": parameters})


class _DomainEpisode:
    """A database of its own, compared in the end with one on which the benchmark's own calls were made."""

    def __init__(self, domain: _Domain, actions: Sequence[Call]) -> None:
        self._domain, self._actions = domain, actions
        self._database = domain.database()

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        return self._domain.call(self._database, tool, arguments)

    def verdict(self, played: Played) -> Assessment:
        expected = self._domain.database()
        for call in self._actions:
            self._domain.call(expected, call.tool, call.arguments)
        changes = "something" if expected != self._domain.database() else "nothing"
        same = self._database == expected
        why = "" if same else "the database is not as the benchmark's own calls leave it"
        return Assessment({f"{self._domain.name}, {changes} to change": same}, why)


class _DomainTalk(_DomainEpisode):
    """An episode with the customer played, in which what they must be told is looked for in all that they were."""

    def __init__(self, domain: _Domain, name: str, user: LanguageModel) -> None:
        super().__init__(domain, domain.actions(name))
        self._to_tell, self._user, self._told = domain.to_tell(name), user, ""
        # The customer's view: what they say is the assistant's, what they read is the user's.
        self._chat = [{"role": "system", "content": domain.customer(name)}]

    async def says(self, answer: str) -> str | None:
        self._told += f"\n{answer}"
        self._chat.append({"role": "user", "content": answer or GREETING})
        said = await self._user.reply(self._chat)
        self._chat.append({"role": "assistant", "content": said})
        return None if END in said else said

    def verdict(self, played: Played) -> Assessment:
        """The database's, and by tau2's rule whether the customer was told each thing: it stands in an answer."""
        assessment = super().verdict(played)
        passed = {f"{name} (talk)": right for name, right in assessment.passed.items()}
        told = f"{self._told}\n{played.answer}".lower().replace(",", "")
        if missing := [each for each in self._to_tell if each.lower() not in told]:
            assessment = replace(assessment, why=f"{assessment.why}; never told: {', '.join(missing)}".strip("; "))
        if self._to_tell:
            passed[f"{self._domain.name}, told what is asked (talk)"] = not missing
        return replace(assessment, passed=passed)
