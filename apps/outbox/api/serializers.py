"""Events and dead letters as the API takes and gives them."""

from typing import Any

from rest_framework import serializers

from apps.outbox.models import OutboxDeadLetter, OutboxEvent


class EventSerializer(serializers.ModelSerializer[OutboxEvent]):
    """An event and how far it has come."""

    class Meta:
        model = OutboxEvent
        fields = [
            "id",
            "event_type",
            "aggregate_type",
            "aggregate_id",
            "payload",
            "status",
            "priority",
            "attempts",
            "max_attempts",
            "last_error",
            "available_at",
            "processed_at",
            "created_at",
        ]


class DeadLetterSerializer(serializers.ModelSerializer[OutboxDeadLetter]):
    """A dead letter; `outbox_event_id` is what redrive and discard take."""

    class Meta:
        model = OutboxDeadLetter
        fields = [
            "outbox_event_id",
            "event_type",
            "aggregate_type",
            "aggregate_id",
            "payload",
            "attempts",
            "max_attempts",
            "last_error",
            "failed_at",
        ]


class DecisionSerializer(serializers.Serializer[Any]):
    """Which dead letters are meant, by id or all of a type (and aggregate), and why."""

    ids = serializers.ListField(
        child=serializers.IntegerField(min_value=1), max_length=1000, default=list
    )
    event_type = serializers.CharField(max_length=96, default=None)
    aggregate_id = serializers.CharField(max_length=128, default=None)
    reason = serializers.CharField(max_length=255)

    def validate(self, wish: dict[str, Any]) -> dict[str, Any]:
        """Deciding about everything at once has to be said by naming the type."""
        if not wish["ids"] and not wish["event_type"]:
            raise serializers.ValidationError({"ids": "Name events or an event_type."})
        return wish


class RedriveSerializer(DecisionSerializer):
    """Which dead letters go back, and whether to one handler only (its dotted name)."""

    handler = serializers.CharField(max_length=150, default=None)


class MendedSerializer(serializers.Serializer[Any]):
    """A new payload for a dead letter, and why."""

    payload = serializers.DictField()
    handler = serializers.CharField(max_length=150, default=None)
    reason = serializers.CharField(max_length=255)


class PauseSerializer(serializers.Serializer[Any]):
    """A type to be left alone, and why."""

    event_type = serializers.CharField(max_length=96)
    reason = serializers.CharField(max_length=255)
