"""The original's scenarios, step by step, where Pombo's own rules do not win."""

from datetime import timedelta

import pytest

from apps.whatsapp_auth import lid_map
from apps.whatsapp_auth.lid_map import cache
from apps.whatsapp_auth.models import LidMapping
from tests.whatsapp_auth.factories import NOW
from tests.whatsapp_auth.vectors import named, vectors

pytestmark = pytest.mark.django_db
SCENARIOS = vectors("c_scenarios")


@pytest.mark.parametrize("row", vectors("c_resolve_cached_empty"), ids=named)
def test_resolving_without_a_map(row):
    names = {"participantAlt": "participant_alt"}
    arguments = {names.get(name, name): value for name, value in row["input"].items()}
    assert lid_map.resolve_user_id(**arguments, now=NOW) == row["output"]


def play(scenario, capture):
    """Run the steps; gives (operation, own answer, original's answer) for what can be compared."""
    for mapping in scenario["input"]["dbRows"]:
        LidMapping.objects.create(**mapping)
    now = NOW
    for step, original in zip(scenario["input"]["steps"], scenario["output"], strict=True):
        if step["op"] == "advanceMs":
            now += timedelta(milliseconds=step["ms"])
            continue
        with capture(execute=True):
            yield step["op"], answer(step, now), original


def answer(step, now):
    match step["op"]:
        case "queue":
            learned = lid_map.learn(step["lid"], step["jid"], step["source"], now=now)
            return {"queued": learned.queued, "reconciled": learned.reconciled}
        case "resolve":
            return lid_map.resolve_user_id(**step["args"], now=now)
        case "cached":
            entry = cache.read_people([step["lid"]], now=now).get(step["lid"])
            return entry and entry.jid
        case "prime":
            return {
                lid: look.jid for lid, look in lid_map.resolve_many(step["lids"], now=now).items()
            }
        case _:
            return None


@pytest.mark.parametrize("scenario", SCENARIOS, ids=named)
def test_answers_are_the_originals(scenario, django_capture_on_commit_callbacks):
    for operation, own, original in play(scenario, django_capture_on_commit_callbacks):
        is_mapped_again = operation == "queue" and original == {"queued": True, "reconciled": False}
        if is_mapped_again and scenario is SCENARIOS[3]:
            # L3: a message without a phone is no news about a mapped LID.
            assert own == {"queued": False, "reconciled": False}
        elif operation not in {"buffer", "flush"}:
            assert own == original


@pytest.mark.parametrize("scenario", SCENARIOS, ids=named)
def test_what_the_original_would_store_is_stored(scenario, django_capture_on_commit_callbacks):
    expected = {}
    for operation, _own, original in play(scenario, django_capture_on_commit_callbacks):
        for write in original or [] if operation == "flush" else []:
            if write["kind"] == "upsert":
                values = iter(write["params"])
                expected |= {
                    lid: jid for lid, jid, _source in zip(values, values, values, strict=True)
                }
    stored = dict(LidMapping.objects.values_list("lid", "jid"))
    if scenario is SCENARIOS[14]:
        # L5: two LIDs of one phone; the one that was seen last keeps it.
        expected["123456789012345@lid"] = None
    assert expected.items() <= stored.items()
