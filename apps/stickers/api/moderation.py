"""Moderation over the API: the queue of reported packs, and decisions."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.common.access import Access
from apps.common.scopes import Scope
from apps.stickers import moderation_queue
from apps.stickers.api import serializers
from apps.stickers.choices import Outcome
from apps.stickers.services import moderation

MODERATE = Access(scope=Scope.PACKS_MODERATE, permission="stickers.moderate_pack")


@extend_schema(tags=["moderation"])
class ModerationQueueView(APIView):
    """The packs that wait for a decision."""

    access = {"*": MODERATE}

    @extend_schema(responses=serializers.ReportedPackSerializer(many=True))
    def get(self, request: Request) -> Response:
        """The first thirty: most reports first, then longest waiting."""
        rows = moderation_queue.reported_packs()
        data = serializers.ReportedPackSerializer(rows, many=True).data
        return Response({"results": data, "open_reports": moderation_queue.open_report_count()})


@extend_schema(tags=["moderation"])
class DecisionView(APIView):
    """A decision about one pack."""

    access = {"*": MODERATE}

    @extend_schema(
        request=serializers.NewDecisionSerializer,
        responses={201: serializers.DecisionSerializer},
    )
    def post(self, request: Request, pack_key: str) -> Response:
        """Dismiss its reports, hide, mark, remove or restore it; the author is told."""
        asked = serializers.checked(serializers.NewDecisionSerializer, request.data)
        decision = moderation.decide(
            pack_key,
            Outcome(asked["outcome"]),
            reason=asked["reason"],
            moderator=request.user.get_username(),
            now=timezone.now(),
        )
        data = serializers.DecisionSerializer(decision).data
        return Response(data, status=status.HTTP_201_CREATED)
