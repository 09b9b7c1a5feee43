"""Reads for authors: which of their packs a text means."""

import re

from apps.stickers import errors
from apps.stickers.models import StickerPack
from apps.whatsapp_auth.queries import owner_jids_of

_ADDRESS = re.compile(r"/(?:stickers|packs)/([A-Za-z0-9_-]+)")
_PUNCTUATION = ".,;:!?)]}>\"'"


def find_own_pack(owner_jid: str, text: str) -> StickerPack:
    """The author's pack that a chat message names: by id, key, address, or name (the newest).

    Raises PackNotFound.
    """
    own = StickerPack.objects.filter(owner_jid__in=owner_jids_of(owner_jid), deleted_at=None)
    for candidate in pack_candidates(text):
        found = own.filter(pk=candidate).first() or own.filter(pack_key=candidate).first()
        if found:
            return found
    named = own.filter(name__iexact=text.strip()).order_by("-created_at", "-pk").first()
    if named is None:
        raise errors.PackNotFound(text.strip()[:160])
    return named


def pack_candidates(text: str) -> list[str]:
    """What the text may mean as an id or key, likeliest first."""
    plain = text.strip().rstrip(_PUNCTUATION)
    address = _ADDRESS.search(plain)
    key = address[1] if address else plain
    spellings = (key, key.lower(), key.lower().replace("_", "-"), key.lower().replace("-", "_"))
    return list(dict.fromkeys(spelling for spelling in spellings if spelling))
