"""Judges score the tries of one scenario: one `Score` per trajectory that can be scored, matched by id."""

from typing import Protocol

from mcprl.config import POLICY, JudgeConfig
from mcprl.errors import ConfigError
from mcprl.files import find_cache
from mcprl.judges.verifier import Verifier
from mcprl.llm import LanguageModel
from mcprl.llm.litellm import ChatModel
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


def open_judge(config: JudgeConfig, tools: tuple[Tool, ...], seed: int = 0, own: LanguageModel | None = None) -> Judge:
    """The judge that a configuration names; `own` is the run's own model, where it has one. Raises `ConfigError`."""
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

    ruler = Ruler(
        _model(config, own),
        load_rubric(rubric or "default"),
        tools,
        permutations=config.permutations,
        evidence=config.evidence,
        seed=seed,
    )
    return Mixed(Verifier(tools), ruler, 1.0 if name == "ruler" else config.ruler_weight)


def _model(config: JudgeConfig, own: LanguageModel | None) -> LanguageModel:
    if config.model != POLICY:
        cache = find_cache(config.cache, "judge")
        limits = (config.timeout_s, config.retries, config.concurrency, config.max_cost)
        return ChatModel(config.model, config.base_url, *limits, cache)
    if config.base_url:
        raise ConfigError(
            f"judge.model = {POLICY!r} is the run's own model, which has no endpoint; leave judge.base_url = "
            f"{config.base_url!r} out, or name the model that is there (openai/NAME)"
        )
    if own is None:
        raise ConfigError(f"judge.model = {POLICY!r}: no run is here whose model could judge; name another")
    return own
