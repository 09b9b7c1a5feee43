"""What Prometheus learns about process jobs."""

from collections.abc import Iterable

from prometheus_client import Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from pymongo.errors import PyMongoError

from apps.delivery import mongodb
from apps.delivery.process_jobs import inspection
from apps.delivery.process_jobs.workers import worker_rows

RUNS = Counter("pombo_process_job_runs", "Runs by model and outcome.", ["model", "outcome"])
SECONDS = Histogram("pombo_process_job_seconds", "How long runs of a model took.", ["model"])


def observe_run(model: str, outcome: str, seconds: float) -> None:
    """Note one run."""
    RUNS.labels(model, outcome).inc()
    SECONDS.labels(model).observe(seconds)


def collect() -> Iterable[Metric]:
    """Depth by model and state, age of the oldest due job, workers, and whether MongoDB answers."""
    is_up = GaugeMetricFamily("pombo_mongodb_up", "Whether the configured MongoDB answers.")
    if not mongodb.is_configured():
        return
    try:
        yield from _figures()
    except PyMongoError:
        is_up.add_metric([], 0)
    else:
        is_up.add_metric([], 1)
    yield is_up


def _figures() -> list[Metric]:
    database = mongodb.shared_database()
    depth = GaugeMetricFamily(
        "pombo_process_job_depth", "Jobs by model and state.", labels=["model", "state"]
    )
    for row in inspection.depth(database):
        depth.add_metric([row.model, row.state], row.count)
    oldest = GaugeMetricFamily(
        "pombo_process_job_oldest_due_seconds", "How long the oldest due job has waited."
    )
    oldest.add_metric([], inspection.oldest_due_seconds(database))
    workers = GaugeMetricFamily("pombo_process_job_workers", "Workers that give signs of life.")
    workers.add_metric([], sum(worker.is_alive for worker in worker_rows(database)))
    return [depth, oldest, workers]
