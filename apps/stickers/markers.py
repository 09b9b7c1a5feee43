"""Tags that a pack's description carries, hidden from readers. Pure.

OmniZap keeps them as `[pack-tags:a,b]` and `[auto-theme:…]` inside the text; both are understood
and written here, so that an adopted catalogue keeps its tags.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from apps.stickers import texts

MAX_TAGS, TAG_LENGTH = 8, 40
_MARKER = re.compile(r"\s*\[(pack-tags|auto-theme):([^\[\]]*)\]")


@dataclass(frozen=True, slots=True)
class Description:
    """A description as readers see it, and what is hidden in it."""

    text: str = ""
    tags: tuple[str, ...] = ()
    theme: str = ""


def parse(stored: str | None) -> Description:
    """Take a stored description apart."""
    found = dict(_MARKER.findall(stored or ""))
    return Description(
        text=_MARKER.sub("", stored or "").strip(),
        tags=clean_tags(found.get("pack-tags", "").split(",")),
        theme=found.get("auto-theme", "").strip(),
    )


def compose(description: Description) -> str | None:
    """The form that is stored; the text gives way where the column is too short for both."""
    markers = ""
    if description.tags:
        markers += f" [pack-tags:{','.join(description.tags)}]"
    if description.theme:
        markers += f" [auto-theme:{description.theme}]"
    # A text of the author must not pass for a marker.
    text = texts.clean_text(_MARKER.sub("", description.text), limit=texts.DESCRIPTION_LIMIT)
    return (text + markers).strip() or None


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """At most eight different tags: lower-case words joined by hyphens."""
    slugs = (texts.slugify(tag, fallback="", max_length=TAG_LENGTH) for tag in tags)
    return tuple(dict.fromkeys(slug for slug in slugs if slug))[:MAX_TAGS]
