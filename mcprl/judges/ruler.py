"""RULER: a language model scores the rollouts of a task against each other, by a rubric."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import pydantic

from mcprl.errors import ConfigError
from mcprl.files import find_bundled
from mcprl.judges.asking import ask_twice
from mcprl.judges.checks import says_missing
from mcprl.judges.prompt import Record, Verdict, read, reply_schema, write
from mcprl.llm import LanguageModel
from mcprl.text import counted, fill_template
from mcprl.types import Fact, Group, Message, Scalar, Score, Tool, Trajectory


class Criterion(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)
    name: str
    weight: float = pydantic.Field(gt=0)
    text: str


class RubricExample(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)
    what: str
    score: float = pydantic.Field(ge=0, le=1)


class Rubric(pydantic.BaseModel):
    """The criteria by which rollouts are compared: a file in `judges/`, or the user's own."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)
    name: str
    text: str
    criteria: tuple[Criterion, ...] = ()
    examples: tuple[RubricExample, ...] = ()

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
    """Scores groups by one rubric. Each group is judged in `permutations` orders, and the scores are averaged.

    `report` gives, for the groups since the last report, `judge_spread` (standard deviation of a rollout's scores
    between orders), `judge_position` (how much the last place in the text raises a score over the first) and
    `judge_ties` (fraction of tied pairs), and the judge's calls and cost so far.
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
        """A score for each trajectory that did not break. One that never answered is no success, whatever its score.

        Raises `JudgeError`, or `BudgetError` before the limit.
        """
        unbroken = [trajectory for trajectory in group.trajectories if trajectory.stop != "error"]
        evidence = [_evidence(group, trajectory) for trajectory in unbroken] if self.evidence else []
        verdicts = await self.judge([trajectory.messages for trajectory in unbroken], evidence)
        return [
            Score(trajectory.id, round(verdict.score, 6), _failed(trajectory), verdict.explanation)
            for trajectory, verdict in zip(unbroken, verdicts, strict=True)
        ]

    async def judge(
        self, messages_G: Sequence[Sequence[Message]], evidence_G: Sequence[Mapping[str, Any]] = ()
    ) -> list[Verdict]:
        """The verdict on each message list: the mean score over orders, with the first order's explanation."""
        if not messages_G:
            return []
        rounds: list[list[Verdict]] = []
        for order in range(self.permutations):
            record = write(messages_G, self.tools, evidence_G, seed=(self.seed, order))
            verdicts = await self._ask(record)
            rounds.append([verdicts[name] for name in record.ids])
            self._slopes.append(_slope([verdicts[name].score for name in record.distinct]))
        scores_G = [[verdict.score for verdict in verdicts] for verdicts in zip(*rounds, strict=True)]
        means = [fmean(scores) for scores in scores_G]
        if self.permutations > 1:
            self._spreads += [pstdev(scores) for scores in scores_G]
        if pairs := [abs(a - b) < 1e-3 for n, a in enumerate(means) for b in means[:n]]:
            self._ties.append(fmean(pairs))
        return [Verdict(mean, first.explanation) for mean, first in zip(means, rounds[0], strict=True)]

    async def forecast(self, groups: int, example: Group) -> str:
        record = write([trajectory.messages for trajectory in example.trajectories], self.tools)
        calls = groups * self.permutations
        price = await self.model.price(self.chat(record), calls)
        return f"the judge {self.model.name} will be asked up to {counted(calls, 'time')}, {price}"

    def report(self) -> dict[str, float]:
        metrics = {"judge_calls": float(self.model.calls), "judge_cost": self.model.cost}
        for name, values in (("spread", self._spreads), ("position", self._slopes), ("ties", self._ties)):
            if values:
                metrics[f"judge_{name}"] = fmean(values)
            values.clear()
        return metrics

    async def _ask(self, record: Record) -> dict[str, Verdict]:
        """The model's verdict on each id. A reply that cannot be used is returned to the model once, with the problem.

        Raises `JudgeError` or `BudgetError`.
        """
        ids = ", ".join(record.distinct)
        return await ask_twice(
            self.model,
            self.chat(record),
            reply_schema(record.distinct),
            lambda reply: read(reply, record.distinct),
            lambda problem: fill_template(self._repair, problem=problem, ids=ids),
            "scores",
        )

    def chat(self, record: Record) -> list[dict[str, str]]:
        """The messages to the model for one record."""
        count = str(len(record.distinct))
        system = fill_template(self._system, rubric=self.rubric.render(), fence=record.fence, count=count)
        return [{"role": "system", "content": system}, {"role": "user", "content": record.text}]


def _failed(trajectory: Trajectory) -> bool | None:
    """False of a rollout that never answered, which is no success; else `None`: a score alone does not say."""
    return None if trajectory.stop == "answered" else False


def _evidence(group: Group, trajectory: Trajectory) -> dict[str, Any]:
    """Facts about a trajectory that need no judgement, for the judge to read."""
    return {
        "expected": [_expected(check) for check in group.scenario.checks if isinstance(check, Fact) and not check.live],
        "calls": len(trajectory.calls),
        "failed_calls": sum(record.result.is_error for record in trajectory.calls),
        "state_afterwards": [read.text for read in trajectory.state],
        "says_not_found": says_missing(trajectory.answer),
        "ended": trajectory.stop,
    }


def _expected(fact: Fact) -> dict[str, Scalar]:
    """A fact that the answer must state, as the judge reads it: of what, in which unit."""
    about = {"name": fact.name, "subject": fact.subject, "unit": fact.unit}
    return {**{key: text for key, text in about.items() if text}, "value": fact.value}


def _slope(scores: Sequence[float]) -> float:
    """The rise of the scores from the first place to the last, by least squares."""
    if len(scores) < 2:
        return 0.0
    places = [n / (len(scores) - 1) - 0.5 for n in range(len(scores))]
    return sum(p * s for p, s in zip(places, scores, strict=True)) / sum(p * p for p in places)
