"""The demo catalogue: small packs, drawn here, the same at every call. Pure."""

import io
import math
from collections.abc import Callable, Iterator

from PIL import Image, ImageDraw

from apps.stickers.archives import PackSource, StickerSource

SIZE = 512
FRAMES = 6
FRAME_MS = 120
PUBLISHER = "Pombo"

Colour = tuple[int, int, int]
Draw = Callable[[ImageDraw.ImageDraw, int, float], None]

SKIN: tuple[Colour, ...] = ((255, 204, 77), (140, 206, 255), (182, 140, 255), (120, 220, 160))
INK: Colour = (40, 40, 50)


def demo_packs() -> Iterator[PackSource]:
    """Four still packs and an animated one."""
    yield _pack("Faces", "🙂", [_face(colour, mood) for colour in SKIN[:2] for mood in range(3)])
    yield _pack("Pigeons", "🕊️", [_pigeon(colour) for colour in SKIN])
    yield _pack("Weather", "⛅", [_sun(rays) for rays in (6, 8, 12, 16)])
    yield _pack("Shapes", "🔷", [_polygon(sides) for sides in (3, 4, 5, 6, 8)])
    yield _pack("Bouncing", "🟢", [_ball(colour) for colour in SKIN], is_animated=True)


def _pack(name: str, emoji: str, drawings: list[Draw], *, is_animated: bool = False) -> PackSource:
    stickers = tuple(
        StickerSource(
            file_name=f"{number:02}.webp",
            data=_render(draw, number, frames=FRAMES if is_animated else 1),
            emojis=(emoji,),
            label=f"{name} {number}",
        )
        for number, draw in enumerate(drawings, 1)
    )
    return PackSource(name=name, publisher=PUBLISHER, stickers=stickers)


def _render(draw: Draw, number: int, *, frames: int) -> bytes:
    pictures = []
    for frame in range(frames):
        picture = Image.new("RGBA", (SIZE, SIZE), (0, 0, 0, 0))
        draw(ImageDraw.Draw(picture), number, frame / frames)
        pictures.append(picture)
    file = io.BytesIO()
    pictures[0].save(
        file,
        "WEBP",
        lossless=True,
        save_all=frames > 1,
        append_images=pictures[1:],
        duration=FRAME_MS,
        loop=0,
    )
    return file.getvalue()


def _face(colour: Colour, mood: int) -> Draw:
    def draw(canvas: ImageDraw.ImageDraw, number: int, phase: float) -> None:
        canvas.ellipse((46, 46, 466, 466), fill=colour, outline=INK, width=10)
        for x in (170, 342):
            canvas.ellipse((x - 26, 180, x + 26, 240), fill=INK)
        box = (150, 230, 362, 400)
        if mood == 0:
            canvas.arc(box, 20, 160, fill=INK, width=16)
        elif mood == 1:
            canvas.chord(box, 10, 170, fill=INK)
        else:
            canvas.arc((150, 320, 362, 460), 200, 340, fill=INK, width=16)

    return draw


def _pigeon(colour: Colour) -> Draw:
    def draw(canvas: ImageDraw.ImageDraw, number: int, phase: float) -> None:
        canvas.ellipse((90, 190, 390, 430), fill=colour, outline=INK, width=8)
        canvas.ellipse((290, 90, 430, 230), fill=colour, outline=INK, width=8)
        canvas.polygon([(420, 150), (490, 172), (420, 190)], fill=(255, 150, 60))
        canvas.ellipse((350, 136, 374, 160), fill=INK)
        canvas.pieslice((120, 220, 330, 400), 20 * number, 160 + 20 * number, fill=INK)

    return draw


def _sun(rays: int) -> Draw:
    def draw(canvas: ImageDraw.ImageDraw, number: int, phase: float) -> None:
        for ray in range(rays):
            angle = 2 * math.pi * ray / rays
            end = (256 + 230 * math.cos(angle), 256 + 230 * math.sin(angle))
            canvas.line((256, 256, *end), fill=(255, 170, 40), width=18)
        canvas.ellipse((136, 136, 376, 376), fill=(255, 214, 70), outline=INK, width=8)

    return draw


def _polygon(sides: int) -> Draw:
    def draw(canvas: ImageDraw.ImageDraw, number: int, phase: float) -> None:
        colour = SKIN[number % len(SKIN)]
        canvas.regular_polygon((256, 256, 210), sides, fill=colour, outline=INK, width=10)

    return draw


def _ball(colour: Colour) -> Draw:
    def draw(canvas: ImageDraw.ImageDraw, number: int, phase: float) -> None:
        height = 300 * abs(math.sin(math.pi * phase))
        top = 330 - height
        canvas.ellipse((186, top, 326, top + 140), fill=colour, outline=INK, width=8)

    return draw
