"""Rows that the delivery tests start from."""

from datetime import UTC, datetime
from typing import Any

from apps.delivery.models import App, CustomDomain, Environment, Plan
from apps.delivery.services.apps import save_app, save_environment, save_plan

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def make_plan(code: str = "gold", **fields: Any) -> Plan:
    """A stored plan."""
    return save_plan(Plan(code=code, **{"name": "Gold", **fields}), actor="ana")


def make_app(code: str = "loja", **fields: Any) -> App:
    """A stored app, with a plan of its own unless one is given."""
    plan = fields.pop("plan", None) or make_plan(f"plan-{code}")
    repository = f"registry.example/team/{code}"
    app = App(code=code, plan=plan, **{"name": code, "image_repository": repository, **fields})
    return save_app(app, actor="ana")


def make_environment(app: App | None = None, **fields: Any) -> Environment:
    """A stored environment, of a new app unless one is given."""
    return save_environment(Environment(app=app or make_app(), **fields), actor="ana")


def make_domain(environment: Environment, host: str, *, is_verified: bool = True) -> CustomDomain:
    """A custom domain that is routed, or one that still waits."""
    return CustomDomain.objects.create(
        environment=environment, host=host, verified_at=NOW if is_verified else None
    )
