"""A catalogue for the benchmarks, made inside MariaDB: two million stickers in about a minute.

Ids look like UUIDs and fall anywhere, as real ones do; rows go in by their order, since filling an
index at random takes many times as long.
"""

from datetime import datetime
from typing import Any

LABELS = ("animation", "cartoon", "line drawing", "photo", "emoji", "text")
TABLES = (
    "sticker_pack_item",
    "sticker_pack_score_snapshot",
    "sticker_pack_engagement",
    "sticker_pack_interaction_event",
    "stickers_pack_tag",
    "sticker_asset_classification",
    "sticker_asset",
    "sticker_pack",
)


def uuid_of(kind: str, number: str) -> str:
    """SQL for the id of the thing of a kind with a number."""
    digest = f"MD5(CONCAT('{kind}', {number}))"
    parts = [f"MID({digest}, {first}, {count})" for first, count in _UUID_PARTS]
    return f"CONCAT_WS('-', {', '.join(parts)})"


_UUID_PARTS = ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))
_SCORES = ", ', ', ".join(
    f"'\"{label}\": ', ROUND(RAND(seq + {place}), 6)" for place, label in enumerate(LABELS)
)
_STICKER = uuid_of("a", "seq")
_PACK = uuid_of("p", "FLOOR((seq - 1) / %(stickers)s)")
_CATEGORY = ", ".join(f"'{label}'" for label in LABELS)

FILLING = (
    f"""
    INSERT INTO sticker_pack
      (id, owner_jid, name, publisher, pack_key, visibility, created_at, updated_at)
    SELECT id, 'b@x', CONCAT('Pack ', n), CONCAT('Publisher ', n %% 997), CONCAT('b-', id),
      'public', %(now)s - INTERVAL n MINUTE, %(now)s - INTERVAL n %% 90 DAY
    FROM (SELECT {uuid_of("p", "seq")} AS id, seq AS n FROM seq_0_to_%(last_pack)s) AS packs
    ORDER BY id
    """,
    f"""
    INSERT INTO sticker_asset
      (id, owner_jid, sha256, mimetype, width, height, storage_path, size_bytes)
    SELECT id, 'b@x', REPLACE(CONCAT(id, id), '-', ''), 'image/webp', 512, 512, 'x',
      5000 + FLOOR(85000 * RAND(seq))
    FROM (SELECT {_STICKER} AS id, seq FROM seq_1_to_%(rows)s) AS assets
    ORDER BY id
    """,
    f"""
    INSERT INTO sticker_asset_classification (asset_id, category, all_scores, nsfw_score, is_nsfw)
    SELECT id, ELT(1 + seq %% 6, {_CATEGORY}), CONCAT('{{', {_SCORES}, '}}'), 0, 0
    FROM (SELECT {_STICKER} AS id, seq FROM seq_1_to_%(rows)s) AS assets
    ORDER BY id
    """,
    f"""
    INSERT INTO sticker_pack_item (id, pack_id, sticker_id, position)
    SELECT CONCAT(LEFT(pack_id, 24), LPAD(HEX(seq), 12, '0')), pack_id, sticker_id,
      (seq - 1) %% %(stickers)s
    FROM (SELECT {_PACK} AS pack_id, {_STICKER} AS sticker_id, seq FROM seq_1_to_%(rows)s) AS items
    ORDER BY pack_id, seq
    """,
)  # fmt: skip


def fill(packs: int, stickers: int, *, now: datetime) -> None:
    """Empty the sticker tables and make so many packs, each with its own classified stickers."""
    from django.db import connection

    values: dict[str, Any] = {
        "stickers": stickers,
        "rows": packs * stickers,
        "last_pack": packs - 1,
        "now": now.replace(tzinfo=None),
    }
    with connection.cursor() as cursor:
        cursor.execute("SET FOREIGN_KEY_CHECKS = 0, UNIQUE_CHECKS = 0")
        for table in TABLES:
            cursor.execute(f"TRUNCATE {table}")
        for statement in FILLING:
            cursor.execute(statement, values)
        cursor.execute("SET FOREIGN_KEY_CHECKS = 1, UNIQUE_CHECKS = 1")
        cursor.execute(f"ANALYZE TABLE {', '.join(TABLES)}")
        cursor.fetchall()
