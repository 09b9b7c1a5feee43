"""Types and shapes of usage; the rules are the services'."""

from typing import Any

from django.conf import settings
from django.utils import timezone
from rest_framework import serializers

from apps.delivery.models import LimitAlert, Plan, PlanLimit, UsageEvent, UsageReservation
from apps.delivery.services.usage_reservations import MAX_HOLD_SECONDS
from apps.delivery.usage.events import MAX_BATCH, MAX_ID_LENGTH, MAX_QUANTITY, MAX_SUBJECT_LENGTH
from apps.delivery.usage_texts import REFUSAL_TEXTS

_CODE = r"^[a-z0-9][a-z0-9_.-]*\Z"
_APP_HELP = "Code of the app; a token of the app itself may leave it out."


class ReportedEventSerializer(serializers.Serializer):
    """One usage event, as an app reports it (documentation; `usage.parsing` reads it)."""

    app = serializers.CharField(required=False, help_text=_APP_HELP)
    metric = serializers.CharField()
    id = serializers.CharField(max_length=MAX_ID_LENGTH, help_text="Stays the same in a retry.")
    quantity = serializers.IntegerField(min_value=0, max_value=MAX_QUANTITY)
    occurred_at = serializers.DateTimeField(required=False, help_text="Left out: now.")
    subject = serializers.CharField(
        required=False, max_length=MAX_SUBJECT_LENGTH, help_text="Who used it, as the app says."
    )


class ReportedBatchSerializer(serializers.Serializer):
    """Many usage events at once."""

    app = serializers.CharField(required=False, help_text="For events that name none.")
    events = serializers.ListField(child=ReportedEventSerializer(), max_length=MAX_BATCH)


class OutcomeSerializer(serializers.Serializer):
    """What became of one event."""

    id = serializers.CharField(source="event_id")
    status = serializers.CharField(help_text="accepted, duplicate, or why it was refused")
    message = serializers.SerializerMethodField()

    def get_message(self, outcome: Any) -> str:
        """The refusal in words."""
        return REFUSAL_TEXTS.get(outcome.status, "")


class BatchOutcomeSerializer(serializers.Serializer):
    """What became of a batch, in its order."""

    accepted = serializers.IntegerField()
    duplicates = serializers.IntegerField()
    refused = serializers.IntegerField()
    results = OutcomeSerializer(many=True)


class UsageEventSerializer(serializers.ModelSerializer):
    """A stored event."""

    app = serializers.CharField(source="metric.app.code")
    metric = serializers.CharField(source="metric.code")
    id = serializers.CharField(source="event_id")

    class Meta:
        model = UsageEvent
        fields = [
            "app",
            "metric",
            "id",
            "quantity",
            "subject",
            "period",
            "occurred_at",
            "received_at",
        ]


class UsageRowSerializer(serializers.Serializer):
    """A counter beside its limits."""

    app = serializers.CharField()
    metric = serializers.CharField()
    name = serializers.CharField()
    unit = serializers.CharField()
    period = serializers.DateField(source="period.first_day")
    starts_at = serializers.DateTimeField(source="period.starts_at")
    ends_at = serializers.DateTimeField(source="period.ends_at")
    is_final = serializers.SerializerMethodField()
    used = serializers.IntegerField()
    reserved = serializers.IntegerField()
    event_count = serializers.IntegerField()
    included = serializers.IntegerField(allow_null=True)
    hard_limit = serializers.IntegerField(source="ceiling", allow_null=True)
    on_limit = serializers.CharField(allow_null=True)
    percent = serializers.IntegerField(allow_null=True)
    overage_units = serializers.IntegerField()
    overage_blocks = serializers.IntegerField(allow_null=True)
    charge_minor = serializers.IntegerField()

    def get_is_final(self, row: Any) -> bool:
        """Whether the period takes no more events."""
        return bool(row.is_final(timezone.now()))


class InvoiceSerializer(serializers.Serializer):
    """What a period costs beyond the plan."""

    app = serializers.CharField()
    period = serializers.DateField(source="period.first_day")
    ends_at = serializers.DateTimeField(source="period.ends_at")
    currency = serializers.CharField()
    is_final = serializers.BooleanField()
    total_minor = serializers.IntegerField()
    lines = UsageRowSerializer(many=True)


class InvoiceQuestionSerializer(serializers.Serializer):
    """Which period of which app."""

    app = serializers.RegexField(_CODE, required=False, help_text=_APP_HELP)
    period = serializers.DateField(required=False, help_text="Its first day; left out: now.")


class CheckQuestionSerializer(serializers.Serializer):
    """Would so much fit?"""

    app = serializers.RegexField(_CODE, required=False, help_text=_APP_HELP)
    metric = serializers.RegexField(_CODE)
    quantity = serializers.IntegerField(min_value=0, max_value=MAX_QUANTITY, default=1)


class CheckReportSerializer(serializers.Serializer):
    """The answer of a check, from figures that may be some seconds old."""

    is_allowed = serializers.BooleanField()
    used = serializers.IntegerField()
    reserved = serializers.IntegerField()
    included = serializers.IntegerField(allow_null=True)
    remaining = serializers.IntegerField(allow_null=True)


class ReservationNameSerializer(serializers.Serializer):
    """Which reservation."""

    app = serializers.RegexField(_CODE, required=False, help_text=_APP_HELP)
    metric = serializers.RegexField(_CODE)
    id = serializers.CharField(max_length=MAX_ID_LENGTH)


class ReservationAskSerializer(ReservationNameSerializer):
    """Units to hold."""

    quantity = serializers.IntegerField(min_value=0, max_value=MAX_QUANTITY)
    subject = serializers.CharField(required=False, default="", max_length=MAX_SUBJECT_LENGTH)
    hold_seconds = serializers.IntegerField(
        min_value=1, max_value=MAX_HOLD_SECONDS, default=lambda: settings.USAGE_HOLD_SECONDS
    )


class ReservationUseSerializer(ReservationNameSerializer):
    """How much of a reservation was used; left out: all of it."""

    used = serializers.IntegerField(min_value=0, max_value=MAX_QUANTITY, required=False)


class ReservationSerializer(serializers.ModelSerializer):
    """A reservation."""

    id = serializers.CharField(source="reservation_id")
    status = serializers.CharField()

    class Meta:
        model = UsageReservation
        fields = ["id", "quantity", "subject", "status", "expires_at", "created_at"]


class LimitAlertSerializer(serializers.ModelSerializer):
    """A line that usage reached."""

    app = serializers.CharField(source="metric.app.code")
    metric = serializers.CharField(source="metric.code")
    kind = serializers.CharField()

    class Meta:
        model = LimitAlert
        fields = ["app", "metric", "period", "kind", "percent", "threshold", "used", "created_at"]


class PlanLimitSerializer(serializers.ModelSerializer):
    """What a plan says about a metric; `plan` is the plan's code."""

    plan = serializers.SlugRelatedField("code", queryset=Plan.objects.all())
    metric = serializers.RegexField(_CODE, source="metric_code", max_length=63)

    class Meta:
        model = PlanLimit
        fields = [
            "id",
            "plan",
            "metric",
            "included",
            "on_limit",
            "overage_mode",
            "price_minor",
            "block_size",
            "soft_limit",
            "hard_limit",
            "updated_at",
        ]


class MetricDeclarationSerializer(serializers.Serializer):
    """The metrics of an app as its manifest declares them."""

    schemaVersion = serializers.IntegerField()  # noqa: N815 (the original's names)
    appCode = serializers.CharField()  # noqa: N815
    metrics = serializers.ListField(child=serializers.DictField())
