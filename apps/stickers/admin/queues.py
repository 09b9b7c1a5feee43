"""Uploads and the tasks of the sticker workers."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from apps.common.admin import ReadOnlyAdmin
from apps.stickers.models import PackWebUpload, WorkerTask, WorkerTaskDeadLetter
from apps.stickers.services import worker_tasks


@admin.register(PackWebUpload)
class PackWebUploadAdmin(ReadOnlyAdmin):
    """Uploads and why they failed."""

    list_display = ["upload_id", "pack", "upload_status", "error_code", "attempt_count"]
    list_filter = ["upload_status", "error_code"]
    list_select_related = ["pack"]
    search_fields = ["upload_id", "pack__pack_key"]


@admin.register(WorkerTask)
class WorkerTaskAdmin(ReadOnlyAdmin):
    """Runs of the worker cycles; dead ones can be sent back."""

    list_display = ["id", "task_type", "status", "priority", "attempts", "last_error", "updated_at"]
    list_filter = ["status", "task_type"]
    ordering = ["-pk"]
    actions = ["redrive"]

    def has_redrive_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("stickers.change_workertask")

    @admin.action(description=_("Send the selected dead tasks back"), permissions=["redrive"])
    def redrive(self, request: HttpRequest, chosen: QuerySet[WorkerTask]) -> None:
        moved = worker_tasks.redrive(list(chosen.values_list("pk", flat=True)))
        text = ngettext("%(count)d task sent back.", "%(count)d tasks sent back.", len(moved))
        self.message_user(request, text % {"count": len(moved)})


@admin.register(WorkerTaskDeadLetter)
class WorkerTaskDeadLetterAdmin(ReadOnlyAdmin):
    """Copies of worker tasks that used up their attempts."""

    list_display = ["task_id", "task_type", "attempts", "last_error", "failed_at"]
    list_filter = ["task_type"]
    ordering = ["-failed_at"]
