"""Semantic themes: a suggestion finds its cluster, or founds one; each text is looked up once.

Clusters and the cache are the original's tables. Rows with embeddings of another length come from
another service: they are known by their slug, and their vectors are left alone.
"""

from dataclasses import dataclass, replace

import numpy as np
from django.db import transaction

from apps.stickers.classifier import Classification
from apps.stickers.models import ThemeCluster, ThemeSuggestion
from apps.stickers.scoring import label_slug, n6
from apps.stickers.services.cursors import lock_cursor
from apps.stickers.theme_texts import (
    DIMENSIONS,
    SAME_THEME_FROM,
    embed,
    from_bytes,
    normalized_text,
    text_hash,
    to_bytes,
)

CURSOR = "theme clusters"
MAX_SLUG_LENGTH = 64


@dataclass(frozen=True, slots=True)
class Theme:
    """A cluster by its id and slug."""

    cluster_id: int
    slug: str


def with_cluster(result: Classification) -> Classification:
    """The classification with a cluster, where it suggests a theme and names none."""
    if result.semantic_cluster_id or not result.pack_suggestions:
        return result
    theme = match_theme(result.pack_suggestions[0])
    if theme is None:
        return result
    return replace(result, semantic_cluster_id=theme.cluster_id, semantic_cluster_slug=theme.slug)


def match_theme(suggestion: str) -> Theme | None:
    """The theme of a suggested text: remembered, near enough, or new; None for an empty one."""
    text = normalized_text(suggestion)
    if not text:
        return None
    return _remembered(text) or _match_new(suggestion, text)


@transaction.atomic
def _match_new(suggestion: str, text: str) -> Theme:
    """Alone with the clusters, so that two texts of one theme never found two."""
    lock_cursor(CURSOR)
    if known := _remembered(text):
        return known
    vector = embed(text)
    cluster, similarity = _nearest(vector)
    if cluster is None:
        slug = label_slug(text, max_length=MAX_SLUG_LENGTH)
        cluster = ThemeCluster.objects.create(
            canonical_slug=slug, embedding_dim=DIMENSIONS, embedding=to_bytes(vector)
        )
        similarity = 1.0
    ThemeSuggestion.objects.create(
        suggestion_hash=text_hash(text),
        suggestion_text=suggestion[:512],
        normalized_text=text,
        semantic_cluster=cluster,
        canonical_slug=cluster.canonical_slug,
        embedding_dim=DIMENSIONS,
        embedding=to_bytes(vector),
        last_similarity=n6(similarity),
    )
    return Theme(cluster.pk, cluster.canonical_slug)


def _remembered(text: str) -> Theme | None:
    found = ThemeSuggestion.objects.filter(normalized_text=text).first()
    return Theme(found.semantic_cluster_id, found.canonical_slug) if found else None


def _nearest(vector: np.ndarray) -> tuple[ThemeCluster | None, float]:
    """The most similar cluster at or above the threshold; the older one of equals."""
    clusters = list(ThemeCluster.objects.filter(embedding_dim=DIMENSIONS).order_by("pk"))
    if not clusters:
        return None, 0.0
    similarities = np.stack([from_bytes(cluster.embedding) for cluster in clusters]) @ vector
    best = int(similarities.argmax())
    if similarities[best] < SAME_THEME_FROM:
        return None, 0.0
    return clusters[best], float(similarities[best])
