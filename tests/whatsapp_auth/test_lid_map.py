from datetime import timedelta

import pytest
from django.db import DataError, OperationalError, connection
from django.test.utils import CaptureQueriesContext

from apps.outbox.models import OutboxEvent
from apps.whatsapp_auth import errors, lid_map
from apps.whatsapp_auth.choices import LookupStatus
from apps.whatsapp_auth.models import GoogleSession, GoogleUser, LidHistory, LidMapping
from apps.whatsapp_auth.queries import owner_jids_of
from apps.whatsapp_auth.senders import LidPair
from apps.whatsapp_auth.services.logins import sign_in
from tests.whatsapp_auth.factories import (
    ANA,
    LID,
    NOW,
    OTHER_PHONE,
    PHONE,
    RUI,
    make_hint,
    make_session,
    make_user,
)

pytestmark = pytest.mark.django_db
JID = f"{PHONE}@s.whatsapp.net"
OTHER_JID = f"{OTHER_PHONE}@s.whatsapp.net"
DEVICE_LID = LID.replace("@", ":7@")
OTHER_LID = "999999999999999@lid"
LATER = NOW + timedelta(minutes=11)


@pytest.fixture(autouse=True)
def commits_run(django_capture_on_commit_callbacks):
    """Run what waits for a commit when the test's service returns."""
    with django_capture_on_commit_callbacks(execute=True):
        yield


def learn(lid=LID, jid=JID, source="message", now=NOW):
    return lid_map.learn(lid, jid, source, now=now)


def rows():
    return dict(LidMapping.objects.values_list("lid", "jid"))


def reconciled_events():
    events = OutboxEvent.objects.filter(event_type="IDENTITY_RECONCILED").order_by("id")
    return [(event.aggregate_id, event.payload["jid"]) for event in events]


def test_a_pair_is_stored_normalised_whichever_way_round():
    learn(f"{PHONE}:4@c.us", LID)
    assert rows() == {LID: JID}


def test_l1_the_base_of_a_device_is_stored_with_it():
    learn(DEVICE_LID)
    assert rows() == {DEVICE_LID: JID, LID: JID}
    assert lid_map.resolve_user_id(lid=LID, now=NOW) == JID


def test_l2_a_message_without_a_phone_loses_no_reconciliation():
    learn()
    learn(jid=None)
    assert reconciled_events() == [(LID, JID)]
    assert rows() == {LID: JID}


def test_l2_reconciliation_is_in_the_transaction_that_learns(monkeypatch):
    def refuse(*args, **kwargs):
        raise ZeroDivisionError

    monkeypatch.setattr("apps.whatsapp_auth.services.reconciliation.publish_many", refuse)
    with pytest.raises(ZeroDivisionError):
        learn()
    assert rows() == {}


