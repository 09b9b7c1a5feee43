"""How long pictures of several kinds take to become stickers: `python -m benchmarks.conversion`."""

import time
from collections.abc import Callable

from apps.stickers import webp
from apps.stickers.conversion import to_sticker
from tests.stickers.pictures import disc, encoded, photo


def gif(frames: int, width: int, height: int, *, noise: int, duration_ms: int) -> bytes:
    pictures = [photo(width, height, seed=n, noise=noise).quantize(128) for n in range(frames)]
    options = {"append_images": pictures[1:], "duration": duration_ms, "loop": 0}
    return encoded(pictures[0], "GIF", save_all=True, **options)


SOURCES: dict[str, Callable[[], bytes]] = {
    "JPEG 1600x1200": lambda: encoded(photo(1600, 1200), "JPEG"),
    "JPEG 4000x3000, grainy": lambda: encoded(photo(4000, 3000, noise=40), "JPEG"),
    "PNG flat, transparent": lambda: encoded(disc(800, 600), "PNG"),
    "WebP valid already": lambda: to_sticker(encoded(photo(512, 512), "PNG")).data,
    "GIF 60 frames 320x240": lambda: gif(60, 320, 240, noise=2, duration_ms=50),
    "GIF 40 grainy frames 498x498": lambda: gif(40, 498, 498, noise=25, duration_ms=50),
    "GIF 300 frames 240x240": lambda: gif(300, 240, 240, noise=8, duration_ms=40),
}


def main() -> None:
    for name, draw in SOURCES.items():
        data = draw()
        started = time.perf_counter()
        sticker = to_sticker(data)
        took_ms = (time.perf_counter() - started) * 1000
        frames = len(webp.read_container(sticker.data).frame_durations_ms)
        print(f"{name:30} {len(data):>9,} > {sticker.size_bytes:>7,} B {took_ms:7,.0f} ms {frames}")


if __name__ == "__main__":
    main()
