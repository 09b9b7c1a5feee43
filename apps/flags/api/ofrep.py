"""OpenFeature Remote Evaluation Protocol 0.3: any OpenFeature client asks Pombo unchanged.

Source: open-feature/protocol, service/openapi.yaml. Client-side tokens see only flags that are
marked visible to them, one by one and in bulk.
"""

from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ParseError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.common.access import Access
from apps.common.scopes import Scope
from apps.flags import services
from apps.flags.api.views import tagged
from apps.flags.evaluation import (
    FULL_PERCENT,
    UNIT_COUNT,
    FlagDefinition,
    Reason,
    normalize_flag_name,
)

EVALUATE = Access(scope=Scope.FLAGS_EVALUATE, permission="flags.view_featureflag")
# OpenFeature's own words for our reasons.
REASONS = {
    Reason.SPLIT: "SPLIT",
    Reason.STATIC: "STATIC",
    Reason.DISABLED: "DISABLED",
    Reason.KILLED: "DISABLED",
    Reason.ALLOWED: "TARGETING_MATCH",
    Reason.DENIED: "TARGETING_MATCH",
    Reason.PREREQUISITE: "TARGETING_MATCH",
}


class OfrepView(APIView):
    """What both questions share: who may ask, and how an unreadable body is answered."""

    access = {"post": EVALUATE}

    def handle_exception(self, exc: Exception) -> Response:
        """A body that is no JSON is the protocol's `PARSE_ERROR`; the rest as everywhere."""
        if isinstance(exc, ParseError):
            return _failure(self.kwargs.get("key"), "PARSE_ERROR", HTTPStatus.BAD_REQUEST)
        return super().handle_exception(exc)


class FlagEvaluationView(OfrepView):
    """One flag for one context."""

    @extend_schema(
        tags=["ofrep"],
        operation_id="ofrep_evaluate_flag",
        request=None,
        responses={200: None},
    )
    def post(self, request: Request, key: str) -> Response:
        """Decide the flag for `context.targetingKey`."""
        subject = _subject(request)
        if subject is None:
            return _failure(key, "INVALID_CONTEXT", HTTPStatus.BAD_REQUEST)
        name = normalize_flag_name(key)
        definition = _visible(request).get(name)
        if definition is None:
            return _failure(key, "FLAG_NOT_FOUND", HTTPStatus.NOT_FOUND)
        if not subject and _needs_subject(definition):
            return _failure(key, "TARGETING_KEY_MISSING", HTTPStatus.BAD_REQUEST)
        return Response(_success(key, name, subject))


class BulkEvaluationView(OfrepView):
    """All flags for one context."""

    @extend_schema(
        tags=["ofrep"],
        operation_id="ofrep_evaluate_flags",
        request=None,
        responses={200: None, 304: None},
    )
    def post(self, request: Request) -> HttpResponse:
        """Decide every visible flag; answers 304 while the answers stay the same."""
        subject = _subject(request)
        if subject is None:
            return _failure(None, "INVALID_CONTEXT", HTTPStatus.BAD_REQUEST)
        answers = [
            _missing_key(name)
            if not subject and _needs_subject(definition)
            else _success(name, name, subject)
            for name, definition in sorted(_visible(request).items())
        ]
        return tagged(request, {"flags": answers})


def _subject(request: Request) -> str | None:
    """The targeting key; None when the context is not of the known form."""
    body = request.data if isinstance(request.data, dict) else None
    context = body.get("context", {}) if body is not None else None
    if not isinstance(context, dict):
        return None
    key = context.get("targetingKey", "")
    return key if isinstance(key, str) else None


def _visible(request: Request) -> dict[str, FlagDefinition]:
    """The flags that the caller may see."""
    flags = services.snapshot()
    if not getattr(request.auth, "is_client_side", False):
        return dict(flags)
    return {name: flag for name, flag in flags.items() if flag.rule and flag.rule.is_client_visible}


def _needs_subject(definition: FlagDefinition) -> bool:
    """Whether a percentage decides, its own or a prerequisite's, so that who asks matters."""
    rule = definition.rule
    if not definition.is_enabled or (rule and rule.is_killed):
        return False
    flags = services.snapshot()
    if rule and any(_needs_subject(flags[name]) for name in rule.prerequisites if name in flags):
        return True
    if rule and rule.rollout_units is not None:
        return 0 < rule.rollout_units < UNIT_COUNT
    return 0 < definition.rollout_percent < FULL_PERCENT


def _success(key: str, name: str, subject: str) -> dict[str, Any]:
    found = services.evaluate(name, subject_key=subject)
    metadata = {} if found.bucket is None else {"bucket": found.bucket}
    return {
        "key": key,
        "value": found.value,
        "variant": "on" if found.value else "off",
        "reason": REASONS.get(found.reason, "UNKNOWN"),
        "metadata": metadata,
    }


def _missing_key(name: str) -> dict[str, Any]:
    return {"key": name, "errorCode": "TARGETING_KEY_MISSING"}


def _failure(key: str | None, code: str, status: HTTPStatus) -> Response:
    named = {"key": key} if key is not None else {}
    return Response({**named, "errorCode": code}, status=status)
