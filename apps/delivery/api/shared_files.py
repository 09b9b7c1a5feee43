"""Shared files over HTTP: streams in and out, by ranges, each app within its own."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.http import HttpRequest, StreamingHttpResponse
from django.http.request import UnreadablePostError
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status, viewsets
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.common.access import Access
from apps.common.api import problem
from apps.common.scopes import Scope
from apps.delivery import mongodb
from apps.delivery.api.access import caller_app, named_app
from apps.delivery.errors import InvalidSharedFile, RangeNotSatisfiable, SharedFileCut
from apps.delivery.files.names import MAX_NAME_LENGTH, ByteRange, parsed_range
from apps.delivery.files.store import PIECE_BYTES, SharedFile, Upload
from apps.delivery.services import shared_files

FILES_READ = Access(scope=Scope.FILES_READ, permission="delivery.view_app")
FILES_WRITE = Access(scope=Scope.FILES_WRITE, permission="delivery.change_app")
CHECKSUM_HEADER = "x-content-sha256"
APP = OpenApiParameter("app", str, description="The app; one's own without it.")


class RawParser(BaseParser):
    """Leaves the body alone: it is read piece by piece while it is stored."""

    media_type = "*/*"

    def parse(
        self,
        stream: Any,
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """The stream itself."""
        return stream


class SharedFileSerializer(serializers.Serializer):
    """One version of a file."""

    id = serializers.CharField()
    app = serializers.CharField()
    name = serializers.CharField()
    length = serializers.IntegerField()
    sha256 = serializers.CharField()
    content_type = serializers.CharField()
    uploaded_at = serializers.DateTimeField()


class SharedFileFilterSerializer(serializers.Serializer):
    """What a list is narrowed down to."""

    app = serializers.CharField(max_length=63, required=False, default=None)
    name = serializers.CharField(max_length=MAX_NAME_LENGTH, required=False, default="")
    prefix = serializers.CharField(max_length=MAX_NAME_LENGTH, required=False, default="")


class SharedFileViewSet(viewsets.GenericViewSet):
    """Versions of files, newest first; a new upload of a name is a new version."""

    access = {
        "list": FILES_READ,
        "retrieve": FILES_READ,
        "create": FILES_WRITE,
        "destroy": FILES_WRITE,
    }
    serializer_class = SharedFileSerializer
    filter_backends = []
    parser_classes = [RawParser]
    lookup_value_regex = "[^/.]+"

    @extend_schema(
        parameters=[SharedFileFilterSerializer], responses=SharedFileSerializer(many=True)
    )
    def list(self, request: Request) -> Response:
        """The app's files, by name or by the beginning of names."""
        wanted = SharedFileFilterSerializer(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        fields = wanted.validated_data
        app = caller_app(request, FILES_READ, fields.pop("app"))
        with mongodb.answering():
            page = self.paginate_queryset(shared_files.shared_store().rows(app, **fields))  # type: ignore[arg-type]  # the paginator slices and counts, whatever it is given
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    @extend_schema(parameters=[OpenApiParameter("id", str, "path"), APP])
    def retrieve(self, request: Request, pk: str) -> Response:
        """What is known about one version."""
        return Response(self.get_serializer(_found(request, FILES_READ, pk)).data)

    @extend_schema(
        parameters=[
            OpenApiParameter("name", str, required=True, description="A relative path."),
            APP,
            OpenApiParameter(CHECKSUM_HEADER, str, "header", description="SHA-256, 64 hex digits."),
        ],
        request=OpenApiTypes.BINARY,
        responses={201: SharedFileSerializer},
    )
    def create(self, request: Request) -> Response:
        """Store the body, whose Content-Length says how long it is, as a new version of `name`."""
        app = named_app(request, FILES_WRITE, request.query_params.get("app"))
        wish = Upload(
            app=app,
            name=request.query_params.get("name", ""),
            length=_declared_length(request),
            sha256=request.headers.get(CHECKSUM_HEADER, ""),
            content_type=request.content_type or "application/octet-stream",
        )
        stored = shared_files.upload(wish, _pieces(request._request))  # noqa: SLF001 (the stream below DRF's)
        return Response(self.get_serializer(stored).data, status=status.HTTP_201_CREATED)

    @extend_schema(parameters=[OpenApiParameter("id", str, "path"), APP])
    def destroy(self, request: Request, pk: str) -> Response:
        """Delete one version with all its bytes."""
        shared_files.delete(named_app(request, FILES_WRITE, request.query_params.get("app")), pk)
        return Response(status=status.HTTP_204_NO_CONTENT)


class SharedFileContentView(APIView):
    """The bytes of one version."""

    access = {"get": FILES_READ}

    @extend_schema(
        parameters=[
            APP,
            OpenApiParameter("range", str, "header", description="One range: bytes=0-99."),
        ],
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, pk: str) -> Any:
        """All of it, or 206 with the asked range."""
        file = _found(request, FILES_READ, pk)
        try:
            wanted = parsed_range(request.headers.get("range", ""), file.length)
        except RangeNotSatisfiable as error:
            body = problem(error.code, error.message, error.details)
            headers = {"content-range": f"bytes */{file.length}"}
            return Response(body, status=416, headers=headers)
        return _streamed(file, wanted)


def _streamed(file: SharedFile, wanted: ByteRange | None) -> StreamingHttpResponse:
    pieces = shared_files.shared_store().read(file, wanted)
    # Never shown by a browser as a page of ours, whatever the uploader called it.
    answer = StreamingHttpResponse(pieces, content_type="application/octet-stream")
    answer["content-disposition"] = "attachment"
    answer["x-content-type-options"] = "nosniff"
    answer["accept-ranges"] = "bytes"
    answer["etag"] = f'"{file.sha256}"'
    answer["content-length"] = str(wanted.length if wanted else file.length)
    if wanted is not None:
        answer.status_code = status.HTTP_206_PARTIAL_CONTENT
        answer["content-range"] = f"bytes {wanted.first}-{wanted.last}/{file.length}"
    return answer


def _found(request: Request, access: Access, pk: str) -> SharedFile:
    app = named_app(request, access, request.query_params.get("app"))
    with mongodb.answering():
        return shared_files.shared_store().find(app, pk)


def _declared_length(request: Request) -> int:
    text = request.META.get("CONTENT_LENGTH") or ""
    if not (text.isascii() and text.isdigit()):
        raise InvalidSharedFile("Content-Length is needed.", details={"field": "content-length"})
    return int(text)


def _pieces(stream: HttpRequest) -> Iterator[bytes]:
    """The body as it comes. Raises SharedFileCut when the caller goes away."""
    try:
        while piece := stream.read(PIECE_BYTES):
            yield piece
    except UnreadablePostError as error:
        raise SharedFileCut("The upload was cut.") from error
