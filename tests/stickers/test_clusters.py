"""Which cluster runs a task: one decision for all, and never a task without a runner (W4)."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.flags.services import flag_cache, set_flag
from apps.stickers.choices import WorkerTaskType
from apps.stickers.models import WorkerTask
from apps.stickers.services import worker_tasks
from apps.stickers.tasks import schedule_cycle

CLASSIFY = WorkerTaskType.CLASSIFICATION_CYCLE

pytestmark = pytest.mark.django_db


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """The clusters that were asked to look at the queue."""
    clusters: list[str | None] = []

    def note(*_arguments: Any, cluster: str | None) -> None:
        clusters.append(cluster)

    monkeypatch.setattr(worker_tasks, "async_task", note)
    return clusters


def give_own_clusters() -> None:
    set_flag(worker_tasks.DEDICATED_FLAG, actor="ana", is_enabled=True, rollout_percent=100)
    flag_cache.refresh(force=True)


def test_without_the_flag_the_default_cluster_runs_all(started: list[str | None]) -> None:
    schedule_cycle(CLASSIFY)
    assert set(started) == {None}


def test_with_the_flag_each_type_has_its_own(started: list[str | None]) -> None:
    give_own_clusters()
    for task_type in WorkerTaskType:
        schedule_cycle(task_type)
    assert set(started) == {"classification", "curation", "rebuild"}


def test_w4_what_its_own_cluster_leaves_alone_goes_to_the_default_one(
    started: list[str | None],
) -> None:
    give_own_clusters()
    schedule_cycle(CLASSIFY)
    long_ago = timezone.now() - timedelta(minutes=11)
    WorkerTask.objects.update(scheduled_at=long_ago)
    schedule_cycle(CLASSIFY)
    assert started[0] == "classification"
    assert started[-1] is None
