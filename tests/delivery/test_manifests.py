"""What an app becomes: the rules that its objects keep, and whole renders as files."""

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest
from hypothesis import given

from apps.delivery.context import DeliveryContextError
from apps.delivery.infra import as_infra
from apps.delivery.manifests import baseline, custom_domain_ingresses, membership_labels, runtime
from apps.delivery.names import is_label_value
from tests.delivery import golden
from tests.delivery.factories import DOMAINS, IMAGE_REF, INFRA, context_fields
from tests.delivery.strategies import contexts


def deployment_of(infra=INFRA, **fields):
    return runtime(context_fields(**fields), infra, IMAGE_REF)[0]


def pod_of(infra=INFRA, **fields):
    return deployment_of(infra, **fields)["spec"]["template"]["spec"]


def container_of(infra=INFRA, **fields):
    return pod_of(infra, **fields)["containers"][0]


def by_name(objects, kind):
    return {item["metadata"]["name"]: item for item in objects if item["kind"] == kind}


@pytest.mark.parametrize("name", golden.CASES)
def test_whole_renders_equal_their_files(name):
    assert golden.render(name) == golden.stored(name)


def test_rendering_loads_neither_client_nor_framework():
    script = (
        "import sys, apps.delivery.manifests;"
        "print({n.partition('.')[0] for n in sys.modules} & {'kubernetes', 'django', 'yaml'})"
    )
    found = subprocess.check_output([sys.executable, "-c", script], text=True)
    assert found.strip() == "set()"


@given(contexts)
def test_every_object_is_json_named_and_labelled(context):
    objects = baseline(context, INFRA) + runtime(context, INFRA, IMAGE_REF)
    assert json.loads(json.dumps(objects)) == objects
    for item in objects:
        assert item["metadata"]["labels"].items() >= membership_labels(context.app_code).items()
        assert all(map(is_label_value, item["metadata"]["labels"].values()))
        if item["kind"] != "Namespace":
            assert item["metadata"]["namespace"] == context.namespace
    keys = [(item["kind"], item["metadata"]["name"]) for item in objects]
    assert len(set(keys)) == len(keys)


def test_rendering_twice_gives_equal_but_separate_objects():
    fields = context_fields(custom_domains=DOMAINS)
    first, second = runtime(fields, INFRA, IMAGE_REF), runtime(fields, INFRA, IMAGE_REF)
    assert first == second
    first[0]["spec"]["template"]["metadata"]["labels"]["x"] = "y"
    assert first != second


@pytest.mark.parametrize("image_ref", ["", None, "a\nb", 7])
def test_a_release_names_an_image(image_ref):
    with pytest.raises(DeliveryContextError, match="image_ref"):
        runtime(context_fields(), INFRA, image_ref)


@pytest.mark.parametrize("render", [baseline, custom_domain_ingresses])
def test_an_invalid_context_renders_nothing(render):
    with pytest.raises(DeliveryContextError, match="replicas"):
        render(context_fields(replicas=0), INFRA)


@pytest.mark.parametrize("version", ["latest", "1", "1.26", "v1.9.1", ""])
def test_a_cluster_version_that_cannot_be_served_is_refused(version):
    with pytest.raises(DeliveryContextError, match="KUBERNETES_VERSION"):
        baseline(context_fields(), {"KUBERNETES_VERSION": version})


