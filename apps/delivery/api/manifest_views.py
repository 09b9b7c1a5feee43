"""Manifests over HTTP: their schema, a check, the metrics of apps."""

from typing import Any

from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.delivery.api.access import USAGE_READ, caller_app, read_access, write_access
from apps.delivery.api.usage_serializers import MetricDeclarationSerializer
from apps.delivery.app_manifest import (
    app_manifest_issues,
    app_manifest_warnings,
    public_usage_metrics,
)
from apps.delivery.app_manifest_schema import SCHEMA
from apps.delivery.services.usage_metrics import declare_metrics, find_app
from apps.delivery.usage_queries import declared_metrics


@require_safe
@cache_control(public=True, max_age=3600)
def manifest_schema(_request: HttpRequest) -> JsonResponse:
    """The JSON Schema of `central.app.json`, for editors and build servers."""
    answer = JsonResponse(SCHEMA, content_type="application/schema+json")
    answer["Access-Control-Allow-Origin"] = "*"
    return answer


class IssueSerializer(serializers.Serializer):
    """A place in a manifest, and what would be right there."""

    path = serializers.CharField()
    message = serializers.CharField()


class ManifestCheckSerializer(serializers.Serializer):
    """What is wrong with a manifest, and what it cannot mean."""

    valid = serializers.BooleanField()
    issues = IssueSerializer(many=True)
    warnings = IssueSerializer(many=True)


class DeclarationSerializer(serializers.Serializer):
    """What a manifest changed about an app's metrics."""

    added = serializers.ListField(child=serializers.CharField())
    changed = serializers.ListField(child=serializers.CharField())
    withdrawn = serializers.ListField(child=serializers.CharField())
    warnings = IssueSerializer(many=True)


class ManifestCheckView(APIView):
    """The check of a manifest that belongs to no app yet."""

    access = {"post": read_access("app")}

    @extend_schema(request=dict[str, Any], responses=ManifestCheckSerializer)
    def post(self, request: Request) -> Response:
        """Every broken rule at once, in the language of `Accept-Language`."""
        manifest: Any = request.data
        issues = app_manifest_issues(manifest)
        warnings = [] if issues else app_manifest_warnings(manifest)
        answer = {"valid": not issues, "issues": issues, "warnings": warnings}
        return Response(ManifestCheckSerializer(answer).data)


class AppManifestView(APIView):
    """The manifest of an app."""

    access = {"put": write_access("app", "change")}

    @extend_schema(request=dict[str, Any], responses=DeclarationSerializer)
    def put(self, request: Request, code: str) -> Response:
        """Take its usage metrics over; what it leaves out is withdrawn and keeps its counts."""
        actor = request.user.get_username()
        report = declare_metrics(find_app(code), request.data, actor=actor)
        return Response(DeclarationSerializer(report).data)


class UsageMetricsView(APIView):
    """The metrics of the caller's own app, in the form of the original."""

    access = {"get": USAGE_READ}

    @extend_schema(operation_id="core_usage_metrics", responses=MetricDeclarationSerializer)
    def get(self, request: Request) -> Response:
        """Those of the app that the token speaks for; the platform itself counts nothing."""
        return Response(_metrics_of(caller_app(request, USAGE_READ)))


class AppUsageMetricsView(APIView):
    """The metrics of one app, in the form of the original."""

    access = {"get": USAGE_READ}

    @extend_schema(operation_id="core_usage_metrics_of_app", responses=MetricDeclarationSerializer)
    def get(self, request: Request, code: str) -> Response:
        """Those that its newest manifest declares."""
        return Response(_metrics_of(caller_app(request, USAGE_READ, code)))


def _metrics_of(app: str | None) -> dict[str, Any]:
    if app is None:
        return public_usage_metrics({})
    metrics = declared_metrics(find_app(app).code)
    return public_usage_metrics({"appCode": app, "usageMetrics": metrics})
