"""The secrets contract of an app: which Secret objects it has, and when one may be made.

Pure rules; the calls to the cluster are services. No message and no result repeats a value.

- `oon-runtime`: the app's environment, among it its MongoDB connection.
- `oon-core-secrets`: the key of the app's own encrypted store. It is created once, atomically (the
  loser of a race reads the winner's), and a mark on the namespace remembers that it was: a key that
  has vanished is never replaced in silence, since nothing could read the store any more.
- the pull secret: a copy of the registry's, per namespace.
"""

import base64
import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final
from urllib.parse import unquote

from apps.delivery.errors import CoreSecretsLost, InvalidMongoUri, InvalidPullSecret
from apps.delivery.manifests.metadata import Manifest, membership_labels
from apps.delivery.policy.secret_data import PULL_SECRET_KEY, PULL_SECRET_TYPE

SECRET_BYTES: Final = 32
CORE_SECRETS_MARK: Final = "oon.dev/core-secrets-created"

_MONGO_URI: Final = re.compile(
    r"(?P<scheme>mongodb|mongodb\+srv)://(?:(?P<user>[^:/?#@\[\]]+):(?P<password>[^:/?#@\[\]]+)@)?"
    r"(?P<hosts>[^/?#@]+)/(?P<database>[^?#]*)(?:\?(?P<options>[^#?]*))?"
)
_MONGO_HOST: Final = re.compile(
    r"(?P<name>\[[0-9a-fA-F:]+\]|[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?)(?::(?P<port>[0-9]{1,5}))?"
)
_DATABASE: Final = re.compile(r"""[^/\\. "$*<>:|?\x00-\x20]{1,63}""")
_MAX_PORT: Final = 65535
_SRV_LABELS: Final = 3
_UNSAFE_OPTIONS: Final = frozenset(
    {"tlsinsecure", "tlsallowinvalidcertificates", "tlsallowinvalidhostnames"}
)


class CoreSecretsStep(StrEnum):
    """What is to be done about an app's own key."""

    CREATE = "create"  # make it, then mark the namespace
    MARK = "mark"  # it is there; only the mark is missing
    KEEP = "keep"


@dataclass(frozen=True, slots=True)
class MongoTarget:
    """Where a connection string points, without its password."""

    hosts: tuple[str, ...]
    database: str
    username: str
    is_srv: bool


def random_secret(byte_count: int = SECRET_BYTES) -> str:
    """A value nobody can guess, in characters that need no quoting anywhere."""
    return secrets.token_urlsafe(byte_count)


def secrets_checksum(data: Mapping[str, str], *, key: bytes) -> str:
    """Stands for a Secret's `data` in the pod template: changed values restart the pods.

    Keyed, since whoever may read the Deployment could otherwise try out likely values.
    """
    text = json.dumps(dict(data), sort_keys=True, separators=(",", ":"))
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def secret_manifest(
    name: str, *, namespace: str, app_code: str, values: Mapping[str, str]
) -> Manifest:
    """A Secret of an app. As `data`: a key left out of stringData would stay for ever."""
    data = {key: base64.b64encode(value.encode()).decode() for key, value in values.items()}
    return _secret(name, namespace=namespace, app_code=app_code, data=data) | {"type": "Opaque"}


def core_secrets_step(*, has_secret: bool, is_marked: bool) -> CoreSecretsStep:
    """What to do about an app's own key. Raises CoreSecretsLost when it was there and is gone."""
    if has_secret:
        return CoreSecretsStep.KEEP if is_marked else CoreSecretsStep.MARK
    if is_marked:
        raise CoreSecretsLost(
            "The app's secrets key is gone although it was created once. Restore it from a backup; "
            "a new key could read nothing that the old one encrypted."
        )
    return CoreSecretsStep.CREATE


def pull_secret_copy(source: Mapping[str, Any], *, namespace: str, app_code: str) -> Manifest:
    """The registry's credentials for another namespace, without the source's own metadata.

    Raises InvalidPullSecret when no kubelet could use them.
    """
    if source.get("type") != PULL_SECRET_TYPE:
        raise InvalidPullSecret(f"The pull secret must be of type {PULL_SECRET_TYPE}.")
    encoded = (source.get("data") or {}).get(PULL_SECRET_KEY)
    if not _names_registries(encoded):
        raise InvalidPullSecret(f"{PULL_SECRET_KEY} of the pull secret names no registry.")
    name = str(source["metadata"]["name"])
    copy = _secret(name, namespace=namespace, app_code=app_code, data={PULL_SECRET_KEY: encoded})
    return copy | {"type": PULL_SECRET_TYPE}


def validate_mongo_uri(uri: Any) -> MongoTarget:
    """Where an app's MongoDB connection string points.

    It must name its database, since every app has one of its own, and must not switch off the
    checks of TLS. Raises InvalidMongoUri.
    """
    match = _MONGO_URI.fullmatch(uri) if isinstance(uri, str) and uri.isprintable() else None
    if match is None:
        raise InvalidMongoUri("Write mongodb://user:password@host/database, escaped where needed.")
    if _DATABASE.fullmatch(unquote(match["database"])) is None:
        raise InvalidMongoUri("The connection string must name the app's database.")
    is_srv = match["scheme"].endswith("+srv")
    options = {
        part.partition("=")[0].lower(): part.partition("=")[2].lower()
        for part in (match["options"] or "").split("&")
    }
    if any(options.get(name) == "true" for name in _UNSAFE_OPTIONS):
        raise InvalidMongoUri("The connection string switches off the checks of TLS.")
    return MongoTarget(
        hosts=_mongo_hosts(match["hosts"], is_srv=is_srv),
        database=unquote(match["database"]),
        username=unquote(match["user"] or ""),
        is_srv=is_srv,
    )


def _mongo_hosts(text: str, *, is_srv: bool) -> tuple[str, ...]:
    """The hosts of a connection string; with SRV one name below a domain, without port."""
    found = [_MONGO_HOST.fullmatch(part) for part in text.split(",")]
    for host in found:
        if host is None or not 0 < int(host["port"] or 1) <= _MAX_PORT:
            raise InvalidMongoUri("A host of the connection string cannot be read.")
    names = tuple(host[0] for host in found if host is not None)
    if is_srv and (len(names) != 1 or ":" in names[0] or names[0].count(".") < _SRV_LABELS - 1):
        raise InvalidMongoUri("With +srv there is one host below a domain, without port.")
    return names


def _secret(name: str, *, namespace: str, app_code: str, data: Mapping[str, Any]) -> Manifest:
    """A Secret without its type."""
    metadata = {"name": name, "namespace": namespace, "labels": membership_labels(app_code)}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": dict(data)}


def _names_registries(encoded: Any) -> bool:
    """True for encoded JSON with at least one registry."""
    try:
        config = json.loads(base64.b64decode(encoded or "", validate=True))
    except (TypeError, ValueError):
        return False
    return isinstance(config, dict) and bool(config.get("auths"))