def test_updates_start_a_new_pod_before_an_old_one_stops():
    spec = deployment_of(replicas=3)["spec"]
    assert spec["replicas"] == 3
    assert spec["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
    assert spec["revisionHistoryLimit"] == 5


def test_the_spread_counts_only_the_new_revision():
    [constraint] = pod_of()["topologySpreadConstraints"]
    assert constraint["matchLabelKeys"] == ["pod-template-hash"]


@pytest.mark.parametrize(
    ("version", "hook"),
    [
        ("1.36", {"sleep": {"seconds": 5}}),
        ("1.30", {"sleep": {"seconds": 5}}),
        ("1.29", {"exec": {"command": ["sleep", "5"]}}),
    ],
)
def test_pre_stop_needs_no_program_where_the_cluster_can_sleep(version, hook):
    container = container_of({"KUBERNETES_VERSION": version})
    assert container["lifecycle"]["preStop"] == hook


def test_the_pod_tells_its_supervisor_how_long_it_has():
    pod = pod_of()
    values = {item["name"]: item.get("value") for item in pod["containers"][0]["env"]}
    assert pod["terminationGracePeriodSeconds"] == 40
    assert values["OON_TERMINATION_GRACE_SECONDS"] == "40"
    assert values["OON_PRE_STOP_SECONDS"] == "5"
    assert values["OON_DB_PERFORMANCE_MODE"] == "min"


def test_the_secrets_key_comes_with_its_capability_and_may_be_absent():
    assert "OON_SECRETS_KEY" not in json.dumps(container_of())
    capabilities = {"core.secrets": {"enabled": True}}
    [variable] = [
        item
        for item in container_of(functional_capabilities=capabilities)["env"]
        if item["name"] == "OON_SECRETS_KEY"
    ]
    reference = {"name": "oon-core-secrets", "key": "OON_SECRETS_KEY", "optional": True}
    assert variable["valueFrom"] == {"secretKeyRef": reference}


def test_a_slow_first_start_is_covered_and_an_outage_of_the_database_restarts_nothing():
    container = container_of()
    startup = container["startupProbe"]
    assert startup["periodSeconds"] * startup["failureThreshold"] >= 180
    assert container["readinessProbe"]["httpGet"]["path"] == "/api/health/ready"
    assert "/api/health/ready" not in json.dumps([startup, container["livenessProbe"]])


def test_an_app_may_name_its_own_liveness_check():
    container = container_of(liveness_path="/live")
    assert container["livenessProbe"]["httpGet"] == {"path": "/live", "port": "http"}


def test_a_new_secret_changes_the_template_and_an_equal_one_does_not():
    first, same, other = (deployment_of(secrets_checksum=text * 8) for text in ("a", "a", "b"))
    assert first == same
    assert first["spec"]["template"] != other["spec"]["template"]


def test_restricted_pods_write_only_to_temporary_volumes():
    pod = pod_of(writable_paths=["/tmp", "/run"])  # noqa: S108
    container = pod["containers"][0]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert pod["securityContext"]["runAsUser"] == 10001
    assert {mount["mountPath"] for mount in container["volumeMounts"]} == {"/tmp", "/run"}  # noqa: S108
    assert all("emptyDir" in volume for volume in pod["volumes"])


def test_the_default_folders_are_those_that_a_proxy_writes_to():
    paths = {mount["mountPath"] for mount in container_of()["volumeMounts"]}
    assert paths >= {"/tmp", "/run", "/var/cache/nginx"}  # noqa: S108


@pytest.mark.parametrize("level", ["restricted", "baseline"])
def test_the_namespace_enforces_the_level_and_warns_of_the_strictest(level):
    labels = baseline(context_fields(pod_security=level), INFRA)[0]["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == level
    assert labels["pod-security.kubernetes.io/audit"] == "restricted"
    assert labels["pod-security.kubernetes.io/warn"] == "restricted"


def test_no_pod_gets_a_token_of_the_api_server():
    account = by_name(baseline(context_fields(), INFRA), "ServiceAccount")["oon-runtime"]
    assert account["automountServiceAccountToken"] is False
    assert pod_of()["automountServiceAccountToken"] is False


def test_the_limit_range_gives_the_profile_to_containers_that_name_nothing():
    limits = by_name(baseline(context_fields(resource_profile="large"), INFRA), "LimitRange")
    [item] = limits["oon-runtime-limits"]["spec"]["limits"]
    assert item["default"]["memory"] == "2Gi"
    assert item["defaultRequest"]["cpu"] == "500m"


def test_a_disruption_budget_never_blocks_a_single_replica():
    budget = by_name(runtime(context_fields(replicas=1), INFRA, IMAGE_REF), "PodDisruptionBudget")
    spec = budget["loja"]["spec"]
    assert spec["maxUnavailable"] == 1
    assert "minAvailable" not in spec
    assert spec["unhealthyPodEvictionPolicy"] == "AlwaysAllow"


def test_each_domain_has_its_own_ingress_and_certificate():
    ingresses = custom_domain_ingresses(context_fields(custom_domains=DOMAINS), INFRA)
    assert [item["spec"]["rules"][0]["host"] for item in ingresses] == DOMAINS
    tls = [item["spec"]["tls"] for item in ingresses]
    assert [entry["hosts"] for [entry] in tls] == [[host] for host in DOMAINS]
    assert len({entry["secretName"] for [entry] in tls}) == 2
    annotation = ingresses[0]["metadata"]["annotations"]["cert-manager.io/cluster-issuer"]
    assert annotation == "letsencrypt-production-http01"


def test_a_domain_that_comes_or_goes_leaves_the_others_as_they_are():
    both = custom_domain_ingresses(context_fields(custom_domains=DOMAINS), INFRA)
    one = custom_domain_ingresses(context_fields(custom_domains=DOMAINS[1:]), INFRA)
    assert both[1:] == one


def test_similar_hosts_get_different_names():
    hosts = ["a-b.test.example", "a.b-test.example", "a.b.test.example"]
    ingresses = custom_domain_ingresses(context_fields(custom_domains=hosts), INFRA)
    names = {item["metadata"]["name"] for item in ingresses}
    assert len(names) == 3
    assert all(len(name) <= 63 for name in names)


@pytest.mark.parametrize(("given_class", "rendered"), [("traefik", "traefik"), ("", None)])
def test_the_ingress_class_is_a_setting(given_class, rendered):
    ingress = by_name(
        runtime(context_fields(), {"INGRESS_CLASS": given_class}, IMAGE_REF), "Ingress"
    )
    assert ingress["loja"]["spec"].get("ingressClassName") == rendered


def test_the_clusters_side_comes_from_a_mapping_or_a_settings_object():
    settings = SimpleNamespace(INGRESS_CLASS="traefik", OTHER=1)
    assert as_infra(settings) == as_infra({"INGRESS_CLASS": "traefik", "DNS_NAMESPACE": None})
    with pytest.raises(DeliveryContextError, match="INGRESS_CLASS"):
        as_infra({"INGRESS_CLASS": 7})


def test_the_platform_host_has_the_controllers_certificate_or_its_own():
    [plain] = by_name(runtime(context_fields(), INFRA, IMAGE_REF), "Ingress").values()
    assert plain["spec"]["tls"] == [{"hosts": ["loja.apps.example"]}]
    infra = {"PLATFORM_CLUSTER_ISSUER": "dns01"}
    [issued] = by_name(runtime(context_fields(), infra, IMAGE_REF), "Ingress").values()
    assert issued["spec"]["tls"][0]["secretName"] == "loja-tls"
    assert issued["metadata"]["annotations"] == {"cert-manager.io/cluster-issuer": "dns01"}
