"""Types and shapes of releases, plans, deployments and the fleet."""

from typing import Any

from rest_framework import serializers

from apps.delivery.models import (
    App,
    ClusterStatus,
    Deployment,
    DeploymentPlan,
    DeploymentStep,
    EnvironmentStatus,
    Release,
)


class ReleaseSerializer(serializers.ModelSerializer):
    """An image by digest and the app's settings; `app` is the app's code."""

    app = serializers.SlugRelatedField("code", queryset=App.objects.select_related("plan"))
    image_digest = serializers.CharField(max_length=71)
    note = serializers.CharField(max_length=500, required=False, default="")

    class Meta:
        model = Release
        fields = [
            "id",
            "app",
            "number",
            "image_digest",
            "config",
            "manifest_version",
            "note",
            "actor",
            "created_at",
        ]
        read_only_fields = ["number", "config", "manifest_version", "actor", "created_at"]


class CentralReleaseSerializer(serializers.Serializer):
    """A release by Central's id, and the image that was built for it."""

    release_id = serializers.CharField(max_length=253)
    image_digest = serializers.CharField(max_length=71)


class MemberSerializer(serializers.Serializer):
    """A member of the app that runs in an environment."""

    environment = serializers.CharField(max_length=63)
    member_id = serializers.CharField(max_length=120)


class CentralAnswerSerializer(serializers.Serializer):
    """What Central answered."""

    answer = serializers.JSONField()


class ReleasePairSerializer(serializers.Serializer):
    """Two releases of one app to compare."""

    app = serializers.SlugRelatedField("code", queryset=App.objects.all())
    before = serializers.IntegerField(min_value=1)
    after = serializers.IntegerField(min_value=1)


class DifferenceSerializer(serializers.Serializer):
    """One field before and after."""

    path = serializers.CharField()
    before = serializers.JSONField(allow_null=True)
    after = serializers.JSONField(allow_null=True)


class PlanWishSerializer(serializers.Serializer):
    """Which release is to come where; without `release` the newest one."""

    environment = serializers.CharField(max_length=63)
    release = serializers.IntegerField(min_value=1, required=False)


class DeploymentPlanSerializer(serializers.ModelSerializer):
    """What would change, in the order in which it would happen."""

    environment: Any = serializers.SlugRelatedField("namespace", read_only=True)
    release = serializers.IntegerField(source="release.number", read_only=True)

    class Meta:
        model = DeploymentPlan
        fields = [
            "id",
            "environment",
            "release",
            "changes",
            "findings",
            "actor",
            "created_at",
            "expires_at",
        ]


class ConfirmationSerializer(serializers.Serializer):
    """Why, and whether fields of other managers are taken over."""

    note = serializers.CharField(max_length=500, required=False, default="", allow_blank=True)
    force = serializers.BooleanField(required=False, default=False)


class RollbackSerializer(serializers.Serializer):
    """Where to, by release number; without it the release that worked before."""

    environment = serializers.CharField(max_length=63)
    release = serializers.IntegerField(min_value=1, required=False)
    note = serializers.CharField(max_length=500, required=False, default="", allow_blank=True)


class StepSerializer(serializers.ModelSerializer):
    """One line of the timeline."""

    class Meta:
        model = DeploymentStep
        fields = ["name", "status", "message", "at"]


class DeploymentSerializer(serializers.ModelSerializer):
    """Where a deployment stands, and why it does not get on."""

    environment: Any = serializers.SlugRelatedField("namespace", read_only=True)
    release = serializers.IntegerField(source="release.number", read_only=True)
    fallback_release = serializers.SerializerMethodField()

    class Meta:
        model = Deployment
        fields = [
            "id",
            "environment",
            "release",
            "fallback_release",
            "kind",
            "phase",
            "percent",
            "reasons",
            "error_code",
            "error_message",
            "image_ref",
            "infra_version",
            "actor",
            "note",
            "created_at",
            "phase_since",
            "deadline_at",
            "finished_at",
        ]

    def get_fallback_release(self, deployment: Deployment) -> int | None:
        """The release that it goes back to, by number."""
        return deployment.fallback_release.number if deployment.fallback_release else None


class DeploymentDetailSerializer(DeploymentSerializer):
    """A deployment with its timeline."""

    steps = StepSerializer(many=True, read_only=True)

    class Meta(DeploymentSerializer.Meta):
        fields: list[Any] = [*DeploymentSerializer.Meta.fields, "steps"]


class EnvironmentStatusSerializer(serializers.ModelSerializer):
    """The last look at an environment."""

    environment: Any = serializers.SlugRelatedField("namespace", read_only=True)

    class Meta:
        model = EnvironmentStatus
        fields = [
            "environment",
            "health",
            "reason",
            "replicas_available",
            "replicas_wanted",
            "has_drifted",
            "drift",
            "checked_at",
        ]


class ClusterStatusSerializer(serializers.ModelSerializer):
    """Whether the cluster answers."""

    class Meta:
        model = ClusterStatus
        fields = ["is_reachable", "version", "message", "checked_at", "answered_at"]
