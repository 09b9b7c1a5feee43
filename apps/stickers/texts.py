"""Names, labels, keys and emojis as packs keep them. Pure.

Lengths count UTF-16 code units, as WhatsApp's own validator (Java) and OmniZap (JavaScript) do. A
line break is white space: it separates words, it never joins them.
"""

import re
import secrets
import unicodedata
from collections.abc import Sequence

import regex

from apps.common.parsing import JS_BLANKS
from apps.stickers import errors

NAME_LIMIT = 120
DESCRIPTION_LIMIT = 1024
STATIC_LABEL_LIMIT, ANIMATED_LABEL_LIMIT = 125, 255
MIN_EMOJIS, MAX_EMOJIS = 1, 3
KEY_SLUG_LENGTH, KEY_SUFFIX_LENGTH = 32, 5
KEY_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"
FALLBACK_SLUG = "pack"

_BLANKS = re.compile(f"[{JS_BLANKS}]+")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
_GRAPHEME = regex.compile(r"\X")


def clean_text(value: str | None, *, limit: int) -> str:
    """The text with single blanks, without control characters, cut to so many UTF-16 units."""
    collapsed = _BLANKS.sub(" ", value or "").strip()
    return cut_utf16(_CONTROLS.sub("", collapsed), limit).strip()


def required_text(field: str, value: str | None, *, limit: int = NAME_LIMIT) -> str:
    """A cleaned text that must say something. Raises InvalidText when empty or too long."""
    text = clean_text(value, limit=limit + 1)
    if not 0 < utf16_length(text) <= limit:
        raise errors.InvalidText(field, limit=limit)
    return text


def utf16_length(text: str) -> int:
    """How many UTF-16 code units the text has."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def cut_utf16(text: str, limit: int) -> str:
    """The longest beginning of the text within so many UTF-16 units, no character halved."""
    units = 0
    for position, char in enumerate(text):
        units += 2 if ord(char) > 0xFFFF else 1  # noqa: PLR2004 (beyond the basic plane)
        if units > limit:
            return text[:position]
    return text


def slugify(value: str, *, fallback: str = FALLBACK_SLUG, max_length: int = KEY_SLUG_LENGTH) -> str:
    """Lower-case ASCII words joined by hyphens; the fallback when nothing is left."""
    plain = unicodedata.normalize("NFD", value)
    plain = "".join(char for char in plain if not unicodedata.combining(char)).lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    return slug[:max_length] or fallback


def new_pack_key(name: str) -> str:
    """A key for a pack's address: its name's slug and five random characters."""
    suffix = "".join(secrets.choice(KEY_ALPHABET) for _ in range(KEY_SUFFIX_LENGTH))
    return f"{slugify(name)}-{suffix}"


def check_emojis(emojis: Sequence[str]) -> list[str]:
    """One to three emojis, each one grapheme (a family joined by joiners counts once).

    Raises WrongEmojiCount.
    """
    graphemes = [
        grapheme for emoji in emojis for grapheme in _GRAPHEME.findall(emoji) if grapheme.strip()
    ]
    if not MIN_EMOJIS <= len(graphemes) <= MAX_EMOJIS:
        raise errors.WrongEmojiCount(len(graphemes))
    return graphemes


def label_limit(*, is_animated: bool) -> int:
    """How long an accessibility text may be, in UTF-16 units."""
    return ANIMATED_LABEL_LIMIT if is_animated else STATIC_LABEL_LIMIT
