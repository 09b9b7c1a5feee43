"""What is exported and imported again is the same, byte for byte."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from apps.stickers.archives import read_packs
from apps.stickers.images import check_tray_icon
from apps.stickers.services.packs import add_sticker
from apps.stickers.storage import read_asset
from tests.stickers.factories import OWNER, make_pack, sticker_image

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("form", ["wastickers", "contents"])
@pytest.mark.parametrize("frames", [1, 3], ids=["still", "animated"])
def test_a_round_trip_changes_no_image(tmp_path: Path, form: str, frames: int) -> None:
    pack = make_pack(name="Xícaras", publisher="Ana ☕")
    for number in range(3):
        image = sticker_image(f"{form}{number}", frames=frames)
        add_sticker(pack.pack_key, image, owner_jid=OWNER, emojis=["☕"], label="A cup.")
    file = tmp_path / "pack.zip"
    call_command(
        "export_pack", pack.pack_key, "--form", form, "--output", str(file), stdout=StringIO()
    )
    (source,) = read_packs(file)
    assert (source.name, source.publisher) == ("Xícaras", "Ana ☕")
    stored = [read_asset(item.sticker) for item in pack.items.order_by("position")]
    assert [sticker.data for sticker in source.stickers] == stored
    assert source.tray
    check_tray_icon(source.tray)
    if form == "contents":
        assert {sticker.emojis for sticker in source.stickers} == {("☕",)}
        assert {sticker.label for sticker in source.stickers} == {"A cup."}


def test_equal_packs_give_equal_archives(tmp_path: Path) -> None:
    pack = make_pack(stickers=3)
    files = [tmp_path / "a.zip", tmp_path / "b.zip"]
    for file in files:
        call_command("export_pack", pack.pack_key, "--output", str(file), stdout=StringIO())
    assert files[0].read_bytes() == files[1].read_bytes()


def test_what_cannot_be_exported_is_said(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no such pack"):
        call_command("export_pack", "nobody-12345")
    with pytest.raises(CommandError, match="no stickers"):
        call_command("export_pack", make_pack().pack_key)
