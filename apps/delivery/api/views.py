"""Plans, apps, environments and domains over HTTP."""

from typing import Any

from django.db.models import Model
from django.utils import timezone
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.filters import SearchFilter
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from apps.common.access import Access
from apps.delivery.api.access import read_access, write_access
from apps.delivery.api.serializers import (
    AppSerializer,
    CustomDomainSerializer,
    DomainWishSerializer,
    EnvironmentSerializer,
    PlanSerializer,
    PreviewSerializer,
)
from apps.delivery.models import App, CustomDomain, Environment, Plan
from apps.delivery.queries import preview_findings, preview_objects
from apps.delivery.services import apps as services
from apps.delivery.services.custom_domains import add_custom_domain, remove_custom_domain


def access_to(model: str) -> dict[str, Access]:
    """The usual access of a viewset whose rows stay."""
    return {
        "list": read_access(model),
        "retrieve": read_access(model),
        "create": write_access(model, "add"),
        "partial_update": write_access(model, "change"),
    }


class StoredViewSet(
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    mixins.CreateModelMixin,
    viewsets.GenericViewSet,
):
    """Rows that a service stores after it has checked them as a whole."""

    filter_backends = [DjangoFilterBackend, SearchFilter]

    def _store(self, row: Any, actor: str) -> Model:
        """Hand a new or changed row to its service."""
        raise NotImplementedError

    def perform_create(self, serializer: BaseSerializer) -> None:
        """Build the row from checked types; the service checks the rules."""
        row = self.get_queryset().model(**serializer.validated_data)
        serializer.instance = self._store(row, self.request.user.get_username())

    def partial_update(self, request: Request, **_lookup: str) -> Response:
        """Set what the request names and leave the rest."""
        row = self.get_object()
        serializer = self.get_serializer(row, data=request.data, partial=True)
        serializer.is_valid(raise_exception=True)
        for name, value in serializer.validated_data.items():
            setattr(row, name, value)
        serializer.instance = self._store(row, request.user.get_username())
        return Response(serializer.data)


class PlanViewSet(StoredViewSet):
    """Plans by code; apps follow a changed plan with their next deployment."""

    access = access_to("plan")
    queryset = Plan.objects.order_by("code")
    serializer_class = PlanSerializer
    lookup_field = "code"
    filterset_fields = ["resource_profile"]
    search_fields = ["code", "name"]

    def _store(self, row: Plan, actor: str) -> Plan:
        return services.save_plan(row, actor=actor)


class AppViewSet(StoredViewSet):
    """Apps by code, which never changes."""

    access = access_to("app")
    queryset = App.objects.select_related("plan").order_by("code")
    serializer_class = AppSerializer
    lookup_field = "code"
    filterset_fields = ["plan__code", "pod_security"]
    search_fields = ["code", "name"]

    def _store(self, row: App, actor: str) -> App:
        return services.save_app(row, actor=actor)


class EnvironmentViewSet(StoredViewSet):
    """Environments by namespace, which never changes."""

    access = {**access_to("environment"), "preview": read_access("environment")}
    queryset = Environment.objects.select_related("app__plan").order_by("namespace")
    serializer_class = EnvironmentSerializer
    lookup_field = "namespace"
    filterset_fields = ["app__code", "name"]
    search_fields = ["namespace", "hostname"]

    def _store(self, row: Environment, actor: str) -> Environment:
        return services.save_environment(row, actor=actor)

    @extend_schema(responses=PreviewSerializer)
    @action(detail=True, methods=["get"], filter_backends=[], pagination_class=None)
    def preview(self, request: Request, namespace: str) -> Response:
        """What the next deployment would apply, and what is wrong with it; needs no cluster."""
        objects = preview_objects(self.get_object())
        preview = {"objects": objects, "findings": preview_findings(objects)}
        return Response(PreviewSerializer(preview).data)


class CustomDomainViewSet(
    mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet
):
    """Hosts of customers: added, verified by the worker, removed."""

    access = {
        "list": read_access("customdomain"),
        "retrieve": read_access("customdomain"),
        "create": write_access("customdomain", "add"),
        "destroy": write_access("customdomain", "delete"),
    }
    queryset = CustomDomain.objects.select_related("environment").order_by("id")
    serializer_class = CustomDomainSerializer
    filterset_fields = ["environment__namespace", "status", "host"]

    @extend_schema(request=DomainWishSerializer, responses={201: CustomDomainSerializer(many=True)})
    def create(self, request: Request) -> Response:
        """Add a host, with its `www` name if wanted; it is routed once its DNS is verified."""
        wish = DomainWishSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        added = add_custom_domain(
            wish.validated_data["environment"],
            wish.validated_data["host"],
            has_www=wish.validated_data["has_www"],
            actor=request.user.get_username(),
            now=timezone.now(),
        )
        answer = CustomDomainSerializer(added, many=True)
        return Response(answer.data, status=status.HTTP_201_CREATED)

    def destroy(self, request: Request, pk: str) -> Response:
        """Remove a host; the next deployment takes its Ingress away."""
        actor = request.user.get_username()
        remove_custom_domain(self.get_object(), actor=actor, now=timezone.now())
        return Response(status=status.HTTP_204_NO_CONTENT)
