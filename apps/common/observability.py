"""Logs and request ids: one JSON line per event, each with the id of the request that caused it."""

import re
import uuid
from collections.abc import Callable
from typing import Any

import structlog
from django.http import HttpRequest, HttpResponse

REQUEST_ID_PATTERN = re.compile(r"[A-Za-z0-9._-]{8,64}")


class RequestIdMiddleware:
    """Take a well-formed `X-Request-Id` or make one, bind it to the logs and send it back."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Handle one request under its id."""
        given = request.headers.get("X-Request-Id", "")
        request_id = given if REQUEST_ID_PATTERN.fullmatch(given) else uuid.uuid4().hex
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            response = self.get_response(request)
        response["X-Request-Id"] = request_id
        return response


def current_request_id() -> str:
    """The id of the request being handled, or an empty string outside one."""
    return str(structlog.contextvars.get_contextvars().get("request_id", ""))


def logging_config(level: str, *, as_json: bool) -> dict[str, Any]:
    """Django's LOGGING: standard loggers, rendered by structlog with their `extra` fields."""
    renderer = (
        structlog.processors.JSONRenderer()
        if as_json
        else structlog.dev.ConsoleRenderer(colors=False)
    )
    shared = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    formatter = {
        "()": structlog.stdlib.ProcessorFormatter,
        "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        "foreign_pre_chain": shared,
    }
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"event": formatter},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "event"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django": {"handlers": [], "level": level, "propagate": True},
            "django-q": {"handlers": [], "level": level, "propagate": True},
        },
    }
