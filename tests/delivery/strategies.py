"""Contexts for property tests: any valid one, and values that break one field."""

from hypothesis import strategies as st

from apps.delivery.context import MAX_CUSTOM_DOMAINS, MAX_REPLICAS, PERFORMANCE_MODES
from apps.delivery.names import YAML_WORDS
from apps.delivery.profiles import RESOURCE_PROFILES
from tests.delivery.factories import make_context

labels = st.from_regex(r"[a-z]([-a-z0-9]{0,30}[a-z0-9])?", fullmatch=True)
app_codes = labels.filter(lambda text: text not in YAML_WORDS)
namespaces = labels.filter(lambda text: text != "default" and not text.startswith("kube-"))
hosts = st.builds("{}.{}.example".format, labels, labels)
custom_hosts = st.builds("{}.customer.test".format, labels)
release_ids = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=80
)

contexts = st.builds(
    make_context,
    app_code=app_codes,
    namespace=namespaces,
    hostname=hosts,
    release_id=release_ids,
    replicas=st.integers(1, MAX_REPLICAS),
    resource_profile=st.sampled_from(sorted(RESOURCE_PROFILES)),
    performance_mode=st.sampled_from(PERFORMANCE_MODES),
    custom_domains=st.lists(custom_hosts, max_size=MAX_CUSTOM_DOMAINS, unique=True),
    functional_capabilities=st.sampled_from([{}, {"core.secrets": {"enabled": True}}]),
    pod_security=st.sampled_from(["restricted", "baseline"]),
    run_as_user=st.none() | st.integers(1, 65_535),
    liveness_path=st.sampled_from(["", "/api/health/live"]),
    secrets_checksum=st.sampled_from(["", "0123456789abcdef"]),
)

# Per field, values that no context may hold.
BROKEN_VALUES = {
    "app_code": [
        "123",
        "true",
        "null",
        "1e3",
        "abc-",
        "-abc",
        "Abc",
        "a" * 64,
        "a.b",
        "",
        7,
        "a\n",
    ],
    "namespace": ["kube-system", "default", "kube-x", "Abc", "a_b", "a" * 64, "a\n", 3],
    "hostname": ["localhost", "1.2.3.4", "A.example", "a..b", "a.example.", "x" * 64 + ".com", 1],
    "image_repository": ["", "Team/app", "a/b:latest", "a/b@sha256:00", "a b", "a/b/", "a" * 256],
    "release_id": ["", "a\nb", "x" * 254, True, ["r1"]],
    "replicas": [0, -1, 11, 1.5, "3", True, 1e21, [2], {}, float("nan"), float("inf")],
    "resource_profile": ["nope", "", 1, ["small"], "Small"],
    "performance_mode": ["max", "", 0, ["min"], "MIN"],
    "custom_domains": ["a.com", ["1.2.3.4"], ["a.com", "a.com"], ["loja.apps.example"], [1]],
    "functional_capabilities": [[], "x", 1],
    "pod_security": ["privileged", "", 1],
    "run_as_user": [0, -1, "10001", True, 2**31],
    "writable_paths": ["/cache", ["tmp"], ["/"], ["/a/../b"], ["/a b"], ["/cache", "/cache"], [1]],
    "egress": ["x", [1], [{}], [{"name": "a", "ports": [0], "cidrs": ["0.0.0.0/0"]}]],
    "liveness_path": ["live", "/a b", "/a/../b", 1],
    "secrets_checksum": ["xyz", "ABCDEF01", 1, "0123"],
}
