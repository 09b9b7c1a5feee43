"""Whatever picture comes, a valid sticker leaves or the broken rule is named."""

import io

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PIL import Image, ImageCms

from apps.stickers import conversion, errors, metadata, webp
from apps.stickers.conversion import to_sticker
from apps.stickers.images import MAX_STATIC_BYTES, read_sticker
from tests.stickers.factories import webp_bytes
from tests.stickers.pictures import animation, disc, encoded, photo
from tests.stickers.test_images import bomb


def shown(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data)).convert("RGBA")


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_photo_of_any_format_becomes_a_sticker(form: str) -> None:
    sticker = to_sticker(encoded(photo(900, 600), form))
    assert (sticker.width, sticker.height, sticker.is_animated) == (512, 512, False)
    assert 40_000 < sticker.size_bytes <= MAX_STATIC_BYTES


@pytest.mark.parametrize("form", ["GIF", "PNG", "WEBP"])
def test_an_animation_keeps_its_frames_and_its_time(form: str) -> None:
    sticker = to_sticker(animation(form))
    assert sticker.is_animated
    assert webp.read_container(sticker.data).frame_durations_ms == (100,) * 5


def test_a_valid_sticker_keeps_its_bytes() -> None:
    for data in (webp_bytes("still"), webp_bytes("moving", frames=3)):
        assert to_sticker(data).data == data


def test_foreign_metadata_goes_and_the_picture_stays_byte_for_byte() -> None:
    exif = Image.Exif()
    exif[0x010F] = "Spy camera"
    data = webp_bytes("x", exif=exif.tobytes(), xmp=b"<x/>", icc_profile=profile())
    kept = to_sticker(data).data
    assert {part.name for part in webp.chunks(kept)} == {b"VP8L"}
    assert b"Spy camera" in data
    assert b"Spy camera" not in kept
    assert picture_chunks(kept) == picture_chunks(data)
    assert shown(kept).tobytes() == shown(data).tobytes()


def test_a_wide_picture_is_neither_stretched_nor_cut() -> None:
    sticker = shown(to_sticker(encoded(disc(400, 200), "PNG")).data)
    left, top, right, bottom = sticker.getbbox() or (0, 0, 0, 0)
    assert (left, top, bottom) == (0, 128, 384)
    assert right == pytest.approx(256, abs=4)
    assert sticker.getpixel((0, 0))[3] == 0
    assert sticker.getpixel((128, 256)) == (255, 0, 0, 255)


def test_half_transparent_parts_stay_so() -> None:
    sticker = shown(to_sticker(encoded(Image.new("RGBA", (64, 64), (0, 0, 255, 128)), "PNG")).data)
    assert sticker.getpixel((256, 256)) == (0, 0, 255, 128)


def test_a_photo_that_lies_on_its_side_is_set_upright() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    sticker = to_sticker(encoded(disc(400, 200).convert("RGB"), "JPEG", exif=exif)).data
    assert shown(sticker).getbbox() == (128, 0, 384, 512)
    assert metadata.read_tag(sticker) is None


def test_the_best_quality_that_fits_is_chosen() -> None:
    picture = photo(512, 512, noise=40)
    sticker = to_sticker(encoded(picture, "PNG"))
    fits = [
        quality
        for quality in conversion.STATIC_QUALITIES
        if len(conversion._saved(picture.convert("RGBA"), quality=quality, method=4)) <= 99_000
    ]
    best = conversion._saved(picture.convert("RGBA"), **conversion._lossy(max(fits)), method=4)
    assert sticker.data == best
    assert max(fits) < max(conversion.STATIC_QUALITIES)


def test_noise_of_every_colour_and_transparency_still_fits() -> None:
    noise = np.random.default_rng(1).integers(0, 255, (512, 512, 4), dtype=np.uint8)
    assert to_sticker(encoded(Image.fromarray(noise), "PNG")).size_bytes <= MAX_STATIC_BYTES


def test_a_heavy_animation_loses_quality_and_then_frames_but_no_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(conversion, "MAX_ANIMATED_BYTES", 110_000)
    pictures = [photo(256, 256, seed=number, noise=60) for number in range(6)]
    gif = encoded(
        pictures[0], "GIF", save_all=True, append_images=pictures[1:], duration=100, loop=0
    )
    sticker = to_sticker(gif)
    durations = webp.read_container(sticker.data).frame_durations_ms
    assert sticker.size_bytes <= 110_000
    assert 1 < len(durations) < 6
    assert sum(durations) == 600


def test_an_animation_never_becomes_a_still_picture_to_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(conversion, "MAX_ANIMATED_BYTES", 110_000)
    first, second = (photo(256, 256, seed=number, noise=90) for number in range(2))
    gif = encoded(first, "GIF", save_all=True, append_images=[second], duration=100, loop=0)
    with pytest.raises(errors.CannotFit):
        to_sticker(gif)


def test_a_long_animation_ends_after_ten_seconds() -> None:
    sticker = to_sticker(animation("GIF", frames=12, duration_ms=1000))
    assert sum(webp.read_container(sticker.data).frame_durations_ms) == 10_000


def test_more_frames_than_a_sticker_can_use_are_merged_on_the_way() -> None:
    sticker = to_sticker(animation("GIF", frames=310, duration_ms=20, size=(1000, 16)))
    durations = webp.read_container(sticker.data).frame_durations_ms
    assert len(durations) <= conversion.MAX_FRAMES
    assert sum(durations) == 6200


