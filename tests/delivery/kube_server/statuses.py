"""The answers that are no objects: Status bodies with their codes, reasons and causes."""

from typing import Any

from .kinds import Kind

_REASONS = {
    400: "BadRequest", 401: "Unauthorized", 403: "Forbidden", 404: "NotFound",
    405: "MethodNotAllowed", 409: "Conflict", 410: "Expired", 415: "UnsupportedMediaType",
    422: "Invalid", 429: "TooManyRequests", 503: "ServiceUnavailable", 504: "Timeout",
}  # fmt: skip


class RefusedError(Exception):
    """The request ends with this Status instead of an object."""

    def __init__(
        self,
        code: int,
        message: str,
        *,
        reason: str | None = None,
        details: dict[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.retry_after = retry_after
        self.body: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": metadata or {},
            "status": "Failure",
            "message": message,
        }
        if reason := reason or _REASONS.get(code):
            self.body["reason"] = reason
        if details is not None:
            self.body["details"] = details
        self.body["code"] = code


def of_resource(kind: Kind, name: str) -> dict[str, Any]:
    """Details that name the object by its resource."""
    return {"name": name, **({"group": kind.group} if kind.group else {}), "kind": kind.plural}


def not_found(kind: Kind, name: str) -> RefusedError:
    """404 for one object."""
    message = f'{kind.resource} "{name}" not found'
    return RefusedError(404, message, details=of_resource(kind, name))


def forbidden(kind: Kind, name: str, why: str, *, causes: list[Any] | None = None) -> RefusedError:
    """403 by an admission rule."""
    details = of_resource(kind, name) | ({"causes": causes} if causes else {})
    return RefusedError(403, f'{kind.resource} "{name}" is forbidden: {why}', details=details)


def stale(kind: Kind, name: str) -> RefusedError:
    """409 because the resource version sent is not the present one."""
    message = (
        f'Operation cannot be fulfilled on {kind.resource} "{name}": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )
    return RefusedError(409, message, details=of_resource(kind, name))


def invalid(kind: Kind, name: str, causes: list[tuple[str, str, str]]) -> RefusedError:
    """422 with one cause (reason, message, field) for each fault."""
    texts = list(dict.fromkeys(f"{field}: {message}" for _, message, field in causes))
    joined = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    details = {
        "name": name,
        **({"group": kind.group} if kind.group else {}),
        "kind": kind.name,
        "causes": [{"reason": r, "message": m, "field": f} for r, m, f in causes],
    }
    return RefusedError(422, f'{kind.qualified} "{name}" is invalid: {joined}', details=details)


def bad_options(options: str, reason: str, message: str, field: str) -> RefusedError:
    """422 about the query parameters."""
    details = {
        "group": "meta.k8s.io",
        "kind": options,
        "causes": [{"reason": reason, "message": message, "field": field}],
    }
    return RefusedError(
        422, f'{options}.meta.k8s.io "" is invalid: {field}: {message}', details=details
    )


def success(kind: Kind, name: str, uid: str) -> dict[str, Any]:
    """What a delete answers."""
    details = of_resource(kind, name) | {"uid": uid}
    return {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
        "details": details,
    }  # fmt: skip
