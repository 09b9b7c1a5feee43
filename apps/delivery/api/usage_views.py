"""Usage over HTTP: reporting, reserving, counters, alerts, invoices and the limits of plans."""

from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework import mixins, status, viewsets
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.delivery.api import usage_serializers as shapes
from apps.delivery.api.access import (
    USAGE_READ,
    USAGE_WRITE,
    caller_app,
    named_app,
    read_access,
    write_access,
)
from apps.delivery.api.views import StoredViewSet
from apps.delivery.errors import AppNotFound
from apps.delivery.models import App, LimitAlert, PlanLimit, UsageEvent, UsageTotal
from apps.delivery.services import usage_plans, usage_reservations
from apps.delivery.services.usage_ingest import Acceptance, Outcome
from apps.delivery.services.usage_reporting import report_batch, report_one
from apps.delivery.usage_queries import check_usage, current_period, invoice_of, usage_rows

EVENT_OR_BATCH = PolymorphicProxySerializer(
    component_name="UsageReport",
    serializers=[shapes.ReportedEventSerializer, shapes.ReportedBatchSerializer],
    resource_type_field_name=None,
)
OUTCOME_OR_BATCH = PolymorphicProxySerializer(
    component_name="UsageOutcome",
    serializers=[shapes.OutcomeSerializer, shapes.BatchOutcomeSerializer],
    resource_type_field_name=None,
)


class NewestFirst(CursorPagination):
    """Keyset pages of long lists."""

    ordering = "-id"
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200


class OwnRowsMixin(viewsets.GenericViewSet):
    """Lists of which an app's own token sees its own rows only."""

    def get_queryset(self) -> QuerySet:
        """The rows of the apps that the caller may see."""
        rows: QuerySet = super().get_queryset()
        if getattr(self, "swagger_fake_view", False):
            return rows
        app = caller_app(self.request, USAGE_READ)
        return rows if app is None else rows.filter(metric__app__code=app)


class UsageEventViewSet(mixins.ListModelMixin, OwnRowsMixin):
    """Usage events: reported one by one or in batches, each counted once."""

    access = {"list": USAGE_READ, "create": USAGE_WRITE}
    queryset = UsageEvent.objects.select_related("metric__app")
    serializer_class = shapes.UsageEventSerializer
    pagination_class = NewestFirst
    filter_backends = [DjangoFilterBackend]
    filterset_fields = ["metric__app__code", "metric__code", "period", "event_id", "subject"]

    @extend_schema(
        request=EVENT_OR_BATCH,
        responses={200: OUTCOME_OR_BATCH, 201: shapes.OutcomeSerializer, 207: OUTCOME_OR_BATCH},
    )
    def create(self, request: Request) -> Response:
        """Count an event, or a batch of up to 1,000 under `events`.

        One event: 201 accepted, 200 counted before, else the reason. A batch: 200 when all are
        counted, 207 when some are refused; `results` tells of each.
        """
        own_app = caller_app(request, USAGE_WRITE)
        body, now = request.data, timezone.now()
        if isinstance(body, dict) and "events" not in body:
            outcome = report_one(body, own_app=own_app, now=now)
            is_new = outcome.status is Acceptance.ACCEPTED
            code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
            return Response(shapes.OutcomeSerializer(outcome).data, status=code)
        items, default_app = _batch(body)
        outcomes = report_batch(items, own_app=own_app, default_app=default_app, now=now)
        return _told(outcomes)


def _batch(body: Any) -> tuple[list[Any], str | None]:
    """The events of a batch and the app of those that name none."""
    fields = body if isinstance(body, dict) else {"events": body}
    events, app = fields.get("events"), fields.get("app")
    return (events if isinstance(events, list) else []), (app if isinstance(app, str) else None)


def _told(outcomes: list[Outcome]) -> Response:
    counts = [outcome.status for outcome in outcomes]
    answer = {
        "accepted": counts.count(Acceptance.ACCEPTED),
        "duplicates": counts.count(Acceptance.DUPLICATE),
        "refused": sum(outcome.is_refused for outcome in outcomes),
        "results": outcomes,
    }
    code = status.HTTP_207_MULTI_STATUS if answer["refused"] else status.HTTP_200_OK
    return Response(shapes.BatchOutcomeSerializer(answer).data, status=code)


class UsageTotalViewSet(mixins.ListModelMixin, OwnRowsMixin):
    """Counters of metrics and periods beside their limits."""

    access = {"list": USAGE_READ}
    queryset = UsageTotal.objects.select_related("metric__app").order_by("-period", "id")
    serializer_class = shapes.UsageRowSerializer
    filterset_fields = ["metric__app__code", "metric__code", "period"]

    def list(self, request: Request, *_args: Any, **_names: Any) -> Response:
        """A page of counters, its limits read in one query."""
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset()))
        rows = shapes.UsageRowSerializer(usage_rows(page or []), many=True)
        return self.get_paginated_response(rows.data)


class LimitAlertViewSet(mixins.ListModelMixin, OwnRowsMixin):
    """Lines that usage reached."""

    access = {"list": USAGE_READ}
    queryset = LimitAlert.objects.select_related("metric__app").order_by("-id")
    serializer_class = shapes.LimitAlertSerializer
    filterset_fields = ["metric__app__code", "metric__code", "period", "kind", "percent"]


