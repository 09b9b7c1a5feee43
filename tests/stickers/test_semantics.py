"""The theme rules give the values of the original, and settle."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.stickers.semantics import judge_theme, theme_of, to_token

VECTORS = json.loads((Path(__file__).parent.parent / "data/semantic_vectors.json").read_text())[
    "vectors"
]["d_semantic_reclassify"]
words = st.sampled_from(
    ["kawaii cat", "Ação", "horror", "meme", "cool", "manga", "o gato", "cute meme", "x", "happy"]
)
classifications = st.fixed_dictionaries(
    {"top_labels": st.lists(st.fixed_dictionaries({"label": words}), max_size=5)},
    optional={
        name: st.none() | st.lists(words | st.text("abcé _😀", max_size=8), max_size=6)
        for name in ("llm_subtags", "llm_style_traits", "llm_emotions", "llm_pack_suggestions")
    },
)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: str(v["input"])[:40])
def test_verdicts_are_those_of_the_original(vector: dict[str, Any]) -> None:
    verdict = judge_theme(vector["input"])
    assert vector["output"] == {
        "normalized_subtags": list(verdict.normalized_subtags),
        "dominant_theme": verdict.dominant_theme,
        "cohesion_score": verdict.cohesion_score,
        "ambiguous": int(verdict.is_ambiguous),
        "updated_affinity_weight": verdict.affinity_weight,
    }


@settings(deadline=None)
@given(classifications)
def test_judging_ones_own_verdict_settles(classification: dict[str, Any]) -> None:
    verdicts = [judge_theme(classification)]
    for _cycle in range(4):
        tags = list(verdicts[-1].normalized_subtags)
        verdicts.append(judge_theme(classification | {"llm_subtags": tags}))
    assert verdicts[4] == verdicts[3]
    assert all(0 <= verdict.cohesion_score <= 100 for verdict in verdicts)


@pytest.mark.parametrize(
    ("text", "token"),
    [("Ação do Gato!", "acao_gato"), ("social media", ""), ("a b", ""), ("Funny ART cat", "cat")],
)
def test_tokens_drop_accents_and_words_that_say_nothing(text: str, token: str) -> None:
    assert to_token(text) == token


@pytest.mark.parametrize(
    ("token", "theme"),
    [("cute_girl", "kawaii"), ("memes", "meme"), ("react", "reaction"), ("sunset", "other")],
)
def test_a_token_belongs_to_one_theme(token: str, theme: str) -> None:
    assert theme_of(token) == theme
