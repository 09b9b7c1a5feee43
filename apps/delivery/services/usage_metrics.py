"""Metrics of apps, as their manifests declare them, and the limits that manifests propose."""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from apps.delivery.app_manifest import Issue, app_manifest_warnings, validate_app_manifest
from apps.delivery.errors import AppNotFound, ContradictoryPlan, InvalidAppManifest
from apps.delivery.models import App, PlanLimit, UsageMetric
from apps.delivery.services.usage_plans import check_limit, save_limit
from apps.delivery.usage.terms import OnLimit

logger = logging.getLogger(__name__)

_MAX_UNIT_LENGTH = 40


@dataclass(frozen=True, slots=True)
class DeclarationReport:
    """What a manifest changed about the metrics of an app."""

    added: list[str]
    changed: list[str]
    withdrawn: list[str]
    warnings: list[Issue] = field(default_factory=list)


def find_app(code: str) -> App:
    """The app of this code, with its plan. Raises AppNotFound."""
    app = App.objects.select_related("plan").filter(code=code).first()
    if app is None or app.code != code:
        raise AppNotFound(code)
    return app


@transaction.atomic
def declare_metrics(
    app: App, manifest: Any, *, actor: str, is_rehearsal: bool = False
) -> DeclarationReport:
    """Take the metrics of a manifest over; what it leaves out is withdrawn and keeps its counts.

    A rehearsal tells what would change and changes nothing. Raises InvalidAppManifest.
    """
    checked = validate_app_manifest(manifest)
    _refuse_half_characters(checked)
    App.objects.select_for_update().get(pk=app.pk)
    known = {metric.code: metric for metric in UsageMetric.objects.filter(app=app)}
    wanted = [
        _metric(app, place, declaration)
        for place, declaration in enumerate(checked.get("usageMetrics", []))
    ]
    added = [metric for metric in wanted if metric.code not in known]
    changed = [
        metric for metric in wanted if metric.code in known and _differs(metric, known[metric.code])
    ]
    codes = {metric.code for metric in wanted}
    withdrawn = [row for row in known.values() if row.is_declared and row.code not in codes]
    report = DeclarationReport(
        added=[metric.code for metric in added],
        changed=[metric.code for metric in changed],
        withdrawn=[row.code for row in withdrawn],
        warnings=app_manifest_warnings(checked),
    )
    if not is_rehearsal:
        _write(app, added, changed, withdrawn)
        logger.info("delivery.metrics_declared", extra={"app_code": app.code, "actor": actor})
    return report


def _refuse_half_characters(manifest: Mapping[str, Any]) -> None:
    """JSON can spell halves of characters, which the original accepts and no database stores."""
    try:
        json.dumps(manifest, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise InvalidAppManifest("central.app.json holds half a character.") from error


def prefill_limits(app: App, *, actor: str) -> list[str]:
    """Give the app's plan the limits that its manifest proposes for metrics without one.

    Contradictory proposals are left out; tells which metrics got a limit.
    """
    limited = set(PlanLimit.objects.filter(plan=app.plan).values_list("metric_code", flat=True))
    filled = []
    for metric in UsageMetric.objects.filter(app=app, is_declared=True):
        limit = _proposed(app, metric)
        if limit is None or metric.code in limited:
            continue
        try:
            check_limit(limit)
        except ContradictoryPlan:
            continue
        save_limit(limit, actor=actor)
        filled.append(metric.code)
    return filled


def _metric(app: App, place: int, declaration: Mapping[str, Any]) -> UsageMetric:
    unit = declaration.get("unit")
    return UsageMetric(
        app=app,
        code=declaration["code"],
        name=declaration["name"].strip(),
        unit=unit[:_MAX_UNIT_LENGTH] if isinstance(unit, str) else "",
        position=place,
        declaration=dict(declaration),
    )


def _differs(wanted: UsageMetric, row: UsageMetric) -> bool:
    seen = (row.declaration, row.position, row.is_declared)
    return (wanted.declaration, wanted.position, True) != seen


def _write(
    app: App, added: list[UsageMetric], changed: list[UsageMetric], withdrawn: list[UsageMetric]
) -> None:
    UsageMetric.objects.bulk_create(added)
    for metric in changed:
        UsageMetric.objects.filter(app=app, code=metric.code).update(
            name=metric.name,
            unit=metric.unit,
            position=metric.position,
            declaration=metric.declaration,
            is_declared=True,
        )
    gone = [row.pk for row in withdrawn]
    UsageMetric.objects.filter(pk__in=gone).update(is_declared=False)


def _proposed(app: App, metric: UsageMetric) -> PlanLimit | None:
    """The limit that the manifest proposes; None where it says nothing about an amount."""
    defaults = metric.declaration.get("defaults")
    if not isinstance(defaults, dict) or "included" not in defaults:
        return None
    overage = defaults.get("overage") or {}
    return PlanLimit(
        plan=app.plan,
        metric_code=metric.code,
        included=int(defaults["included"]),
        on_limit=defaults.get("onLimit", OnLimit.BLOCK),
        overage_mode=overage.get("mode", ""),
        price_minor=overage.get("priceMinor"),
        block_size=overage.get("blockSize"),
    )
