"""Filling and publishing packs over the API: resumable uploads, copies, collected stickers.

A client announces a file (`POST uploads`), sends it in parts from the offset it is told
(`PATCH uploads/<id>`, header `Upload-Offset`), and looks until workers have made a sticker of it.
"""

import re
from typing import IO, Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status, viewsets
from rest_framework.parsers import BaseParser, FormParser, JSONParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import Access
from apps.common.scopes import Scope
from apps.stickers import errors, queries, upload_files
from apps.stickers.api import upload_serializers as shapes
from apps.stickers.api.serializers import PackDetailSerializer, PackSerializer, StickerSerializer
from apps.stickers.conversion import MAX_SOURCE_BYTES, to_sticker
from apps.stickers.models import PackWebUpload
from apps.stickers.own_queries import find_own_pack
from apps.stickers.services import collecting, packs, publishing, uploads
from apps.stickers.services.uploads import Announcement

WRITE = Access(scope=Scope.PACKS_WRITE, permission="stickers.add_stickerpack", person=True)
# One part of a source; more is sent in several.
MAX_PART_BYTES = 2 * 1024 * 1024
OFFSET_HEADER = "Upload-Offset"
OFFSET = OpenApiParameter(OFFSET_HEADER, int, OpenApiParameter.HEADER, required=True)


class PartParser(BaseParser):
    """Raw bytes of a source, read up to the size of one part."""

    media_type = "application/octet-stream"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Any = None
    ) -> dict[str, bytes]:
        """The bytes as `part`. Raises InvalidUpload for more than a part may have."""
        data = stream.read(MAX_PART_BYTES + 1)
        if len(data) > MAX_PART_BYTES:
            raise errors.InvalidUpload(f"A part has at most {MAX_PART_BYTES} bytes.", field="body")
        return {"part": data}


