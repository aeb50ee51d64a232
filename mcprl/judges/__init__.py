"""Judges score the tries of one scenario: one `Score` per trajectory that can be scored, matched by id."""

from pathlib import Path
from typing import Protocol

from mcprl.config import JudgeConfig
from mcprl.errors import ConfigError
from mcprl.judges.verifier import Verifier
from mcprl.types import Group, Score, Tool


class Judge(Protocol):
    async def score(self, group: Group) -> list[Score]:
        """One score for each trajectory that did not break (`stop == "error"`).

        Raises `JudgeError`: a judge's failure is never a score.
        """
        ...

    async def forecast(self, groups: int, example: Group) -> str:
        """What judging so many groups like the example will take, in a sentence; empty where it is free."""
        ...

    def report(self) -> dict[str, float]:
        """Figures about the groups scored since this was last asked."""
        ...


def open_judge(config: JudgeConfig, tools: tuple[Tool, ...], seed: int = 0) -> Judge:
    """The judge that a configuration names. Raises `ConfigError`."""
    name, _, rubric = config.name.partition(":")
    if name == "auto":
        name = "mixed" if config.model else "verifier"
    if name == "verifier":
        return Verifier(tools)
    if name not in ("ruler", "mixed"):
        raise ConfigError(f"unknown judge {config.name!r}; expected verifier, ruler:RUBRIC, mixed:RUBRIC or auto")
    if not config.model:
        raise ConfigError(f"judge {config.name!r} needs a language model; name one with --judge-model")
    from mcprl.judges.mixed import Mixed
    from mcprl.judges.ruler import Ruler, load_rubric
    from mcprl.llm import ChatModel

    model = ChatModel(
        config.model,
        config.base_url,
        config.timeout_s,
        config.retries,
        config.concurrency,
        config.max_cost,
        Path(config.cache).expanduser() if config.cache else None,
    )
    ruler = Ruler(
        model,
        load_rubric(rubric or "default"),
        tools,
        permutations=config.permutations,
        evidence=config.evidence,
        seed=seed,
    )
    return Mixed(Verifier(tools), ruler, 1.0 if name == "ruler" else config.ruler_weight)
