import pytest
from django.core.cache import cache

from tests.whatsapp_auth.factories import LINK_SECRET


@pytest.fixture(autouse=True)
def sign_in_settings(settings):
    settings.WHATSAPP_LOGIN_LINK_SECRET = LINK_SECRET
    settings.SITE_ORIGIN = "https://pombo.example"
    cache.clear()
