"""The OpenAPI document is complete, and what it promises is kept."""

from collections import Counter

import pytest
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator


@pytest.fixture(scope="module")
def document() -> dict[str, object]:
    GENERATOR_STATS.reset()
    generated: dict[str, object] = SchemaGenerator().get_schema(request=None, public=True)
    return generated


def test_the_document_is_made_without_a_warning(document: dict[str, object]) -> None:
    assert document["openapi"] == "3.0.3"
    assert not GENERATOR_STATS


def test_every_operation_has_a_name_of_its_own(
    document: dict[str, dict[str, dict[str, dict]]],
) -> None:
    names = Counter(
        operation["operationId"]
        for methods in document["paths"].values()
        for operation in methods.values()
    )
    assert [name for name, count in names.items() if count > 1] == []
