"""The operator's pages of the outbox."""

from apps.outbox.admin import events, webhooks

__all__ = ["events", "webhooks"]
