"""Pictures of the admin: thumbnails of stickers, and a score taken apart."""

from django.template.loader import render_to_string
from django.utils.html import format_html

from apps.stickers.api.serializers import asset_address
from apps.stickers.models import PackScoreSnapshot, StickerAsset
from apps.stickers.score_parts import score_parts


def thumbnail(asset: StickerAsset | None) -> str:
    """A small picture of a sticker, or a dash."""
    address = asset_address(asset)
    if not address:
        return "–"
    return format_html('<img class="thumbnail" src="{}" alt="" loading="lazy">', address)


def score_chart(snapshot: PackScoreSnapshot) -> str:
    """What a rank is made of: a bar for each part, longest for the heaviest."""
    context = {"snapshot": snapshot, "parts": score_parts(snapshot.scores_json or {})}
    return render_to_string("stickers/admin/score_chart.html", context)
