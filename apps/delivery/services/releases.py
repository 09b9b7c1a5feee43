"""Releases: made once, numbered, never changed."""

import re
from datetime import datetime

from django.db import transaction
from django.db.models import Max

from apps.delivery.desired import MANIFEST_VERSION
from apps.delivery.errors import InvalidDigest
from apps.delivery.models import App, Release
from apps.delivery.queries import app_settings

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


@transaction.atomic
def create_release(
    app: App,
    image_digest: str,
    *,
    actor: str,
    now: datetime,
    note: str = "",
    external_id: str = "",
) -> Release:
    """Freeze an image and the app's present settings under the next number.

    Raises InvalidDigest.
    """
    check_digest(image_digest)
    # Two makers take turns on the app's row, so that numbers have no gaps and no twins.
    locked = App.objects.select_for_update().select_related("plan").get(pk=app.pk)
    last = Release.objects.filter(app=locked).aggregate(last=Max("number"))["last"] or 0
    return Release.objects.create(
        app=locked,
        number=last + 1,
        image_digest=image_digest,
        config=app_settings(locked),
        manifest_version=MANIFEST_VERSION,
        note=note,
        external_id=external_id,
        actor=actor,
        created_at=now,
    )


def check_digest(image_digest: str) -> None:
    """Raise InvalidDigest for anything but `sha256:` and 64 hexadecimal digits: a tag can move."""
    if _DIGEST.fullmatch(image_digest) is None:
        raise InvalidDigest(
            "A release names its image by digest: sha256: and 64 hexadecimal digits.",
            details={"field": "image_digest"},
        )
