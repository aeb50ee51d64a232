"""Judges score the tries of one scenario: one `Score` per trajectory that can be scored, matched by id."""

from typing import Protocol

from mcprl.errors import ConfigError
from mcprl.judges.verifier import Verifier
from mcprl.types import Group, Score, Tool


class Judge(Protocol):
    async def score(self, group: Group) -> list[Score]:
        """One score for each trajectory that did not break (`stop == "error"`).

        Raises `JudgeError`: a judge's failure is never a score.
        """
        ...


def open_judge(name: str, tools: tuple[Tool, ...]) -> Judge:
    """The judge that a configuration names."""
    if name != "verifier":
        raise ConfigError(f"unknown judge {name!r}; the one there is: verifier")
    return Verifier(tools)
