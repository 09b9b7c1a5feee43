"""What stickers promise to subscribers.

Nothing is required: an adopted database holds events of the original with fewer properties, and its
processes may publish beside ours. What is there has the type that is said here.
"""

from apps.outbox.event_types import declare

TEXT, NUMBER = {"type": ["string", "null"]}, {"type": ["number", "null"]}
FLAG = {"type": ["boolean", "integer"]}
ID = {"type": ["string", "integer"]}

declare(
    "STICKER_ASSET_CREATED",
    "A sticker image was stored for the first time.",
    optional={"asset_id": ID, "owner_jid": TEXT, "sha256": TEXT, "mimetype": TEXT},
)
declare(
    "STICKER_ASSET_REMOVED",
    "A sticker that no pack showed was removed; its files follow.",
    optional={"asset_id": ID, "sha256": TEXT},
)
declare(
    "STICKER_CLASSIFIED",
    "A sticker image was classified.",
    optional={
        "asset_id": ID,
        "category": TEXT,
        "confidence": NUMBER,
        "nsfw_score": NUMBER,
        "is_nsfw": FLAG,
        "classification_version": TEXT,
    },
)
declare(
    "PACK_UPDATED",
    "A pack or its stickers changed.",
    optional={"pack_id": ID, "action": TEXT},
)
declare(
    "STICKER_UPLOAD_RECEIVED",
    "A file for a pack has arrived as a whole.",
    optional={"upload": TEXT, "pack_id": ID},
)
declare(
    "ENGAGEMENT_RECORDED",
    "Somebody opened, liked or disliked a pack.",
    optional={"pack_id": ID, "action": TEXT},
)
declare(
    "PACK_MODERATED",
    "A moderator hid, marked, removed or restored a pack; its author should hear of it.",
    optional={
        "pack_id": ID,
        "pack_key": TEXT,
        "owner_jid": TEXT,
        "outcome": TEXT,
        "reason": TEXT,
    },
)
