"""The classifier service, asked over real HTTP: what it may answer and what is refused."""

import math
from collections.abc import Iterator
from typing import Any

import pytest

from apps.stickers.classifier_answers import read_answer
from apps.stickers.errors import (
    BadClassifierAnswer,
    ClassifierMisconfigured,
    ClassifierUnavailable,
    StickerNotClassifiable,
)
from apps.stickers.http_classifier import HttpClassifier, HttpOptions
from tests.stickers.classifier_server import GOOD, ClassifierServer, always, classifier_server


@pytest.fixture
def service() -> Iterator[ClassifierServer]:
    with classifier_server() as server:
        yield server


def classifier(service: ClassifierServer, **options: Any) -> HttpClassifier:
    return HttpClassifier(HttpOptions(**{"url": service.url, "timeout_seconds": 2.0, **options}))


def test_the_service_gets_file_ids_threshold_and_token(service: ClassifierServer) -> None:
    asked = classifier(service, token="secret", nsfw_threshold=0.6, version="m2")
    result = asked.classify(b"RIFF-picture", asset_id="asset-1", sha256="ab" * 32)
    (body,) = service.bodies
    assert b'name="file"; filename="' + b"ab" * 32 + b'.webp"' in body
    assert all(part in body for part in (b"RIFF-picture", b"asset-1", b"nsfw_threshold", b"0.6"))
    assert service.headers[0]["Authorization"] == "Bearer secret"
    assert (result.category, result.classification_version) == ("anime illustration", "m2")
    assert (result.provider, result.image_hash) == ("clip", "ab" * 32)
    assert result.subtags == ("anime hero", "smile")
    assert list(result.all_scores) == ["anime illustration", "cartoon"]


def test_a_busy_service_is_asked_again(service: ClassifierServer) -> None:
    service.answer = lambda number, _body: (503, {}) if number < 3 else (200, GOOD)
    assert classifier(service, attempts=3).classify(b"x").category == "anime illustration"
    assert len(service.bodies) == 3


def test_patience_ends(service: ClassifierServer) -> None:
    service.answer = always(503, {})
    with pytest.raises(ClassifierUnavailable, match="it answers 503"):
        classifier(service, attempts=2).classify(b"x")
    assert len(service.bodies) == 2


def test_a_service_that_is_not_there_is_unavailable() -> None:
    options = HttpOptions(url="http://127.0.0.1:9/classify", attempts=1, timeout_seconds=0.5)
    with pytest.raises(ClassifierUnavailable):
        HttpClassifier(options).classify(b"x")


def test_an_answer_that_drips_is_cut_off(service: ClassifierServer) -> None:
    service.drips = True
    with pytest.raises(ClassifierUnavailable, match="takes too long"):
        classifier(service, attempts=1, timeout_seconds=0.5).classify(b"x")


def test_an_endless_answer_is_refused(service: ClassifierServer) -> None:
    service.answer = always(200, b" " * 1_000_001)
    with pytest.raises(BadClassifierAnswer, match="longer than"):
        classifier(service).classify(b"x")


@pytest.mark.parametrize(
    ("status", "answer", "tag"),
    [(status, {}, "non-retryable-error") for status in (400, 413, 415, 422)]
    + [(500, {"detail": "cannot identify image file <BytesIO>"}, "decoder-error")],
)
def test_a_picture_the_service_cannot_read_is_told_apart(
    service: ClassifierServer, status: int, answer: Any, tag: str
) -> None:
    service.answer = always(status, answer)
    with pytest.raises(StickerNotClassifiable) as refused:
        classifier(service).classify(b"x")
    assert refused.value.tag == tag


@pytest.mark.parametrize("status", [301, 401, 403, 404])
def test_a_wrong_address_or_token_needs_an_operator(service: ClassifierServer, status: int) -> None:
    service.answer = always(status, {})
    with pytest.raises(ClassifierMisconfigured):
        classifier(service).classify(b"x")


@pytest.mark.parametrize("body", [b"", b"<html>", b"[1]", b'"text"', b"[" * 100_000, b"null"])
def test_what_is_no_object_of_json_is_refused(service: ClassifierServer, body: bytes) -> None:
    service.answer = always(200, body)
    with pytest.raises(BadClassifierAnswer):
        classifier(service).classify(b"x")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("category", 7),
        ("category", "x" * 121),
        ("confidence", 1.5),
        ("confidence", -0.1),
        ("confidence", "0.5"),
        ("confidence", True),
        ("confidence", math.nan),
        ("confidence", math.inf),
        ("confidence", 10**400),
        ("entropy", 1e9),
        ("nsfw_score", {}),
        ("is_nsfw", "yes"),
        ("ambiguous", 2),
        ("all_scores", [0.5]),
        ("all_scores", {"a": "b"}),
        ("all_scores", {"": 0.5}),
        ("all_scores", {str(n): 0.0 for n in range(1001)}),
        ("top_labels", {"label": "x"}),
        ("top_labels", ["x"]),
        ("top_labels", [{"score": 1}]),
        ("llm_subtags", "one"),
        ("llm_emotions", [1]),
        ("similar_images", ["a"]),
        ("similar_images", [{"similarity": 7}]),
        ("semantic_cluster_id", 0),
        ("semantic_cluster_id", "1"),
        ("semantic_cluster_slug", "x" * 256),
        ("image_hash", "xyz"),
    ],
)
def test_a_field_that_breaks_the_contract_is_named(field: str, value: Any) -> None:
    with pytest.raises(BadClassifierAnswer) as refused:
        read_answer({**GOOD, field: value}, version="v1")
    named = refused.value.details["field"]
    assert named == field or field in ("all_scores", "similar_images")


def test_what_is_missing_follows_from_the_scores() -> None:
    result = read_answer({"all_scores": {"meme": 0.2, "cartoon": 0.7}}, version="v1", sha256="c")
    assert (result.category, result.confidence) == ("cartoon", 0.7)
    assert (result.confidence_margin, result.entropy, result.nsfw_score) == (0.5, None, None)
    assert [label["label"] for label in result.top_labels] == ["cartoon", "meme"]


def test_an_answer_that_says_nothing_is_refused() -> None:
    with pytest.raises(BadClassifierAnswer, match="category"):
        read_answer({"confidence": 0.5}, version="v1")


def test_lists_are_bounded() -> None:
    many = {**GOOD, "llm_subtags": [f"tag {n}" for n in range(500)], "similar_images": [{}] * 99}
    result = read_answer(many, version="v1")
    assert (len(result.subtags), len(result.similar_images)) == (40, 40)
