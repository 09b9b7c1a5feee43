"""States and kinds of the sticker service; the values are those of the mirrored enums."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.common.choices import LeaseStatus

__all__ = [
    "DECISIONS",
    "CurationStatus",
    "Interaction",
    "LeaseStatus",
    "NsfwLevel",
    "ObjectState",
    "Outcome",
    "PackStatus",
    "ReportReason",
    "ReprocessReason",
    "UploadStatus",
    "Visibility",
    "WorkerTaskType",
]


class Visibility(models.TextChoices):
    """Who finds a pack: nobody else, everybody, or whoever has its link."""

    PRIVATE = "private", _("private")
    PUBLIC = "public", _("public")
    UNLISTED = "unlisted", _("unlisted")


class PackStatus(models.TextChoices):
    """Where a pack stands on its way to being published."""

    DRAFT = "draft", _("draft")
    UPLOADING = "uploading", _("uploading")
    PROCESSING = "processing", _("processing")
    PUBLISHED = "published", _("published")
    FAILED = "failed", _("failed")


class CurationStatus(models.TextChoices):
    """Whether a pack holds enough stickers to be shown; only automatic packs change it."""

    BUILDING = "building", _("building")
    READY = "ready", _("ready")
    ARCHIVED = "archived", _("archived")


class UploadStatus(models.TextChoices):
    """The life of one upload into a pack."""

    PENDING = "pending", _("pending")
    PROCESSING = "processing", _("processing")
    DONE = "done", _("done")
    FAILED = "failed", _("failed")


class ObjectState(models.TextChoices):
    """Whether a sticker's copy in the object storage can be relied on."""

    PENDING = "pending", _("to be stored")
    STORED = "stored", _("stored")
    MISSING = "missing", _("missing")
    REMOVING = "removing", _("being removed")


class Interaction(models.TextChoices):
    """What a visitor did with a pack."""

    OPEN = "open", _("open")
    LIKE = "like", _("like")
    DISLIKE = "dislike", _("dislike")


class NsfwLevel(models.TextChoices):
    """How sensitive a pack's content is."""

    SAFE = "safe", _("safe")
    SUGGESTIVE = "suggestive", _("suggestive")
    EXPLICIT = "explicit", _("explicit")


class ReportReason(models.TextChoices):
    """Why a visitor reports a pack."""

    SENSITIVE = "sensitive", _("sexual or violent content")
    HATE = "hate", _("hate or harassment")
    MINORS = "minors", _("harms a minor")
    COPYRIGHT = "copyright", _("somebody else's work")
    SPAM = "spam", _("spam or misleading")
    OTHER = "other", _("something else")


class Outcome(models.TextChoices):
    """What became of a report; all but the first are decisions of a moderator."""

    OPEN = "open", _("waiting")
    DISMISSED = "dismissed", _("nothing wrong")
    HIDDEN = "hidden", _("pack hidden")
    SENSITIVE = "sensitive", _("marked sensitive")
    REMOVED = "removed", _("pack removed")
    RESTORED = "restored", _("shown again")


# What a moderator may decide: every outcome but the first.
DECISIONS = [(str(value), label) for value, label in Outcome.choices if value != Outcome.OPEN]


class ReprocessReason(models.TextChoices):
    """Why a sticker is to be classified again."""

    MODEL_UPGRADE = "MODEL_UPGRADE", _("model upgrade")
    LOW_CONFIDENCE = "LOW_CONFIDENCE", _("low confidence")
    TREND_SHIFT = "TREND_SHIFT", _("trend shift")
    NSFW_REVIEW = "NSFW_REVIEW", _("sensitive content review")


class WorkerTaskType(models.TextChoices):
    """The three cycles that sticker workers run."""

    CLASSIFICATION_CYCLE = "classification_cycle", _("classification cycle")
    CURATION_CYCLE = "curation_cycle", _("curation cycle")
    REBUILD_CYCLE = "rebuild_cycle", _("rebuild cycle")
