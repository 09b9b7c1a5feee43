"""Plans as values: order, deletions, fingerprints; pure."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.delivery.comparison import Action, compare
from apps.delivery.errors import EmptyRender
from apps.delivery.kube.resources import ObjectKey, key_of
from apps.delivery.manifests import baseline, runtime
from apps.delivery.planning import (
    APPLY_ORDER,
    PRUNED_KINDS,
    Plan,
    PlannedChange,
    change_from_json,
    fingerprint,
    in_apply_order,
    planned,
    to_prune,
)

from .factories import IMAGE_REF, INFRA, make_context

HOME = "loja-main"


def rendered(**fields: Any) -> list[dict[str, Any]]:
    context = make_context(**fields)
    return [*baseline(context, INFRA), *runtime(context, INFRA, IMAGE_REF)]


def as_live(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = copy.deepcopy(objects)
    for number, each in enumerate(found):
        each["metadata"] |= {"uid": f"uid-{number}", "resourceVersion": str(number)}
    return found


def test_everything_a_render_makes_has_its_place_in_the_order() -> None:
    kinds = [each["kind"] for each in in_apply_order(reversed(rendered()))]
    assert set(kinds) <= set(APPLY_ORDER)
    assert kinds == sorted(kinds, key=APPLY_ORDER.index)
    assert kinds[0] == "Namespace"


def test_an_empty_render_never_deletes() -> None:
    """Report 4."""
    with pytest.raises(EmptyRender):
        to_prune([], as_live(rendered()), namespace=HOME)


def test_a_removed_domain_takes_its_ingress_and_certificate_along() -> None:
    before = as_live(rendered(custom_domains=["loja.example", "www.loja.example"]))
    gone = to_prune(rendered(custom_domains=["loja.example"]), before, namespace=HOME)
    assert [change.key.kind for change in gone] == ["Ingress", "Secret"]
    assert all("www" in change.key.name for change in gone)


def test_deletions_name_the_very_object_that_was_seen() -> None:
    before = as_live(rendered(custom_domains=["loja.example"]))
    ingress, *_ = to_prune(rendered(), before, namespace=HOME)
    assert ingress.uid.startswith("uid-")


@pytest.mark.parametrize("kind", ["Namespace", "Secret", "Pod", "ReplicaSet"])
def test_some_kinds_are_never_pruned(kind: str) -> None:
    stray = {"kind": kind, "metadata": {"name": "x", "namespace": HOME, "uid": "1"}}
    assert to_prune(rendered(), [stray], namespace=HOME) == []
    assert kind not in PRUNED_KINDS


def test_objects_of_other_namespaces_are_left_alone() -> None:
    stray = {"kind": "Service", "metadata": {"name": "x", "namespace": "other", "uid": "1"}}
    assert to_prune(rendered(), [stray], namespace=HOME) == []


def test_what_is_already_going_away_is_not_deleted_again() -> None:
    metadata = {"name": "x", "namespace": HOME, "uid": "1", "deletionTimestamp": "now"}
    stray = {"kind": "Service", "metadata": metadata}
    assert to_prune(rendered(), [stray], namespace=HOME) == []


def live_by_key(objects: list[dict[str, Any]]) -> dict[ObjectKey, dict[str, Any]]:
    return {key_of(each): each for each in as_live(objects)}


def test_status_and_versions_do_not_change_the_fingerprint() -> None:
    live = live_by_key(rendered())
    before = fingerprint(rendered(), live)
    for each in live.values():
        each["status"] = {"replicas": 3}
        each["metadata"]["resourceVersion"] = "999"
        each["metadata"]["annotations"] = {"deployment.kubernetes.io/revision": "7"}
    assert fingerprint(rendered(), live) == before


@pytest.mark.parametrize("path", [("spec", "replicas"), ("metadata", "uid")])
def test_what_somebody_changed_changes_the_fingerprint(path: tuple[str, str]) -> None:
    live = live_by_key(rendered())
    before = fingerprint(rendered(), live)
    deployment = live[ObjectKey("Deployment", HOME, "loja")]
    deployment[path[0]][path[1]] = "other"
    assert fingerprint(rendered(), live) != before


def test_quantities_in_another_form_are_no_change() -> None:
    """Report 2: desired 2000m and 2048Mi, live 2 and 2Gi."""
    quota = next(o for o in rendered() if o["kind"] == "ResourceQuota")
    written = copy.deepcopy(quota)
    written["spec"]["hard"] |= {"requests.cpu": "2000m", "requests.memory": "2048Mi"}
    live = copy.deepcopy(quota)
    live["spec"]["hard"] |= {"requests.cpu": "2", "requests.memory": "2Gi"}
    change = planned(key_of(quota), compare(written, live))
    assert change.action is Action.UNCHANGED


def test_a_plan_of_unchanged_objects_is_empty() -> None:
    change = PlannedChange(ObjectKey("Service", HOME, "x"), Action.UNCHANGED)
    assert Plan((change,)).is_empty
    assert not Plan((change, PlannedChange(change.key, Action.DELETE))).is_empty


@given(
    st.builds(
        PlannedChange,
        key=st.builds(ObjectKey, st.text(), st.text(), st.text()),
        action=st.sampled_from(Action),
        problems=st.lists(st.text()).map(tuple),
        conflicts=st.lists(st.tuples(st.text(), st.text())).map(tuple),
        uid=st.text(),
    )
)
def test_changes_survive_storage(change: PlannedChange) -> None:
    assert change_from_json(change.as_json()) == change
