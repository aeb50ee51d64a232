"""OpenTelemetry: every training rollout as a trace in the GenAI semantic conventions, over OTLP/HTTP.

Langfuse, MLflow, Phoenix and the OpenTelemetry collector take it. `OTEL_EXPORTER_OTLP_ENDPOINT` (by default
http://localhost:4318), `OTEL_EXPORTER_OTLP_HEADERS` and OpenTelemetry's other variables work.

A rollout is a span `invoke_agent` with a span `chat` for each turn and `execute_tool` for each call; its score is the
event `gen_ai.evaluation.result`. A step's metrics are the attributes of a span of their own. The journal knows when a
rollout ended, how long it took and how long each call took; the rest is divided among its turns by their tokens.
"""

import json
import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import time
from typing import Any, Final

from mcprl.config import Config
from mcprl.errors import ConfigError, MissingExtra
from mcprl.runs.journal import Journal
from mcprl.runs.records import given_turns
from mcprl.runs.trackers import Metrics, Tracker, reach
from mcprl.types import CallRecord, Completion, Group, Json, Message, Score, Trajectory

_EXPORT_S: Final = 1.0
_QUEUE: Final = 1 << 17
_LIBRARY = logging.getLogger("opentelemetry")


class OpenTelemetry:
    """Sends spans from a thread of the SDK's. A batch that could not be sent is an error of the next call."""

    def __init__(self, provider: Any, api: Any, folder: Path, model: str) -> None:
        self._provider, self._api, self._folder, self._model = provider, api, folder, model
        self._tracer = provider.get_tracer("mcprl")
        self._failures = _Failures()

    def log_step(self, step: int, metrics: Metrics) -> None:
        attributes = {f"mcprl.{name}": value for name, value in metrics.items() if value is not None}
        self._tracer.start_span(f"step {step}", attributes={"mcprl.step": step, **attributes}).end()
        self._failures.report()

    def log_groups(self, step: int, groups: Sequence[Group], scores: Sequence[Score]) -> None:
        by_id = {score.trajectory_id: score for score in scores}
        with Journal.open(self._folder) as journal:
            ended = {outcome.trajectory_id: outcome.at for outcome in journal.outcomes("train", step)}
        for group in groups:
            for trajectory in group.trajectories:
                score = by_id.get(trajectory.id)
                trace = self._rollout(step, trajectory, score, ended.get(trajectory.id, time()))
                if score:
                    self.scored(trace, score)
        self._failures.report()

    def scored(self, trace: str, score: Score) -> None:
        """A rollout's score, beside the event that its trace has. Does nothing: who takes scores apart overrides it."""

    def close(self, report: Mapping[str, Json] | None = None) -> None:
        self._provider.shutdown()
        self._failures.close()
        self._failures.report()

    def _rollout(self, step: int, trajectory: Trajectory, score: Score | None, ended: float) -> str:
        """Send a rollout's spans; returns the id of their trace, 32 hexadecimal digits."""
        at = ended - trajectory.seconds
        root = self._tracer.start_span(
            f"invoke_agent {self._model}",
            context=self._api.set_span_in_context(self._api.INVALID_SPAN),
            start_time=_ns(at),
            attributes={
                **_operation("invoke_agent"),
                "gen_ai.agent.name": "mcprl",
                "gen_ai.request.model": self._model,
                "gen_ai.conversation.id": trajectory.id,
                "gen_ai.input.messages": _parts([m for m in trajectory.messages if m["role"] == "user"]),
                "gen_ai.output.messages": _parts(trajectory.messages[-1:], trajectory.stop),
                "gen_ai.usage.input_tokens": sum(len(turn.prompt_ids) for turn in trajectory.turns),
                "gen_ai.usage.output_tokens": sum(len(turn.completion_ids) for turn in trajectory.turns),
                "mcprl.step": step,
                "mcprl.scenario": trajectory.scenario_id,
                "mcprl.stop": trajectory.stop,
            },
        )
        inside = self._api.set_span_in_context(root)
        tokens = sum(len(turn.completion_ids) for turn in trajectory.turns)
        sampling_s = max(0.0, trajectory.seconds - sum(call.result.latency_s for call in trajectory.calls))
        history = [n for n, message in enumerate(trajectory.messages) if message["role"] == "assistant"]
        sampled = history[given_turns(trajectory) :]
        for number, (turn, own) in enumerate(zip(trajectory.turns, sampled, strict=False)):
            seconds = sampling_s * len(turn.completion_ids) / max(tokens, 1)
            self._chat(inside, turn, trajectory.messages[:own], at, seconds)
            at += seconds
            for call in (call for call in trajectory.calls if call.turn == number):
                self._tool(inside, call, at)
                at += call.result.latency_s
        if score:
            root.add_event("gen_ai.evaluation.result", _evaluation(score), timestamp=_ns(ended))
        self._end(root, trajectory.error, ended)
        return f"{root.get_span_context().trace_id:032x}"

    def _chat(self, inside: Any, turn: Completion, history: Sequence[Message], at: float, seconds: float) -> None:
        attributes = {
            **_operation("chat"),
            "gen_ai.request.model": self._model,
            "gen_ai.response.model": f"{self._model}@step-{turn.policy_step}",
            "gen_ai.response.finish_reasons": [turn.finish_reason],
            "gen_ai.usage.input_tokens": len(turn.prompt_ids),
            "gen_ai.usage.output_tokens": len(turn.completion_ids),
            "gen_ai.input.messages": _parts(history),
            "gen_ai.output.messages": _parts([turn.message], turn.finish_reason),
        }
        span = self._tracer.start_span(f"chat {self._model}", inside, start_time=_ns(at), attributes=attributes)
        self._end(span, "; ".join(turn.malformed), at + seconds)

    def _tool(self, inside: Any, call: CallRecord, at: float) -> None:
        attributes = {
            **_operation("execute_tool"),
            "gen_ai.tool.name": call.tool,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.arguments": json.dumps(call.arguments, ensure_ascii=False),
            "gen_ai.tool.call.result": call.result.text,
        }
        span = self._tracer.start_span(
            f"execute_tool {call.tool}".strip(), inside, start_time=_ns(at), attributes=attributes
        )
        self._end(span, call.result.text if call.result.is_error else "", at + call.result.latency_s)

    def _end(self, span: Any, error: str, at: float) -> None:
        if error:
            span.set_attribute("error.type", "_OTHER")
            span.set_status(self._api.StatusCode.ERROR, error)
        span.end(_ns(at))


