"""What can be wrong with an image, an archive or a pack.

StickerRefused      an image that WhatsApp would not accept; `rule` names why
ArchiveRefused      a pack's archive or folder that cannot be read safely
Pack…               what a pack does not allow
Classifier…         a classifier that does not answer, or not as it should
Curation…           automatic packs that cannot be changed now
"""

from typing import Any, ClassVar

from apps.common.errors import (
    Conflict,
    Forbidden,
    InvalidInput,
    LimitReached,
    NotFound,
    Unavailable,
)


class StickerRefused(InvalidInput):
    """An image breaks one of WhatsApp's rules."""

    code = "sticker_refused"
    rule: ClassVar[str] = ""

    def __init__(self, message: str, **values: Any) -> None:
        super().__init__(message, details={"rule": self.rule, **values})


class NotWebp(StickerRefused):
    """Another format, whatever the file's name says."""

    rule = "format"

    def __init__(self) -> None:
        super().__init__("The file is not a WebP image.")


class UnknownFormat(StickerRefused):
    """Neither of the formats that can be made into a sticker."""

    rule = "format"

    def __init__(self) -> None:
        super().__init__("The file is no WebP, PNG, JPEG or GIF image.")


class CannotFit(StickerRefused):
    """Even at the lowest quality the picture stays too large."""

    rule = "file_size"

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"The picture does not fit into {limit:,} bytes at any quality.", limit_bytes=limit
        )


class BrokenImage(StickerRefused):
    """Cut off or damaged."""

    rule = "readable"

    def __init__(self, reason: str) -> None:
        super().__init__(f"The image cannot be read: {reason}.", reason=reason)


class FileTooLarge(StickerRefused):
    """More bytes than WhatsApp takes."""

    rule = "file_size"

    def __init__(self, size_bytes: int, *, limit: int) -> None:
        super().__init__(
            f"The file has {size_bytes:,} bytes; at most {limit:,} are allowed.",
            size_bytes=size_bytes,
            limit_bytes=limit,
        )


class WrongDimensions(StickerRefused):
    """A sticker has exactly 512 × 512 pixels."""

    rule = "dimensions"

    def __init__(self, width: int, height: int) -> None:
        super().__init__(
            f"A sticker has 512 × 512 pixels, this one {width} × {height}.",
            width=width,
            height=height,
        )


class WrongTrayDimensions(StickerRefused):
    """A pack's icon has 24 to 512 pixels a side."""

    rule = "tray_dimensions"

    def __init__(self, width: int, height: int) -> None:
        super().__init__(
            f"A pack's icon has 24 to 512 pixels a side, this one {width} × {height}.",
            width=width,
            height=height,
        )


class MovingTray(StickerRefused):
    """A pack's icon stands still."""

    rule = "tray_animated"

    def __init__(self) -> None:
        super().__init__("A pack's icon has one frame.")


class ImageBomb(StickerRefused):
    """A small file that would fill the memory when decoded."""

    rule = "decompression_bomb"

    def __init__(self, width: int | None = None, height: int | None = None) -> None:
        super().__init__("The image is too large to be decoded.", width=width, height=height)


class FrameTooShort(StickerRefused):
    """A frame is shown for at least 8 ms."""

    rule = "frame_duration"

    def __init__(self, duration_ms: int) -> None:
        super().__init__(
            f"Each frame lasts at least 8 ms, one lasts {duration_ms}.", duration_ms=duration_ms
        )


class AnimationTooLong(StickerRefused):
    """An animation lasts at most ten seconds."""

    rule = "animation_duration"

    def __init__(self, duration_ms: int) -> None:
        super().__init__(
            f"An animation lasts at most 10,000 ms, this one {duration_ms}.",
            duration_ms=duration_ms,
        )


class WrongEmojiCount(StickerRefused):
    """A sticker carries one to three emojis."""

    rule = "emoji_count"

    def __init__(self, count: int) -> None:
        super().__init__(f"A sticker has 1 to 3 emojis, this one {count}.", count=count)


class MixedAnimation(StickerRefused):
    """A pack holds still or animated stickers, never both."""

    rule = "mixed_animation"

    def __init__(self, *, pack_is_animated: bool) -> None:
        kind = "animated" if pack_is_animated else "still"
        super().__init__(f"This pack holds only {kind} stickers.")


class ArchiveRefused(InvalidInput):
    """A pack's folder or archive cannot be read, or not safely."""

    code = "archive_refused"

    def __init__(self, message: str, **values: Any) -> None:
        super().__init__(message, details=values)


class ArchiveFileMissing(ArchiveRefused):
    """A file that a pack names is not in its folder or archive."""

    def __init__(self, name: str) -> None:
        super().__init__("A file is missing.", name=name)


class PackNotFound(NotFound):
    """No such pack, or not one that the caller may see."""

    code = "pack_not_found"

    def __init__(self, key: str) -> None:
        super().__init__("There is no such pack.", details={"pack": key})


class NotPackOwner(Forbidden):
    """The pack belongs to somebody else."""

    code = "not_allowed"

    def __init__(self) -> None:
        super().__init__("This pack belongs to somebody else.")


class DuplicateSticker(Conflict):
    """The pack already holds this image."""

    code = "duplicate_sticker"

    def __init__(self, sha256: str) -> None:
        super().__init__("The pack already holds this sticker.", details={"sha256": sha256})


