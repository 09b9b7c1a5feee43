"""What visitors do with a pack over the API: open, like, dislike, take back, report."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import PUBLIC
from apps.stickers import queries
from apps.stickers.api import serializers
from apps.stickers.api.callers import visitor_behind
from apps.stickers.api.throttles import CallerThrottle, EngagementThrottle, ReportThrottle
from apps.stickers.choices import Interaction, ReportReason
from apps.stickers.models import PackEngagement, StickerPack
from apps.stickers.services import engagement, moderation


@extend_schema(tags=["packs"])
class EngagementViewSet(viewsets.ViewSet):
    """Opens, opinions and reports of a pack by its key."""

    access = {"*": PUBLIC}
    throttle_classes = [EngagementThrottle, CallerThrottle]
    lookup_field = "pack_key"
    lookup_value_regex = "[a-z0-9-]+"

    @extend_schema(request=None, responses=serializers.InteractionSerializer)
    @action(detail=True, methods=["post"])
    def open(self, request: Request, pack_key: str) -> Response:
        """Count that the pack was opened; a few times an hour for each visitor."""
        return self._record(request, pack_key, Interaction.OPEN)

    @extend_schema(request=None, responses=serializers.InteractionSerializer)
    @action(detail=True, methods=["post"])
    def like(self, request: Request, pack_key: str) -> Response:
        """Like the pack, once for each visitor; takes the place of a dislike."""
        return self._record(request, pack_key, Interaction.LIKE)

    @extend_schema(request=None, responses=serializers.InteractionSerializer)
    @like.mapping.delete
    def unlike(self, request: Request, pack_key: str) -> Response:
        """Take the like back."""
        return self._withdraw(request, pack_key, Interaction.LIKE)

    @extend_schema(request=None, responses=serializers.InteractionSerializer)
    @action(detail=True, methods=["post"])
    def dislike(self, request: Request, pack_key: str) -> Response:
        """Dislike the pack, once for each visitor; takes the place of a like."""
        return self._record(request, pack_key, Interaction.DISLIKE)

    @extend_schema(request=None, responses=serializers.InteractionSerializer)
    @dislike.mapping.delete
    def undislike(self, request: Request, pack_key: str) -> Response:
        """Take the dislike back."""
        return self._withdraw(request, pack_key, Interaction.DISLIKE)

    @extend_schema(
        request=serializers.NewReportSerializer, responses={201: serializers.ReportSerializer}
    )
    @action(detail=True, methods=["post"], throttle_classes=[ReportThrottle])
    def reports(self, request: Request, pack_key: str) -> Response:
        """Report the pack to the moderators; one open report for each visitor."""
        asked = serializers.checked(serializers.NewReportSerializer, request.data)
        report = moderation.report_pack(
            queries.visible_pack(pack_key),
            reason=ReportReason(asked["reason"]),
            text=asked["text"],
            actor_key=visitor_behind(request).actor_key,
            now=timezone.now(),
        )
        data = serializers.ReportSerializer(report).data
        return Response(data, status=status.HTTP_201_CREATED)

    def _record(self, request: Request, pack_key: str, interaction: Interaction) -> Response:
        pack, visitor = queries.visible_pack(pack_key), visitor_behind(request)
        is_counted = not visitor.is_robot and engagement.record_interaction(
            pack,
            interaction,
            actor_key=visitor.actor_key,
            now=timezone.now(),
            address_key=visitor.address_key,
            source=visitor.source,
        )
        return _answer(pack, interaction, visitor.actor_key, is_counted=is_counted)

    def _withdraw(self, request: Request, pack_key: str, interaction: Interaction) -> Response:
        pack, visitor = queries.visible_pack(pack_key), visitor_behind(request)
        is_counted = engagement.withdraw_opinion(pack, interaction, actor_key=visitor.actor_key)
        return _answer(pack, interaction, visitor.actor_key, is_counted=is_counted)


def _answer(
    pack: StickerPack, interaction: Interaction, actor_key: str, *, is_counted: bool
) -> Response:
    counters = PackEngagement.objects.filter(pk=pack.pk).first() or PackEngagement(pack=pack)
    return Response(
        {
            "pack_key": pack.pack_key,
            "interaction": interaction,
            "counted": is_counted,
            "opinion": queries.opinion_of(pack, actor_key),
            "engagement": serializers.counters_of(counters),
        }
    )
