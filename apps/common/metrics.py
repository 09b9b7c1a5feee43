"""Prometheus metrics: counters of all processes, and figures read from the database at each scrape.

Web servers and workers are separate processes; `PROMETHEUS_MULTIPROC_DIR` names the folder through
which prometheus-client adds their counters up. Apps declare counters at import with
prometheus-client itself, and register a collector for what only the database knows.
"""

import os
from collections.abc import Callable, Iterable

from django.conf import settings
from django.http import HttpResponse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from drf_spectacular.utils import extend_schema
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    generate_latest,
    multiprocess,
)
from prometheus_client.core import Metric
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.common.access import Access
from apps.common.scopes import Scope

Collect = Callable[[], Iterable[Metric]]
_collectors: dict[str, Collect] = {}


class _DatabaseCollector:
    """Asks every registered function for its figures, once per scrape."""

    def collect(self) -> Iterable[Metric]:
        """All figures of all apps."""
        for collect in _collectors.values():
            yield from collect()

    def describe(self) -> Iterable[Metric]:
        """Nothing, so that registering does not query the database."""
        return []


def register(name: str, collect: Collect) -> None:
    """Add figures read at each scrape; a second collector of that name replaces the first."""
    _collectors[name] = collect


def render() -> bytes:
    """The exposition text with the counters of all processes."""
    registry = CollectorRegistry()
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        registry.register(_DatabaseCollector())
        return generate_latest(registry)
    registry.register(_DatabaseCollector())
    return generate_latest(REGISTRY) + generate_latest(registry)


@extend_schema(exclude=True)
@method_decorator(never_cache, name="dispatch")
class MetricsView(APIView):
    """Prometheus exposition, for everybody or for tokens that may read metrics."""

    throttle_classes = []

    @property
    def access(self) -> dict[str, Access]:
        """Public by setting, else by token."""
        return {"get": Access(scope=Scope.METRICS_READ, public=settings.METRICS_PUBLIC)}

    def get(self, request: Request) -> HttpResponse:
        """Answer in the text format that Prometheus reads."""
        return HttpResponse(render(), content_type=CONTENT_TYPE_LATEST)
