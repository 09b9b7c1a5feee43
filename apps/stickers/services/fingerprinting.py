"""Remembering fingerprints, and finding near copies by them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models import Q

from apps.stickers.fingerprints import (
    BANDS,
    Fingerprint,
    fingerprint,
    near_pairs,
    nearby_bands,
)
from apps.stickers.models import AssetFingerprint, StickerAsset


@dataclass(frozen=True, slots=True)
class StoredFingerprint:
    """A fingerprint as it is read in sets."""

    asset_id: str
    shape: int
    colour: tuple[int, ...]


def remember(asset: StickerAsset, data: bytes) -> None:
    """Store a sticker's fingerprint; its bytes never change, so once is enough."""
    if AssetFingerprint.objects.filter(pk=asset.pk).exists():
        return
    try:
        found = fingerprint(data)
    except (OSError, ValueError):
        return
    AssetFingerprint.objects.bulk_create([_row(asset.pk, found)], ignore_conflicts=True)


def fingerprints_of(asset_ids: Sequence[str]) -> dict[str, StoredFingerprint]:
    """The fingerprints of these stickers, as far as they are known."""
    return {row.asset_id: row for row in _read(Q(pk__in=asset_ids))}


def near_copies(asset_ids: Sequence[str]) -> Mapping[str, list[str]]:
    """For each of these stickers, the others that look the same; in two queries for all of them."""
    wanted = list(fingerprints_of(asset_ids).values())
    if not wanted:
        return {}
    nearby = Q()
    for band in range(BANDS):
        values = {near for row in wanted for near in nearby_bands(row.shape >> 16 * band & 0xFFFF)}
        nearby |= Q(**{f"band_{band}__in": values})
    found = {row.asset_id: row for row in [*wanted, *_read(nearby)]}
    rows = list(found.values())
    place_of = {asset_id: place for place, asset_id in enumerate(found)}
    places = [place_of[row.asset_id] for row in wanted]
    matrix = near_pairs([row.shape for row in rows], [row.colour for row in rows], places)
    copies: dict[str, list[str]] = defaultdict(list)
    for line, place in zip(*np.nonzero(matrix), strict=True):
        if places[line] != place:
            copies[wanted[line].asset_id].append(rows[place].asset_id)
    return {asset_id: sorted(others) for asset_id, others in copies.items()}


def _row(asset_id: str, found: Fingerprint) -> AssetFingerprint:
    bands = {f"band_{number}": value for number, value in enumerate(found.bands)}
    colour = bytes(found.colour).hex()
    return AssetFingerprint(asset_id=asset_id, shape=f"{found.shape:016x}", colour=colour, **bands)


def _read(condition: Q) -> list[StoredFingerprint]:
    rows = AssetFingerprint.objects.filter(condition).order_by("pk")
    return [
        StoredFingerprint(asset_id, int(shape, 16), tuple(bytes.fromhex(colour)))
        for asset_id, shape, colour in rows.values_list("pk", "shape", "colour")
    ]
