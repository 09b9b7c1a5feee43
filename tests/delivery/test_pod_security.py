"""The Pod Security Standards, level by level."""

import copy

import pytest

from apps.delivery.manifests import runtime
from apps.delivery.policy import pod_security_problems
from apps.delivery.policy.objects import Pods
from tests.delivery.factories import IMAGE_REF, INFRA, context_fields

# What a real server names for a container without any security context, by its admission warning.
BARE_CONTAINER = {
    "allowPrivilegeEscalation",
    "capabilities.drop",
    "runAsNonRoot",
    "seccompProfile.type",
}
BASELINE = [
    ("spec.hostNetwork", {"hostNetwork": True}, {}),
    ("spec.hostPID", {"hostPID": True}, {}),
    ("spec.volumes[0].hostPath", {"volumes": [{"name": "x", "hostPath": {"path": "/"}}]}, {}),
    (
        "spec.securityContext.sysctls[0].name",
        {"securityContext": {"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}},
        {},
    ),
    (
        "spec.securityContext.seccompProfile.type",
        {"securityContext": {"seccompProfile": {"type": "Unconfined"}}},
        {},
    ),
    ("securityContext.privileged", {}, {"securityContext": {"privileged": True}}),
    (
        "securityContext.capabilities.add",
        {},
        {"securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}},
    ),
    ("securityContext.procMount", {}, {"securityContext": {"procMount": "Unmasked"}}),
    ("ports[0].hostPort", {}, {"ports": [{"containerPort": 80, "hostPort": 80}]}),
]
RESTRICTED = [
    ("securityContext.runAsUser", {"securityContext": {"runAsUser": 0}}),
    ("securityContext.capabilities.add", {"securityContext": {"capabilities": {"add": ["CHOWN"]}}}),
]


def pods(spec=None, container=None):
    fields = {"name": "central", "image": IMAGE_REF, **(container or {})}
    return Pods("spec", {}, {"containers": [fields], **(spec or {})})


def paths(pods, level):
    return {problem.path for problem in pod_security_problems(pods, level)}


def in_container(names):
    return {f"spec.containers[0].securityContext.{name}" for name in names}


def test_a_bare_container_is_fine_at_baseline_and_named_at_restricted_as_the_server_does():
    assert paths(pods(), "baseline") == set()
    assert paths(pods(), "restricted") == in_container(BARE_CONTAINER)


@pytest.mark.parametrize("level", ["baseline", "restricted"])
def test_what_we_render_is_accepted_at_its_level(level):
    template = runtime(context_fields(pod_security=level), INFRA, IMAGE_REF)[0]["spec"]["template"]
    assert paths(Pods("spec", {}, copy.deepcopy(template["spec"])), level) == set()


@pytest.mark.parametrize(("path", "spec", "container"), BASELINE)
def test_baseline_refuses_it(path, spec, container):
    where = path if path.startswith("spec.") else f"spec.containers[0].{path}"
    assert paths(pods(spec, container), "baseline") == {where}
    assert paths(pods(spec, container), "privileged") == set()


@pytest.mark.parametrize(("path", "container"), RESTRICTED)
def test_only_restricted_refuses_it(path, container):
    assert paths(pods({}, container), "baseline") == set()
    assert f"spec.containers[0].{path}" in paths(pods({}, container), "restricted")


def test_a_volume_of_another_kind_is_refused_at_restricted():
    found = paths(pods({"volumes": [{"name": "x", "nfs": {}}]}), "restricted")
    assert "spec.volumes[0]" in found


def test_the_pods_own_settings_count_for_its_containers():
    security = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    found = paths(pods({"securityContext": security}), "restricted")
    assert found == in_container({"allowPrivilegeEscalation", "capabilities.drop"})


def test_init_containers_are_held_to_the_level_too():
    spec = {"initContainers": [{"name": "x", "securityContext": {"privileged": True}}]}
    assert paths(pods(spec), "baseline") == {"spec.initContainers[0].securityContext.privileged"}
