"""Bots that learn at the same time, each on a connection of its own."""

from datetime import timedelta

import pytest

from apps.whatsapp_auth import lid_map
from apps.whatsapp_auth.models import LidHistory, LidMapping
from apps.whatsapp_auth.senders import LidPair
from tests.whatsapp_auth.factories import LID, NOW, OTHER_PHONE, PHONE
from tests.whatsapp_auth.threads import run_at_once

pytestmark = pytest.mark.django_db(transaction=True)
JIDS = [f"{PHONE}@s.whatsapp.net", f"{OTHER_PHONE}@s.whatsapp.net"]


def test_one_lid_learnt_with_two_phones_at_once_has_one_open_span():
    def job(number):
        at = NOW + timedelta(seconds=number)
        return lambda: lid_map.learn(LID, JIDS[number % 2], now=at)

    lid_map.learn(LID, None, now=NOW - timedelta(hours=1))
    run_at_once([job(number) for number in range(10)])
    span = LidHistory.objects.get(valid_to=None)
    assert (span.lid, span.jid) == (LID, LidMapping.objects.get().jid)


def test_overlapping_batches_at_once_store_every_pair():
    pairs = [LidPair(f"{number}@lid", f"{number:012}@s.whatsapp.net") for number in range(100, 400)]
    shuffled = [pairs[start:] + pairs[:start] for start in (0, 100, 200, 250)]
    reports = run_at_once(
        [lambda lesson=lesson: lid_map.learn_many(lesson, source="message") for lesson in shuffled]
    )
    assert not [report.rejected for report in reports if report.rejected]
    assert LidMapping.objects.filter(jid__isnull=False).count() == len(pairs)
    assert LidHistory.objects.filter(valid_to=None).count() == len(pairs)


def test_one_phone_claimed_by_many_lids_at_once_is_held_by_one():
    lids = [f"{number}@lid" for number in range(500, 508)]
    run_at_once([lambda lid=lid: lid_map.learn(lid, JIDS[0]) for lid in lids])
    holder = LidMapping.objects.get(jid=JIDS[0])
    assert LidHistory.objects.get(valid_to=None).lid == holder.lid
    assert LidMapping.objects.count() == len(lids)
