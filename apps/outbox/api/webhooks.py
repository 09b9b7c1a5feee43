"""Webhooks and event types over the API. Secrets are shown once, when they are made."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import Access
from apps.common.scopes import Scope
from apps.outbox import event_types
from apps.outbox.models import WebhookAttempt, WebhookSubscription
from apps.outbox.services import webhook_delivery, webhooks

READ = Access(scope=Scope.OUTBOX_READ, permission="outbox.view_webhooksubscription")
ADD = Access(scope=Scope.OUTBOX_WRITE, permission="outbox.add_webhooksubscription")
CHANGE = Access(scope=Scope.OUTBOX_WRITE, permission="outbox.change_webhooksubscription")
DELETE = Access(scope=Scope.OUTBOX_WRITE, permission="outbox.delete_webhooksubscription")
TYPE_NAME = r"^(\*|[A-Z0-9_]{1,96})$"


class WebhookSerializer(serializers.ModelSerializer[WebhookSubscription]):
    """A subscription without its secrets."""

    event_types = serializers.ListField(
        child=serializers.RegexField(TYPE_NAME), min_length=1, max_length=100
    )
    url = serializers.URLField(max_length=500)
    # Whether the name is free is the service's to say, as a conflict.
    name = serializers.CharField(max_length=100)

    class Meta:
        model = WebhookSubscription
        fields = [
            "id",
            "name",
            "url",
            "event_types",
            "is_ordered",
            "is_active",
            "disabled_reason",
            "failing_since",
            "created_by",
            "created_at",
        ]
        read_only_fields = ["id", "disabled_reason", "failing_since", "created_by", "created_at"]


class AttemptSerializer(serializers.ModelSerializer[WebhookAttempt]):
    """One request and its answer."""

    class Meta:
        model = WebhookAttempt
        fields = "__all__"


class ReplaySerializer(serializers.Serializer[Any]):
    """Which events are sent once more."""

    event_ids = serializers.ListField(
        child=serializers.IntegerField(min_value=1),
        min_length=1,
        max_length=webhooks.MAX_REPLAYED,
    )


@extend_schema(tags=["webhooks"])
class WebhookViewSet(
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    viewsets.GenericViewSet[WebhookSubscription],
):
    """Who is told of events over HTTP."""

    access = {
        "list": READ,
        "retrieve": READ,
        "create": ADD,
        "partial_update": CHANGE,
        "rotate_secret": CHANGE,
        "test": CHANGE,
        "replay": CHANGE,
        "destroy": DELETE,
    }
    queryset = WebhookSubscription.objects.order_by("name")
    serializer_class = WebhookSerializer
    filterset_fields = ["is_active", "is_ordered"]
    lookup_value_regex = "[0-9]{1,18}"

    @extend_schema(responses={201: WebhookSerializer})
    def create(self, request: Request) -> Response:
        """Subscribe; the answer alone shows the secret."""
        wish = WebhookSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        values = {name: wish.validated_data[name] for name in ("name", "url", "event_types")}
        made = webhooks.subscribe(
            **values,
            is_ordered=wish.validated_data.get("is_ordered", False),
            actor=request.user.get_username(),
        )
        return _with_secret(made, status.HTTP_201_CREATED)

    def partial_update(self, request: Request, pk: str) -> Response:
        """Change some of it; `is_active: true` forgets old failures."""
        wish = WebhookSerializer(data=request.data, partial=True)
        wish.is_valid(raise_exception=True)
        changed = webhooks.change_subscription(int(pk), **wish.validated_data)
        return Response(WebhookSerializer(changed).data)

    def destroy(self, request: Request, pk: str) -> Response:
        """End the subscription and delete its log."""
        webhooks.unsubscribe(int(pk))
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=None, responses={200: WebhookSerializer})
    @action(detail=True, methods=["post"], url_path="rotate-secret")
    def rotate_secret(self, request: Request, pk: str) -> Response:
        """Give a fresh secret; the former one signs too for a day."""
        return _with_secret(webhooks.rotate_secret(int(pk), now=timezone.now()), status.HTTP_200_OK)

    @extend_schema(request=None, responses={200: AttemptSerializer})
    @action(detail=True, methods=["post"])
    def test(self, request: Request, pk: str) -> Response:
        """Send a made-up event at once and show what was answered."""
        attempt = webhook_delivery.send_test(int(pk), now=timezone.now())
        return Response(AttemptSerializer(attempt).data)

    @extend_schema(request=ReplaySerializer, responses={202: None})
    @action(detail=True, methods=["post"])
    def replay(self, request: Request, pk: str) -> Response:
        """Send events once more; tells which ones still exist."""
        wish = ReplaySerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        sent = webhooks.replay(int(pk), wish.validated_data["event_ids"])
        return Response({"replayed": sent}, status=status.HTTP_202_ACCEPTED)


@extend_schema(tags=["webhooks"])
class WebhookAttemptViewSet(viewsets.ReadOnlyModelViewSet[WebhookAttempt]):
    """The log of requests and answers, newest first."""

    access = {"*": READ}
    queryset = WebhookAttempt.objects.order_by("-pk")
    serializer_class = AttemptSerializer
    filterset_fields = ["subscription", "event_id", "event_type", "outcome"]


@extend_schema(tags=["webhooks"], responses={200: None})
class EventTypeViewSet(viewsets.ViewSet):
    """The event types that are promised, with version and JSON Schema."""

    access = {"*": Access(scope=Scope.OUTBOX_READ, permission="outbox.view_outboxevent")}

    def list(self, request: Request) -> Response:
        """All of them, by name."""
        return Response(
            {
                "event_types": [
                    {
                        "name": declared.name,
                        "version": declared.version,
                        "summary": declared.summary,
                        "schema": declared.schema,
                    }
                    for declared in event_types.declared()
                ]
            }
        )


def _with_secret(subscription: WebhookSubscription, code: int) -> Response:
    shown = {**WebhookSerializer(subscription).data, "secret": subscription.secret}
    return Response(shown, status=code)
