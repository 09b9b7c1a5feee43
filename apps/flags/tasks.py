"""Entry points of the runner."""

from django.utils import timezone

from apps.flags import services


def apply_due_steps() -> None:
    """Every minute: apply the rollout steps that are due, and note which flags were asked for."""
    now = timezone.now()
    services.apply_due_steps(now=now)
    services.record_usage(today=now.date())
