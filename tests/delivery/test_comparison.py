"""Desired against live: no drift where there is none, and every real change with its path."""

import copy
import json
import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.delivery.comparison import (
    MASK,
    Action,
    ChangeKind,
    compare,
    compare_all,
    diff_lines,
    masked,
    object_key,
)
from apps.delivery.manifests import baseline, runtime
from tests.delivery.factories import DOMAINS, IMAGE_REF, INFRA, context_fields
from tests.delivery.strategies import contexts

KUBE = Path(__file__).parents[1] / "data" / "kube"


def recorded_pairs(name):
    """What was applied, and what a real server then held."""
    exchanges = json.loads((KUBE / f"{name}.json").read_text())["exchanges"]
    bodies = {
        item["n"]: {side: item[side].get("body") for side in ("request", "response")}
        for item in exchanges
    }
    for item in exchanges:
        for side in ("request", "response"):
            if "bodySameAs" in item[side]:
                bodies[item["n"]][side] = bodies[item[side]["bodySameAs"]][side]
    return [
        pytest.param(body["request"], body["response"], id=f"{name}-{n}")
        for n, body in bodies.items()
        if body["request"] and body["response"]["kind"] != "Status"
    ]


def minimal_objects():
    """The smallest accepted objects, and each as the server completed it."""
    for case in json.loads((KUBE / "18-defaults.json").read_text())["minimal"]:
        live = copy.deepcopy(case["applied"])
        for dotted, value in case["added"].items():
            put(live, dotted, value["returned"] if is_rewritten(value) else value)
        if live["kind"] != "Pod":  # apps own no bare pods
            yield pytest.param(
                case["applied"], live, id=f"{live['kind']}-{live['metadata']['name']}"
            )


def is_rewritten(value):
    return isinstance(value, dict) and set(value) == {"applied", "returned"}


def put(node, dotted, value):
    *parents, last = re.findall(r"[^.\[\]]+", dotted)
    for name in parents:
        node = node[int(name)] if isinstance(node, list) else node.setdefault(name, {})
    node[last] = value


def deployment(**fields):
    return runtime(context_fields(**fields), INFRA, IMAGE_REF)[0]


def container_of(manifest):
    return manifest["spec"]["template"]["spec"]["containers"][0]


def owned_by_us(manifest, fields):
    entry = {"manager": "pombo", "operation": "Apply", "fieldsV1": fields}
    manifest["metadata"]["managedFields"] = [entry]
    return manifest


@pytest.mark.parametrize(
    ("desired", "live"),
    [*recorded_pairs("01-apply-create"), *recorded_pairs("02-apply-again"), *minimal_objects()],
)
def test_what_a_real_server_made_of_an_object_is_no_drift(desired, live):
    diff = compare(desired, live)
    assert [str(line) for line in diff_lines(diff)][1:] == []
    assert diff.action is Action.UNCHANGED


@given(contexts)
def test_an_object_equals_itself(context):
    for item in baseline(context, INFRA) + runtime(context, INFRA, IMAGE_REF):
        assert not compare(item, copy.deepcopy(item)).needs_apply


@given(contexts, st.randoms(use_true_random=False))
def test_order_says_nothing_where_kubernetes_sees_none(context, rng):
    for item in baseline(context, INFRA) + runtime(context, INFRA, IMAGE_REF):
        assert compare(item, shuffled(item, rng)).changes == ()


ORDERED = ("command", "args")


def shuffled(node, rng: random.Random):
    if isinstance(node, list):
        items = [shuffled(item, rng) for item in node]
        rng.shuffle(items)
        return items
    if isinstance(node, dict):
        return {
            name: value if name in ORDERED else shuffled(value, rng)
            for name, value in rng.sample(sorted(node.items()), len(node))
        }
    return node


@pytest.mark.parametrize(
    ("desired", "live", "same"),
    [("2000m", "2", True), ("2048Mi", "2Gi", True), ("1000M", "1G", True), ("2", "3", False)],
)
def test_amounts_in_another_form_are_no_drift(desired, live, same):
    sides = []
    for amount in (desired, live):
        quota = next(o for o in baseline(context_fields(), INFRA) if o["kind"] == "ResourceQuota")
        quota["spec"]["hard"]["limits.cpu"] = amount
        sides.append(quota)
    assert compare(*sides).needs_apply is not same


def test_the_size_of_a_volume_is_an_amount_too():
    live = deployment()
    live["spec"]["template"]["spec"]["volumes"][0]["emptyDir"]["sizeLimit"] = "262144Ki"
    assert compare(deployment(), live).changes == ()


def test_a_changed_field_is_named_with_both_values():
    live = deployment(replicas=2)
    [change] = compare(deployment(replicas=3), live).changes
    assert (change.kind, change.dotted_path) == (ChangeKind.CHANGED, "spec.replicas")
    assert (change.live, change.desired) == (2, 3)


def test_a_path_names_list_items_by_their_key():
    live = deployment()
    container_of(live)["env"][0]["value"] = "ultra"
    [change] = compare(deployment(), live).changes
    assert change.dotted_path == (
        "spec.template.spec.containers[central].env[OON_DB_PERFORMANCE_MODE].value"
    )


def test_a_key_with_dots_is_quoted_in_its_path():
    live = deployment()
    del live["metadata"]["labels"]["app.kubernetes.io/name"]
    [change] = compare(deployment(), live).changes
    assert change.dotted_path == 'metadata.labels["app.kubernetes.io/name"]'


def test_what_is_missing_would_be_added():
    live = deployment()
    del container_of(live)["readinessProbe"]
    changes = compare(deployment(), live).changes
    assert {change.kind for change in changes} == {ChangeKind.ADDED}
    assert any(change.path[-1] == "path" for change in changes)


