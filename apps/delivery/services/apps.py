"""Plans, apps and environments: every write, checked as a delivery would check it."""

import logging

from django.conf import settings
from django.db import IntegrityError, models, transaction

from apps.delivery.context import as_context
from apps.delivery.errors import (
    DeliveryContextError,
    NameNeverChanges,
    NameTaken,
    NotOnPlatform,
    UnknownTimeZone,
)
from apps.delivery.models import App, CustomDomain, Environment, Plan
from apps.delivery.names import dns_label, is_host
from apps.delivery.queries import app_settings
from apps.delivery.usage.periods import FIRST_DAY, LAST_DAY, is_time_zone

logger = logging.getLogger(__name__)

MAIN_ENVIRONMENT = "main"


@transaction.atomic
def save_plan(plan: Plan, *, actor: str) -> Plan:
    """Store a new or changed plan. Apps follow it with their next deployment.

    Raises DeliveryContextError, NameTaken.
    """
    check_plan(plan)
    _save(plan, "code")
    logger.info("delivery.plan_saved", extra={"plan": plan.code, "actor": actor})
    return plan


@transaction.atomic
def save_app(app: App, *, actor: str) -> App:
    """Store a new or changed app.

    Raises DeliveryContextError, UnknownTimeZone, NameNeverChanges, NameTaken.
    """
    _refuse_change(app, "code")
    check_app(app)
    _save(app, "code")
    logger.info("delivery.app_saved", extra={"app_code": app.code, "actor": actor})
    return app


@transaction.atomic
def save_environment(environment: Environment, *, actor: str) -> Environment:
    """Store a new or changed environment; an empty namespace or host name gets its usual one.

    Raises DeliveryContextError, NameNeverChanges, NotOnPlatform, NameTaken.
    """
    _refuse_change(environment, "namespace")
    environment.namespace = environment.namespace or default_namespace(environment)
    environment.hostname = environment.hostname or default_hostname(environment)
    check_environment(environment)
    _save(environment, "namespace", "hostname", "name")
    extra = {"namespace": environment.namespace, "actor": actor}
    logger.info("delivery.environment_saved", extra=extra)
    return environment


def check_plan(plan: Plan) -> None:
    """Refuse what no context may hold. Raises DeliveryContextError."""
    check_app(App(code="probe", image_repository="probe", plan=plan))


def check_app(app: App) -> None:
    """Refuse settings that no context may hold. Raises DeliveryContextError, UnknownTimeZone."""
    if not is_time_zone(app.time_zone):
        raise UnknownTimeZone(
            f"There is no time zone {app.time_zone!r}.", details={"field": "time_zone"}
        )
    if not FIRST_DAY <= app.billing_day <= LAST_DAY:
        raise DeliveryContextError(
            "billing_day", "is a day of the month, 1 to 31", value=app.billing_day
        )
    as_context(
        {
            **app_settings(app),
            "app_code": app.code,
            "namespace": "probe",
            "hostname": "probe.invalid",
            "image_repository": app.image_repository,
            "release_id": "probe",
        }
    )


def check_environment(environment: Environment) -> None:
    """Refuse a namespace or host that cannot be this environment's.

    A platform host is always below a platform domain and a custom one never is, so that the two
    can never be claimed by two apps. Raises DeliveryContextError, NotOnPlatform, NameTaken.
    """
    app = environment.app
    as_context(
        {
            **app_settings(app),
            "app_code": app.code,
            "namespace": environment.namespace,
            "hostname": environment.hostname,
            "image_repository": app.image_repository,
            "release_id": "probe",
            "performance_mode": environment.performance_mode,
        }
    )
    if not is_below_platform(environment.hostname):
        domains = ", ".join(settings.DELIVERY_PLATFORM_DOMAINS)
        raise NotOnPlatform(
            f"The host must lie below one of {domains}.", details={"field": "hostname"}
        )
    if CustomDomain.objects.filter(host=environment.hostname).exists():
        raise NameTaken("hostname", environment.hostname)


def is_below_platform(host: str) -> bool:
    """True for hosts that the platform gives out; its domains themselves are not among them."""
    return any(host.endswith(f".{domain}") for domain in settings.DELIVERY_PLATFORM_DOMAINS)


def default_namespace(environment: Environment) -> str:
    """The app's code and the environment's name."""
    return dns_label(f"{environment.app.code}-{environment.name}")


def default_hostname(environment: Environment) -> str:
    """The app's code, with the environment's name unless it is the main one."""
    code, name = environment.app.code, environment.name
    label = code if name == MAIN_ENVIRONMENT else dns_label(f"{code}-{name}")
    host = f"{label}.{settings.DELIVERY_PLATFORM_DOMAINS[0]}"
    if not is_host(host):
        raise DeliveryContextError("hostname", "the platform's domain gives no host", value=host)
    return host


def _refuse_change(row: App | Environment, field: str) -> None:
    """Names of objects in the cluster stay."""
    rows = type(row).objects.select_for_update().filter(pk=row.pk)
    stored = rows.values_list(field, flat=True).first()
    if stored is not None and stored != getattr(row, field):
        raise NameNeverChanges(field)


def _save(row: models.Model, *unique_fields: str) -> None:
    """Store, and tell which of the unique names another row has."""
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError as error:
        others = type(row)._default_manager.exclude(pk=row.pk)
        for field in unique_fields:
            if others.filter(**{field: getattr(row, field)}).exists():
                raise NameTaken(field, getattr(row, field)) from error
        raise
