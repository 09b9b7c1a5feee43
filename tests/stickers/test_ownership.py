import pytest
from django.utils import timezone

from apps.outbox.events import Event
from apps.outbox.models import OutboxEvent
from apps.outbox.registry import handlers_of
from apps.stickers.models import StickerAsset, StickerPack
from apps.stickers.services import ownership
from apps.whatsapp_auth import lid_map
from apps.whatsapp_auth.services import personal_data
from tests.stickers.factories import make_pack

LID = "123456789012345@lid"
PHONE = "5511987654321"
JID = f"{PHONE}@s.whatsapp.net"


def owners():
    packs = StickerPack.objects.values_list("owner_jid", flat=True)
    return set(packs) | set(StickerAsset.objects.values_list("owner_jid", flat=True))


@pytest.mark.django_db
def test_packs_and_stickers_under_a_lid_move_to_the_phone_that_is_learnt():
    make_pack(stickers=2, owner_jid=LID)
    lid_map.learn(LID, JID)
    row = OutboxEvent.objects.get(event_type="IDENTITY_RECONCILED")
    event = Event(
        row.pk, row.event_type, row.aggregate_type, row.aggregate_id, row.payload, 1, row.created_at
    )
    wanting = [handler for handler in handlers_of(event) if handler.ordered]
    for handler in wanting:
        handler.function(event)
    assert [handler.name.rpartition(".")[2] for handler in wanting] == ["move_packs_to_the_phone"]
    assert owners() == {JID}


@pytest.mark.django_db
def test_moving_twice_moves_nothing_and_others_keep_theirs():
    make_pack(owner_jid=LID)
    other = make_pack(owner_jid="5521912345678@s.whatsapp.net")
    assert ownership.move_ownership([LID], JID) == 1
    assert ownership.move_ownership([LID], JID) == 0
    other.refresh_from_db()
    assert other.owner_jid == "5521912345678@s.whatsapp.net"


@pytest.mark.django_db
def test_a_person_gets_and_erases_packs_without_having_signed_in():
    pack = make_pack(stickers=1, owner_jid=JID)
    whose = personal_data.identify(PHONE)
    data = personal_data.export_person(whose, actor="ana", now=timezone.now())
    assert data["packs"][0]["pack_key"] == pack.pack_key
    personal_data.erase_person(whose, actor="ana", now=timezone.now())
    pack.refresh_from_db()
    assert pack.deleted_at is not None
    assert owners() == {ownership.NOBODY}
