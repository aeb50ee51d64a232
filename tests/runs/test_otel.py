"""The OpenTelemetry tracker: what a collector gets from it, in the names of the GenAI semantic conventions."""

import json
from dataclasses import replace
from itertools import pairwise

import pytest
from support.collector import collecting, plain
from support.loopback import free_port
from support.trajectories import GROUP, SCORES

from mcprl.config import Config
from mcprl.errors import ConfigError
from mcprl.runs.journal import Journal
from mcprl.runs.trackers import open_trackers, require_trackers


@pytest.fixture
def run(tmp_path):
    Journal.create(tmp_path / "shop", Config()).close()
    return tmp_path / "shop"


@pytest.fixture
def collector(monkeypatch):
    with collecting() as running:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", running.url)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=collector-key")
        yield running


def test_a_rollout_is_a_trace_of_its_turns_and_calls_with_the_times_of_the_journal(run, collector):
    timed = tuple(replace(trajectory, seconds=2.0) for trajectory in GROUP.trajectories)
    with Journal.open(run, write=True) as journal:
        journal.write_scenarios([GROUP.scenario])
        journal.write_trajectories("train", 3, timed)
        written = journal.outcomes("train", 3)[0].at
    trackers = open_trackers(["otel"], run, Config())
    trackers.log_groups(3, [replace(GROUP, trajectories=timed)], SCORES)
    trackers.close()
    traces = {span.trace_id: [s for s in collector.spans if s.trace_id == span.trace_id] for span in collector.spans}
    assert len(traces) == 2
    spans = next(iter(traces.values()))
    (root,) = [span for span in spans if not span.parent_span_id]
    assert root.name == "invoke_agent nano"
    assert (root.end_time_unix_nano - root.start_time_unix_nano) / 1e9 == pytest.approx(2.0)
    assert root.end_time_unix_nano / 1e9 == pytest.approx(written)
    inside = sorted((span for span in spans if span is not root), key=lambda span: span.start_time_unix_nano)
    assert {span.parent_span_id for span in inside} == {root.span_id}
    assert [span.name for span in inside] == ["chat nano", "execute_tool get", "chat nano", "execute_tool ?"]
    assert inside[0].start_time_unix_nano == root.start_time_unix_nano
    assert all(b.start_time_unix_nano >= a.end_time_unix_nano for a, b in pairwise(inside))
    assert plain(collector.resources[0].attributes)["mcprl.run.name"] == "shop"


def test_spans_have_the_attributes_of_the_genai_conventions(run, collector):
    from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as names

    trackers = open_trackers(["otel"], run, Config())
    trackers.log_groups(3, [GROUP], SCORES)
    trackers.close()
    published = {value for name, value in vars(names).items() if name.startswith("GEN_AI_")}
    used = {key for span in collector.spans for key in plain(span.attributes) if key.startswith("gen_ai.")}
    assert used <= published
    by_name = {span.name: plain(span.attributes) for span in reversed(collector.spans)}
    assert by_name["invoke_agent nano"]["gen_ai.operation.name"] == "invoke_agent"
    called = by_name["execute_tool get"]
    assert (called["gen_ai.operation.name"], called["gen_ai.tool.name"]) == ("execute_tool", "get")
    assert (called["gen_ai.tool.call.arguments"], called["gen_ai.tool.call.result"]) == ('{"id": 7}', "7: 12.50")
    spent = by_name["chat nano"]
    assert (spent["gen_ai.operation.name"], spent["gen_ai.request.model"]) == ("chat", "nano")
    assert spent["gen_ai.response.finish_reasons"] == ["tool_calls"]
    assert (spent["gen_ai.usage.input_tokens"], spent["gen_ai.usage.output_tokens"]) == (3, 2)
    assert json.loads(spent["gen_ai.input.messages"]) == [
        {"role": "user", "parts": [{"type": "text", "content": "What does 7 cost? ½ 😀"}]}
    ]
    call = {"type": "tool_call", "id": "c1", "name": "get", "arguments": '{"id": 7}'}
    assert json.loads(spent["gen_ai.output.messages"]) == [
        {"role": "assistant", "parts": [call], "finish_reason": "tool_calls"}
    ]


def test_the_judges_score_is_an_evaluation_event_of_its_own_rollout(run, collector):
    trackers = open_trackers(["otel"], run, Config())
    trackers.log_groups(3, [GROUP], SCORES)
    trackers.close()
    roots = {plain(span.attributes)["gen_ai.conversation.id"]: span for span in collector.spans if span.events}
    (event,) = roots["b"].events
    assert event.name == "gen_ai.evaluation.result"
    assert plain(event.attributes) == {
        "gen_ai.evaluation.name": "score",
        "gen_ai.evaluation.score.value": 0.1,
        "gen_ai.evaluation.score.label": "fail",
        "gen_ai.evaluation.explanation": "no answer",
    }
    assert plain(roots["a"].events[0].attributes)["gen_ai.evaluation.score.value"] == 0.95


def test_a_call_that_failed_is_a_span_with_an_error(run, collector):
    trackers = open_trackers(["otel"], run, Config())
    trackers.log_groups(1, [GROUP], SCORES)
    trackers.close()
    failed = {span.name: span.status.message for span in collector.spans if span.status.code == 2}
    assert failed == {"execute_tool ?": "no"}


def test_a_steps_metrics_are_the_attributes_of_a_span(run, collector):
    trackers = open_trackers(["otel"], run, Config())
    trackers.log_step(2, {"loss": 0.25, "kl": None, "note": "ok"})
    trackers.close()
    (span,) = collector.spans
    assert (span.name, plain(span.attributes)) == ("step 2", {"mcprl.step": 2, "mcprl.loss": 0.25, "mcprl.note": "ok"})
    assert {headers["x-key"] for headers in collector.headers} == {"collector-key"}


def test_an_address_without_a_collector_is_refused_before_the_run_begins(monkeypatch):
    port = free_port()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://user:pass@127.0.0.1:{port}")
    refused = rf"otel cannot reach 127.0.0.1:{port}: Connection refused; start a collector"
    with pytest.raises(ConfigError, match=refused):
        require_trackers(["otel"])


def test_a_collector_that_refuses_the_key_is_named_with_its_answer_before_the_run_begins(collector):
    collector.status = 401
    with pytest.raises(ConfigError, match=r"otel is refused: .*401.*OTEL_EXPORTER_OTLP_HEADERS"):
        require_trackers(["otel"])


def test_a_collector_that_fails_later_is_logged_once_and_the_run_goes_on(run, collector, caplog, capfd):
    trackers = open_trackers(["otel"], run, Config())
    collector.status = 400
    trackers.log_step(1, {"loss": 0.5})
    trackers.close()
    (record,) = caplog.records
    assert record.getMessage().startswith("the tracker otel failed and may miss data: Failed to export spans")
    assert "400" in record.getMessage()
    assert capfd.readouterr().err == ""
