"""Rules for what a schema lets through, each broken once in an otherwise sound render."""

import copy
import json

import pytest
from hypothesis import given, settings

from apps.delivery.manifests import baseline, runtime
from apps.delivery.policy import Severity, check_objects, errors_of
from tests.delivery.factories import IMAGE_REF, INFRA, context_fields
from tests.delivery.strategies import contexts

CONTAINER = "spec.template.spec.containers.0"
SPREAD = "spec.template.spec.topologySpreadConstraints.0"


def render(**fields):
    context = context_fields(**fields)
    return baseline(context, INFRA) + runtime(context, INFRA, IMAGE_REF)


def find(objects, kind):
    return next(item for item in objects if item["kind"] == kind)


def put(manifest, dotted, value):
    """Set (or with None remove) the field at a path of names and places."""
    *parents, last = dotted.split(".")
    node = manifest
    for name in parents:
        node = node[int(name)] if isinstance(node, list) else node.setdefault(name, {})
    if value is None:
        del node[last]
    elif isinstance(node, list):
        node[int(last)] = value
    else:
        node[last] = value


def rules(objects, severity=None, **options):
    found = check_objects(objects, INFRA, **options)
    return {item.rule for item in found if severity in (None, item.severity)}


def broken(kind, changes, **fields):
    objects = render(**fields)
    for dotted, value in changes.items():
        put(find(objects, kind), dotted, value)
    return objects


@settings(max_examples=50)
@given(contexts)
def test_every_valid_context_renders_without_errors(context):
    objects = baseline(context, INFRA) + runtime(context, INFRA, IMAGE_REF)
    found = check_objects(objects, INFRA)
    assert errors_of(found) == []
    if context.pod_security == "restricted":
        assert found == []


def test_an_adopted_app_hears_what_stands_in_the_way_of_restricted():
    found = check_objects(render(pod_security="baseline"), INFRA)
    assert {(item.rule, item.severity) for item in found} == {("not-restricted", Severity.WARNING)}
    assert any(item.path.endswith("capabilities.drop") for item in found)


