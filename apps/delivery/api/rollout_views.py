"""Releases, plans, deployments and the fleet over HTTP."""

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.delivery.api import rollout_serializers as shapes
from apps.delivery.api.access import read_access, write_access
from apps.delivery.clusters import shared_cluster
from apps.delivery.models import (
    ClusterStatus,
    Deployment,
    DeploymentPlan,
    EnvironmentStatus,
    Release,
)
from apps.delivery.rollout_queries import (
    environment_named,
    newest_release,
    release_differences,
    release_numbered,
)
from apps.delivery.services import deployments, handshake, plans
from apps.delivery.services.releases import create_release


class ReleaseViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet):
    """Releases: made once, numbered for each app, never changed."""

    access = {
        "list": read_access("release"),
        "retrieve": read_access("release"),
        "compare": read_access("release"),
        "create": write_access("release", "add"),
        "take": write_access("release", "add"),
    }
    queryset = Release.objects.select_related("app").order_by("-id")
    serializer_class = shapes.ReleaseSerializer
    filterset_fields = ["app__code", "image_digest"]

    def create(self, request: Request) -> Response:
        """Freeze an image and the app's present settings."""
        wish = self.get_serializer(data=request.data)
        wish.is_valid(raise_exception=True)
        release = create_release(
            **wish.validated_data, actor=request.user.get_username(), now=timezone.now()
        )
        return Response(self.get_serializer(release).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=shapes.CentralReleaseSerializer)
    @action(detail=False, methods=["post"])
    def take(self, request: Request) -> Response:
        """Take a release of Central over: its context by id, with the image that was built."""
        wish = shapes.CentralReleaseSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        release = handshake.take_release(
            **wish.validated_data, actor=request.user.get_username(), now=timezone.now()
        )
        return Response(self.get_serializer(release).data, status=status.HTTP_201_CREATED)

    @extend_schema(
        parameters=[shapes.ReleasePairSerializer],
        responses=shapes.DifferenceSerializer(many=True),
    )
    @action(detail=False, methods=["get"], filter_backends=[], pagination_class=None)
    def compare(self, request: Request) -> Response:
        """What changed between two releases of an app."""
        pair = shapes.ReleasePairSerializer(data=request.query_params)
        pair.is_valid(raise_exception=True)
        app = pair.validated_data["app"]
        left, right = (
            release_numbered(app, pair.validated_data[side]) for side in ("before", "after")
        )
        rows = release_differences(left, right)
        return Response(shapes.DifferenceSerializer(rows, many=True).data)


class DeploymentPlanViewSet(mixins.RetrieveModelMixin, viewsets.GenericViewSet):
    """Plans: made, read, and confirmed once."""

    access = {
        "retrieve": read_access("deploymentplan"),
        "create": write_access("deploymentplan", "add"),
        "confirm": write_access("deployment", "add"),
    }
    queryset = DeploymentPlan.objects.select_related("environment", "release")
    serializer_class = shapes.DeploymentPlanSerializer

    @extend_schema(request=shapes.PlanWishSerializer)
    def create(self, request: Request) -> Response:
        """Work out what a release would change; nothing is touched."""
        wish = shapes.PlanWishSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        environment = environment_named(wish.validated_data["environment"])
        number = wish.validated_data.get("release")
        release = (
            release_numbered(environment.app, number) if number else newest_release(environment)
        )
        plan = plans.make_plan(
            environment,
            release,
            cluster=shared_cluster(),
            actor=request.user.get_username(),
            now=timezone.now(),
        )
        return Response(self.get_serializer(plan).data, status=status.HTTP_201_CREATED)

    @extend_schema(
        request=shapes.ConfirmationSerializer, responses={201: shapes.DeploymentSerializer}
    )
    @action(detail=True, methods=["post"])
    def confirm(self, request: Request, pk: str) -> Response:
        """Queue the deployment that the plan describes."""
        wish = shapes.ConfirmationSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        deployment = deployments.confirm_plan(
            self.get_object().pk,
            actor=request.user.get_username(),
            now=timezone.now(),
            note=wish.validated_data["note"],
            is_forced=wish.validated_data["force"],
        )
        answer = shapes.DeploymentSerializer(deployment)
        return Response(answer.data, status=status.HTTP_201_CREATED)


class DeploymentViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet):
    """Deployments: who brought what where, and how it went."""

    access = {
        "list": read_access("deployment"),
        "retrieve": read_access("deployment"),
        "cancel": write_access("deployment", "change"),
        "abort": write_access("deployment", "change"),
        "rollback": write_access("deployment", "add"),
    }
    queryset = Deployment.objects.select_related(
        "environment", "release", "fallback_release"
    ).order_by("-id")
    serializer_class = shapes.DeploymentSerializer
    filterset_fields = ["environment__namespace", "environment__app__code", "phase", "kind"]

    def get_queryset(self) -> QuerySet[Deployment]:
        """One deployment comes with its timeline."""
        rows: QuerySet[Deployment] = super().get_queryset()
        return rows if self.action == "list" else rows.prefetch_related("steps")

    @extend_schema(responses=shapes.DeploymentDetailSerializer)
    def retrieve(self, request: Request, pk: str) -> Response:
        """One deployment with its timeline."""
        return Response(shapes.DeploymentDetailSerializer(self.get_object()).data)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        """Take it back before it has touched the cluster."""
        actor = request.user.get_username()
        deployment = deployments.cancel(self.get_object().pk, actor=actor, now=timezone.now())
        return Response(self.get_serializer(deployment).data)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def abort(self, request: Request, pk: str) -> Response:
        """Send a rollout under way back to the release that worked."""
        actor = request.user.get_username()
        deployment = deployments.abort(self.get_object().pk, actor=actor, now=timezone.now())
        return Response(self.get_serializer(deployment).data)

    @extend_schema(request=shapes.RollbackSerializer, responses={201: shapes.DeploymentSerializer})
    @action(detail=False, methods=["post"])
    def rollback(self, request: Request) -> Response:
        """Bring an earlier release back: plan and confirmation in one."""
        wish = shapes.RollbackSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        deployment = deployments.roll_back(
            environment_named(wish.validated_data["environment"]),
            wish.validated_data.get("release"),
            cluster=shared_cluster(),
            actor=request.user.get_username(),
            note=wish.validated_data["note"],
            now=timezone.now(),
        )
        return Response(self.get_serializer(deployment).data, status=status.HTTP_201_CREATED)


class MemberView(APIView):
    """Members of an app, activated by Central."""

    access = {"post": write_access("environment", "change")}

    @extend_schema(request=shapes.MemberSerializer, responses=shapes.CentralAnswerSerializer)
    def post(self, request: Request) -> Response:
        """Have Central activate a member."""
        wish = shapes.MemberSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        environment = environment_named(wish.validated_data["environment"])
        member_id = wish.validated_data["member_id"]
        answer = handshake.activate_member(environment, member_id, now=timezone.now())
        return Response({"answer": answer})


class FleetViewSet(mixins.ListModelMixin, viewsets.GenericViewSet):
    """The last look at every environment; answers while the cluster is away."""

    access = {"list": read_access("environmentstatus")}
    queryset = EnvironmentStatus.objects.select_related("environment").order_by("environment_id")
    serializer_class = shapes.EnvironmentStatusSerializer
    filterset_fields = ["health", "has_drifted", "environment__namespace"]


class ClusterView(APIView):
    """Whether the cluster answers, and since when not."""

    access = {"get": read_access("clusterstatus")}

    @extend_schema(responses=shapes.ClusterStatusSerializer)
    def get(self, request: Request) -> Response:
        """The last answer of the cluster."""
        found = ClusterStatus.objects.first() or ClusterStatus(checked_at=timezone.now())
        return Response(shapes.ClusterStatusSerializer(found).data)
