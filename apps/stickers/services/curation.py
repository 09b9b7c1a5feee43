"""Automatic packs: a run reads, plans and carries its plan out, pack by pack.

Each pack is written in a transaction of its own (P5), under a lock that keeps two runs apart, and
only when it is still as the plan found it. A failure ends as a failed run and is raised, so that
the task is tried again (W1); the packs that were written before stay, and the next plan goes on
from there.
"""

import logging
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F

from apps.common.fields import now_seconds
from apps.outbox.services import publish
from apps.stickers import markers, texts
from apps.stickers.choices import CurationStatus, PackStatus, RunStatus, Visibility
from apps.stickers.curation.planning import make_plan, summarize
from apps.stickers.curation.rules import Decision, Mode, Reason, Verdict
from apps.stickers.curation.scanning import ANIMATED
from apps.stickers.curation.states import ARCHIVED, READY, PackPlan, Plan
from apps.stickers.models import (
    AutoPackControl,
    CurationDecision,
    CurationRun,
    StickerPack,
    StickerPackItem,
)
from apps.stickers.services.curation_scene import auto_packs, current_rules, read_scene
from apps.stickers.services.cursors import lock_cursor
from apps.stickers.services.packs import create_pack

logger = logging.getLogger(__name__)

CURSOR = "curation"
# The mark by which handlers know a change that the curation itself made (E7).
ACTION = "curated"
KEPT_FOR = timedelta(days=30)
MAX_REFUSALS_KEPT = 500
# Far above any position: rows pass through here on their way, since positions are unique.
PARKED = 10_000


@dataclass(frozen=True, slots=True)
class CurationReport:
    """A run with its plan; `skipped` packs changed while it was being made."""

    run: CurationRun
    plan: Plan
    skipped: int = 0


def run_curation(
    mode: Mode, *, actor: str, now: datetime, is_dry_run: bool = False, keeps_quiet: bool = False
) -> CurationReport:
    """Make a plan and, unless it is a dry run, carry it out; either way with a report.

    With `keeps_quiet` a run that changes nothing stores no decisions. Raises the first failure.
    """
    CurationRun.objects.filter(started_at__lt=now - KEPT_FOR).delete()
    run = CurationRun.objects.create(mode=mode, is_dry_run=is_dry_run, actor=actor, started_at=now)
    began = time.monotonic()
    try:
        report = _plan_and_apply(run, mode, is_dry_run=is_dry_run, keeps_quiet=keeps_quiet)
    except Exception as error:
        run.status = RunStatus.FAILED
        run.error = f"{type(error).__name__}: {error}"[:255]
        raise
    else:
        run.status = RunStatus.DONE
    finally:
        run.duration_ms = round(1000 * (time.monotonic() - began))
        run.save()
    return report


def pack_title(theme_key: str, volume: int) -> str:
    """`[AUTO] Theme • Subtheme • Vol. n`, within the limit of names."""
    plain = theme_key.removesuffix(ANIMATED)
    parts = [part.replace("-", " ").title() for part in plain.split(":") if part]
    if theme_key.endswith(ANIMATED) and "animat" not in plain:
        parts.append("Animated")
    ending = f" • Vol. {volume}"
    limit = texts.NAME_LIMIT - texts.utf16_length(ending)
    return texts.cut_utf16("[AUTO] " + " • ".join(parts), limit) + ending


def _plan_and_apply(
    run: CurationRun, mode: Mode, *, is_dry_run: bool, keeps_quiet: bool
) -> CurationReport:
    rules = current_rules()
    scene = read_scene(mode, rules)
    plan = make_plan(scene, rules)
    run.scanned_count = len(scene.candidates)
    written: dict[str, str] = {}
    skipped: list[Decision] = []
    failures: list[Exception] = []
    for pack in () if is_dry_run else plan.packs:
        try:
            pack_id = _apply(pack)
        except Exception as error:
            logger.exception("stickers.curation_failed", extra={"theme": pack.theme_key})
            failures.append(error)
            continue
        if pack_id is None:
            skipped.append(
                Decision(
                    Verdict.SKIPPED, Reason.CHANGED_MEANWHILE, pack.theme_key, pack_id=pack.pack_id
                )
            )
        elif pack.pack_id is None:
            written[pack.theme_key] = pack_id
    decisions = [*plan.decisions, *skipped]
    run.changed_count = len(plan.packs) - len(skipped) - len(failures)
    run.summary = summarize(decisions)
    if plan.packs or not keeps_quiet:
        _remember(run, decisions, written)
    if failures:
        raise failures[0]
    return CurationReport(run, plan, len(skipped))


