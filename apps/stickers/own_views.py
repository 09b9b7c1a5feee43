"""Pages of an author: their packs, a new pack, stickers for it, and what can be done with both."""

import functools
from collections.abc import Callable

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from apps.common.errors import DomainError
from apps.stickers import queries
from apps.stickers.choices import PackStatus, UploadStatus
from apps.stickers.conversion import MAX_SOURCE_BYTES, to_sticker
from apps.stickers.errors import PackNotFound
from apps.stickers.forms import EditPackForm, NewPackForm, StickersForm
from apps.stickers.models import StickerPack
from apps.stickers.services import editing, packs, publishing, uploads
from apps.whatsapp_auth.people import Person, person_of

View = Callable[..., HttpResponse]


def person_required(view: View) -> View:
    """Send visitors who are not signed in to the sign-in page."""

    @functools.wraps(view)
    def guarded(request: HttpRequest, **kwargs: str) -> HttpResponse:
        person = person_of(request)
        if person is None:
            return redirect("login")
        return view(request, person, **kwargs)

    return never_cache(guarded)


@require_http_methods(["GET", "HEAD", "POST"])
@person_required
def my_packs(request: HttpRequest, person: Person) -> HttpResponse:
    """The person's packs under every address of theirs, and a form for a new one: a draft."""
    form = NewPackForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        values = {"owner_jid": person.owner_jid, "status": PackStatus.DRAFT, **form.cleaned_data}
        try:
            pack = packs.create_own_pack(**values)
        except DomainError as refusal:
            form.add_error(None, refusal.message)
        else:
            return redirect("my-pack", pack_key=pack.pack_key)
    context = {"packs": queries.own_packs(person.owner_jid), "form": form}
    return render(request, "stickers/my_packs.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@person_required
def my_pack(request: HttpRequest, person: Person, pack_key: str) -> HttpResponse:
    """One own pack: its stickers, and a form that takes several more at once."""
    pack = _own(person, pack_key)
    form = StickersForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        _add_all(request, person, pack_key, form)
        return redirect("my-pack", pack_key=pack_key)
    context = {
        "pack": pack,
        "items": queries.pack_items(pack),
        "failed": pack.uploads.filter(upload_status=UploadStatus.FAILED).order_by("pk"),
        "form": form,
        "edit_form": EditPackForm.of(pack),
    }
    return render(request, "stickers/my_pack.html", context)


@require_POST
@person_required
def publish_pack(request: HttpRequest, person: Person, pack_key: str) -> HttpResponse:
    """Publish an own pack, or say what hinders it."""
    _own(person, pack_key)
    try:
        publishing.finalize_pack(pack_key, owner_jid=person.owner_jid)
    except DomainError as refusal:
        reason = str(refusal.details.get("reason", ""))
        messages.error(request, _hindrances().get(reason, refusal.message))
    else:
        messages.success(request, _("The pack is published."))
    return redirect("my-pack", pack_key=pack_key)


@require_POST
@person_required
def edit_pack(request: HttpRequest, person: Person, pack_key: str) -> HttpResponse:
    """Change texts, tags and visibility."""
    _own(person, pack_key)
    form = EditPackForm(request.POST)
    if form.is_valid():
        _try(
            request,
            lambda: editing.edit_pack(pack_key, owner_jid=person.owner_jid, **form.changes()),
        )
    else:
        messages.error(request, form.first_error())
    return redirect("my-pack", pack_key=pack_key)


@require_POST
@person_required
def change_pack(request: HttpRequest, person: Person, pack_key: str) -> HttpResponse:
    """Copy or delete an own pack."""
    _own(person, pack_key)
    if request.POST.get("action") == "delete":
        editing.delete_pack(pack_key, owner_jid=person.owner_jid)
        messages.success(request, _("The pack is deleted."))
        return redirect("my-packs")
    _try(request, lambda: packs.clone_pack(pack_key, owner_jid=person.owner_jid))
    return redirect("my-packs")


@require_POST
@person_required
def change_sticker(
    request: HttpRequest, person: Person, pack_key: str, sticker_id: str
) -> HttpResponse:
    """Take a sticker out of an own pack, or make it the cover."""
    _own(person, pack_key)
    is_removed = request.POST.get("action") == "remove"
    change = editing.remove_sticker if is_removed else editing.set_cover
    _try(request, lambda: change(pack_key, sticker_id, owner_jid=person.owner_jid))
    return redirect("my-pack", pack_key=pack_key)


@require_POST
@person_required
def discard_upload(
    request: HttpRequest, person: Person, pack_key: str, upload_id: str
) -> HttpResponse:
    """Forget an upload that failed."""
    _own(person, pack_key)
    _try(
        request,
        lambda: uploads.discard_upload(pack_key, upload_id, owner_jid=person.owner_jid),
    )
    return redirect("my-pack", pack_key=pack_key)


def _own(person: Person, pack_key: str) -> StickerPack:
    pack = queries.own_packs(person.owner_jid).filter(pack_key=pack_key).first()
    if pack is None:
        raise Http404
    return pack


def _try(request: HttpRequest, change: Callable[[], object]) -> None:
    """Do it, or say why not."""
    try:
        change()
    except DomainError as refusal:
        messages.error(request, refusal.message)


def _hindrances() -> dict[str, str]:
    """What hinders publishing, in the reader's language."""
    reason = publishing.Hindrance
    return {
        reason.FAILED_UPLOADS: _("Some uploads failed: send them again or discard them."),
        reason.UPLOADS_PROCESSING: _("Some uploads are still being worked on."),
        reason.UPLOADS_PENDING: _("Some uploads have not arrived as a whole."),
        reason.COVER_MISSING: _("Choose a cover."),
        reason.NOT_ENOUGH_STICKERS: _("A pack needs at least three stickers."),
    }


def _add_all(request: HttpRequest, person: Person, pack_key: str, form: StickersForm) -> None:
    """Add what is valid and say of each other file which rule it breaks."""
    added = 0
    for file in form.cleaned_data["stickers"]:
        try:
            _add(file, person, pack_key, form)
        except PackNotFound as gone:
            raise Http404 from gone
        except DomainError as refusal:
            text = _("%(file)s was not added: %(reason)s")
            messages.error(request, text % {"file": file.name, "reason": refusal.message})
        else:
            added += 1
    text = ngettext("%(count)d sticker added.", "%(count)d stickers added.", added)
    messages.success(request, text % {"count": added})


def _add(file: UploadedFile, person: Person, pack_key: str, form: StickersForm) -> None:
    # One byte more than any source may have is enough to refuse it by its size.
    image = to_sticker(file.read(MAX_SOURCE_BYTES + 1))
    packs.add_sticker(pack_key, image, owner_jid=person.owner_jid, emojis=form.emoji_list())
