"""A database and a least-privilege user for each app, on a real mongod."""

import base64
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone
from pymongo import MongoClient
from pymongo.errors import OperationFailure

from apps.delivery.choices import DeploymentPhase
from apps.delivery.errors import DatabaseUnreachable
from apps.delivery.kube.cluster import Cluster
from apps.delivery.models import Environment
from apps.delivery.secrets import validate_mongo_uri
from apps.delivery.services.databases import app_uri, provision_database
from apps.delivery.services.rotation import rotate_secrets

from .kube_server import KubeServer
from .mongod import mongod
from .rollouts import BETTER, GOOD, Host, deploy, drive, live, make_environment

pytestmark = [pytest.mark.mongo, pytest.mark.django_db(transaction=True)]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with mongod(tmp_path_factory.mktemp("mongod")) as address:
        yield address


@pytest.fixture(autouse=True)
def configured(address: str, settings: Any) -> None:
    settings.APPS_MONGODB_URI = address


def try_insert(uri: str, database: str) -> None:
    with MongoClient(uri, serverSelectionTimeoutMS=2000) as client:
        client[database].things.insert_one({"x": 1})


def test_an_app_writes_its_own_database_and_no_other(environment: Environment) -> None:
    other = make_environment("blog")
    uri = provision_database(environment)
    provision_database(other)
    try_insert(uri, "loja-main")
    with pytest.raises(OperationFailure, match="not authorized"):
        try_insert(uri, "blog-main")
    with pytest.raises(OperationFailure, match="not authorized"):
        try_insert(uri, "admin")


def test_provisioning_again_changes_the_password(environment: Environment) -> None:
    old, new = provision_database(environment), provision_database(environment)
    try_insert(new, "loja-main")
    with pytest.raises(OperationFailure, match="Authentication failed"):
        try_insert(old, "loja-main")


def test_a_rotated_password_reaches_the_pods(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host
) -> None:
    deploy(environment, GOOD, cluster)
    before = live(server, "Deployment", "loja")["spec"]["template"]["metadata"]["annotations"]
    deployment = rotate_secrets(
        environment, cluster=cluster, has_database=True, actor="ana", now=timezone.now()
    )
    assert deployment is not None
    assert drive(deployment, cluster).phase == DeploymentPhase.SUCCEEDED
    after = live(server, "Deployment", "loja")["spec"]["template"]["metadata"]["annotations"]
    checksum = "oon.dev/secrets-checksum"
    assert before[checksum] != after[checksum]
    encoded = live(server, "Secret", "oon-runtime")["data"]["MONGODB_URI"]
    try_insert(base64.b64decode(encoded).decode(), "loja-main")


def test_a_deployment_provisions_once_and_tells_nobody(
    environment: Environment,
    cluster: Cluster,
    server: KubeServer,
    host: Host,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, logger="apps")
    deployment = deploy(environment, GOOD, cluster)
    assert deployment.phase == DeploymentPhase.SUCCEEDED
    encoded = live(server, "Secret", "oon-runtime")["data"]["MONGODB_URI"]
    uri = base64.b64decode(encoded).decode()
    try_insert(uri, "loja-main")
    deploy(environment, BETTER, cluster)
    assert live(server, "Secret", "oon-runtime")["data"]["MONGODB_URI"] == encoded
    password = uri.partition("@")[0].rpartition(":")[2]
    told = [*deployment.steps.values_list("name", "message"), *deployment.plan.changes]
    assert password not in str(told)
    assert password not in caplog.text


def test_an_unreachable_server_is_named_without_its_address(
    environment: Environment, settings: Any
) -> None:
    settings.APPS_MONGODB_URI = "mongodb://root:s3cret@127.0.0.1:1/?serverSelectionTimeoutMS=200"
    with pytest.raises(DatabaseUnreachable) as caught:
        provision_database(environment)
    assert "s3cret" not in str(caught.value)


def test_the_app_gets_the_hosts_and_options_of_the_administrator() -> None:
    admin = "mongodb://root:x@a.example:27017,b.example:27018/?replicaSet=rs0&authSource=admin"
    uri = app_uri(admin, "loja-main", "p@ss/word")
    assert uri == (
        "mongodb://loja-main:p%40ss%2Fword@a.example:27017,b.example:27018/loja-main?replicaSet=rs0"
    )
    assert validate_mongo_uri(uri).database == "loja-main"
