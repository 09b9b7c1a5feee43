"""Jobs lined up on threads, each with a database connection of its own."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from django.db import connection

from apps.common.errors import DomainError


def run_at_once(jobs):
    """Start the jobs together and give what each returned or raised on purpose."""
    barrier = Barrier(len(jobs))

    def run(job):
        try:
            barrier.wait(timeout=30)
            return job()
        except DomainError as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(jobs)) as pool:
        return list(pool.map(run, jobs))
