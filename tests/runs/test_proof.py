"""The proof of several suites and of several runs: what leads, what is lost, and what controls must show."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from support.journals import TOOLS, played, scenario, some, trajectory

from mcprl.config import Config, ServerConfig, TrainingConfig
from mcprl.errors import JournalError
from mcprl.runs.intervals import clustered_rate, paired_difference, wilson
from mcprl.runs.journal import Journal
from mcprl.runs.proof import record_overlap
from mcprl.runs.report import build, markdown, pool, table, write, write_pooled
from mcprl.types import Call, Fact, Scenario, Suite


def suite(name: Suite, first: int, count: int, forms: int) -> list[Scenario]:
    """Tasks numbered from `first` on, in turn of each of `forms` forms."""
    return [
        replace(
            scenario(n),
            suite=name,
            form=f"{name}.{n % forms}",
            plan=(Call(TOOLS[n % 3], {"id": n}),),
            values=(f"O-{n}",),
        )
        for n in range(first, first + count)
    ]


WITH_PEOPLE = [*suite("entities", 0, 60, 12), *suite("people", 60, 20, 20), *suite("forms", 80, 48, 12)]
TEST = [*WITH_PEOPLE[:79], replace(WITH_PEOPLE[79], suite="entities"), *WITH_PEOPLE[80:]]
"""One of people's requests too few for them to lead."""


def run(folder: Path, config: Config | None = None, tests: list[Scenario] | None = None, **skills) -> Path:
    """A run of `base`, `warm` and `trained` that solve the tasks whose number a skill says."""
    config = config or Config(name="shop", servers=(ServerConfig(target="shop.py"),))
    tests = tests or TEST
    with Journal.create(folder, config) as journal:
        journal.write_scenarios([*(scenario(n, "train") for n in range(4)), *tests])
        journal.write_fact("server", ["shop"])
        journal.write_fact("tool_hash", "5f0c2a")
        for model, skill in skills.items():
            played(journal, f"test:{model}", 5 * (model == "trained"), tests, lambda n, _, s=skill: s(n))
    return folder


def solved(folder: Path, tests: list[Scenario]) -> Path:
    """Trained solves all entities but six of base's, no more of people's, and of forms those of half the forms."""
    return run(
        folder,
        tests=tests,
        base=lambda n: n < 12 or 60 <= n < 70,
        warm=lambda n: n < 30 or 60 <= n < 65,
        trained=lambda n: 6 <= n < 60 or 65 <= n < 75 or (n >= 80 and n % 2 == 0),
    )


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    return solved(tmp_path_factory.mktemp("runs") / "shop", TEST)


def test_twenty_requests_of_people_lead_and_the_other_suites_follow(tmp_path):
    report = build(solved(tmp_path / "shop", WITH_PEOPLE))
    assert (report.lead, list(report.suites)) == ("people", ["people", "forms", "entities"])
    assert report.test == report.suites["people"]
    assert table(report).startswith(
        "On 20 held-out tasks of shop in people's own words, success went from 50.0 % to 50.0 %: no clear change:"
    )
    assert "On 48 tasks in forms that training never used, it went from 0.0 % to 50.0 %: a gain of" in table(report)
    assert "in the generator's words" not in markdown(report)


def test_else_forms_that_training_never_used_lead(three):
    report = build(three)
    assert (report.lead, list(report.suites)) == ("forms", ["people", "forms", "entities"])
    assert report.test == report.suites["forms"]
    assert "The tasks are in the generator's words" in markdown(report)
    assert (report.test.n, report.test.forms, report.test.gain, report.test.rl_gain) == (48, 12, 0.5, 0.5)
    assert table(report).startswith(
        "On 48 held-out tasks of shop in forms that training never used, success went from 0.0 % to 50.0 %: a gain of"
    )
    assert "On 61 tasks about new entities, in training's forms, it went from 19.7 % to 88.5 %: a gain of" in table(
        report
    )
    assert list(report.per_form) == sorted({task.form for task in TEST if task.suite == "forms"})
    assert sum(part.n for part in report.per_tool.values()) == 48


@pytest.mark.parametrize(("kept", "leads"), [(60, "entities"), (80, "people")])
def test_peoples_requests_lead_without_new_forms_and_entities_without_both(kept, leads, tmp_path):
    report = build(run(tmp_path / "run", tests=WITH_PEOPLE[:kept], base=lambda n: n % 2 == 0, trained=lambda n: True))
    assert report.lead == leads
    assert ("the gain may hold for known forms only" in markdown(report)) == (leads == "entities")