class PackFull(LimitReached):
    """A pack holds a limited number of stickers."""

    code = "pack_limit_reached"

    def __init__(self, limit: int) -> None:
        super().__init__(f"A pack holds at most {limit} stickers.", details={"limit": limit})


class TooManyPacks(LimitReached):
    """An author has a limited number of packs."""

    code = "pack_limit_reached"

    def __init__(self, limit: int) -> None:
        super().__init__(f"An author has at most {limit} packs.", details={"limit": limit})


class UnknownVisibility(InvalidInput):
    """A visibility that does not exist."""

    code = "invalid_input"

    def __init__(self, visibility: str) -> None:
        super().__init__("There is no such visibility.", details={"visibility": visibility})


class InvalidText(InvalidInput):
    """A name or label that is empty or too long."""

    code = "invalid_text"

    def __init__(self, field: str, *, limit: int) -> None:
        super().__init__(
            f"{field} needs 1 to {limit} characters.", details={"field": field, "limit": limit}
        )


class OwnerNotNamed(InvalidInput):
    """A token acts for anybody, so it has to say for whom."""

    code = "owner_not_named"

    def __init__(self) -> None:
        super().__init__("Name the author in owner_jid.", details={"field": "owner_jid"})


class InvalidUpload(InvalidInput):
    """An announced or received file that cannot be taken."""

    code = "invalid_upload"

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message, details={"field": field})


class UploadIdTaken(InvalidInput):
    """The upload id names another file of this pack."""

    code = "upload_id_taken"

    def __init__(self, upload_id: str) -> None:
        super().__init__("This upload id names another file.", details={"upload_id": upload_id})


class UploadNotFound(NotFound):
    """The pack has no such upload."""

    code = "upload_not_found"

    def __init__(self, upload_id: str) -> None:
        super().__init__("There is no such upload.", details={"upload_id": upload_id})


class UploadInWork(Conflict):
    """A worker is busy with the upload."""

    code = "upload_in_work"

    def __init__(self) -> None:
        super().__init__("This upload is being worked on; try again later.")


class WrongOffset(Conflict):
    """The bytes do not continue what is here."""

    code = "wrong_offset"

    def __init__(self, expected: int) -> None:
        super().__init__(f"Go on at byte {expected}.", details={"expected_offset": expected})


class NotPublishable(Conflict):
    """Something stands in the way of publishing a pack."""

    code = "not_publishable"

    def __init__(self, reason: str, uploads: dict[str, int]) -> None:
        super().__init__(
            f"The pack cannot be published: {reason}.",
            details={"reason": str(reason), "uploads": uploads},
        )


class StickerNotInPack(NotFound):
    """The pack does not hold that sticker."""

    code = "sticker_not_found"

    def __init__(self, sticker_id: str) -> None:
        super().__init__("The pack does not hold this sticker.", details={"sticker": sticker_id})


class StickerFileMissing(NotFound):
    """The sticker is known, but its file is gone."""

    code = "sticker_file_missing"

    def __init__(self, sha256: str) -> None:
        super().__init__("The sticker's file is missing.", details={"sha256": sha256})


class ObjectMissing(NotFound):
    """The object storage has no such object."""

    code = "object_missing"

    def __init__(self, key: str) -> None:
        super().__init__("The object is missing.", details={"key": key})


class ObjectStorageUnavailable(Unavailable):
    """The object storage does not answer, or not as it should."""

    code = "object_storage_unavailable"

    def __init__(self, reason: str) -> None:
        super().__init__(f"The object storage does not answer: {reason}")


class KeySpaceExhausted(Conflict):
    """No free key was found for a pack's name."""

    code = "pack_key_exhausted"

    def __init__(self) -> None:
        super().__init__("No free key was found for this name; choose another.")


class InvalidCursor(InvalidInput):
    """A cursor that this list did not give."""

    code = "invalid_cursor"

    def __init__(self) -> None:
        super().__init__("The cursor does not belong to this list; start again without one.")


class StickerNotClassifiable(InvalidInput):
    """A classifier cannot read the file; asking again changes nothing."""

    code = "sticker_not_classifiable"

    def __init__(self, tag: str, reason: str) -> None:
        super().__init__(f"The sticker cannot be classified: {reason}.", details={"tag": tag})
        self.tag = tag


class ClassifierUnavailable(Unavailable):
    """The classifier service does not answer now."""

    code = "classifier_unavailable"

    def __init__(self, reason: str) -> None:
        super().__init__(f"The classifier does not answer: {reason}.")


class BadClassifierAnswer(ClassifierUnavailable):
    """The classifier service answers with something else than its contract says."""

    code = "bad_classifier_answer"

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field} {reason}")
        self.details = {"field": field}


class ClassifierMisconfigured(Unavailable):
    """The classifier service refuses us; only an operator can mend that."""

    code = "classifier_misconfigured"

    def __init__(self, status: int) -> None:
        super().__init__(
            f"The classifier answers {status}; look at CLASSIFIER_URL and CLASSIFIER_TOKEN.",
            details={"status": status},
        )


class ReportAlreadyOpen(Conflict):
    """The visitor has reported this pack, and nobody has decided yet."""

    code = "report_already_open"

    def __init__(self) -> None:
        super().__init__("You have reported this pack already; a moderator will look at it.")


class NothingToDecide(Conflict):
    """No report waits and the pack is already as wished."""

    code = "nothing_to_decide"

    def __init__(self) -> None:
        super().__init__("No report waits, and the pack is already so.")
