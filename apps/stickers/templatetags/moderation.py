"""What moderators did, on an author's page: `{% moderation_notices person.owner_jid %}`."""

from typing import Any

from django import template
from django.utils import timezone

from apps.stickers import moderation_queue

register = template.Library()


@register.inclusion_tag("stickers/moderation_notices.html")
def moderation_notices(owner_jid: str) -> dict[str, Any]:
    """The decisions of late about the packs of an owner, in one query."""
    if not owner_jid:
        return {"notices": []}
    return {"notices": moderation_queue.notices_for(owner_jid, now=timezone.now())}
