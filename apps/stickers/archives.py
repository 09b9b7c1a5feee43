"""Reading packs from a folder with `contents.json` or from an archive, safely. Pure but for files.

An archive is a ZIP file: WhatsApp's `contents.json` form, or a `.wastickers` file with `title.txt`,
`author.txt`, an icon and the stickers. Source: WhatsApp's sample app; notes on `.wastickers` files.
"""

import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from apps.stickers import errors

MAX_ENTRIES = 400
MAX_ENTRY_BYTES = 3_000_000
MAX_TOTAL_BYTES = 60_000_000
CONTENTS_NAME = "contents.json"

# What damage, encryption and unknown methods make zipfile raise; the names come from its source.
UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    OSError,
    EOFError,
    RuntimeError,
    ValueError,
)

ReadFile = Callable[[str], bytes]


@dataclass(frozen=True, slots=True)
class StickerSource:
    """A sticker as it lies in the source, not yet checked."""

    file_name: str
    data: bytes
    emojis: tuple[str, ...] = ()
    label: str = ""


@dataclass(frozen=True, slots=True)
class PackSource:
    """A pack as it lies in the source, not yet checked."""

    name: str
    publisher: str
    stickers: tuple[StickerSource, ...]
    tray: bytes | None = None


def read_packs(path: Path) -> list[PackSource]:
    """All packs at that path. Raises ArchiveRefused for what cannot be read, or not safely."""
    if path.is_dir():
        return _from_contents(_folder_reader(path))
    if path.name == CONTENTS_NAME:
        return _from_contents(_folder_reader(path.parent))
    if not zipfile.is_zipfile(path):
        raise errors.ArchiveRefused("This is neither a folder nor a ZIP archive.", path=path.name)
    try:
        opened = zipfile.ZipFile(path)
    except UNREADABLE as error:
        raise errors.ArchiveRefused("The archive is damaged.", path=path.name) from error
    with opened as archive:
        names = _safe_names(archive)
        read = _archive_reader(archive)
        has_contents = CONTENTS_NAME in names
        return _from_contents(read) if has_contents else [_from_wastickers(names, read)]


def is_safe_name(name: str) -> bool:
    """Whether a name is one at all and stays below the folder that it is unpacked into."""
    path = PurePosixPath(name.replace("\\", "/"))
    has_drive = len(name) > 1 and name[1] == ":"
    is_clean = bool(name) and "\0" not in name
    return is_clean and not path.is_absolute() and ".." not in path.parts and not has_drive


def _folder_reader(folder: Path) -> ReadFile:
    root = folder.resolve()

    def read(name: str) -> bytes:
        if not is_safe_name(name):
            raise errors.ArchiveRefused("A name leads out of the folder.", name=name)
        file = (root / name).resolve()
        if not file.is_relative_to(root) or not file.is_file():
            raise errors.ArchiveFileMissing(name)
        if file.stat().st_size > MAX_ENTRY_BYTES:
            raise errors.ArchiveRefused("A file is too large.", name=name)
        return file.read_bytes()

    return read


def _archive_reader(archive: zipfile.ZipFile) -> ReadFile:
    def read(name: str) -> bytes:
        try:
            with archive.open(name) as file:
                data = file.read(MAX_ENTRY_BYTES + 1)
        except KeyError as error:
            raise errors.ArchiveFileMissing(name) from error
        except UNREADABLE as error:
            raise errors.ArchiveRefused("A file cannot be read.", name=name) from error
        if len(data) > MAX_ENTRY_BYTES:
            raise errors.ArchiveRefused("A file is too large.", name=name)
        return data

    return read


def _safe_names(archive: zipfile.ZipFile) -> list[str]:
    """The names of an archive, once all of them are known to be harmless."""
    entries = archive.infolist()
    if len(entries) > MAX_ENTRIES:
        raise errors.ArchiveRefused("Too many files.", count=len(entries), limit=MAX_ENTRIES)
    for entry in entries:
        if not is_safe_name(entry.filename):
            raise errors.ArchiveRefused("A name leads out of the archive.", name=entry.filename)
    total = sum(entry.file_size for entry in entries)
    if total > MAX_TOTAL_BYTES:
        raise errors.ArchiveRefused("Too much content.", bytes=total, limit=MAX_TOTAL_BYTES)
    return [entry.filename for entry in entries if not entry.is_dir()]


def _from_contents(read: ReadFile) -> list[PackSource]:
    try:
        packs = json.loads(read(CONTENTS_NAME))["sticker_packs"]
        return [_pack(entry, read) for entry in packs]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise errors.ArchiveRefused("contents.json is not of the known form.") from error


def _pack(entry: dict[str, Any], read: ReadFile) -> PackSource:
    """One entry; its files lie in a folder named by its identifier, or beside contents.json."""
    identifier = str(entry["identifier"])

    def read_of_pack(name: str) -> bytes:
        try:
            return read(f"{identifier}/{name}")
        except errors.ArchiveFileMissing:
            return read(name)

    return PackSource(
        name=str(entry["name"]),
        publisher=str(entry["publisher"]),
        tray=read_of_pack(entry["tray_image_file"]) if entry.get("tray_image_file") else None,
        stickers=tuple(_sticker(sticker, read_of_pack) for sticker in entry["stickers"]),
    )


def _sticker(entry: dict[str, Any], read: ReadFile) -> StickerSource:
    name = str(entry["image_file"])
    return StickerSource(
        file_name=name,
        data=read(name),
        emojis=tuple(map(str, entry.get("emojis") or ())),
        label=str(entry.get("accessibility_text") or ""),
    )


def _from_wastickers(names: Sequence[str], read: ReadFile) -> PackSource:
    stickers = sorted(name for name in names if name.lower().endswith(".webp"))
    icons = [name for name in names if name.lower().endswith(".png")]
    if not stickers:
        raise errors.ArchiveRefused("The archive holds no stickers.")
    return PackSource(
        name=_line("title.txt", names, read),
        publisher=_line("author.txt", names, read),
        tray=read(icons[0]) if icons else None,
        stickers=tuple(StickerSource(name, read(name)) for name in stickers),
    )


def _line(name: str, names: Sequence[str], read: ReadFile) -> str:
    if name not in names:
        raise errors.ArchiveRefused(f"The archive has no {name}.")
    return read(name).decode("utf-8", "replace").strip()
