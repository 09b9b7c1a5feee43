"""States of outbox events."""

from apps.common.choices import LeaseStatus

__all__ = ["LeaseStatus"]
