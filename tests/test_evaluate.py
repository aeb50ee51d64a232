"""`mcprl eval`: it counts rollouts by the same rule as the report of a run."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.events import Recorder
from test_train import small

from mcprl import evaluate
from mcprl.config import Config
from mcprl.engines.embedded.engine import EmbeddedEngine
from mcprl.engines.machine import resolve
from mcprl.errors import EngineError, JournalError, JudgeError
from mcprl.evaluate import evaluate_pack
from mcprl.events import Sampled
from mcprl.runs.intervals import wilson
from mcprl.runs.journal import Journal
from mcprl.runs.report import build
from mcprl.scenarios.packs.pack import Pack
from mcprl.types import Completion, CompletionRequest, Group, Scenario, Score, Suite, Trajectory


class Lenient:
    """A judge that finds every trajectory a success, or cannot tell."""

    def __init__(self, success: bool | None) -> None:
        self.success = success

    async def score(self, group: Group) -> list[Score]:
        return [Score(member.id, 1.0, self.success) for member in group.trajectories if member.stop != "error"]


def breaking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the first rollout of each task break."""
    sample = EmbeddedEngine.complete
    seen: set[str] = set()

    async def complete(self: EmbeddedEngine, request: CompletionRequest) -> Completion:
        task = request.messages[0]["content"]
        if task not in seen:
            seen.add(task)
            raise EngineError("no room for the prompt")
        return await sample(self, request)

    monkeypatch.setattr(EmbeddedEngine, "complete", complete)


def judged(monkeypatch: pytest.MonkeyPatch, success: bool | None) -> None:
    async def scores(group: Group, *_: object) -> list[Score]:
        return await Lenient(success).score(group)

    monkeypatch.setattr(evaluate, "score_held_out", scores)


SETTINGS: dict[str, Any] = {"eval": {"rollouts": 2}, "rollout": {"max_turns": 1, "max_tokens": 8, "retries": 0}}


async def test_a_broken_rollout_of_a_pair_is_a_failure_in_the_evaluation_and_in_the_report(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    breaking(monkeypatch)
    judged(monkeypatch, True)
    config = small(tiny_model, tmp_path, **SETTINGS)
    evaluation = await evaluate_pack(config)
    assert [result.success for result in evaluation.results] == [0.5] * 4
    assert evaluation.overall == (4, 0.5, *wilson(2, 4))
    assert evaluation.by_suite == {"entities": evaluation.overall}
    assert (evaluation.broken, evaluation.unjudged) == (4, 0)
    with Journal.create(tmp_path / "run", config) as journal:
        journal.write_scenarios([result.scenario for result in evaluation.results])
        for result in evaluation.results:
            name = result.trajectory.id.rpartition("/")[0]
            broken = replace(result.trajectory, id=f"{name}/0", stop="error")
            pair = [broken, replace(result.trajectory, id=f"{name}/1")]
            journal.write_trajectories("test:base", 0, pair)
            journal.write_scores("test:base", 0, await Lenient(True).score(Group(result.scenario, tuple(pair))))
    base = build(tmp_path / "run").test.base
    assert base is not None
    assert (base.success, *base.ci95, base.errors, base.rollouts) == (*evaluation.overall[1:], 4, 8)


async def test_a_rollout_that_no_judge_can_tell_counts_neither_way(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged(monkeypatch, None)
    evaluation = await evaluate_pack(small(tiny_model, tmp_path, **SETTINGS))
    assert [result.success for result in evaluation.results] == [None] * 4
    assert evaluation.overall == (0, 0.0, 0.0, 1.0)
    assert (evaluation.broken, evaluation.unjudged) == (0, 8)


async def test_the_judge_is_asked_only_about_tasks_without_checks_and_its_failure_costs_those_alone(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        async def score(self, group: Group) -> list[Score]:
            raise JudgeError("no reply within 60 s")

    monkeypatch.setattr(evaluate, "open_judge", lambda *_: Broken())
    config = small(tiny_model, tmp_path, **SETTINGS)
    checked = await evaluate_pack(config)
    assert checked.unjudged == 0
    first, *others = (result.scenario for result in checked.results)
    Pack((replace(first, checks=()), *others)).save(tmp_path / "unchecked")
    emitted = Recorder()
    tasks = config.scenarios.model_copy(update={"pack": str(tmp_path / "unchecked")})
    evaluation = await evaluate_pack(config.model_copy(update={"scenarios": tasks}), emit=emitted)
    assert (evaluation.overall[0], evaluation.unjudged) == (3, 2)
    assert "a task is not judged: no reply within 60 s" in emitted.notes


def test_suites_are_told_apart_the_leading_one_first() -> None:
    suites: tuple[Suite, ...] = ("entities", "entities", "forms", "people")
    groups = [
        Group(Scenario(f"s{n}", f"Request {n}?", (), suite=suite), (Trajectory(f"t{n}", f"s{n}", (), ()),))
        for n, suite in enumerate(suites)
    ]
    scores = [[Score(f"t{n}", 1.0, n == 0)] for n in range(4)]
    evaluation = evaluate._evaluation("nano", groups, scores, None)
    assert [(suite, rate[:2]) for suite, rate in evaluation.by_suite.items()] == [
        ("people", (1, 0.0)),
        ("forms", (1, 0.0)),
        ("entities", (2, 0.5)),
    ]


async def test_an_evaluation_that_was_killed_goes_on_with_the_rollouts_that_it_has(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = small(tiny_model, tmp_path, **SETTINGS, engine={"max_batch": 1})
    whole = await evaluate_pack(config)
    sample, turns, last = EmbeddedEngine.complete, 0, 3

    async def complete(self: EmbeddedEngine, request: CompletionRequest) -> Completion:
        nonlocal turns
        turns += 1
        if turns > last:
            raise RuntimeError("killed")
        return await sample(self, request)

    monkeypatch.setattr(EmbeddedEngine, "complete", complete)
    kept = tmp_path / "kept"
    with pytest.raises(BaseExceptionGroup):
        await evaluate_pack(config, split="val", kept=kept)
    with Journal.open(kept) as journal:
        assert len(journal.trajectories("eval")) == last
    used: list[Config] = []
    monkeypatch.setattr(evaluate, "resolve", lambda config: used.append(config) or resolve(config))
    turns, last = 0, 100
    emitted = Recorder()
    resumed = await evaluate_pack(Config(), emit=emitted, kept=kept, resume=True)
    count = len(resumed.results) * 2
    assert turns == count - 3, "what was complete is not sampled again"
    assert {result.scenario.split for result in resumed.results} == {"val"}
    assert resumed.model == whole.model
    for section in ("model", "rollout"):  # what follows from the model does so again, and a trial chooses its wording
        assert getattr(used[0], section).model_fields_set == getattr(config, section).model_fields_set
    sampled = [(event.done, event.turns) for event in emitted.events if isinstance(event, Sampled)]
    assert (3, 1) in sampled, "a turn is told before its rollout ends"
    Journal.create(tmp_path / "run", config).close()
    with pytest.raises(JournalError, match="holds a run, not an evaluation"):
        await evaluate_pack(Config(), kept=tmp_path / "run", resume=True)