ERRORS = [
    ("selector", "Deployment", {"spec.selector.matchLabels.x": "y"}),
    ("strategy", "Deployment", {"spec.strategy.rollingUpdate.maxSurge": 0}),
    ("deadline", "Deployment", {"spec.minReadySeconds": 600}),
    ("one-handler", "Deployment", {f"{CONTAINER}.lifecycle.preStop.exec": {"command": ["x"]}}),
    ("one-handler", "Deployment", {f"{CONTAINER}.readinessProbe.exec": {"command": ["x"]}}),
    ("one-handler", "Deployment", {f"{CONTAINER}.readinessProbe": {"periodSeconds": 1}}),
    ("probe-port", "Deployment", {f"{CONTAINER}.readinessProbe.httpGet.port": "nope"}),
    ("probe-port", "Deployment", {f"{CONTAINER}.readinessProbe.httpGet.port": 70000}),
    ("grace", "Deployment", {"spec.template.spec.terminationGracePeriodSeconds": 31}),
    ("grace", "Deployment", {f"{CONTAINER}.lifecycle.preStop.sleep.seconds": 40}),
    ("request-limit", "Deployment", {f"{CONTAINER}.resources.requests.cpu": "600m"}),
    ("quantity", "Deployment", {f"{CONTAINER}.resources.limits.memory": "1Gib"}),
    ("quantity", "Deployment", {"spec.template.spec.volumes.0.emptyDir.sizeLimit": "1Gib"}),
    ("volume", "Deployment", {f"{CONTAINER}.volumeMounts.0.name": "nope"}),
    ("pod-security", "Deployment", {f"{CONTAINER}.securityContext": None}),
    ("pod-security", "Deployment", {"spec.template.spec.hostNetwork": True}),
    ("quota-fit", "ResourceQuota", {"spec.hard.limits.cpu": "1"}),
    ("quota-fit", "ResourceQuota", {"spec.hard.pods": "2"}),
    ("quota-fit", "ResourceQuota", {"spec.hard.services": "0"}),
    ("budget-blocks", "PodDisruptionBudget", {"spec.maxUnavailable": 0}),
    ("budget-blocks", "PodDisruptionBudget", {"spec.maxUnavailable": None, "spec.minAvailable": 1}),
    ("budget", "PodDisruptionBudget", {"spec.minAvailable": 1}),
    ("target-port", "Service", {"spec.ports.0.targetPort": "nope"}),
    ("service-selector", "Service", {"spec.selector.x": "y"}),
    ("backend", "Ingress", {"spec.rules.0.http.paths.0.backend.service.name": "nope"}),
    ("backend", "Ingress", {"spec.rules.0.http.paths.0.backend.service.port.name": "nope"}),
    ("host", "Ingress", {"spec.rules.0.host": "203.0.113.7"}),
    ("dns-protocols", "NetworkPolicy", {"spec.egress.0.ports": [{"port": 53, "protocol": "UDP"}]}),
    ("label-value", "Deployment", {"metadata.labels.x": "y" * 64}),
    ("name", "Service", {"metadata.name": "a.b"}),
    ("schema", "Deployment", {"spec.replicaz": 1}),
    ("schema", "Deployment", {"apiVersion": "apps/v9"}),
]  # fmt: skip
WARNINGS = [
    ("image-digest", "Deployment", {f"{CONTAINER}.image": "registry.example/a:latest"}),
    ("spread-revision", "Deployment", {f"{SPREAD}.matchLabelKeys": None}),
    ("readiness", "Deployment", {f"{CONTAINER}.readinessProbe": None}),
    ("open-secret", "Deployment", {f"{CONTAINER}.env.0": {"name": "API_TOKEN", "value": "x"}}),
    ("budget-unhealthy", "PodDisruptionBudget", {"spec.unhealthyPodEvictionPolicy": None}),
    ("isolation", "NetworkPolicy", {"spec.podSelector.matchLabels": {"x": "y"}}),
    ("tls-host", "Ingress", {"spec.tls.0.hosts": ["loja.apps.example", "other.example"]}),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "kind", "changes"), ERRORS)
def test_it_is_an_error(rule, kind, changes):
    objects = broken(kind, split_dots(changes))
    found = [item for item in check_objects(objects, INFRA) if item.rule == rule]
    assert found
    assert found[0].severity is Severity.ERROR
    assert found[0].fix
    assert found[0].key.kind in str(found[0])


@pytest.mark.parametrize(("rule", "kind", "changes"), WARNINGS)
def test_it_is_a_warning(rule, kind, changes):
    objects = broken(kind, changes, egress=[])
    assert rule in rules(objects, Severity.WARNING)


def split_dots(changes):
    """Quota names hold dots themselves."""
    return {
        name: value for name, value in changes.items() if not name.startswith("spec.hard.limits.")
    } or {"spec.hard": {"limits.cpu": "1"}}


def test_a_steady_state_quota_is_refused_with_need_and_grant():
    objects = render(replicas=4)
    resources = {"requests": {"cpu": "3", "memory": "1Gi"}, "limits": {"cpu": "3", "memory": "1Gi"}}
    put(find(objects, "Deployment"), f"{CONTAINER}.resources", resources)
    find(objects, "ResourceQuota")["spec"]["hard"] = {"limits.cpu": "12", "pods": "20"}
    [finding] = [item for item in check_objects(objects, INFRA) if item.rule == "quota-fit"]
    assert "27" in finding.message  # four replicas, four that still terminate, one surge pod
    assert "12" in finding.message


def test_a_request_above_the_namespaces_default_limit_is_refused():
    objects = render()
    resources = {"requests": {"cpu": "100m", "memory": "1Gi"}}
    put(find(objects, "Deployment"), f"{CONTAINER}.resources", resources)
    [finding] = [item for item in check_objects(objects, INFRA) if item.rule == "request-limit"]
    assert "512Mi" in finding.message


