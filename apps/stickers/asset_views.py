"""The images themselves: from the object storage where that can be relied on, else from here."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotModified
from django.http import HttpResponseRedirect as Redirect
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_safe

from apps.stickers.byte_ranges import parse_range
from apps.stickers.errors import ObjectStorageUnavailable, PackNotFound, StickerFileMissing
from apps.stickers.images import MAX_ANIMATED_BYTES, MAX_STATIC_BYTES, WEBP_MIMETYPE
from apps.stickers.metadata import PackTag, tagged
from apps.stickers.models import StickerAsset, StickerPack, StickerPackItem
from apps.stickers.queries import pack_items, visible_pack
from apps.stickers.services.objects import delivery_address
from apps.stickers.storage import read_asset

# A pack may be renamed, so what tells its name is kept for a short time.
TAGGED_CACHE_SECONDS = 300


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
    address = delivery_address(found, is_sensitive=_is_sensitive(found), now=timezone.now())
    if address and request.method == "GET":
        return _redirect(address)
    return _own_answer(request, found, etag)


@require_safe
def sticker_file(request: HttpRequest, pack_key: str, sticker_id: str) -> HttpResponse:
    """A sticker of a pack that can be seen, with the block that tells WhatsApp its pack."""
    try:
        pack = visible_pack(pack_key)
        item = pack_items(pack).filter(sticker_id=sticker_id).first()
        if item is None:
            raise Http404
        data = with_pack_tag(read_asset(item.sticker), pack, item)
    except (PackNotFound, StickerFileMissing) as error:
        raise Http404 from error
    except ObjectStorageUnavailable:
        return HttpResponse(status=503, headers={"Retry-After": "60"})
    name = f"{pack.pack_key}-{item.position:02}.webp"
    response = HttpResponse(data, content_type=WEBP_MIMETYPE)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    who = {"private": True} if _is_sensitive(item.sticker) else {"public": True}
    patch_cache_control(response, max_age=TAGGED_CACHE_SECONDS, **who)
    return response


def with_pack_tag(data: bytes, pack: StickerPack, item: StickerPackItem) -> bytes:
    """The picture with its pack's block; as it is where WhatsApp would refuse it for its size."""
    tag = PackTag(
        pack_id=pack.pack_key,
        name=pack.name,
        publisher=pack.publisher,
        emojis=item.emojis or (),
        label=item.accessibility_label or "",
    )
    tagged_data = tagged(data, tag)
    limit = MAX_ANIMATED_BYTES if item.sticker.is_animated else MAX_STATIC_BYTES
    return tagged_data if len(tagged_data) <= limit else data


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
