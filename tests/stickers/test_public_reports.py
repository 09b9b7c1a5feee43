"""Faults that were reported in public about sticker apps and rankings, as promises of this one."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from apps.common.scopes import Scope
from apps.stickers import errors, metadata, texts
from apps.stickers.images import read_sticker
from apps.stickers.scoring import engagement_score, pack_signals
from apps.stickers.services.editing import edit_pack, remove_sticker_at
from apps.stickers.services.packs import add_sticker
from tests.stickers.factories import OWNER, make_pack, png_bytes, sticker_image, webp_bytes
from tests.stickers.test_broken_files import one_frame_animation
from tests.stickers.test_images import _padded

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_300_kb_of_two_frames_are_an_animated_sticker() -> None:
    """WhatsApp/stickers#755, #799: kind is told by the frames, not by size or a bit."""
    assert read_sticker(_padded(webp_bytes(frames=2), 300_000)).is_animated
    assert not read_sticker(one_frame_animation()).is_animated


@pytest.mark.django_db
def test_a_moving_sticker_in_a_still_pack_is_refused_for_that_reason() -> None:
    """WhatsApp/stickers#755."""
    pack, image = make_pack(stickers=1), read_sticker(_padded(webp_bytes(frames=2), 300_000))
    with pytest.raises(errors.MixedAnimation, match="only still"):
        add_sticker(pack.pack_key, image, owner_jid=OWNER)


def test_four_emojis_are_refused_and_a_family_counts_once() -> None:
    """react-native-whatsapp-stickers#50."""
    with pytest.raises(errors.WrongEmojiCount, match="this one 4"):
        texts.check_emojis(["😀", "😀", "😀", "😀"])
    assert texts.check_emojis(["👨‍👩‍👧‍👦", "👩🏽‍🚀", "🏴󠁧󠁢󠁳󠁣󠁴󠁿"])


@pytest.mark.django_db
def test_a_pack_of_two_is_published_no_more() -> None:
    """WhatsApp/stickers#625."""
    pack = make_pack(stickers=3)
    remove_sticker_at(pack.pack_key, 1, owner_jid=OWNER)
    pack.refresh_from_db()
    assert pack.status == "draft"


@pytest.mark.parametrize(("likes", "dislikes"), [(0, 0), (1, 0), (0, 1)])
def test_no_votes_are_no_error_and_rank_above_a_dislike(likes: int, dislikes: int) -> None:
    """instacart/wilson_score#3, rate-ukma#549; integers are not divided as integers."""
    score = engagement_score({"like_count": likes, "dislike_count": dislikes})
    assert score == pytest.approx(max(0, (2 * likes - 1.25 * dislikes) / 100))
    assert (score > 0) == (likes > dislikes)


def test_a_pack_from_the_future_has_no_age() -> None:
    """LemmyNet/lemmy PR#3517."""
    tomorrow = (NOW + timedelta(days=1)).isoformat()
    signals: dict[str, Any] = pack_signals(pack={"items": [], "updated_at": tomorrow}, now=NOW)
    assert signals["age_decay_factor"] == 1


@pytest.mark.django_db
def test_a_sent_sticker_tells_its_pack(client: Client) -> None:
    """whatsticker#9, wa-sticker-formatter#43: bots want the pack's name in the file."""
    pack = make_pack(name="Xícaras", publisher="Ana")
    item = add_sticker(pack.pack_key, sticker_image(), owner_jid=OWNER, emojis=["☕"])
    address = f"/packs/{pack.pack_key}/stickers/{item.sticker_id}.webp"
    answer = client.get(address)
    found = metadata.read_tag(answer.content) or {}
    assert (found["sticker-pack-name"], found["emojis"]) == ("Xícaras", ["☕"])
    assert read_sticker(answer.content)
    edit_pack(pack.pack_key, owner_jid=OWNER, visibility="private")
    assert client.get(address).status_code == 404


@pytest.mark.django_db
def test_other_formats_are_made_to_fit_only_where_that_is_asked_for(
    api_as: Callable[..., APIClient],
) -> None:
    from tests.stickers.test_own_pages import upload

    api, address = api_as(Scope.PACKS_WRITE), f"/api/v1/packs/{make_pack().pack_key}/stickers"
    codes = [
        api.post(address, {"file": upload("a.png", png_bytes()), **wish}, format="multipart")
        for wish in ({}, {"convert": "true"})
    ]
    assert [answer.status_code for answer in codes] == [400, 201]
