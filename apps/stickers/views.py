"""The images of stickers."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotModified
from django.shortcuts import get_object_or_404
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_safe

from apps.stickers.byte_ranges import parse_range
from apps.stickers.errors import StickerFileMissing
from apps.stickers.images import WEBP_MIMETYPE
from apps.stickers.models import StickerAsset
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
    try:
        data = read_asset(found)
    except StickerFileMissing as error:
        raise Http404 from error
    wanted = parse_range(request.headers.get("Range", ""), len(data))
    response = HttpResponse(data if wanted is None else data[wanted], content_type=WEBP_MIMETYPE)
    response["Accept-Ranges"] = "bytes"
    if wanted is not None:
        response.status_code = 206
        response["Content-Range"] = f"bytes {wanted.start}-{wanted.stop - 1}/{len(data)}"
    return _cached(response, found, etag)


def _cached(response: HttpResponse, found: StickerAsset, etag: str) -> HttpResponse:
    classification = getattr(found, "classification", None)
    is_sensitive = classification is not None and classification.is_nsfw
    who = {"private": True} if is_sensitive else {"public": True}
    seconds = settings.STICKER_ASSET_CACHE_SECONDS
    patch_cache_control(response, max_age=seconds, immutable=True, **who)
    response["ETag"] = etag
    return response
