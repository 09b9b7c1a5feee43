"""Sticker packs and files."""

from apps.common import env

env.section("Stickers")
STICKER_PACK_MAX_ITEMS = env.env_int(
    "STICKER_PACK_MAX_ITEMS", 30, low=1, high=30, help="Stickers in one pack; WhatsApp allows 30."
)