@pytest.mark.parametrize("jid", [JID, None])
def test_l3_within_the_cool_down_nothing_is_read_or_written(
    jid, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        learn()
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert not learn(jid=jid, now=NOW + timedelta(minutes=9)).queued
    assert len(queries) == 0


def test_after_the_cool_down_the_last_time_seen_moves():
    learn()
    LidMapping.objects.update(last_seen=NOW)
    assert learn(now=LATER).queued
    mapping = LidMapping.objects.get()
    assert mapping.last_seen > mapping.first_seen == NOW


@pytest.mark.parametrize(("known", "asked"), [(LID, DEVICE_LID), (DEVICE_LID, LID)])
def test_l4_a_derived_answer_is_stored_and_reconciled(known, asked):
    LidMapping.objects.create(lid=known, jid=JID)
    assert lid_map.resolve_user_id(lid=asked, now=NOW) == JID
    assert rows()[asked] == JID
    assert reconciled_events()


@pytest.mark.parametrize("source", ["backfill", "derived"])
def test_l5_old_knowledge_never_replaces_what_a_message_said(source):
    learn()
    learn(jid=OTHER_JID, source=source, now=LATER)
    assert rows() == {LID: JID}


@pytest.mark.parametrize("source", ["backfill", "derived"])
def test_l5_old_knowledge_never_takes_a_phone_from_another_lid(source):
    learn()
    learn(OTHER_LID, source=source, now=LATER)
    assert rows() == {LID: JID, OTHER_LID: None}


def test_l5_each_mapping_has_a_span_in_the_history():
    learn()
    learn(jid=OTHER_JID, now=LATER)
    spans = LidHistory.objects.order_by("id").values_list("jid", "valid_from", "valid_to")
    assert list(spans) == [(JID, NOW, LATER), (OTHER_JID, LATER, None)]


def test_l5_a_phone_taken_by_another_lid_stops_resolving_from_the_old_one():
    learn()
    learn(OTHER_LID, now=LATER)
    assert rows() == {LID: None, OTHER_LID: JID}
    assert lid_map.resolve_user_id(lid=LID, now=LATER) == LID


@pytest.mark.parametrize("first", [JID, None])
def test_l5_in_one_batch_the_last_lid_of_a_phone_has_it(first):
    learn()
    pairs = [LidPair(LID, first), LidPair(OTHER_LID, JID)]
    lid_map.learn_many(pairs, source="message", now=LATER)
    assert rows() == {LID: None, OTHER_LID: JID}
    assert lid_map.resolve_user_id(lid=LID, now=LATER) == LID


def test_a_hosted_lid_may_stand_beside_the_usual_one():
    learn()
    learn("5@hosted.lid")
    assert rows() == {LID: JID, "5@hosted.lid": JID}


def test_open_links_of_a_remapped_number_die():
    learn()
    hint = make_hint(at=NOW)
    learn(OTHER_LID, now=NOW + timedelta(minutes=1))
    with pytest.raises(errors.LoginLinkRevoked):
        sign_in(ANA, hint, now=NOW + timedelta(minutes=2))


def test_l6_an_account_under_a_lid_moves_to_the_phone_with_its_sessions():
    make_user(ANA, owner_jid=LID)
    make_session(ANA)
    learn()
    assert GoogleUser.objects.get().owner_jid == JID
    assert GoogleUser.objects.get().owner_phone == PHONE
    assert GoogleSession.objects.get().owner_jid == JID


def test_l6_an_account_under_a_lid_never_pushes_out_the_phones_holder():
    make_user(ANA, owner_jid=LID)
    make_user(RUI, PHONE)
    learn()
    assert GoogleUser.objects.get(pk=RUI.sub).owner_jid == JID
    assert GoogleUser.objects.get(pk=ANA.sub).owner_jid == LID


def test_l6_until_all_has_moved_both_owners_are_one():
    learn(DEVICE_LID)
    assert {LID, DEVICE_LID, JID} <= owner_jids_of(JID)
    assert {LID, JID} <= owner_jids_of(LID)


def test_l7_a_bad_row_does_not_hold_up_its_batch():
    pairs = [LidPair("1" * 70 + "@lid", JID), LidPair("x", JID), LidPair(LID, JID)]
    report = lid_map.learn_many(pairs, source="message", now=NOW)
    assert rows() == {LID: JID}
    assert sorted(report.rejected.values()) == ["not_a_lid", "too_long"]


def test_l7_what_only_the_database_refuses_fails_alone(refused_lid):
    pairs = [LidPair(f"{number}@lid", None) for number in range(100, 140)]
    report = lid_map.learn_many([*pairs, LidPair(refused_lid, None)], source="x", now=NOW)
    assert report.rejected == {refused_lid: "refused"}
    assert LidMapping.objects.count() == 40


@pytest.fixture
def refused_lid():
    """A LID that this database refuses, as a trigger or a broken row would."""
    lid = "666@lid"

    def refuse(execute, sql, params, many, context):
        if "lid_map" in sql and sql.startswith("INSERT") and lid in str(params):
            raise DataError("out of range")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(refuse):
        yield lid


def test_an_outage_is_raised_and_not_called_a_refusal():
    def fail(execute, sql, params, many, context):
        raise OperationalError(2006, "server has gone away")

    with connection.execute_wrapper(fail), pytest.raises(OperationalError):
        learn()


def test_l7_signs_of_patterns_in_a_lid_are_only_signs():
    LidMapping.objects.create(lid="1_2:7@lid", jid=JID)
    assert lid_map.resolve_user_id(lid="1x2@lid", now=NOW) == "1x2@lid"


def test_l8_numbers_and_nothing_make_no_crash():
    assert lid_map.resolve_user_id() is None
    assert not lid_map.learn(None, None, "message", now=NOW).queued


def test_resolving_prefers_a_phone_that_is_given():
    assert lid_map.resolve_user_id(lid=LID, participant_alt=f"{PHONE}:2@c.us") == JID


def test_a_batch_tells_known_hidden_unknown_and_wrong_apart():
    learn()
    learn(OTHER_LID, None)
    answers = lid_map.resolve_many([LID, OTHER_LID, "1@lid", JID], now=NOW)
    assert [answer.status for answer in answers.values()] == [
        LookupStatus.KNOWN,
        LookupStatus.HIDDEN,
        LookupStatus.UNKNOWN,
        LookupStatus.ERROR,
    ]
    assert answers[LID].jid == JID


def test_a_batch_of_look_ups_costs_one_query_whatever_its_size(django_assert_num_queries):
    for count in (1, 500):
        with django_assert_num_queries(1):
            lid_map.resolve_many([f"{count}{number}@lid" for number in range(count)], now=NOW)


def test_reconciling_again_is_harmless_and_needs_a_pair():
    assert lid_map.reconcile(LID, JID, now=NOW)
    assert lid_map.reconcile(LID, JID, now=NOW)
    assert not lid_map.reconcile(LID, LID, now=NOW)


def test_report_15_lid_digits_never_become_a_phone():
    lid = "157019776499771@lid"
    learn(lid, None)
    assert lid_map.resolve_user_id(lid=lid, now=NOW) == lid
    assert lid_map.current_phone(lid) is None
