"""The images themselves: from the object storage where that can be relied on, else from here."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotModified
from django.http import HttpResponseRedirect as Redirect
from django.shortcuts import get_object_or_404
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_safe

from apps.stickers.byte_ranges import parse_range
from apps.stickers.errors import ObjectStorageUnavailable, StickerFileMissing
from apps.stickers.images import WEBP_MIMETYPE
from apps.stickers.models import StickerAsset
from apps.stickers.services.objects import delivery_address
from apps.stickers.storage import read_asset


@require_safe
def asset(request: HttpRequest, sha256: str) -> HttpResponse:
    """A sticker's image. Its address names its content, so it may be kept for good.

    Sensitive images are kept by the visitor's browser alone, never by caches that others share.
    """
    found = get_object_or_404(StickerAsset.objects.select_related("classification"), sha256=sha256)
    etag = f'"{sha256}"'
    if request.headers.get("If-None-Match") == etag:
        return _cached(HttpResponseNotModified(), found, etag)
    # A signed address is good for GET alone.
    address = delivery_address(found, is_sensitive=_is_sensitive(found))
    if address and request.method == "GET":
        return _redirect(address)
    return _own_answer(request, found, etag)


def _redirect(address: str) -> HttpResponse:
    """To the storage; the answer is a capability, so no shared cache may keep it."""
    response = Redirect(address)
    seconds = settings.OBJECT_STORAGE_SIGNED_URL_SECONDS // 2
    patch_cache_control(response, private=True, max_age=seconds)
    return response


def _own_answer(request: HttpRequest, found: StickerAsset, etag: str) -> HttpResponse:
    try:
        data = read_asset(found)
    except StickerFileMissing as error:
        raise Http404 from error
    except ObjectStorageUnavailable:
        return HttpResponse(status=503, headers={"Retry-After": "60"})
    wanted = parse_range(request.headers.get("Range", ""), len(data))
    response = HttpResponse(data if wanted is None else data[wanted], content_type=WEBP_MIMETYPE)
    response["Accept-Ranges"] = "bytes"
    if wanted is not None:
        response.status_code = 206
        response["Content-Range"] = f"bytes {wanted.start}-{wanted.stop - 1}/{len(data)}"
    return _cached(response, found, etag)


def _is_sensitive(found: StickerAsset) -> bool:
    classification = getattr(found, "classification", None)
    return classification is not None and bool(classification.is_nsfw)


def _cached(response: HttpResponse, found: StickerAsset, etag: str) -> HttpResponse:
    who = {"private": True} if _is_sensitive(found) else {"public": True}
    seconds = settings.STICKER_ASSET_CACHE_SECONDS
    patch_cache_control(response, max_age=seconds, immutable=True, **who)
    response["ETag"] = etag
    return response
