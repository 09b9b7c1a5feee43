"""A client process for the chaos test: reports its events through the client, in any order.

python -m tests.chaos.usage_reporter URL TOKEN NUMBER COUNT

Killed and started again it reports all of them anew, under the same ids; some it reports twice.
"""

import random
import sys
from datetime import UTC, datetime

from apps.delivery.usage.client import UsageClient

METRICS = ("orders", "messages")


def quantity(number: int, index: int) -> int:
    """The same for a given event in every process, so that the test can sum by itself."""
    return (number * 7919 + index * 104729) % 97


def metric(index: int) -> str:
    """Two counters, so that batches touch both."""
    return METRICS[index % len(METRICS)]


def main(url: str, token: str, number: int, count: int, now: datetime) -> None:
    client = UsageClient(url, token, retries=60, pause_seconds=0.05, timeout_seconds=20)
    indices = [*range(count), *range(0, count, 10)]
    random.shuffle(indices)
    for index in indices:
        client.report(
            metric(index), quantity(number, index), event_id=f"{number}-{index}", occurred_at=now
        )
    client.flush()
    if client.refused_count:
        raise SystemExit(f"{client.refused_count} events were refused")


if __name__ == "__main__":
    address, secret, own_number, events, moment = sys.argv[1:]
    main(
        address,
        secret,
        int(own_number),
        int(events),
        datetime.fromisoformat(moment).astimezone(UTC),
    )
