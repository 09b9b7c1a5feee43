"""Pages of an author: their packs, a new pack, and stickers for it."""

import functools
from collections.abc import Callable

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from apps.common.errors import DomainError
from apps.stickers import queries
from apps.stickers.errors import PackNotFound
from apps.stickers.forms import NewPackForm, StickersForm
from apps.stickers.images import MAX_ANIMATED_BYTES, read_sticker
from apps.stickers.services.packs import add_sticker, create_pack
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
    """The person's packs under every address of theirs, and a form for a new one."""
    form = NewPackForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        pack = create_pack(owner_jid=person.owner_jid, **form.cleaned_data)
        return redirect("my-pack", pack_key=pack.pack_key)
    context = {"packs": queries.own_packs(person.owner_jid), "form": form}
    return render(request, "stickers/my_packs.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@person_required
def my_pack(request: HttpRequest, person: Person, pack_key: str) -> HttpResponse:
    """One own pack: its stickers, and a form that takes several more at once."""
    pack = queries.own_packs(person.owner_jid).filter(pack_key=pack_key).first()
    if pack is None:
        raise Http404
    form = StickersForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        _add_all(request, person, pack_key, form)
        return redirect("my-pack", pack_key=pack_key)
    context = {"pack": pack, "items": queries.pack_items(pack), "form": form}
    return render(request, "stickers/my_pack.html", context)


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
    # One byte more than any sticker may have is enough to refuse it by its size.
    image = read_sticker(file.read(MAX_ANIMATED_BYTES + 1))
    add_sticker(pack_key, image, owner_jid=person.owner_jid, emojis=form.emoji_list())
