"""Pombo's own MongoDB, named by MONGODB_URI: process jobs and shared files."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl

from django.conf import settings
from pymongo import MongoClient
from pymongo.database import Database
from pymongo.errors import PyMongoError

from apps.delivery.errors import MongodbNotConfigured, MongodbUnreachable

DEFAULT_DATABASE = "pombo"
# What the address says itself comes first.
_DEFAULTS: dict[str, Any] = {
    "serverSelectionTimeoutMS": 3000,
    "socketTimeoutMS": 30_000,
    "appname": "pombo",
}
_clients: dict[tuple[str, int], MongoClient[dict[str, Any]]] = {}
_making = threading.Lock()


def is_configured() -> bool:
    """Whether there is a MongoDB at all."""
    return bool(settings.MONGODB_URI)


def shared_database() -> Database[dict[str, Any]]:
    """The database that MONGODB_URI names, else `pombo`. Raises MongodbNotConfigured."""
    if not is_configured():
        raise MongodbNotConfigured("MONGODB_URI is not set.")
    return _client(settings.MONGODB_URI).get_default_database(DEFAULT_DATABASE)


@contextmanager
def answering() -> Iterator[Database[dict[str, Any]]]:
    """The shared database for a block. Raises MongodbNotConfigured, MongodbUnreachable."""
    try:
        yield shared_database()
    except PyMongoError as error:
        raise MongodbUnreachable("MongoDB does not answer.") from error


def forget_clients() -> None:
    """Close this process's connections and connect anew at the next question; for tests."""
    for client in _clients.values():
        client.close()
    _clients.clear()


def _client(uri: str) -> MongoClient[dict[str, Any]]:
    """One client a process: its threads and sockets do not survive a fork."""
    with _making:
        key = (uri, os.getpid())
        if key not in _clients:
            named = {name.lower() for name, _value in parse_qsl(uri.partition("?")[2])}
            options = {
                name: value for name, value in _DEFAULTS.items() if name.lower() not in named
            }
            _clients[key] = MongoClient(uri, tz_aware=True, connect=False, **options)
        return _clients[key]
