"""A running local OpenID provider with the accounts of the factories."""

from contextlib import contextmanager

from apps.whatsapp_auth.local_provider import LocalAccount, LocalProvider
from tests.whatsapp_auth.factories import ANA, RUI

PROVIDER_ACCOUNTS = [LocalAccount(one.sub, one.email, one.name) for one in (ANA, RUI)]


@contextmanager
def running_provider():
    provider = LocalProvider(PROVIDER_ACCOUNTS, client_id="pombo-tests")
    provider.start()
    try:
        yield provider
    finally:
        provider.stop()
