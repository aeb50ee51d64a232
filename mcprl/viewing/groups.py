"""The groups of a run: all rollouts of one task in one step, in a list and side by side."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from mcprl.config import TrainingConfig
from mcprl.runs.journal import Journal
from mcprl.runs.records import given_turns, load_gaps
from mcprl.training.advantages import advantages
from mcprl.types import Message, Score, Trajectory

PAGE: Final = 100
ORDERS: Final = {
    "step": "t.step, min(t.rowid)",
    "task": "request, t.step",
    "rollouts": "count(*) desc, t.step",
    "score": "avg(s.value), t.step",
    "spread": "max(s.value) - min(s.value) desc, t.step",
    "broken": "sum(t.stop = 'error') desc, t.step",
}
"""What a list of groups can be sorted by."""


@dataclass(frozen=True)
class GroupLine:
    """A line of the list. `spread`: the best score minus the worst; without one a group teaches nothing."""

    phase: str
    step: int
    task: str
    request: str
    rollouts: int
    score: float | None
    success: float | None
    spread: float | None
    broken: int


@dataclass(frozen=True)
class DialogueLine:
    """A message, its calls as (tool, arguments). `writer`: its role, or "given". `turn` numbers the policy's own."""

    message: Message
    calls: list[tuple[str, str]]
    writer: str
    turn: int | None


@dataclass(frozen=True)
class Column:
    """A rollout beside others: `name` says whose it is, `words` are the judge's or the checks'.

    `gaps`: |trainer - sampler| (nats) of each sampled token, NaN if not measured; `None` if the journal has none.
    """

    name: str
    trajectory: Trajectory
    score: Score | None
    words: Sequence[str]
    advantage: float | None
    fate: str
    gaps: Sequence[float] | None = None
    turns: Sequence[Any] = ()

    @property
    def tint(self) -> str:
        """The class of the advantage's colour: `up1` to `up4` or `down1` to `down4`; none without a signal."""
        if not self.advantage:
            return ""
        strength = min(4, 1 + int(4 * min(0.99, abs(self.advantage))))
        return f"{'up' if self.advantage > 0 else 'down'}{strength}"

    @property
    def gap(self) -> float | None:
        """The mean gap (nats) of the tokens that it was measured of."""
        measured = [gap for gap in self.gaps or () if not math.isnan(gap)]
        return fmean(measured) if measured else None

    @property
    def dialogue(self) -> list[DialogueLine]:
        """The messages with their calls, and who wrote them."""
        lines: list[DialogueLine] = []
        turn = -given_turns(self.trajectory)
        for message in self.trajectory.messages:
            calls = [(call["function"]["name"], call["function"]["arguments"]) for call in _calls(message)]
            if message["role"] != "assistant":
                lines.append(DialogueLine(message, calls, message["role"], None))
                continue
            lines.append(
                DialogueLine(message, calls, "assistant" if turn >= 0 else "given", turn if turn >= 0 else None)
            )
            turn += 1
        return lines


def phases(journal: Journal) -> list[tuple[str, int]]:
    """The phases that have rollouts of a model, with their number."""
    rows = journal.db.read("select phase, count(*) from trajectory where phase <> 'demonstration' group by phase")
    order = ["train", "val", "val:warm", "test:trained", "test:warm", "test:start", "test:base", "difficulty", "anchor"]
    return sorted(rows, key=lambda row: order.index(row[0]) if row[0] in order else len(order))


def group_lines(journal: Journal, phase: str, words: str, sort: str, page: int) -> tuple[list[GroupLine], bool]:
    """A page of a phase's groups whose request or step has the words, and whether there are more."""
    query = f"""select t.phase, t.step, t.scenario_id, ifnull(text_of(c.body, 'request'), '') as request,
            count(*), avg(s.value), avg(s.success), max(s.value) - min(s.value), sum(t.stop = 'error')
        from trajectory t left join scenario c on c.id = t.scenario_id
        left join score s on s.phase = t.phase and s.step = t.step and s.trajectory_id = t.id
        where t.phase = ? and (? = '' or instr(lower(text_of(c.body, 'request')), lower(?)))
        group by t.step, t.scenario_id order by {ORDERS[sort]} limit ? offset ?"""
    rows = journal.db.read(query, phase, words, words, PAGE + 1, PAGE * page)
    return [GroupLine(*row) for row in rows[:PAGE]], len(rows) > PAGE


def columns(journal: Journal, phase: str, step: int, task: str) -> list[Column]:
    """The rollouts of a group side by side, with the advantages that training gives them."""
    scores = {score.trajectory_id: score for score in journal.scores(phase, step)}
    rows = journal.db.read(
        "select id, fate, gaps from trajectory where phase = ? and step = ? and scenario_id = ? order by rowid",
        phase,
        step,
        task,
    )
    became = {name: (fate or "", journal.db.decode(load_gaps, gaps) if gaps else None) for name, fate, gaps in rows}
    members = journal.trajectories(phase, step, task)
    gains = _advantages(members, scores, journal.config.training) if phase == "train" else {}
    return [
        column(f"rollout {number}", each, scores.get(each.id), gains.get(each.id), *became[each.id])
        for number, each in enumerate(members, 1)
    ]


def why_no_gaps(columns: Sequence[Column]) -> str:
    """Why the journal has no gap of any token of these rollouts of training; empty if it has some."""
    if any(column.gaps is not None for column in columns):
        return ""
    if any(column.fate in ("trained", "not finite", "unknown") for column in columns):
        return "this step was taken by an older mcprl, which kept only their mean"
    if any(not column.fate for column in columns):
        return "they are measured when the step is taken"
    return "nothing was trained on these rollouts, and only what is trained is measured"


def column(
    name: str,
    each: Trajectory,
    score: Score | None,
    advantage: float | None = None,
    fate: str = "",
    gaps: Sequence[float] | None = None,
) -> Column:
    """A rollout as a column. The words of the checks are parted by semicolons."""
    words = [part.strip() for part in score.explanation.split(";")] if score and score.explanation else []
    return Column(name, each, score, words, advantage, fate, gaps)


def _advantages(members: Sequence[Trajectory], scores: dict[str, Score], config: TrainingConfig) -> dict[str, float]:
    """By id. A rollout that its deadline ended has none, as in `training.step`."""
    rewarded = [each.id for each in members if each.id in scores and each.stop != "deadline"]
    values = [scores[name].value for name in rewarded]
    found = advantages(values, config.advantage_scale, config.signal_tolerance)
    return dict(zip(rewarded, found or [0.0] * len(rewarded), strict=True))


def _calls(message: Message) -> Sequence[Any]:
    return message.get("tool_calls") or ()
