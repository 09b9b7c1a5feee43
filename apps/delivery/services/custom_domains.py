"""Host names that customers bring: added and removed here, verified by the worker."""

import logging
from datetime import datetime

from django.conf import settings
from django.db import IntegrityError, transaction

from apps.delivery.choices import DeploymentKind
from apps.delivery.context import MAX_CUSTOM_DOMAINS
from apps.delivery.errors import (
    DeliveryContextError,
    DomainLimitReached,
    EnvironmentNotFound,
    NameTaken,
    PlatformHost,
)
from apps.delivery.models import CustomDomain, Environment
from apps.delivery.names import is_host
from apps.delivery.services.apps import is_below_platform
from apps.delivery.services.deployments import redeploy

logger = logging.getLogger(__name__)


@transaction.atomic
def add_custom_domain(
    namespace: str, host: str, *, actor: str, now: datetime, has_www: bool = False
) -> list[CustomDomain]:
    """Add a host to an environment, with its `www` name if wanted; it is routed once verified.

    A host belongs to one environment. Raises EnvironmentNotFound, DeliveryContextError,
    PlatformHost, DomainLimitReached, NameTaken.
    """
    hosts = [host, f"www.{host}"] if has_www else [host]
    for name in hosts:
        check_custom_host(name)
    # Two who add at once take turns on the environment's row, so that the limit holds.
    environment = Environment.objects.select_for_update().filter(namespace=namespace).first()
    if environment is None:
        raise EnvironmentNotFound(f"There is no environment {namespace!r}.")
    _check_limit(environment, len(hosts))
    added = [_add(environment, name, now=now) for name in hosts]
    logger.info("delivery.domains_added", extra={"namespace": namespace, "actor": actor})
    return added


@transaction.atomic
def remove_custom_domain(domain: CustomDomain, *, actor: str, now: datetime) -> None:
    """Give a host back; a deployment takes its Ingress and its certificate away."""
    environment = domain.environment
    extra = {"namespace": environment.namespace, "host": domain.host, "actor": actor}
    was_routed = domain.verified_at is not None
    domain.delete()
    if was_routed:
        redeploy(environment, kind=DeploymentKind.DOMAINS, actor=actor, now=now)
    logger.info("delivery.domain_removed", extra=extra)


def check_addition(environment: Environment, host: str) -> None:
    """Refuse an addition as `add_custom_domain` would, before anything is written."""
    check_custom_host(host)
    _check_limit(environment, 1)


def _check_limit(environment: Environment, count: int) -> None:
    """Raises DomainLimitReached when so many more are too many."""
    if environment.domains.count() + count > MAX_CUSTOM_DOMAINS:
        raise DomainLimitReached(f"An environment has at most {MAX_CUSTOM_DOMAINS} domains.")


def check_custom_host(host: str) -> None:
    """Refuse what is no host, or the platform's. Raises DeliveryContextError, PlatformHost."""
    if not is_host(host):
        raise DeliveryContextError("host", "must be a lower-case DNS name", value=host)
    if is_below_platform(host) or host in settings.DELIVERY_PLATFORM_DOMAINS:
        raise PlatformHost(f"{host} belongs to the platform.", details={"field": "host"})
    if Environment.objects.filter(hostname=host).exists():
        raise NameTaken("host", host)


def _add(environment: Environment, host: str, *, now: datetime) -> CustomDomain:
    """One row, due to be checked at once."""
    try:
        with transaction.atomic():
            return CustomDomain.objects.create(
                environment=environment, host=host, next_check_at=now
            )
    except IntegrityError as error:
        raise NameTaken("host", host) from error