def test_gif_frames_without_time_last_as_long_as_in_browsers() -> None:
    sticker = to_sticker(animation("GIF", duration_ms=0))
    assert webp.read_container(sticker.data).frame_durations_ms == (100,) * 5


def test_an_animation_of_equal_frames_is_a_still_sticker() -> None:
    picture = disc(100, 100)
    gif = encoded(picture, "PNG", save_all=True, append_images=[picture.copy()], duration=100)
    assert not to_sticker(gif).is_animated


def test_colours_follow_their_profile_which_is_not_kept() -> None:
    sticker = to_sticker(encoded(photo(300, 300), "JPEG", icc_profile=profile())).data
    assert b"ICCP" not in sticker


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        pytest.param(b"", "format", id="empty"),
        pytest.param(b"%PDF-1.7" + bytes(99), "format", id="PDF"),
        pytest.param(b"<svg xmlns='http://www.w3.org/2000/svg'/>", "format", id="SVG"),
        pytest.param(encoded(disc(9, 9).convert("RGB"), "BMP"), "format", id="BMP"),
        pytest.param(encoded(disc(9, 9), "TIFF"), "format", id="TIFF"),
        pytest.param(encoded(photo(90, 90), "PNG")[:-400], "readable", id="cut PNG"),
        pytest.param(encoded(photo(90, 90), "JPEG")[:-400], "readable", id="cut JPEG"),
        pytest.param(encoded(photo(90, 90), "GIF")[:-400], "readable", id="cut GIF"),
        pytest.param(webp_bytes(size=(90, 90))[:-9], "readable", id="cut WebP"),
        pytest.param(bomb(), "decompression_bomb", id="WebP bomb"),
        pytest.param(
            encoded(Image.new("1", (5000, 5000)), "PNG"), "decompression_bomb", id="PNG bomb"
        ),
        pytest.param(bytes(20 * 1024 * 1024 + 1), "file_size", id="over 20 MiB"),
    ],
)
def test_what_cannot_become_a_sticker_is_refused_by_rule(data: bytes, rule: str) -> None:
    with pytest.raises(errors.StickerRefused) as refusal:
        to_sticker(data)
    assert refusal.value.details["rule"] == rule


def test_many_large_frames_are_refused_before_they_are_decoded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(conversion, "MAX_SOURCE_PIXELS", 4 * 200 * 100)
    with pytest.raises(errors.ImageBomb):
        to_sticker(animation("GIF", frames=5))
    assert to_sticker(animation("GIF", frames=4))


@example(damage=[(2213, b"\x00\x00\xcd")])  # Pillow reads a GIF's frame beyond its end
@given(damage=st.lists(st.tuples(st.integers(8, 4_000), st.binary(max_size=9)), max_size=5))
@settings(max_examples=60, deadline=None)
def test_whatever_is_damaged_a_sticker_leaves_or_a_refusal(
    damage: list[tuple[int, bytes]],
) -> None:
    for source in (encoded(disc(60, 40), "PNG"), animation("GIF", frames=2, size=(40, 20))):
        data = bytearray(source)
        for place, put in damage:
            data[place % len(data) : place % len(data) + len(put)] = put
        try:
            sticker = to_sticker(bytes(data))
        except errors.StickerRefused:
            continue
        assert read_sticker(sticker.data)


TAG = metadata.PackTag("cups-abcde", "Xícaras", "Ana ☕", ["☕"], "A cup.")


@pytest.mark.parametrize("seed", ["still", "moving"])
@pytest.mark.parametrize("lossless", [True, False])
def test_a_sent_sticker_tells_its_pack_and_nothing_else(seed: str, lossless: bool) -> None:
    data = webp_bytes(seed, frames=3 if seed == "moving" else 1, lossless=lossless)
    sent = metadata.tagged(metadata.tagged(data, TAG), TAG)
    found = metadata.read_tag(sent)
    assert found
    assert (found["sticker-pack-id"], found["sticker-pack-name"]) == ("cups-abcde", "Xícaras")
    assert [part.name for part in webp.chunks(sent)].count(b"EXIF") == 1
    assert picture_chunks(sent) == picture_chunks(data)
    assert shown(sent).tobytes() == shown(data).tobytes()
    assert read_sticker(sent)


def test_the_block_lies_where_bots_look_for_it() -> None:
    assert metadata.exif_block(TAG)[22:].startswith(b'{"sticker-pack-id":"cups-abcde"')
    assert Image.open(io.BytesIO(metadata.tagged(webp_bytes(), TAG))).getexif()[0x5741]


@pytest.mark.parametrize("frames", [1, 3])
def test_taking_the_block_out_again_gives_the_very_file(frames: int) -> None:
    data = webp_bytes("x", frames=frames)
    assert metadata.stripped(metadata.tagged(data, TAG)) == data


@given(st.binary(max_size=60))
def test_no_block_makes_the_reader_fail(block: bytes) -> None:
    header = b"RIFF" + (len(block) + len(block) % 2 + 12).to_bytes(4, "little") + b"WEBPEXIF"
    data = header + len(block).to_bytes(4, "little") + block + bytes(len(block) % 2)
    assert metadata.read_tag(data) is None


def picture_chunks(data: bytes) -> list[webp.Chunk]:
    held = (b"VP8 ", b"VP8L", b"ALPH", b"ANIM", b"ANMF")
    return [part for part in webp.chunks(data) if part.name in held]


def profile() -> bytes:
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