@extend_schema(tags=["uploads"])
class UploadViewSet(viewsets.ViewSet):
    """The uploads of one pack."""

    access = {"*": WRITE}
    parser_classes = [JSONParser, PartParser]

    @extend_schema(responses=shapes.UploadSerializer(many=True))
    def list(self, request: Request, pack_key: str) -> Response:
        """All uploads of the pack, newest first, with how far each is."""
        pack = _own_pack(request, pack_key)
        found = pack.uploads.select_related("source", "sticker").order_by("-created_at", "pk")
        return Response({"results": [_shown(upload) for upload in found]})

    @extend_schema(
        request=shapes.AnnouncementSerializer,
        responses={201: shapes.UploadSerializer, 200: shapes.UploadSerializer},
    )
    def create(self, request: Request, pack_key: str) -> Response:
        """Announce a file: 201 for a new upload, 200 with its offset for one that is known."""
        wish = shapes.AnnouncementSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        file = Announcement(**wish.validated_data)
        progress = uploads.start_upload(pack_key, file, owner_jid=owner_of(request))
        code = status.HTTP_201_CREATED if progress.is_new else status.HTTP_200_OK
        return Response(_shown(progress.upload), status=code)

    @extend_schema(responses=shapes.UploadSerializer)
    def retrieve(self, request: Request, pack_key: str, upload_id: str) -> Response:
        """How far one upload is; a client resumes at `received_bytes`."""
        pack = _own_pack(request, pack_key)
        upload = (
            pack.uploads.select_related("source", "sticker").filter(upload_id=upload_id).first()
        )
        if upload is None:
            raise errors.UploadNotFound(upload_id)
        return Response(_shown(upload))

    @extend_schema(
        parameters=[OFFSET],
        request={PartParser.media_type: OpenApiTypes.BINARY},
        responses=shapes.UploadSerializer,
    )
    def partial_update(self, request: Request, pack_key: str, upload_id: str) -> Response:
        """Send the next bytes; 409 `wrong_offset` tells where to go on."""
        part = request.data.get("part") if isinstance(request.data, dict) else None
        progress = uploads.append_part(
            pack_key,
            upload_id,
            part if isinstance(part, bytes) else b"",
            offset=_offset(request),
            owner_jid=owner_of(request),
        )
        return Response(_shown(progress.upload))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, pack_key: str, upload_id: str) -> Response:
        """Forget an upload, as a failed one that hinders publishing."""
        uploads.discard_upload(pack_key, upload_id, owner_jid=owner_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema(tags=["packs"])
class PublishingViewSet(viewsets.ViewSet):
    """Publishing and copying one pack."""

    access = {"*": WRITE}

    @extend_schema(responses=shapes.PublishStateSerializer)
    def state(self, request: Request, pack_key: str) -> Response:
        """What is in the pack, and what hinders publishing it."""
        state = publishing.publish_state(_own_pack(request, pack_key))
        return Response(shapes.PublishStateSerializer(state).data)

    @extend_schema(request=None, responses=PackDetailSerializer)
    def finalize(self, request: Request, pack_key: str) -> Response:
        """Publish the pack; 409 `not_publishable` tells the reason."""
        pack = publishing.finalize_pack(pack_key, owner_jid=owner_of(request))
        return Response(PackDetailSerializer(pack).data)

    @extend_schema(request=shapes.CloneSerializer, responses={201: PackDetailSerializer})
    def clone(self, request: Request, pack_key: str) -> Response:
        """Copy an own pack under a new key."""
        wish = shapes.CloneSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        source = _own_pack(request, pack_key)
        copy = packs.clone_pack(pack_key, owner_jid=source.owner_jid, **wish.validated_data)
        return Response(PackDetailSerializer(copy).data, status=status.HTTP_201_CREATED)


@extend_schema(tags=["packs"])
class OwnPacksViewSet(viewsets.ViewSet):
    """An author's packs as their bot sees them."""

    access = {"*": WRITE}
    parser_classes = [MultiPartParser, FormParser]

    @extend_schema(parameters=[shapes.OwnPacksQuerySerializer], responses=PackSerializer(many=True))
    def list(self, request: Request) -> Response:
        """All of them, or the one that `text` names by id, key, address or name."""
        wish = shapes.OwnPacksQuerySerializer(data=request.query_params)
        wish.is_valid(raise_exception=True)
        owner_jid = _author(request, wish.validated_data.get("owner_jid"))
        if text := wish.validated_data.get("text"):
            found = [find_own_pack(owner_jid, text)]
        else:
            found = list(queries.own_packs(owner_jid).select_related("snapshot", "engagement"))
        return Response({"results": PackSerializer(found, many=True).data})

    @extend_schema(request=shapes.CollectedSerializer, responses={201: StickerSerializer})
    def collect(self, request: Request) -> Response:
        """Put a sticker into the author's unlisted pack; no pack's visibility changes."""
        wish = shapes.CollectedSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        image = to_sticker(wish.validated_data["file"].read(MAX_SOURCE_BYTES + 1))
        item = collecting.collect_sticker(
            image,
            owner_jid=_author(request, wish.validated_data.get("owner_jid")),
            publisher=wish.validated_data["publisher"],
        )
        return Response(StickerSerializer(item).data, status=status.HTTP_201_CREATED)


def owner_of(request: Request) -> str | None:
    """The owner that a signed-in person acts as; None for tokens and staff, who act for anybody."""
    return getattr(request.user, "owner_jid", None) or None


def _author(request: Request, named: str | None) -> str:
    """Whose packs are meant: a person's own, whatever they name; else the one named."""
    owner_jid = owner_of(request) or named
    if not owner_jid:
        raise errors.OwnerNotNamed
    return owner_jid


def _own_pack(request: Request, pack_key: str) -> Any:
    """The pack in any state, if it is the caller's. Raises PackNotFound, NotPackOwner."""
    return queries.visible_pack(
        pack_key, owner_jid=owner_of(request), sees_all=owner_of(request) is None
    )


def _offset(request: Request) -> int:
    header = request.headers.get(OFFSET_HEADER, "")
    if not re.fullmatch(r"[0-9]{1,10}", header, re.ASCII):
        raise errors.InvalidUpload(f"The header {OFFSET_HEADER} is missing.", field=OFFSET_HEADER)
    return int(header)


def _shown(upload: PackWebUpload) -> Any:
    received = {upload.pk: upload_files.received_bytes(upload.pk)}
    return shapes.UploadSerializer(upload, context={"received_bytes": received}).data