class _Failures(logging.Handler):
    """Takes what the library logs, which would otherwise reach the screen with each batch that fails."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self._messages: list[str] = []
        self._propagated, _LIBRARY.propagate = _LIBRARY.propagate, False
        _LIBRARY.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self._messages.append(record.getMessage())

    def report(self) -> None:
        """Raise the newest failure, if there is one."""
        if self._messages:
            message = self._messages[-1]
            self._messages.clear()
            raise ConnectionError(message)

    def close(self) -> None:
        if self in _LIBRARY.handlers:
            _LIBRARY.removeHandler(self)
            _LIBRARY.propagate = self._propagated
        super().close()


def require() -> Any:
    """The OpenTelemetry packages. Raises `MissingExtra` if they are not installed, and `ConfigError` if the address
    does not take an empty batch."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    except ImportError:
        raise MissingExtra("opentelemetry-exporter-otlp-proto-http", "otel") from None
    advice = "start a collector there, or set OTEL_EXPORTER_OTLP_ENDPOINT and, for a key, OTEL_EXPORTER_OTLP_HEADERS"
    require_address("otel", OTLPSpanExporter(endpoint=address(), timeout=_EXPORT_S), address(), advice)


def require_address(tracker: str, exporter: Any, url: str, advice: str) -> None:
    """Raise `ConfigError` if the address does not take an empty batch."""
    reach(tracker, url, advice)
    failures = _Failures()
    try:
        exporter.export([])
        failures.report()
    except ConnectionError as error:
        raise ConfigError(f"the tracker {tracker} is refused: {error}; {advice}") from None
    finally:
        failures.close()


def address() -> str:
    """The URL that takes traces, from OpenTelemetry's variables."""
    base = os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or "http://localhost:4318"
    return os.environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") or f"{base.removesuffix('/')}/v1/traces"


def open_tracker(folder: Path, config: Config) -> Tracker:
    """A tracker whose spans name this folder's run."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OpenTelemetry(*provided(folder, OTLPSpanExporter(endpoint=address())), folder, config.model.name)


def provided(folder: Path, exporter: Any) -> tuple[Any, Any]:
    """The SDK's provider, which sends spans of this folder's run by `exporter`, and OpenTelemetry's API."""
    from opentelemetry import trace
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    with Journal.open(folder) as journal:
        identity = str(journal.fact("run_id"))
    service = os.environ.get("OTEL_SERVICE_NAME", "mcprl")
    own = {"service.name": service, "mcprl.run.id": identity, "mcprl.run.name": folder.absolute().name}
    provider = TracerProvider(resource=Resource.create(own), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter, max_queue_size=_QUEUE))
    return provider, trace


def _operation(name: str) -> dict[str, str]:
    return {"gen_ai.operation.name": name, "gen_ai.provider.name": "mcprl"}


def _evaluation(score: Score) -> dict[str, str | float]:
    label = None if score.success is None else "pass" if score.success else "fail"
    said = {"gen_ai.evaluation.score.label": label, "gen_ai.evaluation.explanation": score.explanation}
    known = {name: value for name, value in said.items() if value}
    return {"gen_ai.evaluation.name": "score", "gen_ai.evaluation.score.value": score.value, **known}


def _parts(messages: Sequence[Message], finish_reason: str = "") -> str:
    """Messages in the conventions' JSON: a role and parts, of which each is text, a call or a call's response."""
    made: list[dict[str, Json]] = []
    for message in messages:
        content = str(message.get("content") or "")
        if message["role"] == "tool":
            response = {"type": "tool_call_response", "id": message["tool_call_id"], "response": content}
            made.append({"role": "tool", "parts": [response]})
            continue
        parts: list[dict[str, Json]] = [{"type": "text", "content": content}] if content else []
        for call in message.get("tool_calls") or []:
            function = call["function"]
            named = {"type": "tool_call", "id": call["id"], "name": function["name"]}
            parts.append({**named, "arguments": function["arguments"]})
        ended = {"finish_reason": finish_reason} if finish_reason else {}
        made.append({"role": message["role"], "parts": parts, **ended})
    return json.dumps(made, ensure_ascii=False)


def _ns(seconds: float) -> int:
    return int(seconds * 1e9)