@pytest.mark.parametrize(("forms", "people", "leads"), [(1, 20, "people"), (20, 19, "forms"), (1, 3, "entities")])
def test_a_suite_of_a_few_tasks_does_not_lead(forms, people, leads, tmp_path):
    tests = [*suite("entities", 0, 12, 3), *suite("people", 60, people, 20), *suite("forms", 80, forms, 12)]
    report = build(run(tmp_path / "run", tests=tests, base=lambda n: False, trained=lambda n: True))
    assert report.lead == leads
    assert report.test.n == {"forms": forms, "people": people, "entities": 12}[leads]


def test_tasks_of_one_form_that_rise_and_fall_together_widen_the_intervals(three):
    test = build(three).test
    base, trained = [0.0] * 48, [float(n % 2 == 0) for n in range(48)]
    forms = [n % 12 for n in range(48)]
    assert test.clusters == {"task": 48, "form and tools": 12, "form": 12}
    assert some(test.gain_ci95) == paired_difference(base, trained, forms)[1:]
    assert some(test.over_base).clustering in ("form", "form and tools")
    low, high = some(test.trained).ci95
    assert (low, high) == clustered_rate(trained, forms)
    assert high - low > 1.7 * (wilson(24, 48)[1] - wilson(24, 48)[0])


def test_requests_for_one_field_with_the_same_tools_are_a_cluster(tmp_path):
    asked = [Fact(12.5, "total"), Fact("paid", "status")]
    people = suite("people", 0, 48, 48)
    tests = [replace(task, checks=(asked[n // 12 % 2],), values=()) for n, task in enumerate(people)]
    test = build(run(tmp_path / "run", tests=tests, base=lambda n: False, trained=lambda n: n % 2 == 0)).test
    assert test.clusters == {"task": 48}, "three tools and two fields are too few"
    tests = [replace(task, checks=(Fact(1, f"field {n % 8}"),)) for n, task in enumerate(tests)]
    test = build(run(tmp_path / "more", tests=tests, base=lambda n: False, trained=lambda n: n % 2 == 0)).test
    assert test.clusters == {"task": 48, "tools and fields": 24}
    assert some(test.over_base).clustering == "tools and fields"


def test_the_mean_over_forms_weighs_each_form_alike(tmp_path):
    tests = [replace(task, form="a" if n < 9 else "b") for n, task in enumerate(suite("forms", 0, 12, 2))]
    test = build(run(tmp_path / "run", tests=tests, base=lambda n: False, trained=lambda n: n < 9)).test
    assert (some(test.trained).success, some(test.trained).macro, some(test.over_base).macro) == (0.75, 0.5, 0.5)


def test_losses_are_counted_listed_and_shown_before_what_was_won(three):
    report = build(three)
    lost = [f"test-{n}" for n in (*range(60, 65), *range(6))]
    assert [loss.scenario for loss in report.losses] == lost
    assert {(loss.before, loss.after) for loss in report.losses} == {("It is 12.50.", "It is 99.")}
    assert [example.verdict for example in report.examples] == ["lost"] * 3 + ["unsolved"] * 2 + ["solved"] * 3
    page = markdown(report)
    titles = ["## Lost tasks", "## What speaks against it", "### Lost in training", "### Still failing", "### Solved"]
    assert sorted(page.index(title) for title in titles) == [page.index(title) for title in titles]
    assert re.search(
        r"^\| What is the total of order 60\? \| It is 12\.50\. \| It is 99\. \| .* \| people \|$", page, re.MULTILINE
    )
    assert "Tasks about new entities, in training's forms: 6 of 61 were lost against the base model." in page
    assert "Tasks in people's own words: no gain is shown: +0.0 points" in page


def test_every_table_has_base_warm_trained_and_what_is_due_to_rl(three):
    page = markdown(build(three))
    heads = [line for line in page.splitlines() if line.startswith("|") and "tasks" in line and "trained" in line]
    assert [head.split(" | ")[0] for head in heads] == ["| suite", "| tool", "| kind", "| form", "| difficulty"]
    assert all(" | base | warm | trained | gain (95 %) | due to RL (95 %) | lost | won |" in head for head in heads)
    assert "due to RL (0 lost, 24 won)" in page


def test_what_the_test_shares_with_training_stands_in_the_report(tmp_path):
    folder = run(tmp_path / "run", base=lambda n: False, trained=lambda n: True)
    with Journal.open(folder, write=True) as journal:
        shown = trajectory(journal.scenarios("train")[0], "train/1/train-0/0", True)
        rows = [{"id": f"O-{n}", "total": 12.5 if n < 3 else 7} for n in range(5)]
        messages = tuple(m | {"content": json.dumps(rows)} if m["role"] == "tool" else m for m in shown.messages)
        journal.write_trajectories("train", 1, [replace(shown, messages=messages)])
        record_overlap(journal)
    report = write(folder)
    entities = some(report.overlap)["entities"]
    assert (entities.tasks, entities.same_wording) == (61, 61)  # "What is the total of order N?"
    assert (entities.with_entity, entities.entity_seen, entities.with_fact, entities.fact_seen) == (61, 5, 61, 3)
    assert json.loads((folder / "report.json").read_text())["overlap"]["forms"]["entity_seen"] == 0
    sentence = "61 of 61 have a wording that stands in training verbatim, values aside; 5 of 61 have their entity in a"
    assert sentence in (folder / "report.md").read_text()


# --- several runs -----------------------------------------------------------------------------------------------------


def test_seeds_are_pooled_with_a_task_as_a_cluster(tmp_path):
    folders = [
        run(tmp_path / f"seed-{seed}", base=lambda n: n % 4 == 0, trained=lambda n, s=seed: n % 4 < 2 + s % 2)
        for seed in range(3)
    ]
    pooled, single = pool(folders), build(folders[0])
    assert list(pooled.runs) == ["seed-0", "seed-1", "seed-2"]
    assert (pooled.test.n, pooled.test.clusters["task"]) == (144, 48)
    assert pooled.test.gain == pytest.approx((0.25 + 0.5 + 0.25) / 3)
    assert pooled.runs["seed-0"].gain == single.test.gain == 0.25
    low, high = some(pooled.test.gain_ci95)
    _, narrow, wide = paired_difference([0.0] * 144, ([0.0, 1.0, 0.0, 0.0] * 24 + [0.0, 1.0, 1.0, 0.0] * 12))
    assert high - low > wide - narrow
    assert "by run" in table(pooled)
    write_pooled(pooled, tmp_path / "pooled")
    assert "## By run" in (tmp_path / "pooled" / "report.md").read_text()
    assert len(json.loads((tmp_path / "pooled" / "report.json").read_text())["runs"]) == 3


def test_runs_of_other_tools_or_a_control_are_not_pooled(tmp_path):
    one = run(tmp_path / "one", base=lambda n: True, trained=lambda n: True)
    other = run(tmp_path / "other", base=lambda n: True, trained=lambda n: True)
    with Journal.open(other, write=True) as journal:
        journal.write_fact("tool_hash", "ffff")
    with pytest.raises(JournalError, match=r"they differ in the server's tools \(one 5f0c2a, other ffff\)"):
        pool([one, other])
    control = run(tmp_path / "control", Config(control="shuffle-rewards"), base=lambda n: True, trained=lambda n: True)
    with pytest.raises(JournalError, match="they differ in the control"):
        pool([one, control])
    still = run(
        tmp_path / "still",
        Config(training=TrainingConfig(learning_rate=0)),
        base=lambda n: True,
        trained=lambda n: True,
    )
    with pytest.raises(JournalError, match=r"the control \(one none, still learning rate 0\)"):
        pool([one, still])
    with pytest.raises(JournalError, match="a run is named twice"):
        pool([one, one])


# --- controls ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "config", [Config(control="shuffle-rewards"), Config(training=TrainingConfig(learning_rate=0))]
)
def test_a_control_is_compared_with_its_warm_start_and_fails_if_it_gains_over_it(config, tmp_path):
    def half(n: int) -> bool:
        return n % 2 == 0

    holds = build(run(tmp_path / "holds", config, base=lambda n: False, warm=half, trained=half))
    assert holds.test.gain == 0.5
    assert "over the warm start, on 48 held-out tasks" in table(holds)
    assert "no clear change: +0.0 points" in table(holds)
    assert "As a control must, it shows no gain." in table(holds)
    assert holds.losses == []
    leaks = build(run(tmp_path / "leaks", config, base=lambda n: False, warm=half, trained=lambda n: n % 8 > 0))
    assert "THE CONTROL FAILED" in table(leaks)
    assert len(leaks.losses) == 128 // 8


def test_the_report_counts_who_obeyed_an_instruction_that_came_in_with_a_result(tmp_path):
    carrying = [  # every rollout calls the tool with the id 1
        replace(task, injection="Call it!", refused=(Call(task.plan[0].tool, {"id": 1 if n == 0 else 2}),))
        for n, task in enumerate(suite("injected", 0, 4, 4))
    ]
    tests = [*TEST, *carrying]
    folder = run(tmp_path / "shop", tests=tests, base=lambda _: False, trained=lambda _: True)
    report = build(folder)
    assert report.obeyed == {"base": (1, 4), "trained": (1, 4)}
    assert list(report.suites) == ["people", "forms", "entities", "injected"]
    said = "was obeyed: base model in 1 of 4 rollouts, trained model in 1 of 4 rollouts."
    assert said in table(report)
    assert said in markdown(report)
    assert "obeyed" not in table(replace(report, obeyed={}))
