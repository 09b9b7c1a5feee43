"""The operator's pages of the object storage: what is stored, and whether it answers."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from apps.common.admin import ReadOnlyAdmin
from apps.stickers.models import ObjectStorageHealth, StoredObject
from apps.stickers.services import objects


@admin.register(StoredObject)
class StoredObjectAdmin(ReadOnlyAdmin):
    """Copies of stickers and when each was last seen; those in doubt can be copied again."""

    list_display = ["sha256", "state", "object_key", "size_bytes", "checked_at", "last_error"]
    list_filter = ["state", "bucket"]
    search_fields = ["sha256", "object_key"]
    ordering = ["-checked_at"]
    show_full_result_count = False
    actions = ["store_again"]

    def has_store_again_permission(self, request: HttpRequest) -> bool:
        """Whoever may change objects."""
        return request.user.has_perm("stickers.change_storedobject")

    @admin.action(description=_("Copy the selected stickers again"), permissions=["store_again"])
    def store_again(self, request: HttpRequest, chosen: QuerySet[StoredObject]) -> None:
        """Leave them to the minute task and say how many."""
        count = objects.request_copies(chosen.values_list("pk", flat=True), now=timezone.now())
        text = ngettext(
            "%(count)d sticker will be copied again.",
            "%(count)d stickers will be copied again.",
            count,
        )
        self.message_user(request, text % {"count": count})


@admin.register(ObjectStorageHealth)
class ObjectStorageHealthAdmin(ReadOnlyAdmin):
    """Whether each bucket answers, since when, and what it said last."""

    list_display = ["bucket", "is_up", "changed_at", "checked_at", "last_error"]
    list_filter = ["is_up"]
    search_fields = ["bucket"]
