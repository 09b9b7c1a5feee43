"""Importing whole packs: valid stickers go in, the others are reported with the broken rule."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from django.db import transaction

from apps.common.errors import DomainError
from apps.stickers import errors
from apps.stickers.archives import PackSource, StickerSource
from apps.stickers.choices import Visibility
from apps.stickers.images import StickerImage, read_sticker
from apps.stickers.models import StickerPack
from apps.stickers.services.packs import (
    MIN_PACK_STICKERS,
    append_item,
    create_pack,
    lock_pack,
    touch_pack,
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A file that was not imported, and why."""

    file_name: str
    rule: str
    message: str


@dataclass(slots=True)
class ImportReport:
    """What became of one pack; `is_new` is false when it was there already."""

    name: str
    pack: StickerPack | None = None
    is_new: bool = False
    accepted: int = 0
    refused: list[Refusal] = field(default_factory=list)


def import_pack(
    source: PackSource,
    *,
    owner_jid: str,
    visibility: str = Visibility.PUBLIC,
    on_sticker: Callable[[], None] = lambda: None,
) -> ImportReport:
    """Check every sticker, then write the pack in one transaction; nothing below 3 valid ones.

    A pack of the same owner, name and stickers is not imported twice. `on_sticker` is called after
    each check.
    """
    report = ImportReport(source.name)
    valid = list(_check_all(source.stickers, report, on_sticker))
    if len(valid) < MIN_PACK_STICKERS:
        return report
    report.pack = _find_equal(source, valid, owner_jid)
    if report.pack is None:
        report.pack = _write(source, valid, report, owner_jid=owner_jid, visibility=visibility)
        report.is_new = True
    report.accepted = report.pack.items.count()
    return report


def _check_all(
    stickers: Sequence[StickerSource], report: ImportReport, on_sticker: Callable[[], None]
) -> list[tuple[StickerSource, StickerImage]]:
    valid = []
    for sticker in stickers:
        try:
            valid.append((sticker, read_sticker(sticker.data)))
        except errors.StickerRefused as refusal:
            report.refused.append(_refusal(sticker, refusal))
        on_sticker()
    return valid


@transaction.atomic
def _write(
    source: PackSource,
    valid: Sequence[tuple[StickerSource, StickerImage]],
    report: ImportReport,
    *,
    owner_jid: str,
    visibility: str,
) -> StickerPack:
    created = create_pack(
        owner_jid=owner_jid, name=source.name, publisher=source.publisher, visibility=visibility
    )
    pack = lock_pack(created.pack_key, owner_jid=owner_jid)
    for sticker, image in valid:
        try:
            append_item(pack, image, emojis=sticker.emojis, label=sticker.label)
        except DomainError as refusal:
            report.refused.append(_refusal(sticker, refusal))
    touch_pack(pack)
    return pack


def _find_equal(
    source: PackSource, valid: Sequence[tuple[StickerSource, StickerImage]], owner_jid: str
) -> StickerPack | None:
    wanted = {image.sha256 for _sticker, image in valid}
    for pack in StickerPack.objects.filter(owner_jid=owner_jid, name=source.name, deleted_at=None):
        if set(pack.items.values_list("sticker__sha256", flat=True)) == wanted:
            return pack
    return None


def _refusal(sticker: StickerSource, error: DomainError) -> Refusal:
    rule = str(error.details.get("rule") or error.code)
    return Refusal(sticker.file_name, rule, error.message)
