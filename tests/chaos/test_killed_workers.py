"""Workers die by SIGKILL, and nothing is lost, nothing happens twice, nobody is taken along."""

import pytest

from apps.flags.models import FeatureFlag
from apps.outbox.events import NewEvent
from apps.outbox.models import OutboxDeadLetter, OutboxEvent
from apps.outbox.services import publish_many
from tests.processes import kill_group, running
from tests.waiting import wait_until

WORKER = ("-m", "tests.chaos.drainer")

pytestmark = [pytest.mark.chaos, pytest.mark.django_db(transaction=True)]


def completed() -> int:
    return OutboxEvent.objects.filter(status="completed").count()


def test_a_worker_killed_among_two_thousand_events_loses_and_doubles_nothing() -> None:
    FeatureFlag.objects.all().delete()
    events = [NewEvent("COUNTED", "t", str(number), {}) for number in range(2000)]
    publish_many(events, outside_transaction=True)
    with running(*WORKER) as worker:
        wait_until(lambda: completed() > 300, seconds=60)
        kill_group(worker)
    assert completed() < 2000
    with running(*WORKER), running(*WORKER):
        wait_until(lambda: completed() == 2000, seconds=200)
    effects = list(FeatureFlag.objects.values_list("flag_name", flat=True))
    assert len(effects) == 2000
    assert len({name.rsplit("-", 1)[0] for name in effects}) == 2000
    assert not OutboxDeadLetter.objects.exists()


@pytest.mark.parametrize("max_attempts", [1, 3])
def test_q4_one_killer_among_four_hundred_is_exactly_one_dead_letter(
    max_attempts: int,
) -> None:
    events = [
        NewEvent("DEADLY", "t", str(number), {"kills": number == 200}, max_attempts=max_attempts)
        for number in range(400)
    ]
    publish_many(events, outside_transaction=True)
    deaths = 0
    while OutboxEvent.objects.exclude(status__in=["completed", "failed"]).exists():
        assert deaths < 10
        with running(*WORKER) as worker:
            wait_until(
                lambda: (
                    worker.poll() is not None
                    or not OutboxEvent.objects.filter(status__in=["pending", "processing"]).exists()
                ),
                seconds=120,
            )
            deaths += worker.poll() is not None
    assert deaths == max_attempts
    letter = OutboxDeadLetter.objects.get()
    assert (letter.aggregate_id, letter.last_error) == ("200", "worker lost")
    assert completed() == 399


def test_eight_processes_handle_five_thousand_events_each_once() -> None:
    FeatureFlag.objects.all().delete()
    events = [NewEvent("COUNTED", "t", str(number), {}) for number in range(5000)]
    publish_many(events, outside_transaction=True)
    workers = [running(*WORKER, "30") for _number in range(8)]
    for worker in workers:
        worker.__enter__()
    try:
        wait_until(lambda: completed() == 5000, seconds=240)
    finally:
        for worker in workers:
            worker.__exit__(None, None, None)
    assert FeatureFlag.objects.count() == 5000
