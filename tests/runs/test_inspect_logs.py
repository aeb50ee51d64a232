"""`mcprl export RUN --inspect FOLDER`: inspect_ai's own reader finds what the report says and what was said."""

import json
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from support.command_line import mcprl
from support.journals import N, played, scenario

from mcprl.config import Config, ServerConfig
from mcprl.runs.journal import Journal
from mcprl.runs.report import write

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what inspect_ai imports


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose trained model was tested twice on each task; some rollouts broke and some were not judged."""
    folder = tmp_path_factory.mktemp("runs") / "shop"
    tasks = [scenario(n) for n in range(N)]
    with Journal.create(folder, Config(servers=(ServerConfig(target="shop.py"),))) as journal:
        journal.write_scenarios(tasks)
        journal.write_fact("model", "nano")
        played(journal, "test:base", 0, tasks, lambda n, _: n < 18)
        played(journal, "test:warm", 0, tasks, lambda n, _: "unjudged" if n == 40 else n < 30)
        played(journal, "test:trained", 5, tasks, lambda n, member: "error" if n == 7 else n + member > 20, rollouts=2)
    write(folder)
    return folder


@pytest.fixture(scope="module")
def logs(run: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The logs by name, as inspect_ai reads them."""
    log = pytest.importorskip("inspect_ai.log", reason="inspect_ai is not installed: pip install 'mcprl[inspect]'")
    out = tmp_path_factory.mktemp("out") / "logs"
    done = mcprl("export", str(run), "--inspect", str(out))
    assert done.code == 0, done.err
    paths = [Path(line.removeprefix("written to ")) for line in done.out.splitlines()]
    assert [path.name for path in paths] == ["base.eval", "supervised.eval", "trained.eval"]
    return {path.stem: log.read_eval_log(str(path)) for path in paths}


def test_the_accuracies_of_the_logs_and_of_their_samples_are_the_reports(run: Path, logs: dict[str, Any]) -> None:
    report = json.loads((run / "report.json").read_text())
    for name, model in {"base": "base", "supervised": "warm", "trained": "trained"}.items():
        for score in logs[name].results.scores:
            expected = report["suites"][score.name][model]["success"]
            assert score.metrics["accuracy"].value == expected
            by_task: defaultdict[str, list[float]] = defaultdict(list)
            for sample in logs[name].samples:
                if sample.metadata["suite"] == score.name and "success" in sample.scores:
                    by_task[sample.id].append(sample.scores["success"].value)
            assert fmean(map(fmean, by_task.values())) == pytest.approx(expected, abs=1e-12)
        assert {score.name for score in logs[name].results.scores} == report["suites"].keys()
        assert len(logs[name].samples) == report["test"][model]["rollouts"]


def test_a_sample_has_the_conversation_with_its_calls_and_the_words_of_the_checks(logs: dict[str, Any]) -> None:
    sample = next(sample for sample in logs["trained"].samples if sample.id == "test-59")
    assert [message.role for message in sample.messages] == ["system", "user", "assistant", "tool", "assistant"]
    (call,) = sample.messages[2].tool_calls
    assert (call.function, call.arguments, call.parse_error) == (sample.messages[3].function, {"id": 1}, None)
    assert sample.scores["success"].explanation == "outcome 1.00: + total 12.5"
    assert (sample.scores["success"].answer, sample.scores["score"].value) == ("It is 12.50.", 0.95)


def test_a_broken_rollout_is_a_failure_with_its_error_and_an_unjudged_one_has_no_score(logs: dict[str, Any]) -> None:
    broken = [sample for sample in logs["trained"].samples if sample.error]
    assert [(sample.id, sample.scores["success"].value) for sample in broken] == [("test-7", 0), ("test-7", 0)]
    assert "test-40" not in {sample.id for sample in logs["supervised"].samples}  # no report compares it


def test_without_inspect_ai_one_is_told_what_to_install(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcprl.runs.inspect_logs.find_spec", lambda name: None)
    done = mcprl("export", str(run), "--inspect", "logs")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "pip install 'mcprl[inspect]'" in done.err
