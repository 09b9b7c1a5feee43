"""Checking custom domains: DNS first, then the certificate, each domain for itself."""

import logging
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from apps.delivery.choices import DeploymentKind, DomainStatus
from apps.delivery.dns_lookup import look_up
from apps.delivery.domain_rules import DnsAnswer, Verdict, judge, next_delay, points_here
from apps.delivery.kube.cluster import Cluster
from apps.delivery.kube.errors import ClusterUnreachable, ObjectMissing
from apps.delivery.kube.resources import ObjectKey
from apps.delivery.manifests import custom_domain_secret_name
from apps.delivery.models import CustomDomain, Environment
from apps.delivery.services.deployments import redeploy

logger = logging.getLogger(__name__)
LookUp = Callable[[str], DnsAnswer]
_BATCH = 50
# A check in progress is not repeated by another worker for so long.
_CLAIM = timedelta(minutes=2)
_REASON_LENGTH = 500
_ACTOR = "domain check"


def check_due_domains(cluster: Cluster, *, now: datetime, look_up_host: LookUp = look_up) -> int:
    """Check the domains whose time has come; how many were checked.

    Each is claimed by one worker, and trouble with one stays with it.
    """
    due = CustomDomain.objects.filter(next_check_at__lte=now).order_by("next_check_at", "id")
    count = 0
    for domain in due.select_related("environment__app")[:_BATCH]:
        if _claim(domain, now):
            check_domain(domain, cluster, now=now, look_up_host=look_up_host)
            count += 1
    return count


def check_domain(
    domain: CustomDomain, cluster: Cluster, *, now: datetime, look_up_host: LookUp = look_up
) -> Verdict:
    """Check one domain and remember what was found; newly verified ones are routed."""
    environment = domain.environment
    problem = points_here(look_up_host(domain.host), _our_addresses(environment, look_up_host))
    was_verified = domain.verified_at is not None
    certificate = _certificate(domain, cluster) if was_verified and not problem else None
    verdict = judge(problem, certificate, was_verified=was_verified, failures=domain.failure_count)
    _remember(domain, verdict, now=now)
    if not was_verified and verdict.status is DomainStatus.VERIFIED:
        redeploy(environment, kind=DeploymentKind.DOMAINS, actor=_ACTOR, now=now)
    return verdict


def _claim(domain: CustomDomain, now: datetime) -> bool:
    mine = CustomDomain.objects.filter(pk=domain.pk, next_check_at=domain.next_check_at)
    return bool(mine.update(next_check_at=now + _CLAIM))


def _our_addresses(environment: Environment, look_up_host: LookUp) -> frozenset[str]:
    """Where the platform answers: as set, or else where the app's platform host points."""
    known = frozenset(settings.DELIVERY_INGRESS_ADDRESSES)
    return known or look_up_host(environment.hostname).addresses


def _certificate(domain: CustomDomain, cluster: Cluster) -> Mapping[str, Any] | None:
    """cert-manager's object for the domain; None while there is none or nobody to ask."""
    environment = domain.environment
    name = custom_domain_secret_name(environment.app.code, domain.host)
    try:
        return cluster.get(ObjectKey("Certificate", environment.namespace, name))
    except (ClusterUnreachable, ObjectMissing) as trouble:
        logger.warning("delivery.certificate_unknown", extra={"reason": trouble.code})
        return None


def _remember(domain: CustomDomain, verdict: Verdict, *, now: datetime) -> None:
    failures = 0 if verdict.is_good else domain.failure_count + 1
    domain.status = verdict.status
    domain.reason = verdict.reason[:_REASON_LENGTH]
    domain.failure_count = failures
    domain.checked_at = now
    domain.next_check_at = now + next_delay(verdict, failures=failures)
    columns = ["status", "reason", "failure_count", "checked_at", "next_check_at"]
    if domain.verified_at is None and verdict.status is DomainStatus.VERIFIED:
        domain.verified_at = now
        columns.append("verified_at")
    domain.save(update_fields=columns)
