"""One container: image, ports, variables, probes, hooks, and its end within the pod's."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from apps.delivery.comparison.masking import is_telling_name
from apps.delivery.policy.findings import Problem, Severity
from apps.delivery.policy.objects import Container, Pods
from apps.delivery.shutdown import (
    EXIT_MARGIN_SECONDS,
    GRACE_VARIABLE,
    TERMINATION_GRACE_VARIABLE,
    grace_ms_from_env,
)

MAX_PORT: Final = 65535
_PULL_POLICIES: Final = ("Always", "IfNotPresent", "Never")
_PORT_NAME: Final = re.compile(r"(?=[-a-z0-9]{1,15}\Z)(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*")
_PROBES: Final = ("startupProbe", "livenessProbe", "readinessProbe")
_HANDLERS: Final = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")
_DIGEST: Final = re.compile(r"@sha256:[0-9a-f]{64}\Z")
_DEFAULT_TERMINATION_GRACE_SECONDS: Final = 30


def container_problems(pods: Pods) -> Iterator[Problem]:
    """All rules about the containers of a pod."""
    for container in pods.containers():
        yield from _image_problems(container)
        yield from _port_problems(container)
        yield from _variable_problems(container)
        yield from _probe_problems(container)
        yield from _hook_problems(container)
        yield from _end_problems(container, pods)


def is_port_number(value: Any) -> bool:
    """True for 1 to 65535."""
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_PORT


def is_port_name(value: Any) -> bool:
    """True for an IANA service name."""
    return isinstance(value, str) and _PORT_NAME.fullmatch(value) is not None


def repeats(values: list[Any]) -> Iterator[tuple[int, Any]]:
    """Place and value of everything that stood there before; None counts as nothing."""
    seen = set()
    for place, value in enumerate(values):
        if value is not None and value in seen:
            yield place, value
        seen.add(value)


def _image_problems(container: Container) -> Iterator[Problem]:
    """An image, by digest, pulled by a policy that exists."""
    image, path = container.fields.get("image"), f"{container.path}.image"
    if not image:
        yield Problem("image", path, "There is no image.", "Name one with its digest.")
    elif _DIGEST.search(image) is None:
        message = "A tag may point to another image tomorrow."
        fix = "Deploy by digest, as name@sha256:…"
        yield Problem("image-digest", path, message, fix, Severity.WARNING)
    policy = container.fields.get("imagePullPolicy", "Always")
    if policy not in _PULL_POLICIES:
        path = f"{container.path}.imagePullPolicy"
        fix = f"Use {' or '.join(_PULL_POLICIES)}."
        yield Problem("enumeration", path, f"{policy!r} is unknown.", fix)


def _port_problems(container: Container) -> Iterator[Problem]:
    """Numbers in range, names valid, neither twice."""
    ports = container.fields.get("ports") or []
    for place, port in enumerate(ports):
        path = f"{container.path}.ports[{place}]"
        if not is_port_number(port.get("containerPort")):
            fix = f"Use 1 to {MAX_PORT}."
            yield Problem("port", f"{path}.containerPort", "It is no port number.", fix)
        if "name" in port and not is_port_name(port["name"]):
            fix = "Use at most 15 lower-case letters, digits and single hyphens."
            yield Problem("port", f"{path}.name", f"{port['name']!r} is no port name.", fix)
    numbers = [(port.get("containerPort"), port.get("protocol", "TCP")) for port in ports]
    for field, values in (
        ("name", [port.get("name") for port in ports]),
        ("containerPort", numbers),
    ):
        for place, value in repeats(values):
            path = f"{container.path}.ports[{place}].{field}"
            yield Problem("port", path, f"{value!r} stands there twice.", "Keep one of them.")


def _variable_problems(container: Container) -> Iterator[Problem]:
    """Each variable once, with a name, and no secret in the open."""
    variables = container.fields.get("env") or []
    for place, variable in enumerate(variables):
        path = f"{container.path}.env[{place}]"
        if not variable.get("name"):
            yield Problem("variable", f"{path}.name", "It has no name.", "Name it.")
        elif variable.get("value") and is_telling_name(variable["name"]):
            message = f"{variable['name']} stands in the open for whoever may read the object."
            fix = "Take it from a Secret with valueFrom.secretKeyRef."
            yield Problem("open-secret", f"{path}.value", message, fix, Severity.WARNING)
    for place, name in repeats([variable.get("name") for variable in variables]):
        message = f"{name} is set twice; an apply refuses it."
        path = f"{container.path}.env[{place}].name"
        yield Problem("variable", path, message, "Keep one of them.")


def _probe_problems(container: Container) -> Iterator[Problem]:
    """One handler each, at a port that exists; liveness is not readiness."""
    for name in _PROBES:
        probe = container.fields.get(name)
        if probe:
            path = f"{container.path}.{name}"
            yield from _handler_problems(probe, path)
            yield from _probe_port_problems(probe, path, container)
    if container.is_init:
        return
    liveness, readiness = (container.fields.get(name) for name in _PROBES[1:])
    if not readiness:
        path = f"{container.path}.readinessProbe"
        message = "Requests arrive before the container can answer them."
        yield Problem("readiness", path, message, "Add a probe.", Severity.WARNING)
    elif liveness and _handler(liveness) == _handler(readiness):
        path = f"{container.path}.livenessProbe"
        message = "What makes it not ready, such as a database outage, restarts it as well."
        fix = "Let liveness check the process alone."
        yield Problem("liveness", path, message, fix, Severity.WARNING)


def _probe_port_problems(
    probe: Mapping[str, Any], path: str, container: Container
) -> Iterator[Problem]:
    """The server accepts a port name that no port has; the probe then never succeeds."""
    names = {port.get("name") for port in container.fields.get("ports") or ()}
    for handler in ("httpGet", "tcpSocket"):
        port = (probe.get(handler) or {}).get("port")
        where = f"{path}.{handler}.port"
        if port is None:
            continue
        if isinstance(port, int):
            if not is_port_number(port):
                yield Problem("probe-port", where, f"{port} is no port.", f"Use 1 to {MAX_PORT}.")
        elif not is_port_name(port) or port not in names:
            fix = "Name one of the container's ports."
            yield Problem("probe-port", where, f"There is no port {port!r}.", fix)


def _hook_problems(container: Container) -> Iterator[Problem]:
    """One handler per hook."""
    for name, hook in (container.fields.get("lifecycle") or {}).items():
        if isinstance(hook, Mapping):
            yield from _handler_problems(hook, f"{container.path}.lifecycle.{name}")


def _handler_problems(hook: Mapping[str, Any], path: str) -> Iterator[Problem]:
    """Exactly one of the handlers."""
    found = [name for name in _HANDLERS if hook.get(name)]
    if len(found) != 1:
        message = f"It has {len(found)} handlers ({', '.join(found) or 'none'})."
        where = f"{path}.{found[1]}" if found else path
        yield Problem("one-handler", where, message, "Keep exactly one.")


def _handler(probe: Mapping[str, Any]) -> dict[str, Any]:
    """What a probe asks, without how often it does."""
    return {name: probe[name] for name in _HANDLERS if name in probe}


def _end_problems(container: Container, pods: Pods) -> Iterator[Problem]:
    """preStop, then the supervisor's grace, then its margin: all within the pod's grace."""
    granted = pods.spec.get("terminationGracePeriodSeconds", _DEFAULT_TERMINATION_GRACE_SECONDS)
    pre_stop = _pre_stop_seconds((container.fields.get("lifecycle") or {}).get("preStop") or {})
    path = f"{container.path}.lifecycle.preStop"
    if pre_stop is not None and (pre_stop < 0 or pre_stop >= max(granted, 1)):
        message = f"It sleeps {pre_stop} s, the pod has {granted} s."
        yield Problem("grace", f"{path}.sleep", message, "Sleep a few seconds only.")
        return
    variables = {
        item.get("name"): item.get("value") or "" for item in container.fields.get("env") or ()
    }
    if not variables.keys() & {GRACE_VARIABLE, TERMINATION_GRACE_VARIABLE}:
        return  # no supervisor inside, as far as we can see
    grace = grace_ms_from_env(variables) / 1000
    needed = (pre_stop or 0) + grace + EXIT_MARGIN_SECONDS
    if needed > granted:
        message = (
            f"preStop {pre_stop or 0} s + grace {grace:g} s + {EXIT_MARGIN_SECONDS} s "
            f"exceed the pod's {granted} s."
        )
        fix = f"Lower {GRACE_VARIABLE} or raise the pod's grace to {needed:g} s."
        yield Problem("grace", f"{pods.path}.terminationGracePeriodSeconds", message, fix)


def _pre_stop_seconds(hook: Mapping[str, Any]) -> int | None:
    """How long a preStop hook sleeps, where that can be seen."""
    if hook.get("sleep"):
        return int(hook["sleep"].get("seconds") or 0)
    command = (hook.get("exec") or {}).get("command") or []
    if len(command) == 2 and command[0] == "sleep" and command[1].isdecimal():  # noqa: PLR2004
        return int(command[1])
    return None