class UsageCheckView(APIView):
    """Whether so much more would fit: advice, quick and some seconds old."""

    access = {"get": USAGE_READ}

    @extend_schema(
        parameters=[shapes.CheckQuestionSerializer], responses=shapes.CheckReportSerializer
    )
    def get(self, request: Request) -> Response:
        """Ask; only a reservation is a promise."""
        question = shapes.CheckQuestionSerializer(data=request.query_params)
        question.is_valid(raise_exception=True)
        asked = question.validated_data
        app = named_app(request, USAGE_READ, asked.get("app"))
        report = check_usage(app, asked["metric"], asked["quantity"], now=timezone.now())
        return Response(shapes.CheckReportSerializer(report).data)


class InvoiceView(APIView):
    """The preview of an invoice."""

    access = {"get": USAGE_READ}

    @extend_schema(
        parameters=[shapes.InvoiceQuestionSerializer], responses=shapes.InvoiceSerializer
    )
    def get(self, request: Request) -> Response:
        """What a period of an app costs beyond its plan, by the plan as it stands now."""
        question = shapes.InvoiceQuestionSerializer(data=request.query_params)
        question.is_valid(raise_exception=True)
        code = named_app(request, USAGE_READ, question.validated_data.get("app"))
        app = App.objects.select_related("plan").filter(code=code).first()
        if app is None:
            raise AppNotFound(code)
        now = timezone.now()
        first_day = question.validated_data.get("period") or current_period(app, now).first_day
        invoice = invoice_of(app, first_day, now=now)
        return Response(shapes.InvoiceSerializer(invoice).data)


class ReservationView(APIView):
    """Units held before they are used."""

    access = {"post": USAGE_WRITE}

    @extend_schema(
        request=shapes.ReservationAskSerializer, responses={201: shapes.ReservationSerializer}
    )
    def post(self, request: Request) -> Response:
        """Hold units of the present period; 429 when the plan has no room for them."""
        asked = _asked(request, shapes.ReservationAskSerializer)
        ask = usage_reservations.Ask(
            app_code=asked["app"],
            metric_code=asked["metric"],
            reservation_id=asked["id"],
            quantity=asked["quantity"],
            hold_seconds=asked["hold_seconds"],
            subject=asked["subject"],
        )
        held = usage_reservations.reserve(ask, now=timezone.now())
        return Response(shapes.ReservationSerializer(held).data, status=status.HTTP_201_CREATED)


class ReservationCommitView(APIView):
    """The end of a reservation that was used."""

    access = {"post": USAGE_WRITE}

    @extend_schema(
        request=shapes.ReservationUseSerializer, responses={200: shapes.ReservationSerializer}
    )
    def post(self, request: Request) -> Response:
        """Count it, as the event of the same id; less than was held gives the rest back."""
        asked = _asked(request, shapes.ReservationUseSerializer)
        row = usage_reservations.commit(
            asked["app"],
            asked["metric"],
            asked["id"],
            used=asked.get("used"),
            now=timezone.now(),
        )
        return Response(shapes.ReservationSerializer(row).data)


class ReservationReleaseView(APIView):
    """The end of a reservation that was not used."""

    access = {"post": USAGE_WRITE}

    @extend_schema(
        request=shapes.ReservationNameSerializer, responses={200: shapes.ReservationSerializer}
    )
    def post(self, request: Request) -> Response:
        """Give the units back."""
        asked = _asked(request, shapes.ReservationNameSerializer)
        row = usage_reservations.release(asked["app"], asked["metric"], asked["id"])
        return Response(shapes.ReservationSerializer(row).data)


def _asked(request: Request, shape: type[shapes.ReservationNameSerializer]) -> dict[str, Any]:
    """The checked body, with the app that the caller speaks for. Raises OtherApp, AppNotNamed."""
    body = shape(data=request.data)
    body.is_valid(raise_exception=True)
    asked: dict[str, Any] = dict(body.validated_data)
    asked["app"] = named_app(request, USAGE_WRITE, asked.get("app"))
    return asked


class PlanLimitViewSet(StoredViewSet, mixins.DestroyModelMixin):
    """What plans include of each metric, and what happens beyond."""

    access = {
        "list": read_access("planlimit"),
        "retrieve": read_access("planlimit"),
        "create": write_access("planlimit", "add"),
        "partial_update": write_access("planlimit", "change"),
        "destroy": write_access("planlimit", "delete"),
    }
    queryset = PlanLimit.objects.select_related("plan").order_by("id")
    serializer_class = shapes.PlanLimitSerializer
    filterset_fields = ["plan__code", "metric_code", "on_limit"]
    search_fields = ["plan__code", "metric_code"]

    def _store(self, row: PlanLimit, actor: str) -> PlanLimit:
        return usage_plans.save_limit(row, actor=actor)

    def perform_destroy(self, instance: PlanLimit) -> None:
        """Count the metric without an end from now on."""
        usage_plans.delete_limit(instance, actor=self.request.user.get_username())
