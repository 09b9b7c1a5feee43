"""Secrets and config maps: keys and encodings that the API server accepts."""

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from apps.delivery.policy.findings import Problem

PULL_SECRET_TYPE: Final = "kubernetes.io/dockerconfigjson"  # noqa: S105 - a type, not a secret
PULL_SECRET_KEY: Final = ".dockerconfigjson"  # noqa: S105 - the name of a field
_KEY: Final = re.compile(r"[-._a-zA-Z0-9]{1,253}")


def secret_problems(manifest: Mapping[str, Any]) -> Iterator[Problem]:
    """All rules about the data of a Secret or ConfigMap; messages never repeat a value."""
    if manifest["kind"] not in ("Secret", "ConfigMap"):
        return
    for field in ("data", "stringData", "binaryData"):
        for key in manifest.get(field) or {}:
            if _KEY.fullmatch(key) is None or key in (".", ".."):
                fix = "Use letters, digits, '-', '_' and '.'."
                yield Problem("data-key", f"{field}[{key}]", "It is no valid key.", fix)
    if manifest["kind"] == "Secret":
        yield from _value_problems(manifest)


def _value_problems(secret: Mapping[str, Any]) -> Iterator[Problem]:
    """Base64, and JSON where the kubelet reads it."""
    for key, value in (secret.get("data") or {}).items():
        path = f"data[{key}]"
        try:
            plain = base64.b64decode(value or "", validate=True)
        except (binascii.Error, ValueError):
            yield Problem("base64", path, "The value is not base64.", "Encode it.")
            continue
        is_pull_secret = secret.get("type") == PULL_SECRET_TYPE and key == PULL_SECRET_KEY
        if is_pull_secret and not _is_json_object(plain):
            fix = "Copy it from a working pull secret."
            yield Problem("pull-secret", path, "The value is no JSON object.", fix)


def _is_json_object(text: bytes) -> bool:
    """True for an encoded JSON object."""
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False
