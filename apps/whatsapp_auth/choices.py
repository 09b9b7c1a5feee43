"""Roles and states of people and tokens."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Role(models.TextChoices):
    """What a member of staff may do; each is a Django group of the same name."""

    VIEWER = "viewer", _("viewer")
    OPERATOR = "operator", _("operator")
    OWNER = "owner", _("owner")


class LoginOutcome(models.TextChoices):
    """What happened to a login link or a person's data; refusals are kept by their error code."""

    LINK_ISSUED = "link_issued", _("link issued")
    LINKS_REVOKED = "links_revoked", _("links revoked")
    SIGNED_IN = "signed_in", _("signed in")
    PHONE_TAKEN_OVER = "phone_taken_over", _("phone taken over")
    PHONE_CHANGED = "phone_changed", _("phone changed")
    SIGNED_OUT = "signed_out", _("signed out")
    DATA_EXPORTED = "data_exported", _("data exported")
    DATA_ERASED = "data_erased", _("data erased")


def outcome_label(outcome: str) -> str:
    """The outcome in words; a refusal is shown by its code."""
    return str(dict(LoginOutcome.choices).get(outcome, outcome))


class NoticeKind(models.TextChoices):
    """What a person is told at their next visit."""

    PHONE_TAKEN_OVER = "phone_taken_over", _("your number is now used with another account")


class LookupStatus(models.TextChoices):
    """What the LID map knows about one identity."""

    KNOWN = "known", _("the phone is known")
    HIDDEN = "hidden", _("seen, but its phone is hidden")
    UNKNOWN = "unknown", _("never seen")
    ERROR = "error", _("not an identity")