def test_what_we_no_longer_want_would_be_removed():
    live = deployment()
    container_of(live)["env"].append({"name": "OLD", "value": "1"})
    live["metadata"]["labels"]["old"] = "1"
    item = {'k:{"name":"central"}': {"f:env": {'k:{"name":"OLD"}': {".": {}, "f:name": {}}}}}
    fields = {
        "f:metadata": {"f:labels": {"f:old": {}}},
        "f:spec": {"f:template": {"f:spec": {"f:containers": item}}},
    }
    diff = compare(deployment(), owned_by_us(live, fields))
    assert {change.kind for change in diff.changes} == {ChangeKind.REMOVED}
    assert len(diff.changes) == 2
    assert diff.action is Action.UPDATE


def test_what_others_have_set_is_shown_and_left_alone():
    live = deployment()
    live["metadata"]["labels"]["team"] = "x"
    live["spec"]["template"]["spec"]["containers"].append({"name": "sidecar", "image": "proxy:1"})
    diff = compare(deployment(), live)
    assert diff.action is Action.UNCHANGED
    assert [change.path[-1] for change in diff.foreign] == ["team", "[sidecar]"]


def test_a_foreign_rule_in_an_atomic_list_is_a_change():
    [ingress] = [o for o in runtime(context_fields(), INFRA, IMAGE_REF) if o["kind"] == "Ingress"]
    live = copy.deepcopy(ingress)
    live["spec"]["rules"].append({"host": "stranger.example"})
    [change] = compare(ingress, live).changes
    assert (change.kind, change.path) == (ChangeKind.CHANGED, ("spec", "rules"))


def test_a_peer_that_selects_everything_is_no_missing_peer():
    policy = next(o for o in baseline(context_fields(), INFRA) if o["kind"] == "NetworkPolicy")
    live = copy.deepcopy(policy)
    live["spec"]["ingress"][0]["from"][0]["podSelector"] = {}
    assert compare(policy, live).needs_apply


def test_a_boolean_is_no_number():
    live = deployment()
    live["spec"]["template"]["spec"]["automountServiceAccountToken"] = 0
    assert compare(deployment(), live).needs_apply


def test_what_does_not_exist_would_be_created():
    diff = compare(deployment(), None)
    assert diff.action is Action.CREATE
    assert {change.kind for change in diff.changes} == {ChangeKind.ADDED}


def test_what_nobody_wants_would_be_deleted():
    diff = compare(None, deployment())
    assert (diff.action, diff.key.name) == (Action.DELETE, "loja")
    with pytest.raises(ValueError, match="one side"):
        compare(None, None)


def test_a_removed_domain_shows_up_as_a_deletion():
    before = runtime(context_fields(custom_domains=DOMAINS), INFRA, IMAGE_REF)
    after = runtime(context_fields(custom_domains=DOMAINS[:1]), INFRA, IMAGE_REF)
    diffs = compare_all(after, before)
    [deleted] = [diff for diff in diffs if diff.needs_apply]
    assert deleted.action is Action.DELETE
    assert deleted.key == object_key(before[-1])


def secret(**fields):
    metadata = {"name": "oon-runtime", "namespace": "loja-main"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, **fields}


def test_secret_values_are_compared_and_never_shown():
    live = secret(data={"A": "b2xk", "B": "c2FtZQ==", "C": "Z29uZQ=="})
    live = owned_by_us(live, {"f:data": {"f:C": {}}})
    diff = compare(secret(data={"A": "bmV3", "B": "c2FtZQ==", "D": "YWRk"}), live)
    text = "\n".join(map(str, diff_lines(diff)))
    assert [change.path[-1] for change in diff.changes] == ["A", "D", "C"]
    assert all(
        change.desired in (None, MASK) and change.live in (None, MASK) for change in diff.changes
    )
    assert not any(value in text for value in ("b2xk", "bmV3", "Z29uZQ", "YWRk"))


def test_string_data_equals_what_the_server_made_of_it():
    assert not compare(secret(stringData={"A": "x"}), secret(data={"A": "eA=="})).needs_apply


@pytest.mark.parametrize("name", ["API_TOKEN", "MONGODB_URI", "password", "OON_SECRETS_KEY"])
def test_variables_that_say_they_hold_a_secret_are_masked(name):
    desired, live = deployment(), deployment()
    container_of(desired)["env"].append({"name": name, "value": "new-value"})
    container_of(live)["env"].append({"name": name, "value": "old-value"})
    text = "\n".join(map(str, diff_lines(compare(desired, live))))
    assert name in text
    assert "-value" not in text
    assert "-value" not in json.dumps(masked(desired))


def test_a_masked_copy_keeps_names_and_leaves_the_original():
    original = secret(data={"A": "eA=="}, stringData={"B": "plain"})
    original["metadata"]["annotations"] = {
        "kubectl.kubernetes.io/last-applied-configuration": '{"data":{"A":"eA=="}}'
    }
    shown = masked(original)
    assert (shown["data"], shown["stringData"]) == ({"A": MASK}, {"B": MASK})
    assert "eA==" not in json.dumps(shown)
    assert original["data"] == {"A": "eA=="}


def test_the_lines_read_like_a_patch():
    live = deployment(replicas=2)
    live["metadata"]["labels"]["team"] = "x"
    assert [str(line) for line in diff_lines(compare(deployment(replicas=3), live))] == [
        "~ Deployment loja (loja-main): update",
        '?   metadata.labels.team: "x"',
        "~   spec.replicas: 2 → 3",
    ]


def test_objects_are_the_same_in_another_version_of_their_group():
    assert object_key({"apiVersion": "apps/v1beta1", "kind": "A", "metadata": {"name": "x"}}) == (
        object_key({"apiVersion": "apps/v1", "kind": "A", "metadata": {"name": "x"}})
    )
