"""Flags over the API: the desk, the snapshot, and answers with their reasons."""

import dataclasses
import hashlib
import json
from datetime import timedelta
from typing import Any

from django.http import HttpResponse, HttpResponseNotModified, JsonResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from apps.common.access import Access
from apps.common.scopes import Scope
from apps.flags import queries, services
from apps.flags.api import serializers
from apps.flags.evaluation import Evaluation, TargetingRule
from apps.flags.models import FeatureFlag, FlagChange, FlagRule, RolloutStep

READ = Access(scope=Scope.FLAGS_READ, permission="flags.view_featureflag")
WRITE = Access(scope=Scope.FLAGS_WRITE, permission="flags.change_featureflag")
DELETE = Access(scope=Scope.FLAGS_WRITE, permission="flags.delete_featureflag")
EVALUATE = Access(scope=Scope.FLAGS_EVALUATE, permission="flags.view_featureflag")


@extend_schema(tags=["flags"])
class FlagViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[Any]):
    """Flags by name, their rules, logs and rollouts."""

    access = {
        "list": READ,
        "retrieve": READ,
        "create": WRITE,
        "partial_update": WRITE,
        "destroy": DELETE,
        "rule": WRITE,
        "kill": WRITE,
        "revive": WRITE,
        "changes": READ,
        "revert": WRITE,
        "rollout": WRITE,
        "abort": WRITE,
        "pause": WRITE,
        "resume": WRITE,
        "snapshot": READ,
        "evaluate": EVALUATE,
        "stale": READ,
    }
    queryset = FeatureFlag.objects.order_by("flag_name")
    serializer_class = serializers.FlagSerializer
    lookup_field = "flag_name"
    lookup_value_regex = "[a-z0-9_:-]+"
    filterset_fields = ["is_enabled", "rollout_percent"]

    @extend_schema(responses=serializers.FlagSerializer)
    def retrieve(self, request: Request, flag_name: str) -> Response:
        """A flag with its rule."""
        return self._answer(self.get_object())

    @extend_schema(
        request=serializers.FlagWishSerializer, responses={201: serializers.FlagSerializer}
    )
    def create(self, request: Request) -> Response:
        """Create a flag, or change the one of that name."""
        wish = _valid(serializers.FlagWishSerializer(data=request.data))
        name = wish.pop("flag_name", "")
        flag = services.set_flag(name, actor=_actor(request), **wish)
        return self._answer(flag, status=status.HTTP_201_CREATED)

    @extend_schema(request=serializers.FlagWishSerializer, responses=serializers.FlagSerializer)
    def partial_update(self, request: Request, flag_name: str) -> Response:
        """Change a flag; what is left out stays."""
        wish = _valid(serializers.FlagWishSerializer(data=request.data))
        wish.pop("flag_name", None)
        self.get_object()
        return self._answer(services.set_flag(flag_name, actor=_actor(request), **wish))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, flag_name: str) -> Response:
        """Remove a flag: the environment or the code's fallback decides from now on."""
        services.delete_flag(flag_name, actor=_actor(request))
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=serializers.RuleWishSerializer, responses=serializers.RuleSerializer)
    @action(detail=True, methods=["patch"])
    def rule(self, request: Request, flag_name: str) -> Response:
        """Change what the flag has beside its row."""
        wish = _valid(serializers.RuleWishSerializer(data=request.data))
        rule = services.set_rule(flag_name, actor=_actor(request), **wish)
        return Response(serializers.RuleSerializer(rule).data)

    @extend_schema(request=serializers.ReasonSerializer, responses=serializers.FlagSerializer)
    @action(detail=True, methods=["post"])
    def kill(self, request: Request, flag_name: str) -> Response:
        """Switch the flag off for everybody at once."""
        wish = _valid(serializers.ReasonSerializer(data=request.data))
        services.kill_flags([flag_name], actor=_actor(request), reason=wish["reason"])
        return self._answer(self.get_object())

    @extend_schema(request=serializers.ReasonSerializer, responses=serializers.FlagSerializer)
    @action(detail=True, methods=["post"])
    def revive(self, request: Request, flag_name: str) -> Response:
        """Take the kill switch back."""
        wish = _valid(serializers.ReasonSerializer(data=request.data))
        services.revive_flags([flag_name], actor=_actor(request), reason=wish["reason"])
        return self._answer(self.get_object())

    @extend_schema(responses=serializers.ChangeSerializer(many=True))
    @action(detail=True, methods=["get"])
    def changes(self, request: Request, flag_name: str) -> Response:
        """The flag's log, newest first."""
        page = self.paginate_queryset(FlagChange.objects.filter(flag_name=flag_name)) or []
        return self.get_paginated_response(serializers.ChangeSerializer(page, many=True).data)

    @extend_schema(request=serializers.ReasonSerializer, responses=serializers.ChangeSerializer)
    @action(detail=True, methods=["post"], url_path=r"changes/(?P<change_id>[0-9]+)/revert")
    def revert(self, request: Request, flag_name: str, change_id: str) -> Response:
        """Bring the flag back to what it was before a change."""
        wish = _valid(serializers.ReasonSerializer(data=request.data))
        found = get_object_or_404(FlagChange, pk=change_id, flag_name=flag_name)
        change = services.revert_change(found.pk, actor=_actor(request), reason=wish["reason"])
        return Response(serializers.ChangeSerializer(change).data)

    @extend_schema(
        request=serializers.RolloutPlanSerializer,
        responses=serializers.RolloutStepSerializer(many=True),
    )
    @action(detail=True, methods=["put"])
    def rollout(self, request: Request, flag_name: str) -> Response:
        """Plan percentages at times, in place of what was planned."""
        wish = _valid(serializers.RolloutPlanSerializer(data=request.data))
        steps = [(step["due_at"], step["rollout_percent"]) for step in wish["steps"]]
        services.plan_rollout(flag_name, steps, actor=_actor(request), now=timezone.now())
        return self._steps(flag_name)

    @extend_schema(request=None, responses=serializers.RolloutStepSerializer(many=True))
    @action(detail=True, methods=["post"], url_path="rollout/abort")
    def abort(self, request: Request, flag_name: str) -> Response:
        """Give up the steps that are still to come."""
        services.abort_rollout(flag_name, actor=_actor(request))
        return self._steps(flag_name)

    @extend_schema(request=None, responses=serializers.RolloutStepSerializer(many=True))
    @action(detail=True, methods=["post"], url_path="rollout/pause")
    def pause(self, request: Request, flag_name: str) -> Response:
        """Stop the steps that are still to come."""
        services.pause_rollout(flag_name, actor=_actor(request))
        return self._steps(flag_name)

    @extend_schema(request=None, responses=serializers.RolloutStepSerializer(many=True))
    @action(detail=True, methods=["post"], url_path="rollout/resume")
    def resume(self, request: Request, flag_name: str) -> Response:
        """Take paused steps up again."""
        services.resume_rollout(flag_name, actor=_actor(request))
        return self._steps(flag_name)

    @extend_schema(responses={200: None, 304: None})
    @action(detail=False, methods=["get"])
    def snapshot(self, request: Request) -> HttpResponse:
        """All flags as this process knows them; answers 304 while nothing changed."""
        rows = [
            {
                "flag_name": flag.flag_name,
                "is_enabled": flag.is_enabled,
                "rollout_percent": flag.rollout_percent,
                "rule": flag.rule and _as_json(flag.rule),
            }
            for flag in services.snapshot().values()
        ]
        return tagged(request, {"flags": rows})

    @extend_schema(request=serializers.QuestionSerializer, responses={200: None})
    @action(detail=False, methods=["post"])
    def evaluate(self, request: Request) -> Response:
        """Decide one, several or all flags for a subject, with the reasons."""
        wish = _valid(serializers.QuestionSerializer(data=request.data))
        subject = wish.get("subject_key", "")
        names = wish.get("flags") or list(services.snapshot())
        answers = {name: services.evaluate(name, subject_key=subject) for name in names}
        return Response({"flags": {name: as_answer(found) for name, found in answers.items()}})

    @extend_schema(parameters=[serializers.StaleQuestionSerializer], responses={200: None})
    @action(detail=False, methods=["get"])
    def stale(self, request: Request) -> Response:
        """Flags that could be removed, and why."""
        wish = _valid(serializers.StaleQuestionSerializer(data=request.query_params))
        rows = queries.stale_flags(now=timezone.now(), unchanged_for=timedelta(days=wish["days"]))
        return Response({"flags": [dataclasses.asdict(row) for row in rows]})

    def _answer(self, flag: FeatureFlag, *, status: int = 200) -> Response:
        rule = FlagRule.objects.filter(flag_name=flag.flag_name).first()
        data: dict[str, Any] = dict(serializers.FlagSerializer(flag).data)
        data["rule"] = serializers.RuleSerializer(rule).data if rule else None
        return Response(data, status=status)

    def _steps(self, flag_name: str) -> Response:
        steps = RolloutStep.objects.filter(flag_name=flag_name)
        return Response(serializers.RolloutStepSerializer(steps, many=True).data)


def tagged(request: Request, data: dict[str, Any]) -> HttpResponse:
    """A JSON answer with a content hash as its tag; 304 for whoever has it already."""
    raw = json.dumps(data, sort_keys=True).encode()
    etag = f'"{hashlib.sha256(raw).hexdigest()[:32]}"'
    is_known = request.headers.get("If-None-Match") == etag
    response = HttpResponseNotModified() if is_known else JsonResponse(data)
    response["ETag"] = etag
    response["Cache-Control"] = "private, no-cache"
    return response


def as_answer(found: Evaluation) -> dict[str, Any]:
    """An evaluation as the API gives it."""
    return {"value": found.value, "reason": str(found.reason), "bucket": found.bucket}


def _as_json(rule: TargetingRule) -> dict[str, Any]:
    lists = {"allowed": sorted(rule.allowed), "denied": sorted(rule.denied)}
    return dataclasses.asdict(rule) | lists


def _valid(wish: Serializer[Any]) -> dict[str, Any]:
    wish.is_valid(raise_exception=True)
    return dict(wish.validated_data)


def _actor(request: Request) -> str:
    return request.user.get_username()
