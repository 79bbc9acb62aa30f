"""What the service has done, for Prometheus; no label ever holds what a client has sent."""

from collections.abc import Callable
from functools import cache

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
_SENTENCES = (1, 2, 4, 8, 16, 32, 64, 128)


class Metrics:
    """Counters of one service."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._of = cache(self._count_of)  # looking counters up by their labels costs more than counting
        self._requests = Counter("dragoman_requests", "Requests answered.", ["path", "status"], registry=self._registry)
        self._seconds = Histogram(
            "dragoman_request_seconds",
            "From a request's headers to its answer.",
            ["path"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._batches = Histogram(
            "dragoman_batch_sentences", "Sentences translated together.", buckets=_SENTENCES, registry=self._registry
        )

    def tell_batch(self, sentences: int) -> None:
        """Count a batch."""
        self._batches.observe(sentences)

    def tell_request(self, path: str, status: int, seconds: float) -> None:
        """Count a request; the path is that of a route, or the same for all that have none."""
        answered, took = self._of(path, status)
        answered.inc()
        took.observe(seconds)

    def _count_of(self, path: str, status: int) -> tuple[Counter, Histogram]:
        return self._requests.labels(path, str(status)), self._seconds.labels(path)

    def watch(self, name: str, what: str, read: Callable[[], float]) -> None:
        """Show a number that is read when it is asked for."""
        Gauge(f"dragoman_{name}", what, registry=self._registry).set_function(read)

    def write(self) -> bytes:
        """Return everything in Prometheus' text format."""
        return generate_latest(self._registry)
