"""Django's own command, one process at a time: a second one waits and finds nothing to do."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections

TAKE_LOCK = {
    "mysql": "SELECT GET_LOCK('pombo.migrate', 600)",
    "postgresql": "SELECT pg_advisory_lock(7066626001) IS NOT NULL",
}


class Command(migrate.Command):
    """Bring the tables up to date; safe to start on every machine of a deployment at once."""

    def handle(self, *args: Any, **options: Any) -> None:
        with _alone_on(options["database"]):
            super().handle(*args, **options)


@contextmanager
def _alone_on(alias: str) -> Iterator[None]:
    """Hold the database's migration lock; SQLite needs none, its transactions exclude each other.

    The lock belongs to a connection of its own, so that it outlives the transactions of the
    migrations and ends with the process whatever happens.
    """
    connection = connections[alias].copy()
    take = TAKE_LOCK.get(connection.vendor)
    try:
        if take is not None:
            with connection.cursor() as cursor:
                cursor.execute(take)
                if not cursor.fetchone()[0]:
                    raise CommandError("Another process has been migrating for ten minutes.")
        yield
    finally:
        connection.close()
