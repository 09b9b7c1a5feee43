"""Packs over the API: the ranked catalogue, one pack, new packs and stickers, what visitors do."""

from typing import Any

from django.conf import settings
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status, viewsets
from rest_framework.decorators import action
from rest_framework.parsers import FormParser, JSONParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import PUBLIC, Access
from apps.common.scopes import Scope
from apps.stickers import queries
from apps.stickers.actors import actor_key
from apps.stickers.api import serializers
from apps.stickers.choices import Interaction
from apps.stickers.conversion import MAX_SOURCE_BYTES, to_sticker
from apps.stickers.images import read_sticker
from apps.stickers.services import editing, engagement, packs

WRITE = Access(scope=Scope.PACKS_WRITE, permission="stickers.add_stickerpack", person=True)
API_OWNER = "api@pombo"


@extend_schema(tags=["packs"])
class PackViewSet(viewsets.ViewSet):
    """Sticker packs by their key."""

    access = {
        "list": PUBLIC,
        "retrieve": PUBLIC,
        "create": WRITE,
        "partial_update": WRITE,
        "destroy": WRITE,
        "stickers": WRITE,
        "remove_sticker": WRITE,
        "order": WRITE,
        "cover": WRITE,
        "open": PUBLIC,
        "like": PUBLIC,
        "dislike": PUBLIC,
    }
    lookup_field = "pack_key"
    lookup_value_regex = "[a-z0-9-]+"
    parser_classes = [JSONParser, MultiPartParser, FormParser]

    @extend_schema(
        parameters=[serializers.CatalogueQuerySerializer],
        responses=serializers.PackSerializer(many=True),
    )
    def list(self, request: Request) -> Response:
        """A page of the catalogue; follow `next_cursor` until it is null."""
        wish = serializers.CatalogueQuerySerializer(data=request.query_params)
        wish.is_valid(raise_exception=True)
        asked = wish.validated_data
        page = queries.catalogue_page(
            sort=asked["sort"],
            visibility=asked["visibility"],
            search=asked["q"],
            limit=asked["limit"],
            cursor=asked.get("cursor"),
        )
        rows = serializers.PackSerializer(page.packs, many=True).data
        return Response({"results": rows, "next_cursor": page.next_cursor})

    @extend_schema(responses=serializers.PackDetailSerializer)
    def retrieve(self, request: Request, pack_key: str) -> Response:
        """One pack with its stickers; owners and readers of all packs see hidden ones too."""
        pack = queries.visible_pack(
            pack_key, owner_jid=_owner(request), sees_all=_may_read_all(request)
        )
        return Response(serializers.PackDetailSerializer(pack).data)

    @extend_schema(
        request=serializers.NewPackSerializer,
        responses={201: serializers.PackDetailSerializer},
    )
    def create(self, request: Request) -> Response:
        """Create an empty pack."""
        wish = serializers.NewPackSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        values: dict[str, Any] = dict(wish.validated_data)
        named = values.pop("owner_jid", None)
        owner_jid = _owner(request) or named
        # What operators make for themselves belongs to no author and has no limit.
        create = packs.create_own_pack if owner_jid else packs.create_pack
        pack = create(owner_jid=owner_jid or API_OWNER, **values)
        data = serializers.PackDetailSerializer(pack).data
        return Response(data, status=status.HTTP_201_CREATED)

    @extend_schema(
        request=serializers.NewStickerSerializer,
        responses={201: serializers.StickerSerializer},
    )
    @action(detail=True, methods=["post"])
    def stickers(self, request: Request, pack_key: str) -> Response:
        """Put an image at the end of the pack; with `convert`, other formats are made to fit."""
        wish = serializers.NewStickerSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        data = wish.validated_data["file"].read(MAX_SOURCE_BYTES + 1)
        image = to_sticker(data) if wish.validated_data["convert"] else read_sticker(data)
        item = packs.add_sticker(
            pack_key,
            image,
            owner_jid=_owner(request),
            emojis=wish.validated_data.get("emojis", ()),
            label=wish.validated_data.get("accessibility_label", ""),
        )
        data = serializers.StickerSerializer(item).data
        return Response(data, status=status.HTTP_201_CREATED)

    @extend_schema(
        request=serializers.EditedPackSerializer, responses=serializers.PackDetailSerializer
    )
    def partial_update(self, request: Request, pack_key: str) -> Response:
        """Rename, describe, show or hide a pack."""
        wish = serializers.EditedPackSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        pack = editing.edit_pack(pack_key, owner_jid=_owner(request), **wish.validated_data)
        return Response(serializers.PackDetailSerializer(pack).data)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, pack_key: str) -> Response:
        """Delete a pack; its stickers stay with other packs that show them."""
        editing.delete_pack(pack_key, owner_jid=_owner(request))
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(responses=serializers.PackDetailSerializer)
    @action(detail=True, methods=["delete"], url_path=r"stickers/(?P<sticker_id>[0-9a-f-]{36})")
    def remove_sticker(self, request: Request, pack_key: str, sticker_id: str) -> Response:
        """Take a sticker out of the pack."""
        pack = editing.remove_sticker(pack_key, sticker_id, owner_jid=_owner(request))
        return Response(serializers.PackDetailSerializer(pack).data)

    @extend_schema(request=serializers.OrderSerializer, responses=serializers.PackDetailSerializer)
    @action(detail=True, methods=["put"])
    def order(self, request: Request, pack_key: str) -> Response:
        """Put stickers in an order; those not named follow."""
        wish = serializers.OrderSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        ids = wish.validated_data["sticker_ids"]
        pack = editing.reorder_stickers(pack_key, ids, owner_jid=_owner(request))
        return Response(serializers.PackDetailSerializer(pack).data)

    @extend_schema(request=serializers.CoverSerializer, responses=serializers.PackDetailSerializer)
    @action(detail=True, methods=["put"])
    def cover(self, request: Request, pack_key: str) -> Response:
        """Choose the cover."""
        wish = serializers.CoverSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        chosen = wish.validated_data["sticker_id"]
        pack = editing.set_cover(pack_key, chosen, owner_jid=_owner(request))
        return Response(serializers.PackDetailSerializer(pack).data)

    @extend_schema(request=None, responses={200: None})
    @action(detail=True, methods=["post"])
    def open(self, request: Request, pack_key: str) -> Response:
        """Count that the pack was opened."""
        return self._interact(request, pack_key, Interaction.OPEN)

    @extend_schema(request=None, responses={200: None})
    @action(detail=True, methods=["post"])
    def like(self, request: Request, pack_key: str) -> Response:
        """Like the pack; once for each visitor."""
        return self._interact(request, pack_key, Interaction.LIKE)

    @extend_schema(request=None, responses={200: None})
    @action(detail=True, methods=["post"])
    def dislike(self, request: Request, pack_key: str) -> Response:
        """Dislike the pack; once for each visitor."""
        return self._interact(request, pack_key, Interaction.DISLIKE)

    def _interact(self, request: Request, pack_key: str, interaction: Interaction) -> Response:
        pack = queries.visible_pack(pack_key)
        is_counted = engagement.record_interaction(
            pack,
            interaction,
            actor_key=_actor(request),
            now=timezone.now(),
            source=request.headers.get("X-Client-Source", "web"),
        )
        return Response({"pack_key": pack_key, "interaction": interaction, "counted": is_counted})


def _owner(request: Request) -> str | None:
    """The owner that a signed-in person acts as; None for tokens and staff, who act for anybody."""
    return getattr(request.user, "owner_jid", None) or None


def _may_read_all(request: Request) -> bool:
    scopes = getattr(request.auth, "scopes", None)
    if scopes is not None:
        return Scope.PACKS_READ in scopes or Scope.PACKS_WRITE in scopes
    return bool(request.user and request.user.has_perm("stickers.view_stickerpack"))


def _actor(request: Request) -> str:
    """Who likes: a person, a viewer key that the client keeps, or the address."""
    viewer = request.headers.get("X-Viewer-Key", "")[:100]
    address = request.META.get("REMOTE_ADDR", "")
    identity = _owner(request) or viewer or address
    return actor_key(identity, secret=settings.SECRET_KEY)
