"""A process of the burst: asks for single units until the plan has no room; prints how many it got.

python -m tests.chaos.usage_burst NUMBER
"""

import os
import sys
import threading

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
django.setup()

from django.db import connection
from django.utils import timezone

from apps.delivery.errors import UsageLimitReached
from apps.delivery.services.usage import Ask, reserve

THREADS = 3


def burst(name: str, got: list[str]) -> None:
    try:
        for index in range(1000):
            reservation = f"{name}-{index}"
            reserve(Ask("loja", "orders", reservation, 1, 600), now=timezone.now())
            got.append(reservation)
    except UsageLimitReached:
        pass
    finally:
        connection.close()


if __name__ == "__main__":
    held: list[str] = []
    threads = [
        threading.Thread(target=burst, args=(f"{sys.argv[1]}-{number}", held))
        for number in range(THREADS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.stdout.write(str(len(held)))
