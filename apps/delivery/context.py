"""What a delivery needs to know about one app, checked field by field.

The rules are those of the original runtime plus what Kubernetes itself would refuse later. Each
validator takes a mapping with snake_case keys or a `DeliveryContext`, and a missing or None value
means the default. Every refusal is a `DeliveryContextError` that names the field.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

from apps.delivery.egress import DEFAULT_EGRESS, EgressRule, parse_egress
from apps.delivery.errors import DeliveryContextError
from apps.delivery.names import MAX_LABEL_LENGTH, YAML_WORDS, is_dns_label, is_host
from apps.delivery.profiles import (
    DEFAULT_PERFORMANCE_MODE,
    DEFAULT_PROFILE,
    PERFORMANCE_MODES,
    RESOURCE_PROFILES,
)

__all__ = [
    "MAX_CUSTOM_DOMAINS",
    "MAX_REPLICAS",
    "PERFORMANCE_MODES",
    "RESOURCE_PROFILES",
    "SECRETS_CAPABILITY",
    "DeliveryContext",
    "DeliveryContextError",
    "as_context",
    "custom_domains",
    "performance_mode",
    "replica_count",
    "resource_profile",
]

MAX_REPLICAS: Final = 10
MAX_CUSTOM_DOMAINS: Final = 10
MAX_RELEASE_ID_LENGTH: Final = 253
MAX_WRITABLE_PATHS: Final = 16
MAX_USER_ID: Final = 2**31 - 1
SECRETS_CAPABILITY: Final = "core.secrets"
POD_SECURITY_LEVELS: Final = ("restricted", "baseline")
DEFAULT_RUN_AS_USER: Final = 10001
# Where nginx and most runtimes write: temporary files, sockets and process ids.
DEFAULT_WRITABLE_PATHS: Final = ("/tmp", "/run", "/var/cache/nginx", "/var/lib/nginx")  # noqa: S108

_RESERVED_NAMESPACES: Final = frozenset({"default", "kube-system", "kube-public"})
# The distribution reference grammar: a host (known by a dot, a port or `localhost`), then parts.
_IMAGE_PART: Final = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_IMAGE_HOST: Final = r"(?:localhost|(?=[^/]*[.:])[a-zA-Z0-9][a-zA-Z0-9.-]*)(?::[0-9]{1,5})?/"
_IMAGE_REPOSITORY: Final = re.compile(rf"(?:{_IMAGE_HOST})?{_IMAGE_PART}(?:/{_IMAGE_PART})*")
_MAX_IMAGE_LENGTH: Final = 255
_PATH: Final = re.compile(r"(?:/[A-Za-z0-9._-]+)+")


@dataclass(frozen=True, slots=True)
class DeliveryContext:
    """One app as it is to run. A context that exists is valid.

    - `run_as_user`: None is 10001 in restricted apps and the image's own user in baseline ones.
    - `secrets_checksum` stands for the values of the runtime secret; another one restarts the pods.
    - `liveness_path` is for apps with an HTTP check that does not depend on their database; without
      it liveness is an open port.
    """

    app_code: str
    namespace: str
    hostname: str
    image_repository: str
    release_id: str
    replicas: int = 1
    resource_profile: str = DEFAULT_PROFILE
    performance_mode: str = DEFAULT_PERFORMANCE_MODE
    custom_domains: tuple[str, ...] = ()
    functional_capabilities: Mapping[str, Any] = field(default_factory=dict)
    pod_security: str = "restricted"
    run_as_user: int | None = None
    writable_paths: tuple[str, ...] = DEFAULT_WRITABLE_PATHS
    egress: tuple[EgressRule, ...] = DEFAULT_EGRESS
    liveness_path: str = ""
    secrets_checksum: str = ""

    def __post_init__(self) -> None:
        for name, validated in _VALIDATORS.items():
            object.__setattr__(self, name, validated(self))

    def has_capability(self, name: str) -> bool:
        """True when the capability is switched on."""
        capability = self.functional_capabilities.get(name)
        return isinstance(capability, Mapping) and bool(capability.get("enabled"))


def as_context(source: Mapping[str, Any] | DeliveryContext) -> DeliveryContext:
    """A checked context; keys that delivery does not know are left alone."""
    if isinstance(source, DeliveryContext):
        return source
    if not isinstance(source, Mapping):
        raise DeliveryContextError("context", "must be an object", value=source)
    known = {item.name: source.get(item.name) for item in fields(DeliveryContext)}
    for name in _REQUIRED:
        if known[name] is None:
            raise DeliveryContextError(name, "is missing")
    return DeliveryContext(**{name: value for name, value in known.items() if value is not None})


def replica_count(context: Mapping[str, Any] | DeliveryContext) -> int:
    """Replicas, one per contracted slot; 1 when not given."""
    value = _given(context, "replicas", 1)
    # JSON knows one kind of number: 2.0 is 2, as it was to the original.
    is_whole = isinstance(value, int | float) and not isinstance(value, bool) and value % 1 == 0
    if not is_whole or not 1 <= value <= MAX_REPLICAS:
        raise DeliveryContextError("replicas", f"must be 1 to {MAX_REPLICAS}", value=value)
    return int(value)


def performance_mode(context: Mapping[str, Any] | DeliveryContext) -> str:
    """How many connections the app's MongoDB pool holds, by name; `min` when not given."""
    return _one_of(context, "performance_mode", PERFORMANCE_MODES, DEFAULT_PERFORMANCE_MODE)


