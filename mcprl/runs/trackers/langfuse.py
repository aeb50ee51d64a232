"""Langfuse: every training rollout as a trace, and its score as a score of that trace.

Traces go to its OpenTelemetry address as the tracker `otel` makes them. That address maps no scores, so they are sent
through its API. `LANGFUSE_BASE_URL` (or `LANGFUSE_HOST`), `LANGFUSE_PUBLIC_KEY` and `LANGFUSE_SECRET_KEY` are those of
its own SDK.
"""

import os
from base64 import b64encode
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from mcprl.config import Config
from mcprl.errors import ConfigError, MissingExtra
from mcprl.runs.trackers import Tracker
from mcprl.runs.trackers.otel import OpenTelemetry, provided, require_address
from mcprl.types import Group, Json, Score

_HOST: Final = "https://cloud.langfuse.com"
_KEYS: Final = ("LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY")
_TIMEOUT_S: Final = 10.0
_SENDERS: Final = 4


class Langfuse(OpenTelemetry):
    """A rollout has the score `score` (0..1, with the judge's explanation) and, if it is known, `success` (0 or 1).
    Threads send them; one that is refused is an error of the next call."""

    def __init__(self, provider: Any, api: Any, folder: Path, model: str) -> None:
        import httpx2

        super().__init__(provider, api, folder, model)
        self._http = httpx2.Client(headers=_authorization(), timeout=_TIMEOUT_S)
        self._threads = ThreadPoolExecutor(_SENDERS, "langfuse")
        self._sent: list[Future[None]] = []

    def log_groups(self, step: int, groups: Sequence[Group], scores: Sequence[Score]) -> None:
        super().log_groups(step, groups, scores)
        self._raise_failures()

    def scored(self, trace: str, score: Score) -> None:
        told = {"score": {"value": score.value, "dataType": "NUMERIC", "comment": score.explanation}}
        if score.success is not None:
            told["success"] = {"value": int(score.success), "dataType": "BOOLEAN"}
        self._sent += [self._threads.submit(self._send, trace, name, body) for name, body in told.items()]

    def close(self, report: Mapping[str, Json] | None = None) -> None:
        self._threads.shutdown()
        self._http.close()
        super().close(report)
        self._raise_failures()

    def _send(self, trace: str, name: str, body: dict[str, Json]) -> None:
        """Send a score. Its id is made of the trace and the name, so that one that is sent twice counts once."""
        named = {"id": f"{trace}-{name}", "traceId": trace, "name": name}
        self._http.post(f"{_host()}/api/public/scores", json=named | body).raise_for_status()

    def _raise_failures(self) -> None:
        """Raise the first failure of those that have ended."""
        ended = [each for each in self._sent if each.done()]
        self._sent = [each for each in self._sent if each not in ended]
        for each in ended:
            each.result()


def require() -> None:
    """Raise `MissingExtra` without OpenTelemetry's packages, and `ConfigError` without keys or if they are refused."""
    try:
        exporter = _exporter(timeout=1.0)
    except ImportError:
        raise MissingExtra("opentelemetry-exporter-otlp-proto-http", "otel") from None
    if missing := [name for name in _KEYS if not os.environ.get(name)]:
        raise ConfigError(f"the tracker langfuse needs {' and '.join(missing)}, which a project's settings show")
    advice = f"set {', '.join(('LANGFUSE_BASE_URL', *_KEYS))} as a project's settings show them"
    require_address("langfuse", exporter, _host(), advice)


def open_tracker(folder: Path, config: Config) -> Tracker:
    """A tracker whose traces name this folder's run."""
    return Langfuse(*provided(folder, _exporter()), folder, config.model.name)


def _exporter(timeout: float = _TIMEOUT_S) -> Any:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    headers = _authorization() | {"x-langfuse-ingestion-version": "4"}
    return OTLPSpanExporter(endpoint=f"{_host()}/api/public/otel/v1/traces", headers=headers, timeout=timeout)


def _host() -> str:
    return (os.environ.get("LANGFUSE_BASE_URL") or os.environ.get("LANGFUSE_HOST") or _HOST).removesuffix("/")


def _authorization() -> dict[str, str]:
    keys = ":".join(os.environ.get(name, "") for name in _KEYS)
    return {"Authorization": f"Basic {b64encode(keys.encode()).decode()}"}
