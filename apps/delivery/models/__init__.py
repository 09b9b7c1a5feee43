"""The tables of delivery."""

from apps.delivery.models.apps import App, Environment, Plan
from apps.delivery.models.domains import CustomDomain

__all__ = ["App", "CustomDomain", "Environment", "Plan"]