def resource_profile(context: Mapping[str, Any] | DeliveryContext) -> str:
    """What one replica may use, by name; `small` when not given."""
    return _one_of(context, "resource_profile", tuple(RESOURCE_PROFILES), DEFAULT_PROFILE)


def custom_domains(context: Mapping[str, Any] | DeliveryContext) -> list[str]:
    """The app's own host names in their order; an Ingress host is never an address."""
    value = _given(context, "custom_domains", ())
    if not isinstance(value, list | tuple) or len(value) > MAX_CUSTOM_DOMAINS:
        problem = f"must be a list of at most {MAX_CUSTOM_DOMAINS} host names"
        raise DeliveryContextError("custom_domains", problem, value=value)
    for host in value:
        if not isinstance(host, str) or not is_host(host):
            problem = "holds what is no lower-case DNS name"
            raise DeliveryContextError("custom_domains", problem, value=host)
        if host == _given(context, "hostname", ""):
            problem = "repeats the app's platform host"
            raise DeliveryContextError("custom_domains", problem, value=host)
    if len(set(value)) != len(value):
        raise DeliveryContextError("custom_domains", "holds a name twice", value=value)
    return list(value)


def _app_code(context: DeliveryContext) -> str:
    """Becomes a Deployment, a Service and a label, so it fits the strictest of them."""
    code = context.app_code
    if not isinstance(code, str) or not is_dns_label(code):
        problem = (
            f"must be 1 to {MAX_LABEL_LENGTH} lower-case letters, digits and hyphens, "
            "begin with a letter and not end with a hyphen"
        )
        raise DeliveryContextError("app_code", problem, value=code)
    if code in YAML_WORDS:
        problem = "is a word that YAML readers take for a boolean or null"
        raise DeliveryContextError("app_code", problem, value=code)
    return code


def _namespace(context: DeliveryContext) -> str:
    """A namespace of the app's own, never one of the cluster's."""
    name = context.namespace
    if not isinstance(name, str) or not is_dns_label(name):
        problem = f"must be a DNS label of at most {MAX_LABEL_LENGTH} characters"
        raise DeliveryContextError("namespace", problem, value=name)
    if name in _RESERVED_NAMESPACES or name.startswith("kube-"):
        raise DeliveryContextError("namespace", "belongs to the cluster", value=name)
    return name


def _hostname(context: DeliveryContext) -> str:
    """The host below the platform's domain."""
    if not isinstance(context.hostname, str) or not is_host(context.hostname):
        problem = "must be a lower-case DNS name of two labels or more"
        raise DeliveryContextError("hostname", problem, value=context.hostname)
    return context.hostname


def _image_repository(context: DeliveryContext) -> str:
    """Registry and path, without tag and digest: the release names the digest."""
    name = context.image_repository
    is_name = isinstance(name, str) and len(name) <= _MAX_IMAGE_LENGTH
    if not is_name or _IMAGE_REPOSITORY.fullmatch(name) is None:
        problem = "must be an image name such as registry.example/team/app, without tag or digest"
        raise DeliveryContextError("image_repository", problem, value=name)
    return name


