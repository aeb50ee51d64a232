"""An OpenTelemetry collector on loopback, which speaks OTLP/HTTP and keeps the spans that it gets."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@dataclass
class Collector:
    """`spans` in the order of arrival, as protobuf messages; `resources` by span; `scores` as Langfuse's API takes
    them. It answers with `status`, to scores with `scores_status`."""

    url: str = ""
    scores: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    scores_status: int = 200
    status: int = 200
    spans: list[Any] = field(default_factory=list[Any])
    resources: list[Any] = field(default_factory=list[Any])
    headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])


@contextmanager
def collecting(path: str = "/v1/traces") -> Generator[Collector]:
    """A running collector, which takes traces at `path`."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
        ExportTraceServiceRequest,
        ExportTraceServiceResponse,
    )

    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            collector.headers.append(dict(self.headers))
            if self.path == "/api/public/scores":
                collector.scores += [json.loads(body)] if collector.scores_status == 200 else []
                self.send_response(collector.scores_status)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")
                return
            known = self.path == path and self.headers["Content-Type"] == "application/x-protobuf"
            if known and collector.status == 200:
                request = ExportTraceServiceRequest.FromString(body)
                for sent in request.resource_spans:
                    for scope in sent.scope_spans:
                        collector.spans += scope.spans
                        collector.resources += [sent.resource] * len(scope.spans)
            self.send_response(collector.status if known else 404)
            answer = ExportTraceServiceResponse().SerializeToString()
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  (the base names it so)
            """Nothing on the screen."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        collector.url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield collector
        finally:
            server.shutdown()
            thread.join()


def plain(attributes: Any) -> dict[str, Any]:
    """A span's attributes as Python values."""
    return {pair.key: _value(pair.value) for pair in attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    return [_value(one) for one in value.array_value.values] if kind == "array_value" else getattr(value, kind)
