"""Suggested themes find their cluster, and each text is looked up once."""

import threading

import pytest
from django.db import connection

from apps.stickers.models import ThemeCluster, ThemeSuggestion
from apps.stickers.services.themes import match_theme
from apps.stickers.theme_texts import embed, from_bytes, normalized_text, to_bytes

pytestmark = pytest.mark.django_db


def test_a_theme_in_nearly_the_same_words_is_the_same() -> None:
    first = match_theme("Gatos fofos")
    assert first is not None
    assert match_theme("  GATOS  fófos! ") == first
    assert match_theme("gatos fofo") == first
    assert ThemeSuggestion.objects.filter(normalized_text="gatos fofos").count() == 1


def test_another_theme_founds_its_own_cluster() -> None:
    assert match_theme("horror night") != match_theme("birthday party")
    slugs = set(ThemeCluster.objects.values_list("canonical_slug", flat=True))
    assert slugs == {"horror-night", "birthday-party"}


def test_clusters_of_another_service_are_left_alone() -> None:
    ThemeCluster.objects.create(canonical_slug="clip", embedding_dim=2, embedding=b"\0" * 8)
    theme = match_theme("anything")
    assert theme is not None
    assert theme.slug == "anything"


@pytest.mark.parametrize("text", ["", "  ", "😀", "!!!"])
def test_a_text_without_words_has_no_theme(text: str) -> None:
    assert match_theme(text) is None


def test_vectors_survive_the_table() -> None:
    vector = embed(normalized_text("Ação rápida"))
    assert (from_bytes(to_bytes(vector)) == vector).all()


@pytest.mark.django_db(transaction=True)
def test_workers_at_once_found_one_cluster() -> None:
    barrier = threading.Barrier(4)

    def match() -> None:
        barrier.wait()
        match_theme("gatos fofos")
        connection.close()

    threads = [threading.Thread(target=match) for _number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (ThemeCluster.objects.count(), ThemeSuggestion.objects.count()) == (1, 1)
