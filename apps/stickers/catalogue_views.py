"""Public pages: the catalogue, a pack, and what visitors do there. All work without scripts."""

from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from apps.stickers import catalogue as lists
from apps.stickers import discovery, exporting, queries
from apps.stickers.api.throttles import AddressThrottle, EngagementThrottle, ReportThrottle
from apps.stickers.choices import Interaction
from apps.stickers.errors import (
    InvalidCursor,
    PackNotFound,
    ReportAlreadyOpen,
    StickerFileMissing,
)
from apps.stickers.forms import ReportForm
from apps.stickers.models import StickerPack
from apps.stickers.services import engagement, moderation
from apps.stickers.visitors import Visitor, remember_visitor, visitor_of
from apps.whatsapp_auth.errors import SessionCheckUnavailable
from apps.whatsapp_auth.people import person_of

SORT_LABELS = {
    "popular": gettext_lazy("Popular"),
    "trending": gettext_lazy("Trending"),
    "new": gettext_lazy("New"),
    "liked": gettext_lazy("Most liked"),
    "downloads": gettext_lazy("Most opened"),
}
ARCHIVE_TYPE = "application/zip"
TOO_MANY = gettext_lazy("That was a lot at once. Please wait a minute and try again.")


@require_safe
def catalogue(request: HttpRequest) -> HttpResponse:
    """All public packs in the chosen order, a page at a time."""
    wish = _wish(request)
    try:
        page = lists.catalogue_page(wish)
    except InvalidCursor as error:
        raise Http404 from error
    visitor = _visitor(request)
    scores = lists.shown_scores(
        page.packs,
        reads_snapshots=lists.reads_snapshots(visitor.actor_key),
        now=timezone.now(),
    )
    context = {
        "cards": [(pack, scores.get(pack.pk)) for pack in page.packs],
        "wish": wish,
        "sorts": [(name, label, _address(wish, sort=name)) for name, label in SORT_LABELS.items()],
        "tags": discovery.popular_tags(),
        "next_address": _address(wish, cursor=page.next_cursor) if page.next_cursor else "",
        "all_address": _address(wish, publisher=""),
        "refreshed_at": min((row.refreshed_at for row in scores.values()), default=None),
    }
    return render(request, "stickers/catalogue.html", context)


@require_safe
def pack(request: HttpRequest, pack_key: str) -> HttpResponse:
    """One pack with its stickers, and what the visitor thinks of it."""
    return _pack_page(request, _found(pack_key), ReportForm())


@require_POST
def opinion(request: HttpRequest, pack_key: str) -> HttpResponse:
    """Like or dislike a pack, or take it back: the same button again withdraws."""
    found = _found(pack_key)
    if not EngagementThrottle().allow_request(request, None):
        messages.error(request, TOO_MANY)
        return redirect("pack", pack_key=pack_key)
    wanted = request.POST.get("interaction")
    if wanted not in engagement.OPINIONS:
        raise Http404
    visitor = _visitor(request)
    if queries.opinion_of(found, visitor.actor_key) == wanted:
        engagement.withdraw_opinion(found, Interaction(wanted), actor_key=visitor.actor_key)
    elif not visitor.is_robot:
        engagement.record_interaction(
            found,
            Interaction(wanted),
            actor_key=visitor.actor_key,
            now=timezone.now(),
            address_key=visitor.address_key,
            source=visitor.source,
        )
    return redirect("pack", pack_key=pack_key)


@require_POST
def report(request: HttpRequest, pack_key: str) -> HttpResponse:
    """Tell the moderators what is wrong with a pack."""
    found = _found(pack_key)
    form = ReportForm(request.POST)
    if not form.is_valid():
        return _pack_page(request, found, form, status=400)
    if not ReportThrottle().allow_request(request, None):
        messages.error(request, TOO_MANY)
        return redirect("pack", pack_key=pack_key)
    actor = _visitor(request).actor_key
    try:
        moderation.report_pack(found, actor_key=actor, now=timezone.now(), **form.cleaned_data)
    except ReportAlreadyOpen:
        messages.info(request, _("You have reported this pack already; it will be looked at."))
    else:
        messages.success(request, _("Thank you. A moderator will look at this pack."))
    return redirect("pack", pack_key=pack_key)


@require_safe
def download(request: HttpRequest, pack_key: str) -> HttpResponse:
    """The pack as a `.wastickers` file."""
    if not AddressThrottle().allow_request(request, None):
        return HttpResponse(TOO_MANY, status=429, content_type="text/plain; charset=utf-8")
    _found(pack_key)
    try:
        exported = queries.exported_pack(pack_key)
    except StickerFileMissing as error:
        raise Http404 from error
    if not exported.stickers:
        raise Http404
    response = HttpResponse(exporting.as_wastickers(exported), content_type=ARCHIVE_TYPE)
    response["Content-Disposition"] = content_disposition_header(
        as_attachment=True, filename=f"{pack_key}.wastickers"
    )
    return response


def _pack_page(
    request: HttpRequest, found: StickerPack, form: ReportForm, *, status: int = 200
) -> HttpResponse:
    visitor = _visitor(request)
    scores = lists.shown_scores(
        [found], reads_snapshots=lists.reads_snapshots(visitor.actor_key), now=timezone.now()
    )
    context = {
        "pack": found,
        "scores": scores.get(found.pk),
        "items": queries.pack_items(found),
        "opinion": queries.opinion_of(found, visitor.actor_key),
        "share_address": f"{settings.SITE_ORIGIN}/packs/{found.pack_key}",
        "form": form,
    }
    response = render(request, "stickers/pack.html", context, status=status)
    remember_visitor(request, response)
    return response


def _found(pack_key: str) -> StickerPack:
    try:
        return queries.visible_pack(pack_key)
    except PackNotFound as error:
        raise Http404 from error


def _visitor(request: HttpRequest) -> Visitor:
    """Who looks; a session that cannot be checked just now makes nobody a person."""
    try:
        person = person_of(request)
    except SessionCheckUnavailable:
        person = None
    return visitor_of(request, owner_jid=person.owner_jid if person else "")


def _wish(request: HttpRequest) -> lists.Wish:
    """What the address asks for; sensitive packs only when it says so."""
    asked = request.GET
    sort = asked.get("sort", "popular")
    if sort not in lists.SORTS:
        raise Http404
    tags = dict.fromkeys(tag.strip().lower()[:64] for tag in asked.getlist("category"))
    return lists.Wish(
        sort=sort,
        search=asked.get("q", "").strip()[:120],
        categories=tuple(tag for tag in tags if tag)[: lists.MAX_CATEGORIES],
        publisher=asked.get("publisher", "").strip()[:120],
        include_sensitive=asked.get("sensitive") == "1",
        cursor=asked.get("cursor") or None,
    )


def _address(wish: lists.Wish, **changes: str) -> str:
    """The address of the same list with something changed; always from its first page."""
    asked = {
        "sort": wish.sort,
        "q": wish.search,
        "category": list(wish.categories),
        "publisher": wish.publisher,
        "sensitive": "1" if wish.include_sensitive else "",
    } | changes
    return "?" + urlencode({name: value for name, value in asked.items() if value}, doseq=True)
