"""The handlers of each test stand alone."""

import pytest

from apps.outbox import registry


@pytest.fixture(autouse=True)
def _own_handlers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_handlers", {})
