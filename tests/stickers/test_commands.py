"""Importing from the command line."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from apps.stickers.models import StickerPack
from tests.stickers.factories import png_bytes, webp_bytes
from tests.stickers.test_archives import make_zip

pytestmark = pytest.mark.django_db


def wastickers(path: Path, stickers: dict[str, bytes]) -> Path:
    return make_zip(path / "p.wastickers", {"title.txt": b"Cups", "author.txt": b"Ana"} | stickers)


def test_valid_stickers_go_in_and_others_are_reported(tmp_path: Path) -> None:
    stickers = {f"{number}.webp": webp_bytes(number) for number in range(3)}
    path = wastickers(tmp_path, stickers | {"bad.webp": png_bytes()})
    out = StringIO()
    call_command("import_pack", str(path), "--json", stdout=out)
    (row,) = json.loads(out.getvalue())
    assert (row["state"], row["accepted"]) == ("imported", 3)
    assert [(item["file"], item["rule"]) for item in row["refused"]] == [("bad.webp", "format")]
    assert StickerPack.objects.get().visibility == "public"


def test_importing_twice_changes_nothing(tmp_path: Path) -> None:
    path = wastickers(tmp_path, {f"{n}.webp": webp_bytes(n) for n in range(3)})
    for state in ("imported", "already there"):
        out = StringIO()
        call_command("import_pack", str(path), "--visibility", "unlisted", stdout=out)
        assert out.getvalue().startswith(state)
    assert StickerPack.objects.get().visibility == "unlisted"


def test_fewer_than_three_valid_stickers_make_no_pack(tmp_path: Path) -> None:
    path = wastickers(tmp_path, {"1.webp": webp_bytes(1), "2.webp": png_bytes()})
    with pytest.raises(CommandError, match="Nothing was imported"):
        call_command("import_pack", str(path), stdout=StringIO())
    assert not StickerPack.objects.exists()


def test_a_dangerous_archive_stores_nothing(tmp_path: Path) -> None:
    path = wastickers(tmp_path, {"../evil.webp": webp_bytes()})
    with pytest.raises(CommandError, match="leads out"):
        call_command("import_pack", str(path), stdout=StringIO())


def test_a_dry_run_only_lists(tmp_path: Path) -> None:
    out = StringIO()
    path = wastickers(tmp_path, {"1.webp": webp_bytes(1)})
    call_command("import_pack", str(path), "--dry-run", stdout=out)
    assert out.getvalue() == "Cups\tAna\t1\n"
    assert not StickerPack.objects.exists()


def test_the_demo_is_drawn_once() -> None:
    first, second = StringIO(), StringIO()
    call_command("make_demo", stdout=first)
    count = StickerPack.objects.count()
    call_command("make_demo", stdout=second)
    assert "5 demo packs drawn" in first.getvalue()
    assert "0 demo packs drawn" in second.getvalue()
    assert StickerPack.objects.count() == count
