"""Fixtures of the delivery tests: a cluster, the adapter to it, and a host that answers."""

from collections.abc import Iterator
from typing import Any

import pytest

from apps.delivery.kube.cluster import Cluster
from apps.delivery.models import Environment

from .kube_server import KubeServer
from .rollouts import Host, cluster_of, make_environment


@pytest.fixture
def server() -> Iterator[KubeServer]:
    """An API server of its own for each test."""
    with KubeServer() as running:
        yield running


@pytest.fixture
def cluster(server: KubeServer) -> Cluster:
    """The adapter to the server."""
    return cluster_of(server)


@pytest.fixture
def host(settings: Any) -> Iterator[Host]:
    """Every app's host, answering 200 until told otherwise."""
    running = Host()
    settings.DELIVERY_HEALTH_URL = running.template
    settings.DELIVERY_VERIFY_SECONDS = 1
    yield running
    running.close()


@pytest.fixture
def environment(db: None) -> Environment:
    """The app `loja` in its environment, with nothing released yet."""
    return make_environment()
