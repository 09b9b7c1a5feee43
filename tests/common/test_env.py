"""Settings are typed, bounded and named in their errors."""

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command

from apps.common import env


def test_a_value_outside_its_bounds_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("T_LEASE", "0")
    with pytest.raises(ImproperlyConfigured, match="T_LEASE must lie between 3 and 9"):
        env.env_int("T_LEASE", 5, low=3, high=9, help="")


def test_a_value_of_the_wrong_type_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("T_LEASE", "soon")
    with pytest.raises(ImproperlyConfigured, match="T_LEASE: 'soon' is not understood"):
        env.env_int("T_LEASE", 5, low=3, high=9, help="")


@pytest.mark.parametrize(
    ("raw", "value"), [("on", True), ("0", False), ("", True), (" No ", False)]
)
def test_booleans_know_the_usual_words(
    monkeypatch: pytest.MonkeyPatch, raw: str, *, value: bool
) -> None:
    monkeypatch.setenv("T_SWITCH", raw)
    assert env.env_bool("T_SWITCH", True, help="") is value


def test_the_django_prefix_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DJANGO_T_NAME", "pombo")
    assert env.env_str("T_NAME", "", help="") == "pombo"


def test_an_unknown_choice_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("T_LEVEL", "LOUD")
    with pytest.raises(ImproperlyConfigured, match="one of A, B"):
        env.env_choice("T_LEVEL", "A", allowed=["A", "B"], help="")


def test_lists_are_split_and_stripped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("T_HOSTS", "a.example, b.example,,")
    assert env.env_list("T_HOSTS", [], help="") == ["a.example", "b.example"]


@pytest.fixture(autouse=True)
def _unregistered() -> object:
    before = dict(env.REGISTRY)
    yield
    env.REGISTRY.clear()
    env.REGISTRY.update(before)


def test_the_page_of_settings_is_up_to_date() -> None:
    call_command("settings_docs", "--check")
