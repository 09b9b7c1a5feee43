"""A MongoDB database and a user of its own for each environment.

The user may read and write its database and nothing else; its password exists in the server and in
the environment's runtime secret, nowhere here.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

from django.conf import settings
from pymongo import MongoClient
from pymongo.errors import OperationFailure, PyMongoError

from apps.delivery.errors import DatabaseUnreachable
from apps.delivery.models import Environment
from apps.delivery.secrets import random_secret, validate_mongo_uri

_TIMEOUT_MS = 5000
_USER_EXISTS = 51003


def is_configured() -> bool:
    """Whether apps get databases from us."""
    return bool(settings.APPS_MONGODB_URI)


def provision_database(environment: Environment) -> str:
    """Make the database's user, or give it a new password; the app's connection string.

    MongoDB makes the database with its first document. Raises DatabaseUnreachable.
    """
    name, password = database_name(environment), random_secret()
    role = [{"role": "readWrite", "db": name}]
    with _admin() as client:
        database = client[name]
        try:
            database.command("createUser", name, pwd=password, roles=role)
        except OperationFailure as failure:
            if failure.code != _USER_EXISTS:
                raise
            database.command("updateUser", name, pwd=password, roles=role)
    uri = app_uri(settings.APPS_MONGODB_URI, name, password)
    validate_mongo_uri(uri)
    return uri


def database_name(environment: Environment) -> str:
    """The namespace, which is unique and never changes; a valid name as it is."""
    return environment.namespace


def app_uri(admin_uri: str, name: str, password: str) -> str:
    """The administrator's address with the app's user and database; its options stay."""
    parts = urlsplit(admin_uri)
    hosts = parts.netloc.rpartition("@")[2]
    options = "&".join(
        option for option in parts.query.split("&") if not option.lower().startswith("authsource")
    )
    user = quote(name, safe="")
    netloc = f"{user}:{quote(password, safe='')}@{hosts}"
    return urlunsplit((parts.scheme, netloc, f"/{quote(name, safe='')}", options, ""))


@contextmanager
def _admin() -> Iterator[MongoClient[dict[str, Any]]]:
    """A connection as administrator; refusals never repeat the address."""
    client: MongoClient[dict[str, Any]] = MongoClient(
        settings.APPS_MONGODB_URI,
        serverSelectionTimeoutMS=_TIMEOUT_MS,
        connectTimeoutMS=_TIMEOUT_MS,
        socketTimeoutMS=_TIMEOUT_MS,
    )
    try:
        yield client
    except PyMongoError as error:
        message = f"The apps' MongoDB server refuses or does not answer ({type(error).__name__})."
        raise DatabaseUnreachable(message) from None
    finally:
        client.close()
