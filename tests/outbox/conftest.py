"""The handlers of each test stand alone."""

from collections.abc import Iterator

import pytest

from apps.outbox import histograms, registry
from apps.outbox.services.webhooks import subscription_cache


@pytest.fixture(autouse=True)
def _own_handlers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_handlers", {})


@pytest.fixture(autouse=True)
def _own_histograms() -> None:
    histograms.take()


@pytest.fixture(autouse=True)
def _fresh_subscriptions() -> Iterator[None]:
    subscription_cache.clear()
    yield
    subscription_cache.clear()
