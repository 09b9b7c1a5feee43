"""Rollouts in processes of their own, one of which dies by SIGKILL at a given step.

python -m tests.delivery.rollout_worker queue DIGEST          queue a release, make the app first
python -m tests.delivery.rollout_worker drive [STEP]          work until idle, or die at the step
python -m tests.delivery.rollout_worker show                  the deployments as JSON

Database, cluster and host are named by the environment.
"""

import json
import logging
import os
import signal
import sys

import django


class DieAt(logging.Handler):
    """Kills its own process, without any clean-up, when the step comes."""

    def __init__(self, step: str) -> None:
        super().__init__()
        self.step = step

    def emit(self, record: logging.LogRecord) -> None:
        if getattr(record, "step", "") == self.step:
            os.kill(os.getpid(), signal.SIGKILL)


def queue(digest: str) -> None:
    from apps.delivery.clusters import shared_cluster
    from apps.delivery.models import Environment

    from . import rollouts

    environment = Environment.objects.first() or rollouts.make_environment()
    release = rollouts.make_release(environment, digest)
    rollouts.queue(environment, release, shared_cluster())


def drive(step: str = "") -> None:
    from django.utils import timezone

    from apps.delivery.clusters import shared_cluster
    from apps.delivery.services import rollouts

    logger = logging.getLogger("apps.delivery")
    logger.setLevel(logging.INFO)
    logger.addHandler(DieAt(step))
    rollouts.drive(shared_cluster(), clock=timezone.now, max_seconds=20)


def show() -> None:
    from apps.delivery.models import Deployment

    columns = ("phase", "error_code", "lease_token", "active_environment_id")
    sys.stdout.write(json.dumps(list(Deployment.objects.order_by("id").values(*columns))))


if __name__ == "__main__":
    django.setup()
    {"queue": queue, "drive": drive, "show": show}[sys.argv[1]](*sys.argv[2:])
