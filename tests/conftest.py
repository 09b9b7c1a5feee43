"""What all tests share: the database they run on and callers of the API."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db import connection
from rest_framework.test import APIClient

from apps.flags.services import flag_cache
from apps.whatsapp_auth.services.tokens import issue_token


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what this database cannot show; the run on MariaDB shows it."""
    if connection.vendor == "mysql":
        return
    reason = pytest.mark.skip(reason="shown on MariaDB, which the same command also runs")
    for item in items:
        if "mysql" in item.keywords:
            item.add_marker(reason)


@pytest.fixture(autouse=True)
def _flags_of_this_test() -> None:
    """Flags that an earlier test set and rolled back must not be remembered."""
    flag_cache.clear()


@pytest.fixture
def owner(db: None) -> User:
    """A superuser on whose behalf tokens act."""
    return User.objects.create_superuser("owner", "owner@pombo.example", "owner-password")


@pytest.fixture
def api_as(owner: User) -> Callable[..., APIClient]:
    """A client of the API with a token of the given scopes: `api_as("flags:read")`."""

    def client(*scopes: str) -> APIClient:
        _token, secret = issue_token("test", owner=owner, scopes=scopes)
        return APIClient(HTTP_AUTHORIZATION=f"Bearer {secret}")

    return client


@pytest.fixture
def anonymous_api() -> APIClient:
    """A client of the API that shows no token."""
    return APIClient()