def _release_id(context: DeliveryContext) -> str:
    """Any printable id; labels get an encoded form, the annotation the id itself."""
    value: Any = context.release_id
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not text.isprintable():
        raise DeliveryContextError("release_id", "must be printable text", value=value)
    if not 0 < len(text) <= MAX_RELEASE_ID_LENGTH:
        problem = f"must have 1 to {MAX_RELEASE_ID_LENGTH} characters"
        raise DeliveryContextError("release_id", problem, value=value)
    return text


def _functional_capabilities(context: DeliveryContext) -> Mapping[str, Any]:
    """What the app's plan switched on, by capability name."""
    value = context.functional_capabilities
    if not isinstance(value, Mapping):
        raise DeliveryContextError("functional_capabilities", "must be an object", value=value)
    return value


def _run_as_user(context: DeliveryContext) -> int | None:
    """A user id other than root's."""
    value = context.run_as_user
    if value is None:
        return DEFAULT_RUN_AS_USER if context.pod_security == "restricted" else None
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MAX_USER_ID:
        problem = f"must be a user id from 1 to {MAX_USER_ID}"
        raise DeliveryContextError("run_as_user", problem, value=value)
    return value


def _writable_paths(context: DeliveryContext) -> tuple[str, ...]:
    """Folders that get a temporary volume, since the image itself is read-only."""
    paths = context.writable_paths
    if not isinstance(paths, list | tuple) or len(paths) > MAX_WRITABLE_PATHS:
        problem = f"must be a list of at most {MAX_WRITABLE_PATHS} absolute paths"
        raise DeliveryContextError("writable_paths", problem, value=paths)
    for path in paths:
        if not isinstance(path, str) or not _is_clean_path(path):
            problem = "holds what is no clean absolute path"
            raise DeliveryContextError("writable_paths", problem, value=path)
    if len(set(paths)) != len(paths):
        raise DeliveryContextError("writable_paths", "holds a path twice", value=paths)
    return tuple(paths)


def _liveness_path(context: DeliveryContext) -> str:
    """An absolute URL path, or empty for the open port."""
    path = context.liveness_path
    if not isinstance(path, str) or (path and not _is_clean_path(path)):
        raise DeliveryContextError("liveness_path", "must be an absolute path", value=path)
    return path


def _secrets_checksum(context: DeliveryContext) -> str:
    """Empty, or lower-case hexadecimal."""
    value = context.secrets_checksum
    if not isinstance(value, str) or re.fullmatch(r"(?:[0-9a-f]{8,128})?", value) is None:
        raise DeliveryContextError("secrets_checksum", "must be hexadecimal", value=value)
    return value


def _is_clean_path(path: str) -> bool:
    """True for an absolute path without dot parts, blanks or doubled slashes."""
    return _PATH.fullmatch(path) is not None and not {".", ".."} & set(path.split("/"))


def _one_of(
    context: Mapping[str, Any] | DeliveryContext, name: str, allowed: tuple[str, ...], default: str
) -> str:
    """A word of a closed list."""
    value = _given(context, name, default)
    if not isinstance(value, str) or value not in allowed:
        raise DeliveryContextError(name, f"must be one of {', '.join(allowed)}", value=value)
    return value


def _given(context: Mapping[str, Any] | DeliveryContext, name: str, default: Any) -> Any:
    """The value of a field, or its default where it is missing or None."""
    value = context.get(name) if isinstance(context, Mapping) else getattr(context, name)
    return default if value is None else value


_REQUIRED: Final = ("app_code", "namespace", "hostname", "image_repository", "release_id")
_VALIDATORS: Final[Mapping[str, Callable[[DeliveryContext], Any]]] = {
    "app_code": _app_code,
    "namespace": _namespace,
    "hostname": _hostname,
    "image_repository": _image_repository,
    "release_id": _release_id,
    "replicas": replica_count,
    "resource_profile": resource_profile,
    "performance_mode": performance_mode,
    "custom_domains": lambda context: tuple(custom_domains(context)),
    "functional_capabilities": _functional_capabilities,
    "pod_security": lambda context: _one_of(
        context, "pod_security", POD_SECURITY_LEVELS, POD_SECURITY_LEVELS[0]
    ),
    "run_as_user": _run_as_user,
    "writable_paths": _writable_paths,
    "egress": lambda context: parse_egress(context.egress),
    "liveness_path": _liveness_path,
    "secrets_checksum": _secrets_checksum,
}
