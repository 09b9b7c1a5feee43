"""The mongod that `make run` keeps as a child: its port may change, its data stays."""

import signal
from pathlib import Path
from typing import Any

import pytest
from pymongo import MongoClient
from pymongo.errors import PyMongoError

from apps.delivery.mongod import address_of, free_port, mongod
from config import run
from tests.processes import running
from tests.waiting import wait_until

pytestmark = pytest.mark.mongo


def is_writable(address: str) -> bool:
    try:
        with MongoClient[Any](address, serverSelectionTimeoutMS=500) as client:
            return bool(client.admin.command("hello").get("isWritablePrimary"))
    except PyMongoError:
        return False


def test_data_survives_a_change_of_port(tmp_path: Path) -> None:
    for count in (0, 1):
        with mongod(tmp_path) as address, MongoClient(address) as client:
            assert client.shop.orders.count_documents({}) == count
            client.shop.orders.insert_one({})


@pytest.mark.django_db
def test_as_a_child_it_has_transactions_and_ends_on_sigterm(tmp_path: Path) -> None:
    port = free_port()
    command = ("-m", "apps.delivery.mongod", str(tmp_path), str(port))
    with running(*command) as child:
        wait_until(lambda: is_writable(address_of(port)))
        with (
            MongoClient(address_of(port)) as client,
            client.start_session() as session,
            session.start_transaction(),
        ):
            client.shop.orders.insert_one({}, session=session)
        child.send_signal(signal.SIGTERM)
        assert child.wait(30) == 0


@pytest.mark.parametrize("name", ["MONGODB_URI", "DJANGO_MONGODB_URI"])
def test_make_run_starts_none_beside_one_that_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.delenv("MONGODB_URI", raising=False)
    assert run._wants_mongod()
    monkeypatch.setenv(name, "mongodb://db.example/")
    assert not run._wants_mongod()


def test_make_run_starts_none_where_none_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MONGODB_URI", raising=False)
    monkeypatch.setattr(run.mongod, "binary", lambda: None)
    assert not run._wants_mongod()
