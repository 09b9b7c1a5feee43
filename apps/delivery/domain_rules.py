"""What is known about a custom domain, as a state and a reason; pure.

The states run added → verified → issuing → active, or failing with the reason. A domain that was
verified stays routed when its DNS breaks later: its visitors may still arrive, and no other domain
is touched by it.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from apps.delivery.choices import DomainStatus

_FIRST_DELAY: Final = timedelta(seconds=60)
_LONGEST_DELAY: Final = timedelta(hours=1)
_ACTIVE_DELAY: Final = timedelta(hours=12)
# After so many checks without success waiting has become failing.
_PATIENCE_CHECKS: Final = 5
_MAX_DOUBLINGS: Final = 10


@dataclass(frozen=True, slots=True)
class DnsAnswer:
    """Where a name points; `problem` says why it points nowhere."""

    addresses: frozenset[str] = frozenset()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The state of a domain after a check."""

    status: DomainStatus
    reason: str = ""

    @property
    def is_good(self) -> bool:
        """Whether the check found what was hoped for."""
        return self.status not in {DomainStatus.ADDED, DomainStatus.FAILING}


def points_here(answer: DnsAnswer, ours: AbstractSet[str]) -> str:
    """Empty when every address is ours; otherwise what to tell the owner of the domain.

    One foreign address is enough to refuse: part of the visitors, and of the certificate
    authority's checks, would arrive elsewhere.
    """
    if answer.problem:
        return answer.problem
    foreign = sorted(answer.addresses - ours)
    if foreign:
        expected = ", ".join(sorted(ours)) or "nothing yet"
        return f"points to {', '.join(foreign)} instead of {expected}"
    return ""


def judge(
    dns_problem: str, certificate: Mapping[str, Any] | None, *, was_verified: bool, failures: int
) -> Verdict:
    """The state from the DNS check and cert-manager's Certificate (None: not made yet)."""
    if dns_problem:
        is_patient = not was_verified and failures < _PATIENCE_CHECKS
        return Verdict(DomainStatus.ADDED if is_patient else DomainStatus.FAILING, dns_problem)
    if not was_verified or certificate is None:
        return Verdict(DomainStatus.VERIFIED)
    return _from_certificate(certificate)


def next_delay(verdict: Verdict, *, failures: int) -> timedelta:
    """When to look again: soon while something is under way, ever later while it fails."""
    if verdict.status is DomainStatus.ACTIVE:
        return _ACTIVE_DELAY
    if verdict.is_good:
        return _FIRST_DELAY
    factor: int = 2 ** min(failures, _MAX_DOUBLINGS)
    return min(_LONGEST_DELAY, _FIRST_DELAY * factor)


def _from_certificate(certificate: Mapping[str, Any]) -> Verdict:
    status = certificate.get("status") or {}
    conditions = {c["type"]: c for c in status.get("conditions") or ()}
    ready, issuing = conditions.get("Ready", {}), conditions.get("Issuing", {})
    if ready.get("status") == "True":
        return Verdict(DomainStatus.ACTIVE)
    message = issuing.get("message") or ready.get("message") or ""
    has_failed = bool(status.get("failedIssuanceAttempts")) or issuing.get("reason") == "Failed"
    if has_failed and issuing.get("status") != "True":
        return Verdict(DomainStatus.FAILING, message or "The certificate was not issued.")
    return Verdict(DomainStatus.ISSUING, message)
