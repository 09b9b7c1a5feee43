"""Types and shapes of plans, apps, environments and domains; the rules are the services'."""

from typing import Any

from rest_framework import serializers

from apps.delivery.models import App, CustomDomain, Environment, Plan


class PlanSerializer(serializers.ModelSerializer):
    """What a customer contracted."""

    class Meta:
        model = Plan
        fields = [
            "code",
            "name",
            "slots",
            "resource_profile",
            "capabilities",
            "created_at",
            "updated_at",
        ]


class AppSerializer(serializers.ModelSerializer):
    """A customer's program; `plan` is the plan's code."""

    plan = serializers.SlugRelatedField("code", queryset=Plan.objects.all())

    class Meta:
        model = App
        fields = [
            "code",
            "name",
            "plan",
            "image_repository",
            "pod_security",
            "run_as_user",
            "writable_paths",
            "egress",
            "liveness_path",
            "time_zone",
            "billing_day",
            "created_at",
            "updated_at",
        ]


class EnvironmentSerializer(serializers.ModelSerializer):
    """One running copy of an app; without namespace and hostname it gets its usual ones."""

    app = serializers.SlugRelatedField("code", queryset=App.objects.select_related("plan"))
    namespace = serializers.CharField(max_length=63, required=False)
    hostname = serializers.CharField(max_length=253, required=False)

    class Meta:
        model = Environment
        fields = [
            "app",
            "name",
            "namespace",
            "hostname",
            "performance_mode",
            "created_at",
            "updated_at",
        ]


class CustomDomainSerializer(serializers.ModelSerializer):
    """A host of a customer, with what is known about it."""

    environment = serializers.CharField(source="environment.namespace", read_only=True)

    class Meta:
        model = CustomDomain
        fields = [
            "id",
            "environment",
            "host",
            "status",
            "reason",
            "verified_at",
            "checked_at",
            "created_at",
        ]


class DomainWishSerializer(serializers.Serializer):
    """A host to add to the environment with this namespace."""

    environment = serializers.CharField(max_length=63)
    host = serializers.CharField(max_length=253)
    has_www = serializers.BooleanField(default=False)


class FindingSerializer(serializers.Serializer):
    """Something wrong with a render: where, why, and the way out."""

    severity = serializers.CharField()
    rule = serializers.CharField()
    object = serializers.SerializerMethodField()
    path = serializers.CharField()
    message = serializers.CharField()
    fix = serializers.CharField()

    def get_object(self, finding: Any) -> str:
        """Kind and name."""
        return f"{finding.key.kind}/{finding.key.name}"


class PreviewSerializer(serializers.Serializer):
    """What a deployment would apply, secrets excepted, and what is wrong with it."""

    objects = serializers.ListField(child=serializers.DictField())
    findings = FindingSerializer(many=True)
