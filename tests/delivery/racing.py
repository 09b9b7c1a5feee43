"""Several threads at one line."""

import threading
from collections.abc import Callable

from django.db import connection


def race(work: Callable[[], object], *, count: int = 4) -> list[object]:
    """What each thread got; all begin at the same moment, each on its own connection."""
    barrier, results = threading.Barrier(count), []

    def run() -> None:
        barrier.wait()
        try:
            results.append(work())
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
