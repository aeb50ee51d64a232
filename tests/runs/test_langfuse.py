"""The Langfuse tracker, against a stand-in of its address for traces and of its API for scores."""

import re
from base64 import b64encode
from collections.abc import Generator
from pathlib import Path

import pytest
from support.collector import Collector, collecting, plain
from support.loopback import free_port
from support.trajectories import GROUP, SCORES

from mcprl.config import Config
from mcprl.errors import ConfigError
from mcprl.runs.journal import Journal
from mcprl.runs.trackers import open_trackers, require_trackers


@pytest.fixture
def run(tmp_path: Path) -> Path:
    Journal.create(tmp_path / "shop", Config()).close()
    return tmp_path / "shop"


@pytest.fixture
def langfuse(monkeypatch: pytest.MonkeyPatch) -> Generator[Collector]:
    with collecting("/api/public/otel/v1/traces") as running:
        monkeypatch.setenv("LANGFUSE_HOST", f"{running.url}/")
        monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", "pk-1")
        monkeypatch.setenv("LANGFUSE_SECRET_KEY", "sk-1")
        yield running


def test_a_rollouts_score_is_a_score_of_its_own_trace(run: Path, langfuse: Collector) -> None:
    trackers = open_trackers(["langfuse"], run, Config())
    trackers.log_groups(3, [GROUP], SCORES)
    trackers.close()
    roots = [span for span in langfuse.spans if not span.parent_span_id]
    traces = {plain(span.attributes)["gen_ai.conversation.id"]: span.trace_id.hex() for span in roots}
    by_trace = {(score["traceId"], score["name"]): score for score in langfuse.scores}
    assert len(by_trace) == 4
    for score in SCORES:
        sent = by_trace[traces[score.trajectory_id], "score"]
        assert (sent["value"], sent["dataType"], sent["comment"]) == (score.value, "NUMERIC", score.explanation)
        success = by_trace[traces[score.trajectory_id], "success"]
        assert (success["value"], success["dataType"]) == (int(bool(score.success)), "BOOLEAN")
    assert len({score["id"] for score in langfuse.scores}) == 4


def test_all_requests_have_the_keys_and_ask_for_the_newest_intake(run: Path, langfuse: Collector) -> None:
    trackers = open_trackers(["langfuse"], run, Config())
    trackers.log_groups(3, [GROUP], SCORES)
    trackers.close()
    keys = f"Basic {b64encode(b'pk-1:sk-1').decode()}"
    sent = [{name.lower(): value for name, value in headers.items()} for headers in langfuse.headers]
    assert {headers["authorization"] for headers in sent} == {keys}
    assert "4" in {headers.get("x-langfuse-ingestion-version") for headers in sent}


def test_missing_keys_a_wrong_address_and_refused_keys_are_told_before_the_run(
    langfuse: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    langfuse.status = 401
    with pytest.raises(ConfigError, match=r"langfuse is refused: .*401.*LANGFUSE_SECRET_KEY"):
        require_trackers(["langfuse"])
    monkeypatch.setenv("LANGFUSE_BASE_URL", f"http://127.0.0.1:{free_port()}")
    with pytest.raises(ConfigError, match="langfuse cannot reach"):
        require_trackers(["langfuse"])
    monkeypatch.delenv("LANGFUSE_SECRET_KEY")
    with pytest.raises(ConfigError, match=re.escape("langfuse needs LANGFUSE_SECRET_KEY")):
        require_trackers(["langfuse"])


def test_scores_that_are_refused_are_logged_once_and_the_run_goes_on(
    run: Path, langfuse: Collector, caplog: pytest.LogCaptureFixture
) -> None:
    trackers = open_trackers(["langfuse"], run, Config())
    langfuse.scores_status = 500
    trackers.log_groups(3, [GROUP], SCORES)
    trackers.log_groups(4, [GROUP], SCORES)
    trackers.close()
    (record,) = caplog.records
    assert "the tracker langfuse failed and may miss data" in record.getMessage()
    assert not langfuse.scores
