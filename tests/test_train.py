"""The whole loop on a real server with a tiny random policy: it runs, records, resumes and reports."""

import copy
import itertools
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any, cast

import pytest
from support.configs import small
from support.events import Recorder
from support.fake_llm import Reply, Request, scored, serving, tries
from support.paths import SHOP_SCRIPT

from mcprl.art.own import train_adapter
from mcprl.config import Config, ServerConfig
from mcprl.engines.embedded.engine import EmbeddedEngine
from mcprl.errors import ConfigError, EngineError, JudgeError, ScenarioError, ServerError
from mcprl.events import Evaluated, Event, StepComplete
from mcprl.judges.scoring import Scoring
from mcprl.runs.journal import Journal
from mcprl.runs.learning import learning_curve
from mcprl.runs.ledger import ledger
from mcprl.runs.report import headline
from mcprl.scenarios.packs.pack import load_pack
from mcprl.training.curriculum import draw
from mcprl.training.forward import Forward
from mcprl.training.rows import certificate, training_rows
from mcprl.types import Group, Row, Scenario, Score

LITELLM = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")  # litellm's own


async def test_a_run_leaves_a_folder_with_everything_in_it(tiny_model: Path, tmp_path: Path) -> None:
    emitted = Recorder()
    report = await train_adapter(small(tiny_model, tmp_path), emit=emitted)
    folder = tmp_path / "small"
    written = json.loads((folder / "report.json").read_text())
    assert written["test"]["n"] == 4
    assert written["exact_tokens"] in (1.0, None)
    assert written["test"]["gain_ci95"][0] <= written["test"]["gain"] <= written["test"]["gain_ci95"][1]
    assert report.steps == 2
    assert emitted.count(StepComplete) == 2
    assert {event.phase for event in emitted.events if isinstance(event, Evaluated)} >= {
        "test:base",
        "test:trained",
        "val",
    }
    with Journal.open(folder) as journal:
        assert len(journal.trajectories("train")) == 2 * 2 * 3
        assert len(journal.scores("test:trained")) == 4
        assert all(turn.logprobs for tried in journal.trajectories("train") for turn in tried.turns)
    for name in ("config.toml", "report.md", "scenarios/pack.toml", "adapters/step-2/adapter_model.safetensors"):
        assert (folder / name).exists(), name


@pytest.mark.parametrize("pipeline", ["off", "on"])
async def test_a_run_that_was_stopped_goes_on_and_ends_as_if_it_had_not_been(
    pipeline: str, tiny_model: Path, tmp_path: Path
) -> None:
    class Stop(Exception):
        pass

    def stop_after_the_first_step(event: Event) -> None:
        if isinstance(event, StepComplete):
            raise Stop

    more = {"training": {"pipeline": pipeline, "steps": 3}}
    whole = await train_adapter(small(tiny_model, tmp_path / "whole", **more))
    with pytest.raises(Stop):
        await train_adapter(small(tiny_model, tmp_path / "cut", **more), emit=stop_after_the_first_step)
    resumed = await train_adapter(Config(), resume=tmp_path / "cut" / "small")
    with Journal.open(tmp_path / "whole" / "small") as one, Journal.open(tmp_path / "cut" / "small") as other:
        sampled = [
            sorted(
                (tried.id, tuple(turn.completion_ids for turn in tried.turns))
                for tried in journal.trajectories("train")
            )
            for journal in (one, other)
        ]
        losses = [[step.metrics.get("loss") for step in journal.steps()] for journal in (one, other)]
        policies = {
            step: {turn.policy_step for tried in one.trajectories("train", step) for turn in tried.turns}
            for step in (1, 2, 3)
        }
    assert policies == ({1: {0}, 2: {0}, 3: {1}} if pipeline == "on" else {1: {0}, 2: {1}, 3: {2}})
    assert sampled[0] == sampled[1]
    assert losses[0] == pytest.approx(losses[1])
    assert resumed.test == whole.test


