"""The outbox over the API: look, redrive, discard, pause."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from apps.common.access import Access
from apps.common.scopes import Scope
from apps.outbox import queries, services
from apps.outbox.api import serializers
from apps.outbox.models import OutboxDeadLetter, OutboxEvent

READ = Access(scope=Scope.OUTBOX_READ, permission="outbox.view_outboxevent")
WRITE = Access(scope=Scope.OUTBOX_WRITE, permission="outbox.change_outboxevent")
DISCARD = Access(scope=Scope.OUTBOX_WRITE, permission="outbox.delete_outboxevent")


@extend_schema(tags=["outbox"])
class EventViewSet(viewsets.ReadOnlyModelViewSet[OutboxEvent]):
    """Events, newest first."""

    access = {"*": READ}
    queryset = OutboxEvent.objects.order_by("-pk")
    serializer_class = serializers.EventSerializer
    filterset_fields = ["event_type", "status", "aggregate_type", "aggregate_id"]


@extend_schema(tags=["outbox"])
class DeadLetterViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[OutboxDeadLetter]):
    """Dead letters, and what is decided about them."""

    access = {"list": READ, "redrive": WRITE, "edit": WRITE, "discard": DISCARD}
    queryset = OutboxDeadLetter.objects.order_by("-failed_at", "-pk")
    serializer_class = serializers.DeadLetterSerializer
    filterset_fields = ["event_type", "aggregate_type", "aggregate_id"]

    @extend_schema(request=serializers.RedriveSerializer, responses={200: None})
    @action(detail=False, methods=["post"])
    def redrive(self, request: Request) -> Response:
        """Send events back, in id order; a second call moves nothing."""
        wish = _valid(serializers.RedriveSerializer(data=request.data))
        moved = services.redrive(
            _meant(wish),
            actor=request.user.get_username(),
            reason=wish["reason"],
            handler=wish["handler"],
        )
        return Response({"redriven": moved})

    @extend_schema(request=serializers.DecisionSerializer, responses={200: None})
    @action(detail=False, methods=["post"])
    def discard(self, request: Request) -> Response:
        """Delete events for good; the log keeps their payloads."""
        wish = _valid(serializers.DecisionSerializer(data=request.data))
        actor = request.user.get_username()
        gone = services.discard(_meant(wish), actor=actor, reason=wish["reason"])
        return Response({"discarded": gone})

    @extend_schema(
        request=serializers.MendedSerializer, responses={200: serializers.EventSerializer}
    )
    @action(detail=True, methods=["post"])
    def edit(self, request: Request, pk: str) -> Response:
        """Replace the payload of a dead event and send it back."""
        wish = _valid(serializers.MendedSerializer(data=request.data))
        event = services.edit_and_redrive(
            int(pk),
            wish["payload"],
            actor=request.user.get_username(),
            reason=wish["reason"],
            handler=wish["handler"],
        )
        return Response(serializers.EventSerializer(event).data)


@extend_schema(tags=["outbox"])
class PausedTypeViewSet(viewsets.ViewSet):
    """Event types that workers leave alone."""

    access = {"list": READ, "create": WRITE, "destroy": WRITE}
    lookup_value_regex = "[A-Z0-9_]+"

    @extend_schema(responses={200: None})
    def list(self, request: Request) -> Response:
        """All paused types."""
        return Response({"paused": queries.paused_types()})

    @extend_schema(request=serializers.PauseSerializer, responses={201: None})
    def create(self, request: Request) -> Response:
        """Pause a type from the next claim on."""
        wish = _valid(serializers.PauseSerializer(data=request.data))
        services.pause_type(
            wish["event_type"], actor=request.user.get_username(), reason=wish["reason"]
        )
        return Response({"paused": queries.paused_types()}, status=status.HTTP_201_CREATED)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        """Take a type up again; one that is not paused is no error."""
        services.resume_type(pk)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _meant(wish: dict[str, Any]) -> list[int]:
    return queries.dead_event_ids(
        ids=wish["ids"], event_type=wish["event_type"], aggregate_id=wish["aggregate_id"]
    )


def _valid(wish: Serializer[Any]) -> dict[str, Any]:
    wish.is_valid(raise_exception=True)
    return dict(wish.validated_data)
