"""Fixtures of the delivery tests: a cluster, the adapter to it, and a host that answers."""

from collections.abc import Iterator
from typing import Any

import pytest
from pymongo import MongoClient
from pymongo.database import Database

from apps.delivery import mongodb
from apps.delivery.kube.cluster import Cluster
from apps.delivery.models import Environment
from apps.delivery.mongod import mongod
from apps.delivery.services import process_jobs, shared_files

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


@pytest.fixture(scope="session")
def mongo_client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MongoClient[Any]]:
    """A real mongod for all tests of this process."""
    folder = tmp_path_factory.mktemp("mongod")
    with mongod(folder) as address, MongoClient(address, tz_aware=True) as client:
        yield client


@pytest.fixture
def database(mongo_client: MongoClient[Any]) -> Database[Any]:
    """An empty database; its indexes stay."""
    database = mongo_client["pombo_test"]
    for name in database.list_collection_names():
        database[name].delete_many({})
    return database


@pytest.fixture
def mongo(database: Database[Any], settings: Any) -> Iterator[Database[Any]]:
    """The same database as Pombo's own, by MONGODB_URI."""
    host, port = database.client.address or ("", 0)
    settings.MONGODB_URI = f"mongodb://{host}:{port}/{database.name}?directConnection=true"
    yield database
    mongodb.forget_clients()
    process_jobs.forget_queues()
    shared_files.forget_stores()