async def test_an_engine_that_crashes_in_the_middle_of_steps_costs_turns_and_not_the_run(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve, served = EmbeddedEngine._retire, itertools.count()
    monkeypatch.setattr(EmbeddedEngine, "_retire", lambda self: 1 / 0 if next(served) % 40 == 39 else serve(self))
    report = await train_adapter(small(tiny_model, tmp_path))
    assert next(served) > 80
    assert report.steps == 2
    with Journal.open(tmp_path / "small") as journal:
        assert ledger(journal).issued == 2 * 2 * 3
        assert ledger(journal).waiting == 0


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_an_engine_that_is_broken_for_good_ends_the_run_in_one_line_and_it_can_be_resumed(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = itertools.count()
    with monkeypatch.context() as patch:
        serve = EmbeddedEngine._retire
        patch.setattr(EmbeddedEngine, "_retire", lambda self: 1 / 0 if next(served) > 60 else serve(self))
        with pytest.raises((ServerError, EngineError), match=r"rollouts broke; the last: EngineError|engine") as error:
            await train_adapter(small(tiny_model, tmp_path))
        assert "\n" not in str(error.value)
    report = await train_adapter(Config(), resume=tmp_path / "small")
    assert report.steps == 2
    with Journal.open(tmp_path / "small") as journal:
        assert ledger(journal).waiting == 0
        assert not any(each.stop == "error" for each in journal.trajectories("train"))


async def test_a_learning_rate_of_zero_changes_nothing(tiny_model: Path, tmp_path: Path) -> None:
    report = await train_adapter(small(tiny_model, tmp_path, training={"learning_rate": 0.0, "steps": 1}))
    assert report.test is not None
    assert report.test.gain == 0.0


ODD_SHOP = """
import sys
sys.path.insert(0, {shop})
import shop

@shop.server.tool(title="Get time", annotations=shop.READS)
def get_time() -> str:
    return "noon"

tools = shop.server._tool_manager._tools
tools["get_order"].description = "Look an order up, differently."
shop.server.run()
"""
"""The shop with one tool more and another description."""


def rigged(monkeypatch: pytest.MonkeyPatch, success: Callable[[str, int], bool]) -> None:
    """A judge of held-out tasks that decides by the phase and by the optimizer step of the tested weights."""

    async def held_out(self: Scoring, phase: str, step: int, group: Group) -> list[Score]:
        scores = [Score(member.id, float(good := success(phase, step)), good) for member in group.trajectories]
        self.journal.write_scores(phase, step, scores)
        return scores

    monkeypatch.setattr(Scoring, "held_out", held_out)


CONTROLS: list[dict[str, Any]] = [
    {"control": "shuffle-rewards", "training": {"warm_start_steps": 1}},
    {"training": {"warm_start_steps": 1, "learning_rate": 0.0}},
]


@pytest.mark.parametrize("settings", CONTROLS, ids=["shuffle-rewards", "learning-rate-0"])
async def test_a_control_starts_warm_takes_all_steps_and_is_tested_at_the_last_whatever_validates_best(
    settings: dict[str, Any], tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rigged(monkeypatch, lambda phase, step: phase == "val" and step == 0)
    settings["training"] |= {"steps": 3, "patience": 1}
    report = await train_adapter(small(tiny_model, tmp_path, **copy.deepcopy(settings)))
    assert (report.steps, report.best_step) == (3, 3)
    assert report.test.warm is not None
    assert (report.test.rl_gain, report.is_control) == (0.0, True)
    assert "As a control must, it shows no gain." in headline(report)
    with Journal.open(tmp_path / "small") as journal:
        assert {outcome.step for outcome in journal.outcomes("test:trained")} == {3}


async def test_a_control_can_fail(tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rigged(monkeypatch, lambda phase, step: phase == "test:trained" and step == 2)
    many = {"train": 6, "val": 3, "test": 16, "probe_calls": 60, "repeat_after_s": 0.1}
    settings = {"control": "shuffle-rewards", "training": {"warm_start_steps": 1}, "scenarios": many}
    report = await train_adapter(small(tiny_model, tmp_path, **settings))
    assert report.test.rl_gain == 1.0
    assert "THE CONTROL FAILED" in headline(report)


async def test_rewards_are_shuffled_within_the_group_and_only_in_the_control(tiny_model: Path, tmp_path: Path) -> None:
    with Journal.create(tmp_path / "run", small(tiny_model, tmp_path)) as journal:
        group = Group(Scenario("s", "Where?", ()), ())
        scores = [Score(f"t{n}", n / 8) for n in range(8)]
        for control, equal in (("none", True), ("shuffle-rewards", False)):
            scoring = Scoring(small(tiny_model, tmp_path, control=control), (), journal, cast(Any, None))
            values = scoring.rewards(1, group, scores)
            assert (values == [score.value for score in scores]) == equal
            assert sorted(values) == [score.value for score in scores]


async def test_what_the_warm_start_and_rl_saw_is_compared_with_the_test(tiny_model: Path, tmp_path: Path) -> None:
    report = await train_adapter(small(tiny_model, tmp_path, training={"warm_start_steps": 2, "steps": 1}))
    assert report.overlap is not None
    assert report.overlap["entities"].tasks == 4
    with Journal.open(tmp_path / "small") as journal:
        shown = list(journal.conversations("demonstration"))
        assert {messages[0]["content"] for messages in shown} == {task.request for task in journal.scenarios("train")}
        assert all(messages[-1]["role"] == "assistant" and messages[-1]["content"] for messages in shown)
        assert any(message["role"] == "tool" for messages in shown for message in messages)


async def test_several_greedy_rollouts_of_a_test_task_are_warned_of(tiny_model: Path, tmp_path: Path) -> None:
    emitted = Recorder()
    await train_adapter(small(tiny_model, tmp_path, training={"steps": 0}, eval={"rollouts": 2}), emit=emitted)
    assert any("2 rollouts of each test task at temperature 0 are alike" in note for note in emitted.notes)


async def test_a_warm_start_and_what_training_began_from_are_tested_on_their_own(
    tiny_model: Path, tmp_path: Path
) -> None:
    await train_adapter(small(tiny_model, tmp_path, training={"warm_start_steps": 2, "steps": 1}))
    written = json.loads((tmp_path / "small" / "report.json").read_text())
    assert written["test"]["warm"] is not None
    assert written["test"]["start"] is written["test"]["over_start"] is None
    assert (tmp_path / "small" / "adapters" / "warm" / "adapter_model.safetensors").exists()
    training = {"warm_start_steps": 1, "steps": 0, "start": str(tmp_path / "small")}
    await train_adapter(small(tiny_model, tmp_path, training=training).model_copy(update={"name": "further"}))
    further = json.loads((tmp_path / "further" / "report.json").read_text())
    assert further["test"]["start"] is not None
    assert further["test"]["over_before"] == further["test"]["over_start"]
    assert "Training began from a LoRA that solves" in (tmp_path / "further" / "report.md").read_text()


async def test_rl_from_an_adapter_says_that_prefixes_are_not_shared(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await train_adapter(small(tiny_model, tmp_path, training={"warm_start_steps": 1, "steps": 0}))

    def fails(self: Forward, rows: Sequence[Row]) -> float:
        raise NotImplementedError("layers of another kind")

    monkeypatch.setattr(Forward, "try_sharing", fails)
    emitted = Recorder()
    training = {"recipe": "rl", "steps": 1, "start": str(tmp_path / "small")}
    await train_adapter(small(tiny_model, tmp_path, training=training).model_copy(update={"name": "rl"}), emit=emitted)
    assert any("cannot be computed as a trie (layers of another kind)" in note for note in emitted.notes)
    test = json.loads((tmp_path / "rl" / "report.json").read_text())["test"]
    assert (test["start"] is not None, test["warm"]) == (True, None)  # there was no warm start


def judged_by(url: str, **settings: Any) -> dict[str, Any]:
    judge = {"name": "ruler:tool_use", "model": "openai/gpt-4o", "base_url": url, "cache": "", "retries": 0}
    return {"judge": judge | settings, "training": {"warm_start_steps": 0}}


@LITELLM
async def test_a_language_model_judges_training_and_the_checks_the_test(tiny_model: Path, tmp_path: Path) -> None:
    def likes_words(request: Request, _: int) -> Reply:
        return Reply(scored({name: min(1.0, len(str(m)) / 3_000) for name, m in tries(request).items()}))

    emitted = Recorder()
    with serving(likes_words) as fake:
        given = small(tiny_model, tmp_path, **judged_by(fake.url))
        await train_adapter(given, emit=emitted)
        assert len(fake.requests) == 2 * 2
    assert any("the judge openai/gpt-4o will be asked up to 4 times, for about 0." in note for note in emitted.notes)
    with Journal.open(tmp_path / "small") as journal:
        assert all("ruler 0." in score.explanation for score in journal.scores("train"))
        assert not any("ruler" in score.explanation for score in journal.scores("test:trained"))
        assert [step.metrics["judge_calls"] for step in journal.steps()] == [2, 4]


@LITELLM
async def test_a_group_that_the_judge_fails_at_is_dropped_and_a_judge_that_fails_ends_the_run(
    tiny_model: Path, tmp_path: Path
) -> None:
    def fails(request: Request, number: int) -> Reply:
        good = scored({name: n / 8 for n, name in enumerate(tries(request))})
        return Reply(good) if number % 2 else Reply(status=401)

    with serving(fails) as fake:
        await train_adapter(small(tiny_model, tmp_path, **judged_by(fake.url, concurrency=1)))
    with Journal.open(tmp_path / "small") as journal:
        assert [step.metrics["judge_failures"] for step in journal.steps()] == [1, 1]
        assert len(journal.scores("train")) == 2 * 3
    with serving(lambda *_: Reply(status=401)) as fake, pytest.raises(JudgeError, match="failed at 2 of 2 groups"):
        await train_adapter(small(tiny_model, tmp_path, name="other", **judged_by(fake.url)))


@LITELLM
async def test_a_judge_that_has_cost_what_it_may_ends_training_and_the_test_is_made(
    tiny_model: Path, tmp_path: Path
) -> None:
    emitted = Recorder()
    with serving(lambda request, _: Reply(scored(dict.fromkeys(tries(request), 0.5)))) as fake:
        given = small(tiny_model, tmp_path, **judged_by(fake.url, max_cost=0.028, concurrency=1))
        report = await train_adapter(given, emit=emitted)
        assert 0 < len(fake.requests) < 4
    assert any("training ends with step 1" in note and "the limit is 0.028" in note for note in emitted.notes)
    assert report.test is not None
    assert report.test.n == 4


@LITELLM
async def test_anchors_are_judged_beside_each_group_and_never_trained_on(tiny_model: Path, tmp_path: Path) -> None:
    def prefers_later(request: Request, _: int) -> Reply:
        return Reply(scored({name: n / 10 for n, name in enumerate(sorted(tries(request)))}))

    with serving(prefers_later) as fake:
        own = judged_by(fake.url, anchors=["base", "best"])
        own["training"] |= {"steps": 3, "scenarios_per_step": 3}
        await train_adapter(
            small(tiny_model, tmp_path, scenarios={"train": 3, "val": 3, "test": 4, "probe_calls": 60}, **own)
        )
    with Journal.open(tmp_path / "small") as journal:
        assert {tried.scenario_id for tried in journal.trajectories("anchor", 0)} == {
            tried.scenario_id for tried in journal.trajectories("train")
        }
        assert len(journal.scores("train")) == 3 * 3 * 3
        assert all("over_base" in step.metrics for step in journal.steps())
        assert ["over_best" in step.metrics for step in journal.steps()] == [False, True, True]
        assert all(step.metrics.get("exact_tokens", 1.0) == 1.0 for step in journal.steps())


async def test_training_tasks_can_be_measured_and_what_never_succeeds_comes_later(
    tiny_model: Path, tmp_path: Path
) -> None:
    await train_adapter(small(tiny_model, tmp_path, training={"steps": 0, "measure": 2}))
    with Journal.open(tmp_path / "small") as journal:
        measured = [scenario for scenario in journal.scenarios() if scenario.split == "train"]
    assert [scenario.difficulty for scenario in measured] == [1.0] * 6
    fresh = replace(measured[0], id="fresh", difficulty=0.5)
    assert [each.scenario for each in draw([*measured, fresh], [], 1, 1, 0)] == [fresh]


async def test_what_no_rollout_solved_comes_again_with_given_calls_which_no_figure_counts(
    tiny_model: Path, tmp_path: Path
) -> None:
    emitted = Recorder()
    await train_adapter(small(tiny_model, tmp_path, training={"steps": 3, "given_calls": 2}), emit=emitted)
    with Journal.open(tmp_path / "small") as journal:
        outcomes, by_id = journal.outcomes("train"), {each.id: each for each in journal.trajectories("train")}
        planned = {scenario.id: scenario.plan for scenario in journal.scenarios("train")}
        metrics = [step.metrics for step in journal.steps()]
    assert [step["helped_groups"] for step in metrics] == [0, 1, 1]
    assert ["helped_success" in step for step in metrics] == [False, True, True]
    assert ["success" in step for step in metrics] == [step["helped_groups"] != 2 for step in metrics]
    helped = [outcome for outcome in outcomes if outcome.given_calls]
    assert len(helped) == 2 * 3
    for outcome in helped:
        trajectory, plan = by_id[outcome.trajectory_id], planned[outcome.scenario_id]
        assert [(call.tool, call.arguments) for call in trajectory.calls if call.turn < 0] == [
            (call.tool, call.arguments) for call in plan[: outcome.given_calls]
        ]
        assert sum(message["role"] == "assistant" for message in trajectory.messages) == len(trajectory.turns) + (
            outcome.given_calls
        )
        assert certificate(training_rows(trajectory), [trajectory]).exactness == 1.0
    own = {(outcome.step, outcome.scenario_id) for outcome in outcomes if not outcome.given_calls}
    curve = learning_curve_of(tmp_path / "small")
    for step, mean in curve:
        values = [each.value or 0.0 for each in outcomes if (each.step, each.scenario_id) in own and each.step == step]
        assert mean == pytest.approx(fmean(values))
        assert metrics[step - 1]["score"] == pytest.approx(mean)


def learning_curve_of(folder: Path) -> list[tuple[int, float]]:
    with Journal.open(folder) as journal:
        return list(learning_curve(journal).train)


async def test_tasks_without_checks_need_a_judge_that_reads(tiny_model: Path, tmp_path: Path) -> None:
    await train_adapter(small(tiny_model, tmp_path, training={"steps": 0}))
    pack = load_pack(tmp_path / "small" / "scenarios")
    free = replace(pack, scenarios=tuple(replace(s, checks=()) if s.split == "train" else s for s in pack.scenarios))
    free.save(tmp_path / "free")
    with pytest.raises(ConfigError, match="tasks without checks, which the judge verifier cannot score"):
        await train_adapter(small(tiny_model, tmp_path, name="other", scenarios={"pack": str(tmp_path / "free")}))


async def test_a_pack_for_other_tools_is_refused(tiny_model: Path, tmp_path: Path) -> None:
    await train_adapter(small(tiny_model, tmp_path, training={"steps": 0}))
    pack = str(tmp_path / "small" / "scenarios")
    other = small(tiny_model, tmp_path, name="other", scenarios={"pack": pack}, tools={"deny": ["get_order"]})
    with pytest.raises(ConfigError, match="made for other tools"):
        await train_adapter(other)


async def test_a_resumed_run_stops_where_the_tools_have_changed_unless_that_is_accepted(
    tiny_model: Path, tmp_path: Path
) -> None:
    await train_adapter(small(tiny_model, tmp_path, training={"steps": 0}))
    other = ODD_SHOP.format(shop=repr(str(SHOP_SCRIPT.parent)))
    (tmp_path / "other.py").write_text(other)
    changed = Config(servers=(ServerConfig(target=f"{sys.executable} {tmp_path / 'other.py'}"),))
    with pytest.raises(ConfigError, match=r"since the run began: new: get_time; changed: get_order; .*--accept"):
        await train_adapter(changed, resume=tmp_path / "small")
    emitted = Recorder()
    await train_adapter(changed, resume=tmp_path / "small", emit=emitted, accept_tool_changes=True)
    assert any("accepted: new: get_time; changed: get_order" in note for note in emitted.notes)
    await train_adapter(changed, resume=tmp_path / "small")


async def test_a_run_whose_tries_never_have_a_turn_ends(tiny_model: Path, tmp_path: Path) -> None:
    limits = {"max_turns": 2, "max_tokens": 12, "deadline_s": 1e-3}
    with pytest.raises(EngineError, match=r"none of 4 rollouts had its first turn within 0.001 seconds"):
        await train_adapter(small(tiny_model, tmp_path, rollout=limits))


async def test_a_server_that_does_not_start_is_one_line(tiny_model: Path, tmp_path: Path) -> None:
    with pytest.raises(ServerError):
        await train_adapter(small(tiny_model, tmp_path, servers=[{"target": "false", "timeout_s": 5}]))


async def test_a_test_pack_is_tested_beside_and_shown_where_nothing_scores_it(tiny_model: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("request,expect\nhow much is SKU-318,EUR 35.45\nany advice?,\n")
    sizes = {"train": 6, "val": 3, "test": 4, "probe_calls": 60, "repeat_after_s": 0.1}
    scenarios = {**sizes, "test_pack": str(tmp_path / "mine.csv")}
    emitted = Recorder()
    report = await train_adapter(small(tiny_model, tmp_path, training={"steps": 1}, scenarios=scenarios), emit=emitted)
    assert "only 3 validation tasks: which step is best is little more than a guess" in emitted.notes
    with Journal.open(tmp_path / "small") as journal:
        people = [task for task in journal.scenarios("test") if task.suite == "people"]
        assert [task.request for task in people] == ["how much is SKU-318", "any advice?"]
        tested = {outcome.scenario_id: outcome.success for outcome in journal.outcomes("test:trained")}
        assert tested[people[0].id] is False
        assert tested[people[1].id] is None
    assert [each.request for each in report.unscored] == ["any advice?"]
    assert report.finished
    assert "## Requests without an expected answer" in (tmp_path / "small" / "report.md").read_text()


async def test_a_pack_below_the_floor_stops_before_training(tiny_model: Path, tmp_path: Path) -> None:
    sizes = {"train": 6, "val": 3, "test": 4, "probe_calls": 60, "repeat_after_s": 0.1, "floor": True}
    with pytest.raises(ScenarioError, match=r"only 6 training tasks, 60 are needed.*--small-pack goes on anyway"):
        await train_adapter(small(tiny_model, tmp_path, scenarios=sizes))


async def test_a_run_that_ends_early_validates_the_step_that_it_ended_with(tiny_model: Path, tmp_path: Path) -> None:
    training = {"steps": 3, "eval_every": 3, "max_minutes": 1e-4}
    emitted = Recorder()
    await train_adapter(small(tiny_model, tmp_path, training=training), emit=emitted)
    steps = [event.step for event in emitted.events if isinstance(event, StepComplete)]
    validated = [event.step for event in emitted.events if isinstance(event, Evaluated) and event.phase == "val"]
    assert steps == [1]
    assert validated == [0, 1]
