"""The seam for benchmarks made by others: their tasks, their tools and their verdicts, imported from their packages.

A benchmark runs in this process. Nothing of it is copied: `mcprl setup bench NAME` fetches its package.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, runtime_checkable

from mcprl.errors import ConfigError
from mcprl.llm import LanguageModel
from mcprl.types import Call, Message, Session, Tool


@dataclass(frozen=True)
class Task:
    """One task. `messages[i]` are the messages that begin the user's i-th turn, the last of them the user's. The policy
    may take `steps` turns after each, and gets further tools, `later[i]`, with it. `key` is what the benchmark itself
    knows the task by.
    """

    id: str
    category: str
    messages: tuple[tuple[Message, ...], ...]
    tools: tuple[Tool, ...]
    steps: int
    key: str = ""
    later: Mapping[int, tuple[Tool, ...]] = field(default_factory=dict[int, tuple[Tool, ...]], hash=False)


Steps = tuple[tuple[Call, ...], ...]
"""The calls of the policy's turns after one user's turn; the calls of one of its turns stand together."""


@dataclass(frozen=True)
class Played:
    """What a policy did: its steps after each user's turn, and its last words."""

    turns: tuple[Steps, ...]
    answer: str = ""


@dataclass(frozen=True)
class Assessment:
    """The benchmark's own verdict: whether the policy passed, by the name of what was measured, and why not."""

    passed: Mapping[str, bool]
    why: str = ""


class Episode(Session, Protocol):
    """A task in its first state. It takes the policy's calls and then judges."""

    def verdict(self, played: Played) -> Assessment:
        """The benchmark's verdict on the calls that were made and on `played`, which holds them too."""
        ...


class Bench(Protocol):
    """A benchmark. Raises `BenchError` if its package is not on this machine."""

    @property
    def categories(self) -> Sequence[str]:
        """The kinds of tasks that it has."""
        ...

    def tasks(self, category: str) -> list[Task]:
        """The tasks of a category, in the benchmark's order."""
        ...

    def begin(self, task: Task) -> Episode:
        """A fresh episode of a task."""
        ...

    def gold(self, task: Task) -> Played:
        """What the benchmark's own solution of the task does."""
        ...


class Talking(Episode, Protocol):
    """A task with a user who is played by a language model, in place of the task's own messages of a user."""

    async def says(self, answer: str) -> str | None:
        """The user's next message after the policy's `answer`, their first after an empty one; `None` if they are done.
        Raises `LlmError`."""
        ...


@runtime_checkable
class TalkingBench(Bench, Protocol):
    """A benchmark whose users can be played by a language model."""

    def talk(self, task: Task, user: LanguageModel) -> Talking:
        """A fresh episode of a task with its user played."""
        ...


NAMES: Final = ("bfcl", "agentdojo", "tau2")


def open_bench(name: str) -> Bench:
    """The benchmark of that name. Raises `ConfigError`, and `BenchError` if its package is not on this machine."""
    if name == "bfcl":
        from mcprl.benches.bfcl import Bfcl

        return Bfcl()
    if name == "agentdojo":
        from mcprl.benches.agentdojo import AgentDojo

        return AgentDojo()
    if name == "tau2":
        from mcprl.benches.tau2 import Tau2

        return Tau2()
    raise ConfigError(f"unknown benchmark {name!r}; expected one of: {', '.join(NAMES)}")


async def replay(bench: Bench, task: Task, played: Played) -> Assessment:
    """The verdict on a policy that does what `played` says."""
    episode = bench.begin(task)
    for steps in played.turns:
        for calls in steps:
            for call in calls:
                await episode.call(call.tool, call.arguments)
    return episode.verdict(played)


def nothing(task: Task) -> Played:
    """What an empty policy does."""
    return Played(tuple(() for _ in task.messages))
