"""How fast stickers are classified, judged and gathered into packs, and what the searches cost.

.venv/bin/python -m benchmarks.curation            # rules alone
.venv/bin/python -m benchmarks.curation --rows 100000   # and searches over a database of its own
"""

import argparse
import os
import random
import statistics
import time
from collections.abc import Callable
from typing import Any


def best_of(action: Callable[[], Any], *, runs: int = 5) -> float:
    """The median time of some runs, in milliseconds."""
    times = []
    for _run in range(runs):
        began = time.perf_counter()
        action()
        times.append(1000 * (time.perf_counter() - began))
    return statistics.median(times)


def measure_rules() -> None:
    from apps.stickers.curation.planning import make_plan
    from apps.stickers.curation.rules import Mode, Rules
    from apps.stickers.curation.scanning import Candidate, judge
    from apps.stickers.curation.states import Scene

    for count in (1_000, 20_000):
        rng = random.Random(count)
        stickers = [
            Candidate(
                f"{number:036}",
                is_animated=False,
                width=512,
                height=512,
                size_bytes=20_000,
                confidence=rng.uniform(0.4, 0.9),
                entropy=0.6,
                margin=0.4,
                affinity=0.7,
                scores={f"label {number % 60}": 0.7, f"second {number % 3}": 0.25},
                shape=rng.getrandbits(63),
                colour=tuple(rng.randrange(256) for _part in range(4)),
            )
            for number in range(count)
        ]
        scene = Scene(stickers, [], {"auto": 50}, Mode.ADDITIONS)
        judged = best_of(lambda stickers=stickers: judge(stickers, Rules()))
        planned = best_of(lambda scene=scene: make_plan(scene, Rules()))
        print(f"{count:>7,} stickers: judged in {judged:8.1f} ms, planned in {planned:8.1f} ms")


def measure_pictures() -> None:
    from apps.stickers.classifier import PixelClassifier
    from apps.stickers.fingerprints import fingerprint
    from tests.stickers.factories import webp_bytes

    still, moving = webp_bytes("a"), webp_bytes("a", frames=8)
    for name, data in (("still", still), ("8 frames", moving)):
        classified = best_of(lambda data=data: PixelClassifier().classify(data), runs=15)
        printed = best_of(lambda data=data: fingerprint(data), runs=15)
        print(f"{name:>9}: classified in {classified:6.1f} ms, fingerprint in {printed:6.1f} ms")


def measure_searches(rows: int) -> None:
    from django.db import connection
    from django.utils import timezone

    from apps.common.fields import new_id
    from apps.stickers.curation.rules import Mode
    from apps.stickers.models import AssetClassification, AssetFingerprint, StickerAsset
    from apps.stickers.services import curation_scene, fingerprinting
    from apps.stickers.services.classification_cycle import search_candidates
    from apps.stickers.services.classifiers import current_classifier

    name = connection.creation.create_test_db(verbosity=0, autoclobber=True)
    try:
        rng, now = random.Random(7), timezone.now()
        ids = [new_id() for _number in range(rows)]
        for start in range(0, rows, 5000):
            part = ids[start : start + 5000]
            StickerAsset.objects.bulk_create(
                StickerAsset(
                    id=pk,
                    owner_jid="bench",
                    sha256=f"{start + number:064x}",
                    mimetype="image/webp",
                    width=512,
                    height=512,
                    size_bytes=20_000,
                    storage_path="-",
                )
                for number, pk in enumerate(part)
            )
            AssetClassification.objects.bulk_create(
                AssetClassification(
                    asset_id=pk,
                    category=f"label {number % 60}",
                    confidence=rng.uniform(0.7, 0.95),
                    entropy=0.6,
                    confidence_margin=0.4,
                    nsfw_score=0,
                    affinity_weight=0.7,
                    all_scores={f"label {number % 60}": 0.7, f"second {number % 3}": 0.25},
                )
                for number, pk in enumerate(part)
            )
            AssetFingerprint.objects.bulk_create(
                AssetFingerprint(
                    asset_id=pk,
                    shape=f"{(shape := rng.getrandbits(63)):016x}",
                    colour=f"{rng.getrandbits(32):08x}",
                    **{f"band_{band}": shape >> 16 * band & 0xFFFF for band in range(4)},
                )
                for pk in part
            )
        rules = curation_scene.current_rules()
        for title, action in {
            "search, nothing found": lambda: search_candidates(current_classifier(), now=now),
            "near copies of 300": lambda: fingerprinting.near_copies(ids[:300]),
            "scene of 20,000": lambda: curation_scene.read_scene(Mode.ADDITIONS, rules),
        }.items():
            print(f"{connection.vendor}, {rows:,} rows, {title}: {best_of(action, runs=3):.0f} ms")
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=0)
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    measure_rules()
    measure_pictures()
    if options.rows:
        measure_searches(options.rows)
