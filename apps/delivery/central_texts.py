"""What passes between Central and Pombo, as values; pure."""

import re
from collections.abc import Mapping
from typing import Any, Final

MAX_FAILURE_LENGTH: Final = 500
# Central's names and ours.
_CONTEXT_NAMES: Final[Mapping[str, str]] = {
    "appCode": "app_code",
    "namespace": "namespace",
    "hostname": "hostname",
    "imageRepository": "image_repository",
    "releaseId": "release_id",
    "replicas": "replicas",
    "resourceProfile": "resource_profile",
    "performanceMode": "performance_mode",
    "customDomains": "custom_domains",
    "functionalCapabilities": "functional_capabilities",
}
_SECRETS: Final = (
    (re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]+"), r"\1 …"),
    (re.compile(r"(?i)\b([\w-]*(?:password|passwd|secret|token|api[_-]?key)[\w-]*)(\s*[=:]\s*)\S+"),
     r"\1\2…"),
    (re.compile(r"(\w+://)[^/\s:@]+:[^/\s@]+@"), r"\1…@"),
)  # fmt: skip
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def cleaned(text: str) -> str:
    """An error text fit for others: one line, no credentials, at most 500 characters."""
    line = _CONTROL.sub(" ", text)
    for pattern, replacement in _SECRETS:
        line = pattern.sub(replacement, line)
    line = " ".join(line.split())
    return line if len(line) <= MAX_FAILURE_LENGTH else f"{line[: MAX_FAILURE_LENGTH - 1]}…"


def context_fields(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Central's context under our names; what Pombo does not know is left alone."""
    return {ours: answer[theirs] for theirs, ours in _CONTEXT_NAMES.items() if theirs in answer}


def result_body(*, infra_version: str, image_ref: str) -> dict[str, str]:
    """What Central is told of a success."""
    return {"infraVersion": infra_version, "imageRef": image_ref}


def failure_body(*, code: str, message: str) -> dict[str, str]:
    """What Central is told of a failure."""
    return {"code": code or "failed", "message": cleaned(message)}
