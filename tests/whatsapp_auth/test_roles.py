"""The roles exist from the first migration, with the rights that their names promise."""

import pytest
from django.contrib.auth.models import Group

from apps.whatsapp_auth.choices import Role

pytestmark = pytest.mark.django_db


def _rights(role: Role) -> set[str]:
    group = Group.objects.get(name=role)
    return set(group.permissions.values_list("codename", flat=True))


def test_viewers_only_look() -> None:
    rights = _rights(Role.VIEWER)
    assert "view_featureflag" in rights
    assert all(name.startswith("view_") for name in rights)


def test_operators_change_but_neither_delete_nor_grant() -> None:
    rights = _rights(Role.OPERATOR)
    assert {"view_featureflag", "change_featureflag", "change_stickerpack"} <= rights
    assert not {name for name in rights if name.startswith("delete_")}
    assert not {"add_apitoken", "change_apitoken", "add_user"} & rights


def test_owners_do_everything() -> None:
    assert {"delete_featureflag", "add_apitoken", "add_user"} <= _rights(Role.OWNER)
