"""Writers: what puts a task that was executed into a person's words. `plain` is by rule and always there, `model` is a
language model. `vet` keeps what asks for just what the brief says."""

from collections.abc import Sequence
from typing import Protocol

from mcprl.config import POLICY
from mcprl.scenarios.brief import Brief

PLAIN = "plain"


def is_writer(name: str) -> bool:
    """Whether there is a writer of that name. The model that is trained is none: it would word its own test."""
    return name == PLAIN or (name.startswith("llm:") and name not in ("llm:", f"llm:{POLICY}"))


class Writer(Protocol):
    """Something that words briefs."""

    name: str

    async def write(self, briefs: Sequence[Brief], k: int) -> list[list[str]]:
        """`k` requests for each brief, in their order. One that could not be written is empty."""
        ...

    async def margins(self, contrasts: Sequence[tuple[str, Sequence[str]]]) -> list[float]:
        """How much better each request fits the text of its first brief than any other; below 0, another fits better.
        Where there is no other brief, any number: the higher, the better it fits."""
        ...
