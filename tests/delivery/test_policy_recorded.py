"""The rules against a real server: what it refuses they refuse, at the same field."""

import json
from pathlib import Path

import pytest

from apps.delivery.policy import check_objects, errors_of

INFRA = {"KUBERNETES_VERSION": "1.36"}
# What the server was given, and what it said: status, and the fields that it named.
JUDGED = json.loads((Path(__file__).parents[1] / "data" / "policy" / "judged.json").read_text())
# The address differs from the body, or a parameter is wrong: no matter of the object.
ABOUT_THE_ADDRESS = {8, 88, 89, 93}
# Only against what is there already; see the test of immutable fields.
ABOUT_LIVE_OBJECTS = {85, 86, 87}
# Accepted, though an apply would refuse it (1, 2, 3, 57, 58), or though it cannot work (63).
STRICTER = {1, 2, 3, 57, 58, 63}


def numbered(wanted):
    return [pytest.param(item, id=f"{item['n']}") for item in JUDGED if wanted(item)]


def is_refused(item):
    return item["status"] >= 400


def errors_in(item):
    return errors_of(check_objects([item["object"]], INFRA))


@pytest.mark.parametrize(
    "item",
    numbered(
        lambda item: is_refused(item) and item["n"] not in ABOUT_THE_ADDRESS | ABOUT_LIVE_OBJECTS
    ),
)
def test_what_the_server_refuses_is_an_error_at_the_same_field(item):
    errors = errors_in(item)
    assert errors
    causes = set(item["causes"])
    assert not causes or causes & {error.path for error in errors}
    assert all(error.fix and error.message for error in errors)


@pytest.mark.parametrize(
    "item",
    numbered(lambda item: not is_refused(item) and item["n"] not in ABOUT_THE_ADDRESS | STRICTER),
)
def test_what_the_server_accepts_is_no_error(item):
    assert errors_in(item) == []


@pytest.mark.parametrize("item", numbered(lambda item: item["n"] in STRICTER))
def test_what_fails_later_is_an_error_too(item):
    assert errors_in(item)


@pytest.mark.parametrize("item", numbered(lambda item: item["n"] in ABOUT_LIVE_OBJECTS))
def test_what_can_never_change_is_an_error(item):
    desired = item["object"]
    live = {**desired, "type": "Opaque", "spec": {"selector": {}, "clusterIP": "10.96.0.1"}}
    errors = errors_of(check_objects([desired], INFRA, live=[live]))
    assert [error.rule for error in errors] == ["immutable"]
    assert errors[0].path in {"spec.selector", "spec.clusterIP", "type"}