@transaction.atomic
def _apply(plan: PackPlan) -> str | None:
    """Write one pack; its id, or None when it is no longer what the plan was made for."""
    lock_cursor(CURSOR)
    pack = _create(plan) if plan.pack_id is None else _locked(plan)
    if pack is None:
        return None
    is_archived, is_ready = plan.status == ARCHIVED, plan.status == READY
    _write_items(pack, plan.items)
    StickerPack.objects.filter(pk=pack.pk).update(
        name=pack_title(plan.theme_key, plan.volume),
        pack_volume=plan.volume,
        pack_status=CurationStatus(plan.status),
        status=PackStatus.PUBLISHED if is_ready else PackStatus.DRAFT,
        cover_sticker=plan.items[0] if plan.items else None,
        last_rebalanced_at=now_seconds(),
        deleted_at=now_seconds() if is_archived else None,
        version=F("version") + 1,
        updated_at=now_seconds(),
    )
    payload = {"action": ACTION, "pack_id": pack.pk, "pack_status": plan.status}
    publish("PACK_UPDATED", "sticker_pack", pack.pk, payload, priority=65)
    return pack.pk


def _create(plan: PackPlan) -> StickerPack | None:
    """A new pack of a theme; None when another run was faster."""
    same = auto_packs().filter(pack_theme_key=plan.theme_key, pack_volume=plan.volume)
    if same.exists():
        return None
    pack = create_pack(
        owner_jid=plan.owner,
        name=pack_title(plan.theme_key, plan.volume),
        publisher=settings.CURATION_PUBLISHER,
        visibility=Visibility.PUBLIC,
        status=PackStatus.DRAFT,
    )
    StickerPack.objects.filter(pk=pack.pk).update(
        is_auto_pack=True,
        pack_theme_key=plan.theme_key,
        pack_volume=plan.volume,
        description=markers.compose(markers.Description(theme=plan.theme_key)),
    )
    return pack


def _locked(plan: PackPlan) -> StickerPack | None:
    """The pack, locked, if nobody changed or paused it since it was read."""
    pack = auto_packs().select_for_update().filter(pk=plan.pack_id).first()
    is_paused = AutoPackControl.objects.filter(pack=plan.pack_id, is_paused=True).exists()
    return pack if pack and pack.version == plan.version and not is_paused else None


def _write_items(pack: StickerPack, wanted: Sequence[str]) -> None:
    """Make a locked pack hold these stickers in this order."""
    pack.items.exclude(sticker__in=wanted).delete()
    kept = {item.sticker_id: item for item in pack.items.all()}
    pack.items.update(position=F("position") + PARKED)
    for position, asset_id in enumerate(wanted, 1):
        if item := kept.get(asset_id):
            item.position = position
    StickerPackItem.objects.bulk_update(kept.values(), ["position"])
    StickerPackItem.objects.bulk_create(
        StickerPackItem(pack=pack, sticker_id=asset_id, position=position)
        for position, asset_id in enumerate(wanted, 1)
        if asset_id not in kept
    )


def _remember(run: CurationRun, decisions: Iterable[Decision], written: dict[str, str]) -> None:
    """Store the decisions: all that change something, and a bounded number of refusals."""
    rows, refusals = [], 0
    for decision in decisions:
        if decision.verdict is Verdict.REFUSED:
            refusals += 1
            if refusals > MAX_REFUSALS_KEPT:
                continue
        rows.append(_decision_row(run, decision, written))
    CurationDecision.objects.bulk_create(rows, batch_size=1000)


def _decision_row(run: CurationRun, decision: Decision, written: dict[str, str]) -> Any:
    is_in_new_pack = decision.pack_id is None and decision.verdict in (
        Verdict.ADDED,
        Verdict.CREATED,
    )
    pack_id = written.get(decision.theme_key) if is_in_new_pack else decision.pack_id
    return CurationDecision(
        run=run,
        verdict=decision.verdict.value,
        reason=decision.reason.value,
        theme_key=decision.theme_key,
        asset_id=decision.asset_id,
        pack_id=pack_id,
        score=decision.score,
    )
