"""States and kinds of the sticker service; the values are those of the mirrored enums."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.common.choices import LeaseStatus

__all__ = [
    "DECISIONS",
    "CurationMode",
    "CurationReason",
    "CurationStatus",
    "CurationVerdict",
    "Interaction",
    "LeaseStatus",
    "NsfwLevel",
    "ObjectState",
    "Outcome",
    "PackStatus",
    "ReportReason",
    "ReprocessReason",
    "RunStatus",
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


class CurationMode(models.TextChoices):
    """Whether a run of the curation adds stickers or puts packs in order."""

    ADDITIONS = "additions", _("additions")
    REBUILD = "rebuild", _("rebuild")


class RunStatus(models.TextChoices):
    """How a run of the curation ended."""

    RUNNING = "running", _("running")
    DONE = "done", _("done")
    FAILED = "failed", _("failed")


class CurationVerdict(models.TextChoices):
    """What the curation decided about a sticker or an automatic pack."""

    ADDED = "added", _("added")
    REMOVED = "removed", _("removed")
    REFUSED = "refused", _("refused")
    CREATED = "created", _("created")
    CHANGED = "changed", _("changed")
    ARCHIVED = "archived", _("archived")
    SKIPPED = "skipped", _("skipped")


class CurationReason(models.TextChoices):
    """Why the curation decided so."""

    FITS = "fits", _("fits the theme")
    TOO_SMALL = "too_small", _("the picture has too few pixels")
    TOO_LIGHT = "too_light", _("the file has too few bytes")
    BLURRY = "blurry", _("blurry or badly compressed")
    NO_THEME = "no_theme", _("shows no theme")
    WEAK_THEME = "weak_theme", _("shows its theme too weakly")
    LOW_SCORE = "low_score", _("scores too low in most passes")
    UNSURE_THEME = "unsure_theme", _("its theme changes between passes")
    NEAR_COPY = "near_copy", _("looks like another sticker")
    OUTRANKED = "outranked", _("better stickers fill the packs")
    SENSITIVE = "sensitive", _("sensitive content")
    NOT_PUBLIC = "not_public", _("is in no public pack any more")
    MOVED_THEME = "moved_theme", _("shows another theme now")
    LOW_COHESION = "low_cohesion", _("the pack does not hold together")
    MERGED = "merged", _("comes from a smaller pack of the theme")
    GROUP_TOO_SMALL = "group_too_small", _("too few stickers of its theme")
    GROUP_LIMIT = "group_limit", _("enough new themes in this run")
    PACK_LIMIT = "pack_limit", _("enough automatic packs")
    OWNERS_FULL = "owners_full", _("no owner has room for a pack")
    BUDGET = "budget", _("the budget of this run is used up")
    NEW_THEME = "new_theme", _("a new theme")
    NEXT_VOLUME = "next_volume", _("the next volume of a theme")
    CONTENTS = "contents", _("other contents or another state")
    BEYOND_LIMIT = "beyond_limit", _("more packs than a theme may have")
    TOO_FEW = "too_few", _("too few stickers are left")
    PAUSED = "paused", _("paused by an operator")
    CHANGED_MEANWHILE = "changed_meanwhile", _("somebody changed it meanwhile")
