"""How fast score snapshots are rebuilt, beside the original's way: five queries a pack.

    .venv/bin/python -m benchmarks.snapshots [--packs 1000 10000 100000] [--stickers 20] [--runs 3]

Runs on the MariaDB of `--url` in a database of its own, dropped at the end. Prints packs a second,
queries per 1,000 packs, and whether both ways give the same rankings to the sixth decimal.
"""

import argparse
import os
import statistics
import time
from datetime import UTC, datetime
from typing import Any

from benchmarks.outbox import create_database, drop_database
from benchmarks.packs import fill

NOW = datetime(2026, 3, 1, tzinfo=UTC)
PLAIN_SAMPLE = 200


def main() -> None:
    """Measure each size and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", default="mysql://root@127.0.0.1:3306/pombo_bench")
    parser.add_argument("--packs", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--stickers", type=int, default=20)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    os.environ |= {"DATABASE_URL": options.url, "SECRET_KEY": "bench", "DEBUG": "false"}
    os.environ |= {"DJANGO_SETTINGS_MODULE": "config.settings", "ENV_FILE": os.devnull}
    create_database()
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    for packs in options.packs:
        fill(packs, options.stickers, now=NOW)
        measure(packs, options.runs)
    drop_database()


def measure(packs: int, runs: int) -> None:
    """Ours for all packs, the plain way for a sample of them."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext, override_settings

    from apps.stickers.models import PackScoreSnapshot, StickerPack
    from apps.stickers.services.snapshots import refresh_snapshots

    ids = list(StickerPack.objects.order_by("pk").values_list("pk", flat=True))
    refresh_snapshots(ids[:10], now=NOW)
    rates, plain_rates = [], []
    for _run in range(runs):
        started = time.perf_counter()
        refresh_snapshots(ids, now=NOW)
        rates.append(packs / (time.perf_counter() - started))
        started = time.perf_counter()
        expected = {pk: plain(pk) for pk in ids[:PLAIN_SAMPLE]}
        plain_rates.append(len(expected) / (time.perf_counter() - started))
    # One thread, since queries are counted on this connection alone.
    with (
        CaptureQueriesContext(connection) as queries,
        override_settings(SNAPSHOT_REFRESH_THREADS=1),
    ):
        refresh_snapshots(ids[:1000], now=NOW)
    stored = PackScoreSnapshot.objects.in_bulk(list(expected))
    is_equal = all(abs(float(stored[pk].ranking_score) - expected[pk]) < 1e-6 for pk in expected)
    ours, plainly = statistics.median(rates), statistics.median(plain_rates)
    print(f"{packs:,} packs: {ours:,.0f} packs/s, {len(queries)} queries per 1,000 packs;", end=" ")
    print(f"plainly {plainly:,.0f} packs/s; {ours / plainly:.1f} x; equal: {is_equal}", flush=True)


def plain(pack_id: str) -> float:
    """The original's algorithm for one pack: five queries, then the formula."""
    from apps.stickers import scoring
    from apps.stickers.models import (
        AssetClassification,
        InteractionEvent,
        PackEngagement,
        StickerPack,
        StickerPackItem,
    )

    pack = StickerPack.objects.get(pk=pack_id)
    rows = StickerPackItem.objects.filter(pack_id=pack_id).select_related("sticker")
    items = list(rows.order_by("position"))
    assets = [item.sticker_id for item in items]
    found = {c.asset_id: c for c in AssetClassification.objects.filter(asset__in=assets)}
    counters = PackEngagement.objects.filter(pack_id=pack_id).values().first() or {}
    opens = InteractionEvent.objects.filter(pack_id=pack_id, interaction="open").count()
    classified = [_row(found[pk]) for pk in assets if pk in found]
    measures = ("width", "height", "size_bytes")
    signals = scoring.pack_signals(
        pack={
            "items": [{"asset": {n: getattr(i.sticker, n) for n in measures}} for i in items],
            "updated_at": pack.updated_at,
        },
        engagement=counters,
        pack_classification=scoring.pack_summary(classified, assets),
        item_classifications=classified,
        interaction_stats={"open_baseline": opens, "open_horizon": 0},
        now=NOW,
    )
    return float(signals["ranking_score"])


def _row(classification: Any) -> dict[str, Any]:
    return {
        "category": classification.category,
        "all_scores": classification.all_scores,
        "nsfw_score": float(classification.nsfw_score or 0),
        "is_nsfw": classification.is_nsfw,
    }


if __name__ == "__main__":
    main()
