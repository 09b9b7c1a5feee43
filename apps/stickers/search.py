"""Finding packs by words: full-text where the database has it, simple containment on SQLite.

Each word must begin a word of the pack's name, publisher or description. A search looks at the
first `MATCH_LIMIT` packs that fit; the catalogue then orders them.
"""

import re
from collections.abc import Sequence
from typing import Any

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BooleanField, F, FloatField, Func, Q, QuerySet, Value
from django.db.models.lookups import GreaterThan
from django.db.models.sql.compiler import SQLCompiler

from apps.stickers.models import StickerPack
from apps.stickers.scoring import label_slug

MATCH_LIMIT = 5_000
MAX_WORDS = 8
SEARCHED = ("name", "publisher", "description")
# InnoDB neither indexes shorter words nor these.
MIN_INDEXED_LENGTH = 3
INNODB_STOP_WORDS = frozenset(
    (
        "a",
        "about",
        "an",
        "are",
        "as",
        "at",
        "be",
        "by",
        "com",
        "de",
        "en",
        "for",
        "from",
        "how",
        "i",
        "in",
        "is",
        "it",
        "la",
        "of",
        "on",
        "or",
        "that",
        "the",
        "this",
        "to",
        "was",
        "what",
        "when",
        "where",
        "who",
        "will",
        "with",
        "und",
        "www",
    )
)


class _MySQLMatch(Func):
    """How well the columns of the full-text index match, in boolean mode.

    Compared with 0: Django would compare a truth value with True, which no index serves.
    """

    output_field = FloatField()

    def as_sql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, *_args: Any, **_context: Any
    ) -> tuple[str, Any]:
        parts = [compiler.compile(expression) for expression in self.source_expressions]
        columns = ", ".join(sql for sql, _parameters in parts[:-1])
        return f"MATCH ({columns}) AGAINST (%s IN BOOLEAN MODE)", parts[-1][1]


class _PostgresMatch(Func):
    """The very expression of the index, so that PostgreSQL uses it."""

    output_field = BooleanField()

    def as_sql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, *_args: Any, **_context: Any
    ) -> tuple[str, Any]:
        parts = [compiler.compile(expression) for expression in self.source_expressions]
        name, publisher, description = (sql for sql, _parameters in parts[:-1])
        document = f"{name} || ' ' || {publisher} || ' ' || coalesce({description}, '')"
        return (
            f"to_tsvector('simple'::regconfig, {document}) @@ to_tsquery('simple', %s)",
            parts[-1][1],
        )


def matching_ids(packs: QuerySet[StickerPack], text: str) -> list[str]:
    """The ids of these packs that hold the words, or carry them as a tag; at most MATCH_LIMIT."""
    words = re.findall(r"\w+", text.casefold())[:MAX_WORDS]
    if not words:
        return []
    found = list(_matching(packs, words).values_list("pk", flat=True)[:MATCH_LIMIT])
    tagged = packs.filter(tag_rows__tag=label_slug(text))
    found += tagged.values_list("pk", flat=True)[: MATCH_LIMIT - len(found)]
    return list(dict.fromkeys(found))


def _matching(packs: QuerySet[StickerPack], words: Sequence[str]) -> QuerySet[StickerPack]:
    columns = [F(name) for name in SEARCHED]
    if connection.vendor == "mysql":
        indexed = [
            word
            for word in words
            if len(word) >= MIN_INDEXED_LENGTH and word not in INNODB_STOP_WORDS
        ]
        if not indexed:
            return _containing(packs, words)
        query = " ".join(f"+{word}*" for word in indexed)
        return packs.filter(GreaterThan(_MySQLMatch(*columns, Value(query)), 0))
    if connection.vendor == "postgresql":
        query = " & ".join(f"{word}:*" for word in words)
        return packs.filter(_PostgresMatch(*columns, Value(query)))
    return _containing(packs, words)


def _containing(packs: QuerySet[StickerPack], words: Sequence[str]) -> QuerySet[StickerPack]:
    for word in words:
        packs = packs.filter(
            Q(name__icontains=word) | Q(publisher__icontains=word) | Q(description__icontains=word)
        )
    return packs
