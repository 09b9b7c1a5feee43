"""Public pages: the catalogue and a pack."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from apps.stickers import queries
from apps.stickers.errors import InvalidCursor, PackNotFound

SORT_LABELS = {
    "popular": _("Popular"),
    "trending": _("Trending"),
    "new": _("New"),
    "liked": _("Most liked"),
    "downloads": _("Most opened"),
}


@require_safe
def catalogue(request: HttpRequest) -> HttpResponse:
    """All public packs in the chosen order, a page at a time."""
    sort = request.GET.get("sort", "popular")
    search = request.GET.get("q", "").strip()[:120]
    if sort not in queries.SORTS:
        raise Http404
    try:
        page = queries.catalogue_page(
            sort=sort, search=search, cursor=request.GET.get("cursor") or None
        )
    except InvalidCursor as error:
        raise Http404 from error
    context = {"page": page, "sort": sort, "search": search, "sorts": SORT_LABELS.items()}
    return render(request, "stickers/catalogue.html", context)


@require_safe
def pack(request: HttpRequest, pack_key: str) -> HttpResponse:
    """One pack with its stickers."""
    try:
        found = queries.visible_pack(pack_key)
    except PackNotFound as error:
        raise Http404 from error
    context = {"pack": found, "items": queries.pack_items(found)}
    return render(request, "stickers/pack.html", context)
