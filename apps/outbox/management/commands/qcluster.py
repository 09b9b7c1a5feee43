"""django-q2's own command, with a stop that long-running tasks hear."""

from typing import Any

from django_q.cluster import Cluster
from django_q.management.commands import qcluster

from apps.outbox.stopping import stop_requested


class HeedingCluster(Cluster):
    """A cluster that tells its workers before it waits for them."""

    def stop(self) -> bool:
        """Set the event that resident tasks look at, then stop as usual."""
        stop_requested.set()
        return bool(super().stop())


class Command(qcluster.Command):
    """Run a cluster of workers until SIGTERM or SIGINT; resident tasks end within a second."""

    # The web server and `manage.py check` run them; they would load all pages into every worker.
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        qcluster.Cluster = HeedingCluster
        super().handle(*args, **options)
