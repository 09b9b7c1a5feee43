"""The operator's pages of delivery."""

from apps.delivery.admin import apps, domains

__all__ = ["apps", "domains"]
