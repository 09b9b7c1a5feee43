"""Names, keys and emojis keep their rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.stickers import errors, texts


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("a\nb", "a b"),
        ("a\u0000b\tc", "ab c"),
        ("  a \u00a0 b ", "a b"),
        ("\u007fx", "x"),
        (None, ""),
    ],
)
def test_line_breaks_separate_and_control_characters_vanish(raw: str | None, clean: str) -> None:
    assert texts.clean_text(raw, limit=20) == clean


@given(st.text(), st.integers(min_value=0, max_value=20))
def test_a_cut_text_fits_and_halves_no_character(text: str, limit: int) -> None:
    cut = texts.cut_utf16(text, limit)
    assert texts.utf16_length(cut) <= limit
    assert text.startswith(cut)


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Meu Pack Legal", "meu-pack-legal"),
        ("Ação & Reação!!!", "acao-reacao"),
        ("😀😀", "pack"),
        ("", "pack"),
        ("--a--b--", "a-b"),
        ("日本", "pack"),
    ],
)
def test_slugs_are_plain(name: str, slug: str) -> None:
    assert texts.slugify(name) == slug


def test_keys_of_one_name_differ() -> None:
    assert texts.new_pack_key("Cups") != texts.new_pack_key("Cups")
    assert texts.new_pack_key("Cups").startswith("cups-")


def test_a_family_counts_as_one_emoji() -> None:
    assert texts.check_emojis(["👨‍👩‍👧‍👦", "🇧🇷"]) == ["👨‍👩‍👧‍👦", "🇧🇷"]


@pytest.mark.parametrize("emojis", [[], ["😀", "😀", "😀", "😀"], ["😀😀😀😀"]])
def test_one_to_three_emojis_are_needed(emojis: list[str]) -> None:
    with pytest.raises(errors.WrongEmojiCount):
        texts.check_emojis(emojis)


def test_a_name_of_blanks_is_refused() -> None:
    with pytest.raises(errors.InvalidText):
        texts.required_text("name", " \n ")
