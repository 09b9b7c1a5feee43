"""Process jobs over HTTP: what waits, asking for more, and what to do about what failed."""

from typing import cast

from django.contrib.auth.models import User
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.delivery import mongodb
from apps.delivery.api import process_job_serializers as shapes
from apps.delivery.api.access import read_access, write_access
from apps.delivery.choices import ProcessJobActionKind
from apps.delivery.errors import ProcessJobMoved
from apps.delivery.models import RemoteRunner
from apps.delivery.process_jobs.inspection import JobRow, JobRows, job_named
from apps.delivery.process_jobs.workers import worker_rows
from apps.delivery.services import process_job_actions, process_jobs, remote_runners

READ = read_access("processjobaction")
CHANGE = write_access("processjobaction", "change")
DELETE = write_access("processjobaction", "delete")


class ProcessJobViewSet(viewsets.GenericViewSet):
    """Jobs, oldest due first; those that are done are gone."""

    access = {
        "list": READ,
        "retrieve": READ,
        "create": write_access("processjobaction", "add"),
        "retry": CHANGE,
        "run_now": CHANGE,
        "cancel": DELETE,
        "discard": DELETE,
    }
    serializer_class = shapes.ProcessJobSerializer
    filter_backends = []
    lookup_value_regex = "[^/.]+"

    @extend_schema(
        parameters=[shapes.ProcessJobFilterSerializer],
        responses=shapes.ProcessJobSerializer(many=True),
    )
    def list(self, request: Request) -> Response:
        """Jobs of a state, of a model, or all."""
        wanted = shapes.ProcessJobFilterSerializer(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        with mongodb.answering() as database:
            page = self.paginate_queryset(JobRows(database, **wanted.validated_data))  # type: ignore[arg-type]  # the paginator slices and counts, whatever it is given
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    @extend_schema(parameters=[OpenApiParameter("id", str, "path")])
    def retrieve(self, request: Request, pk: str) -> Response:
        """One job."""
        with mongodb.answering() as database:
            return Response(self.get_serializer(job_named(database, pk)).data)

    @extend_schema(
        request=shapes.ProcessJobWishSerializer, responses={202: shapes.ProcessJobWishSerializer}
    )
    def create(self, request: Request) -> Response:
        """Ask for a recalculation on the caller's behalf; equal ones that wait are one run."""
        wish = shapes.ProcessJobWishSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        # Access is declared for tokens and staff, who are users.
        process_jobs.enqueue(**wish.validated_data, user=cast("User", request.user))
        return Response(wish.data, status=status.HTTP_202_ACCEPTED)

    @extend_schema(
        parameters=[OpenApiParameter("id", str, "path")], request=shapes.ProcessJobReasonSerializer
    )
    @action(detail=True, methods=["post"])
    def retry(self, request: Request, pk: str) -> Response:
        """Give a failed job all its attempts again."""
        return self._decided(request, pk, ProcessJobActionKind.RETRY)

    @extend_schema(
        parameters=[OpenApiParameter("id", str, "path")], request=shapes.ProcessJobReasonSerializer
    )
    @action(detail=True, methods=["post"], url_path="run-now")
    def run_now(self, request: Request, pk: str) -> Response:
        """Make a pending job due at once."""
        return self._decided(request, pk, ProcessJobActionKind.RUN_NOW)

    @extend_schema(
        parameters=[OpenApiParameter("id", str, "path")], request=shapes.ProcessJobReasonSerializer
    )
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        """Delete a job that has not begun."""
        return self._decided(request, pk, ProcessJobActionKind.CANCEL)

    @extend_schema(
        parameters=[OpenApiParameter("id", str, "path")], request=shapes.ProcessJobReasonSerializer
    )
    @action(detail=True, methods=["post"])
    def discard(self, request: Request, pk: str) -> Response:
        """Delete a failed job for good."""
        return self._decided(request, pk, ProcessJobActionKind.DISCARD)

    def _decided(self, request: Request, pk: str, kind: ProcessJobActionKind) -> Response:
        wish = shapes.ProcessJobReasonSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        changed: list[JobRow] = process_job_actions.act(
            kind, [pk], actor=request.user.get_username(), reason=wish.validated_data["reason"]
        )
        if not changed:
            raise ProcessJobMoved("The job is done, or not in a state for this.")
        return Response(self.get_serializer(changed[0]).data)


class ProcessWorkerViewSet(viewsets.GenericViewSet):
    """The workers that were seen within the hour."""

    access = {"list": READ}
    serializer_class = shapes.ProcessWorkerSerializer
    filter_backends = []
    pagination_class = None

    @extend_schema(responses=shapes.ProcessWorkerSerializer(many=True))
    def list(self, request: Request) -> Response:
        """Workers by name, silent ones included."""
        with mongodb.answering() as database:
            return Response(self.get_serializer(worker_rows(database), many=True).data)


class RemoteRunnerViewSet(
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    mixins.DestroyModelMixin,
    viewsets.GenericViewSet,
):
    """Models whose jobs are run by a signed call to an app."""

    access = {
        "list": read_access("remoterunner"),
        "retrieve": read_access("remoterunner"),
        "create": write_access("remoterunner", "add"),
        "destroy": write_access("remoterunner", "delete"),
    }
    queryset = RemoteRunner.objects.select_related("app").order_by("model_name")
    serializer_class = shapes.RemoteRunnerSerializer
    filterset_fields = ["app__code", "is_active"]

    @extend_schema(responses={201: shapes.NewRemoteRunnerSerializer})
    def create(self, request: Request) -> Response:
        """Declare one; the answer holds the secret, which nobody can read again."""
        wish = self.get_serializer(data=request.data)
        wish.is_valid(raise_exception=True)
        runner = remote_runners.declare(**wish.validated_data, actor=request.user.get_username())
        answer = shapes.NewRemoteRunnerSerializer(runner)
        return Response(answer.data, status=status.HTTP_201_CREATED)

    def perform_destroy(self, instance: RemoteRunner) -> None:
        """Its jobs wait from now on, for a runner or a node worker."""
        remote_runners.withdraw(instance)