def test_an_init_container_without_amounts_is_refused_where_a_quota_counts():
    objects = [item for item in render() if item["kind"] != "LimitRange"]
    pod = find(objects, "Deployment")["spec"]["template"]["spec"]
    pod["initContainers"] = [{**pod["containers"][0], "name": "migrate"}]
    for name in ("resources", "lifecycle", "readinessProbe", "livenessProbe", "startupProbe"):
        del pod["initContainers"][0][name]
    paths = {item.path for item in errors_of(check_objects(objects, INFRA))}
    assert paths == {"spec.template.spec.initContainers[0].resources"}


def test_a_job_of_the_namespace_is_held_to_the_same_rules():
    objects = [item for item in render() if item["kind"] != "LimitRange"]
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "migrate", "namespace": "loja-main"},
        "spec": {
            "template": {
                "spec": {
                    "restartPolicy": "Never",
                    "containers": [{"name": "a", "image": IMAGE_REF}],
                }
            }
        },
    }
    assert {"bounded", "pod-security"} <= rules([*objects, job], Severity.ERROR)


def test_a_host_is_claimed_once():
    other = find(render(), "Ingress")
    other["metadata"]["name"] = "copy"
    assert "host-taken" in rules([*render(), other], Severity.ERROR)


def test_a_liveness_check_that_repeats_readiness_is_pointed_out():
    objects = render()
    container = find(objects, "Deployment")["spec"]["template"]["spec"]["containers"][0]
    container["livenessProbe"] = copy.deepcopy(container["readinessProbe"])
    assert "liveness" in rules(objects, Severity.WARNING)


def test_one_certificate_for_several_hosts_is_pointed_out():
    tls = {"spec.tls.0": {"hosts": ["loja.apps.example", "b.example"], "secretName": "x"}}
    assert "shared-certificate" in rules(broken("Ingress", tls), Severity.WARNING)


def test_an_own_grace_counts_within_the_pods():
    objects = render()
    container = find(objects, "Deployment")["spec"]["template"]["spec"]["containers"][0]
    container["env"].append({"name": "OON_SHUTDOWN_GRACE_MS", "value": "60000"})
    [finding] = errors_of(check_objects(objects, INFRA))
    assert "67" in finding.fix


@pytest.mark.parametrize(("replicas", "blocks"), [(0, False), (1, True), (3, False)])
def test_a_budget_blocks_when_it_keeps_every_replica(replicas, blocks):
    objects = broken("PodDisruptionBudget", {"spec.maxUnavailable": None, "spec.minAvailable": 1})
    find(objects, "Deployment")["spec"]["replicas"] = replicas
    assert ("budget-blocks" in rules(objects)) is blocks


def test_kinds_with_a_domain_of_their_own_are_not_judged():
    custom = {"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": {"name": "x"}}
    assert check_objects([custom], INFRA) == []


@pytest.mark.parametrize("version", ["1.27", "1.29", "1.30", "v1.36.2", "1.37", "2.0"])
def test_each_supported_cluster_gets_only_fields_that_it_knows(version):
    infra = {"KUBERNETES_VERSION": version}
    context = context_fields(custom_domains=["a.test"])
    objects = baseline(context, infra) + runtime(context, infra, IMAGE_REF)
    assert check_objects(objects, infra) == []


def test_findings_never_repeat_a_secret_value():
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "x", "namespace": "loja-main"},
        "type": "kubernetes.io/dockerconfigjson",
        "data": {".dockerconfigjson": "bm90LWpzb24=", "bad key": "!!sesame!!"},
    }
    found = check_objects([secret], INFRA)
    assert {item.rule for item in found} == {"pull-secret", "base64", "data-key"}
    assert "sesame" not in json.dumps([str(item) for item in found])
