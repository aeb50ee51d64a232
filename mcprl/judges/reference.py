"""A language model as the reader of answers: it says whether an answer states the facts that execution proved.

All else that a task demands is checked as the verifier does: calls, the state before and after, what nobody asked for.
"""

import json
import random
from collections.abc import Sequence
from typing import Any, Final

import anyio

from mcprl.errors import BudgetError, JudgeError
from mcprl.files import find_bundled
from mcprl.judges.asking import ask_twice
from mcprl.judges.verifier import Verifier
from mcprl.llm import LanguageModel
from mcprl.text import counted, fill_template, find_json, inert, shortened
from mcprl.types import Fact, Group, Scenario, Score, Tool, Trajectory

_LONGEST = 2_000
"""Characters of a result that the model reads."""
_REPLY: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"why": {"type": "string", "maxLength": 400}, "verdict": {"enum": ["yes", "no"]}},
    "required": ["why", "verdict"],
    "additionalProperties": False,
}
_REPAIR = 'That cannot be read: {}. Reply with {{"why": "...", "verdict": "yes" or "no"}} alone.'


class ReferenceJudge:
    """Reads each rollout of a task with facts by itself. Tasks without facts, facts of the moment and rollouts that
    never answered are the verifier's alone."""

    def __init__(self, model: LanguageModel, tools: Sequence[Tool] = (), seed: int = 0) -> None:
        self.model, self._verifier, self._seed = model, Verifier(tools), seed
        self._system = find_bundled("judges", "reference.md").read_text()

    async def score(self, group: Group) -> list[Score]:
        """One score for each rollout that did not break. Raises `JudgeError`, or `BudgetError` before the limit."""
        scores: dict[str, Score] = {}
        failures: list[JudgeError | BudgetError] = []

        async def read(trajectory: Trajectory) -> None:
            try:
                why = await self._objection(group.scenario, trajectory)
                scores[trajectory.id] = self._verifier.verify(group.scenario, trajectory, why)
            except (JudgeError, BudgetError) as error:
                failures.append(error)

        unbroken = [trajectory for trajectory in group.trajectories if trajectory.stop != "error"]
        async with anyio.create_task_group() as tasks:
            for trajectory in unbroken:
                tasks.start_soon(read, trajectory)
        if failures:
            raise failures[0]
        return [scores[trajectory.id] for trajectory in unbroken]

    async def forecast(self, groups: int, example: Group) -> str:
        calls = groups * len(example.trajectories)
        price = await self.model.price(self.chat(example.scenario, example.trajectories[0]), calls)
        return f"the judge {self.model.name} will be asked up to {counted(calls, 'time')}, {price}"

    def report(self) -> dict[str, float]:
        return {"judge_calls": float(self.model.calls), "judge_cost": self.model.cost}

    def chat(self, scenario: Scenario, trajectory: Trajectory) -> list[dict[str, str]]:
        """The messages to the model. The fence follows from the content, so that no text can close it."""
        facts = [check for check in scenario.checks if isinstance(check, Fact)]
        record = {
            "request": scenario.request,
            "facts": [
                {"of": fact.subject, "name": fact.name, "value": fact.value, "unit": fact.unit} for fact in facts
            ],
            "right": scenario.answer,
            "calls": [[c.tool, c.arguments, shortened(c.result.text, _LONGEST)] for c in trajectory.calls],
            "answer": trajectory.answer,
        }
        fence = f"record-{random.Random(f'{self._seed} {json.dumps(record, sort_keys=True)}').getrandbits(48):012x}"
        system = fill_template(self._system, fence=fence)
        text = f"<{fence}>{inert(record)}</{fence}>"
        return [{"role": "system", "content": system}, {"role": "user", "content": text}]

    async def _objection(self, scenario: Scenario, trajectory: Trajectory) -> str | None:
        """Why the answer does not state the facts, empty if it does; `None` if there is nothing to read.

        A verdict that cannot be read is asked for once more, and then no score.
        """
        facts = [check for check in scenario.checks if isinstance(check, Fact)]
        if not facts or any(fact.live for fact in facts) or trajectory.stop != "answered":
            return None
        chat = self.chat(scenario, trajectory)
        return await ask_twice(self.model, chat, _REPLY, _read, _REPAIR.format, "verdict")


def _read(reply: str) -> str:
    """Why an answer does not state the facts, by a reply; empty if it does. Raises `ValueError` with its fault."""
    found: Any = find_json(reply)
    entries: dict[str, Any] = found if isinstance(found, dict) else {}
    if entries.get("verdict") not in ("yes", "no"):
        raise ValueError("it holds no verdict yes or no")
    return "" if entries["verdict"] == "yes" else str(entries.get("why") or "the judge says no")
