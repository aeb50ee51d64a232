"""The seam for judges, which score a scenario's group: one `Score` per trajectory that can be scored, matched by id."""

from typing import Protocol

from mcprl.config import POLICY, JudgeConfig
from mcprl.errors import ConfigError
from mcprl.files import find_cache
from mcprl.judges.verifier import Verifier
from mcprl.llm import LanguageModel, open_llm
from mcprl.types import Group, Score, Tool

OWN = "own"
"""The name of a judge in a run's settings that is the user's own code (`train_adapter(own=...)`)."""


class Judge(Protocol):
    """`model` is the language model that it asks, if it asks one."""

    @property
    def model(self) -> LanguageModel | None: ...

    async def score(self, group: Group) -> list[Score]:
        """One score for each trajectory that did not break (`stop == "error"`).

        Raises `JudgeError`: a judge's failure is never a score.
        """
        ...

    async def forecast(self, groups: int, example: Group) -> str:
        """What judging so many groups like the example will cost, in a sentence; empty if it is free."""
        ...

    def report(self) -> dict[str, float]:
        """Metrics of the groups scored since the last report."""
        ...


def open_judge(
    config: JudgeConfig, tools: tuple[Tool, ...], seed: int = 0, policy: LanguageModel | None = None
) -> Judge:
    """The configured judge. `policy` is the run's own model, if there is a run. Raises `ConfigError`."""
    name, _, rubric = config.name.partition(":")
    if name == "auto":
        name = "mixed" if config.model else "verifier"
    if name == "verifier":
        return Verifier(tools)
    if name == OWN:
        raise ConfigError("the judge of this run is Python code; give it: train_adapter(own=OwnParts(judge=...))")
    if name not in ("ruler", "mixed", "reference"):
        expected = "expected verifier, reference, ruler:RUBRIC, mixed:RUBRIC or auto"
        raise ConfigError(f"unknown judge {config.name!r}; {expected}")
    if not config.model:
        raise ConfigError(f"judge {config.name!r} needs a language model; name one with --judge-model")
    from mcprl.judges.mixed import Mixed
    from mcprl.judges.reference import ReferenceJudge
    from mcprl.judges.ruler import Ruler, load_rubric

    if name == "reference":
        return ReferenceJudge(_model(config, policy), tools, seed)

    ruler = Ruler(
        _model(config, policy),
        load_rubric(rubric or "default"),
        tools,
        permutations=config.permutations,
        evidence=config.evidence,
        seed=seed,
    )
    return Mixed(Verifier(tools), ruler, 1.0 if name == "ruler" else config.ruler_weight)


def require_judge(config: JudgeConfig) -> None:
    """Raise what would keep the configured judge from judging a run: `ConfigError`, `MissingExtra` or `LlmError`. Asks
    it nothing; the import of litellm may take seconds."""
    if config.model != POLICY:  # the run's own model is there only later
        judge = open_judge(config, ())
        if judge.model:
            judge.model.require()


def _model(config: JudgeConfig, policy: LanguageModel | None) -> LanguageModel:
    if config.model == POLICY and config.base_url:
        raise ConfigError(
            f"judge.model = {POLICY!r} is the run's own model, which has no endpoint; leave judge.base_url = "
            f"{config.base_url!r} out, or name the model at that endpoint (openai/NAME)"
        )
    return open_llm(
        config.model,
        "judge.model",
        policy,
        base_url=config.base_url,
        timeout_s=config.timeout_s,
        retries=config.retries,
        concurrency=config.concurrency,
        max_cost=config.max_cost,
        cache=find_cache(config.cache, "judge"),
    )
