"""Column types behave alike on every database."""

from datetime import UTC, datetime

import pytest
from django.core.exceptions import ValidationError
from django.db import DatabaseError, IntegrityError, connection, transaction

from apps.common import fields
from apps.flags.models import FeatureFlag
from apps.stickers.models import PackEngagement, StickerAsset, StickerPack, StickerPackItem

NOON = datetime(2026, 3, 1, 12, 0, 0, 987654, tzinfo=UTC)

pytestmark = pytest.mark.django_db


def make_pack(**values: object) -> StickerPack:
    return StickerPack.objects.create(
        **{"owner_jid": "o@s.whatsapp.net", "name": "n", "publisher": "p", "pack_key": "k-1"}
        | values
    )


def test_timestamps_are_floored_in_the_row_and_in_the_instance() -> None:
    pack = make_pack(deleted_at=NOON)
    assert pack.deleted_at == NOON.replace(microsecond=0)
    pack.refresh_from_db()
    assert pack.deleted_at == NOON.replace(microsecond=0)


@pytest.mark.parametrize("year", [1969, 2039])
def test_times_that_a_timestamp_cannot_hold_are_refused_before_the_database(year: int) -> None:
    with pytest.raises(ValidationError, match="lies outside"):
        make_pack(deleted_at=NOON.replace(year=year))


def test_updated_at_moves_with_every_save() -> None:
    pack = make_pack()
    StickerPack.objects.filter(pk=pack.pk).update(updated_at=NOON)
    pack.refresh_from_db()
    pack.save()
    assert pack.updated_at is not None
    assert pack.updated_at > NOON


def test_an_unknown_enum_value_is_refused_by_the_database() -> None:
    with pytest.raises(DatabaseError), transaction.atomic():
        make_pack(visibility="secret")


def test_the_defaults_of_model_and_database_agree() -> None:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO feature_flag (flag_name) VALUES ('raw')")
    raw, made = FeatureFlag.objects.get(flag_name="raw"), FeatureFlag(flag_name="made")
    assert (raw.is_enabled, raw.rollout_percent) == (made.is_enabled, made.rollout_percent)
    assert raw.created_at.microsecond == 0


def test_deleting_a_pack_takes_its_rows_with_it_in_the_database() -> None:
    pack = make_pack()
    PackEngagement.objects.create(pack=pack)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM sticker_pack WHERE id = %s", [pack.pk])
    assert not PackEngagement.objects.exists()


def test_a_sticker_in_a_pack_cannot_be_deleted() -> None:
    asset = StickerAsset.objects.create(
        owner_jid="o", sha256="0" * 64, mimetype="image/webp", size_bytes=1, storage_path="x"
    )
    StickerPackItem.objects.create(pack=make_pack(), sticker=asset, position=1)
    with (
        pytest.raises(IntegrityError),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("DELETE FROM sticker_asset WHERE id = %s", [asset.pk])


def test_new_ids_are_uuids_of_full_length() -> None:
    assert len(fields.new_id()) == 36
    assert fields.new_id() != fields.new_id()
