"""The job of django-tasks, which finds its jobs by import."""

from django_tasks import task


@task()
def nothing(number: int) -> None:
    """The job."""
