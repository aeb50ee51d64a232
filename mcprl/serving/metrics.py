"""Figures for Prometheus."""

from mcprl.errors import MissingExtra

try:
    from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
    from prometheus_client.exposition import CONTENT_TYPE_LATEST
except ImportError:
    raise MissingExtra("prometheus-client", "serve") from None

CONTENT_TYPE = CONTENT_TYPE_LATEST


class Metrics:
    """The figures of one served model."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._tokens = Counter("mcprl_tokens", "Tokens read and sampled.", ["kind"], registry=self.registry)
        self._requests = Counter("mcprl_requests", "Requests answered.", ["route", "status"], registry=self.registry)
        self._seconds = Histogram(
            "mcprl_request_seconds", "Seconds until a request was answered whole.", ["route"], registry=self.registry
        )
        self.running = Gauge("mcprl_requests_running", "Requests being answered.", registry=self.registry)
        self.step = Gauge("mcprl_policy_step", "The training step of the newest adapter.", registry=self.registry)
        self.updates = Counter("mcprl_updates", "Updates that ended.", ["end"], registry=self.registry)

    def sampled(self, read: int, sampled: int) -> None:
        self._tokens.labels("prompt").inc(read)
        self._tokens.labels("completion").inc(sampled)

    def answered(self, route: str, status: int, seconds: float) -> None:
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def text(self) -> bytes:
        """The figures in Prometheus' text format."""
        return generate_latest(self.registry)
