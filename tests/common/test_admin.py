"""The admin: every action names a permission, every page opens, lists do not grow in queries."""

from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.core import checks
from django.test import Client
from django.urls import reverse

import config.urls  # noqa: F401 (the admin's modules load with the addresses)

OUR_APPS = ("flags", "outbox", "whatsapp_auth", "stickers", "delivery")
OUR_ADMINS = [
    (model, model_admin)
    for model, model_admin in admin.site._registry.items()
    if model._meta.app_label in OUR_APPS
]


def _actions() -> list[tuple[str, Any]]:
    found = []
    for model, model_admin in OUR_ADMINS:
        for name in model_admin.actions or []:
            action = getattr(model_admin, name) if isinstance(name, str) else name
            found.append((f"{model._meta.label}.{getattr(action, '__name__', name)}", action))
    return found


def test_the_admin_passes_djangos_own_checks() -> None:
    assert checks.run_checks(tags=[checks.Tags.admin]) == []


@pytest.mark.parametrize(("name", "action"), _actions(), ids=[name for name, _ in _actions()])
def test_every_action_declares_a_permission(name: str, action: Any) -> None:
    assert getattr(action, "allowed_permissions", None), f"{name} declares no permission"


@pytest.mark.django_db
@pytest.mark.parametrize("model", [m for m, _ in OUR_ADMINS], ids=lambda m: m._meta.label)
def test_every_list_opens_for_a_viewer_and_is_closed_to_others(client: Client, model: Any) -> None:
    address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    stranger = User.objects.create_user("stranger", password="x", is_staff=True)
    client.force_login(stranger)
    assert client.get(address).status_code == 403
    stranger.groups.add(Group.objects.get(name="viewer"))
    assert client.get(address).status_code == 200
