"""Types and shapes of process jobs, their workers, and the apps that recalculate themselves."""

from typing import Any

from rest_framework import serializers

from apps.delivery.models import App, RemoteRunner
from apps.delivery.models.process_jobs import MAX_TIMEOUT_SECONDS
from apps.delivery.process_jobs.inspection import STATES


class ProcessJobSerializer(serializers.Serializer):
    """A job as people see it: selectors as text, the error redacted."""

    id = serializers.CharField()
    model = serializers.CharField()
    selectors = serializers.CharField()
    target = serializers.CharField()
    state = serializers.ChoiceField(STATES)
    attempts = serializers.IntegerField()
    created_at = serializers.DateTimeField(allow_null=True)
    due_at = serializers.DateTimeField(allow_null=True)
    lease_until = serializers.DateTimeField(allow_null=True)
    failed_at = serializers.DateTimeField(allow_null=True)
    last_error = serializers.CharField()


class ProcessJobFilterSerializer(serializers.Serializer):
    """What a list is narrowed down to."""

    state = serializers.ChoiceField(STATES, required=False, default="")
    model = serializers.CharField(max_length=120, required=False, default="")


class ProcessJobWishSerializer(serializers.Serializer):
    """A recalculation to ask for."""

    model = serializers.CharField(max_length=120)
    selectors = serializers.JSONField()


class ProcessJobReasonSerializer(serializers.Serializer):
    """Why."""

    reason = serializers.CharField(max_length=255)


class ProcessWorkerSerializer(serializers.Serializer):
    """A worker and its last sign of life."""

    name = serializers.CharField()
    host = serializers.CharField()
    pid = serializers.IntegerField()
    models = serializers.ListField(child=serializers.CharField())
    started_at = serializers.DateTimeField()
    seen_at = serializers.DateTimeField()
    is_alive = serializers.BooleanField()


class RemoteRunnerSerializer(serializers.ModelSerializer):
    """A model whose jobs an app runs; `app` is the app's code."""

    app: Any = serializers.SlugRelatedField("code", queryset=App.objects.all())
    timeout_seconds = serializers.IntegerField(
        min_value=1, max_value=MAX_TIMEOUT_SECONDS, default=60
    )

    class Meta:
        model = RemoteRunner
        fields = ["id", "app", "model_name", "url", "timeout_seconds", "is_active", "created_at"]
        read_only_fields = ["is_active", "created_at"]


class NewRemoteRunnerSerializer(RemoteRunnerSerializer):
    """The same with the secret that signs calls, shown this once."""

    class Meta(RemoteRunnerSerializer.Meta):
        fields: list[Any] = [*RemoteRunnerSerializer.Meta.fields, "secret"]
