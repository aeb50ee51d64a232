"""RULER: a language model ranks the tries of a task against each other, by a rubric."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import pydantic

from mcprl.errors import BudgetError, ConfigError, JudgeError, LlmError
from mcprl.files import find_bundled
from mcprl.judges.checks import says_missing
from mcprl.judges.prompt import SCHEMA, Record, Verdict, read, write
from mcprl.llm import LanguageModel
from mcprl.text import fill_template
from mcprl.types import Fact, Group, Message, Score, Tool, Trajectory


class Criterion(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)
    name: str
    weight: float = pydantic.Field(gt=0)
    text: str


class Example(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)
    what: str
    score: float = pydantic.Field(ge=0, le=1)


class Rubric(pydantic.BaseModel):
    """What tries are compared by: a file in `judges/`, or one's own."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)
    name: str
    text: str
    criteria: tuple[Criterion, ...] = ()
    examples: tuple[Example, ...] = ()

    def render(self) -> str:
        parts = [self.text]
        if self.criteria:
            total = sum(criterion.weight for criterion in self.criteria)
            parts += ["", "What counts, and how much:"]
            parts += [f"- {c.name} ({c.weight / total:.0%}): {c.text}" for c in self.criteria]
        if self.examples:
            parts += ["", "Examples:", *(f"- {example.score:g}: {example.what}" for example in self.examples)]
        return "\n".join(parts)


def load_rubric(name: str) -> Rubric:
    """A rubric of `judges/` by name, or a TOML file by path. Raises `ConfigError`."""
    path = find_bundled("judges", name if Path(name).suffix else f"{name}.toml")
    try:
        return Rubric.model_validate(tomllib.loads(path.read_text()))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, pydantic.ValidationError) as error:
        raise ConfigError(f"{path} is not a rubric: {' '.join(str(error).split())}") from error


class Ruler:
    """Scores groups by one rubric. `permutations` orders are judged and averaged.

    `report` says, of all groups since it was last asked: how far scores of one try lay apart between orders, how much a
    later place in the text raised a score, and the share of tied pairs; and what the judge has cost so far.
    """

    def __init__(
        self,
        model: LanguageModel,
        rubric: Rubric,
        tools: Sequence[Tool] = (),
        *,
        permutations: int = 1,
        evidence: bool = False,
        seed: int = 0,
    ) -> None:
        self.model, self.rubric, self.tools = model, rubric, tools
        self.permutations, self.evidence, self.seed = permutations, evidence, seed
        self._system, self._repair = (
            find_bundled("judges", name).read_text() for name in ("ruler.md", "ruler-repair.md")
        )
        self._spreads: list[float] = []
        self._slopes: list[float] = []
        self._ties: list[float] = []

    async def score(self, group: Group) -> list[Score]:
        """A score for each trajectory that did not break. Raises `JudgeError`, or `BudgetError` before the limit."""
        tried = [one for one in group.trajectories if one.stop != "error"]
        known = [_evidence(group, one) for one in tried] if self.evidence else []
        verdicts = await self.judge([one.messages for one in tried], known)
        return [
            Score(one.id, round(verdict.score, 6), None, verdict.explanation)
            for one, verdict in zip(tried, verdicts, strict=True)
        ]

    async def judge(
        self, tries: Sequence[Sequence[Message]], evidence: Sequence[Mapping[str, Any]] = ()
    ) -> list[Verdict]:
        """The verdict on each message list, in the order given; the explanation is that of the first order."""
        if not tries:
            return []
        rounds: list[list[Verdict]] = []
        for order in range(self.permutations):
            record = write(tries, self.tools, evidence, seed=(self.seed, order))
            found = await self._ask(record)
            rounds.append([found[name] for name in record.ids])
            self._slopes.append(_slope([found[name].score for name in record.distinct]))
        scores = [[verdict.score for verdict in verdicts] for verdicts in zip(*rounds, strict=True)]
        means = [fmean(own) for own in scores]
        self._spreads += [pstdev(own) for own in scores] if self.permutations > 1 else []
        pairs = [abs(a - b) < 1e-3 for n, a in enumerate(means) for b in means[:n]]
        self._ties += [fmean(pairs)] if pairs else []
        return [Verdict(mean, first.explanation) for mean, first in zip(means, rounds[0], strict=True)]

    async def forecast(self, groups: int, example: Group) -> str:
        record = write([tried.messages for tried in example.trajectories], self.tools)
        calls = groups * self.permutations
        price = await self.model.price(self.chat(record), calls)
        return f"the judge {self.model.name} will be asked up to {calls} times, {price}"

    def report(self) -> dict[str, float]:
        found = {"judge_calls": float(self.model.calls), "judge_cost": self.model.cost}
        for name, values in (("spread", self._spreads), ("position", self._slopes), ("ties", self._ties)):
            if values:
                found[f"judge_{name}"] = fmean(values)
            values.clear()
        return found

    async def _ask(self, record: Record) -> dict[str, Verdict]:
        chat = self.chat(record)
        try:
            reply = await self.model.reply(chat, SCHEMA)
            try:
                return read(reply, record.distinct)
            except ValueError as problem:
                repair = fill_template(self._repair, problem=str(problem), ids=", ".join(record.distinct))
                chat += [{"role": "assistant", "content": reply}, {"role": "user", "content": repair}]
            return read(await self.model.reply(chat, SCHEMA), record.distinct)
        except ValueError as problem:
            raise JudgeError(f"{self.model.name} gave no usable scores, asked twice: {problem}") from None
        except BudgetError:
            raise
        except LlmError as error:
            raise JudgeError(f"the judge cannot be asked: {error}") from error

    def chat(self, record: Record) -> list[dict[str, str]]:
        """What is sent to the model for one record."""
        count = str(len(record.distinct))
        system = fill_template(self._system, rubric=self.rubric.render(), fence=record.fence, count=count)
        return [{"role": "system", "content": system}, {"role": "user", "content": record.text}]


def _evidence(group: Group, tried: Trajectory) -> dict[str, Any]:
    """What is known of a try without judging it."""
    facts = {check.name or "fact": check.value for check in group.scenario.checks if isinstance(check, Fact)}
    return {
        "expected": facts,
        "calls": len(tried.calls),
        "failed_calls": sum(record.result.is_error for record in tried.calls),
        "state_afterwards": [read.text for read in tried.state],
        "says_not_found": says_missing(tried.answer),
        "ended": tried.stop,
    }


def _slope(scores: Sequence[float]) -> float:
    """How much a score rises from the first place to the last (least squares)."""
    if len(scores) < 2:
        return 0.0
    places = [n / (len(scores) - 1) - 0.5 for n in range(len(scores))]
    return sum(p * s for p, s in zip(places, scores, strict=True)) / sum(p * p for p in places)
