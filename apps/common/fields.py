"""Column types that give MySQL and MariaDB exactly the mirrored schema, others the like of it.

Django's own types differ from the mirrored ones in small ways (`datetime(6)`, `longblob`, checks on
unsigned numbers). Each class here changes only the MySQL side; `docs/schema.md` tells the rules for
using them, above all: never `AlterField` a mirrored column, Django's MODIFY loses ON UPDATE.
"""

import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models.sql.compiler import SQLCompiler
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

MYSQL_COLLATION = "utf8mb4_unicode_ci"
MYSQL_EXACT_COLLATION = "utf8mb4_bin"
TIMESTAMP_MIN = datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)
# TIMESTAMP ends on 2038-01-19 03:14:07; a day earlier leaves room for leases that start there.
TIMESTAMP_MAX = datetime(2038, 1, 18, 23, 59, 59, tzinfo=UTC)


def new_id() -> str:
    """A random UUID in its 36-character form, the primary key of most mirrored tables."""
    return str(uuid.uuid4())


def now_seconds() -> datetime:
    """The present time in whole seconds, all that a TIMESTAMP column holds."""
    return timezone.now().replace(microsecond=0)


class _MySQLTypeMixin(models.Field):
    """Replaces the column type on MySQL only; own foreign keys take the same type."""

    def mysql_type(self) -> str:
        raise NotImplementedError

    def db_type(self, connection: BaseDatabaseWrapper) -> str | None:
        if connection.vendor == "mysql":
            return self.mysql_type()
        return super().db_type(connection)

    def rel_db_type(self, connection: BaseDatabaseWrapper) -> str | None:
        if connection.vendor == "mysql":
            return self.mysql_type().removesuffix(" AUTO_INCREMENT")
        return super().rel_db_type(connection)


class _CollatedMixin(models.Field):
    """Names the collation on MySQL, so that references between tables always fit."""

    def db_parameters(self, connection: BaseDatabaseWrapper) -> Any:
        parameters = super().db_parameters(connection)
        if connection.vendor == "mysql":
            parameters["collation"] = MYSQL_COLLATION
        return parameters


class _UnsignedMixin(models.Field):
    """An unsigned type needs no `>= 0` check on MySQL; elsewhere Django's check stays."""

    def db_check(self, connection: BaseDatabaseWrapper) -> str | None:
        return None if connection.vendor == "mysql" else super().db_check(connection)


class CharField(_CollatedMixin, models.CharField):
    """VARCHAR in the mirrored collation (case-insensitive on MySQL)."""


class ExactCharField(models.CharField):
    """VARCHAR compared character by character on every database: for names that others choose."""

    def db_parameters(self, connection: BaseDatabaseWrapper) -> Any:
        """The binary collation on MySQL, whose own would hold `a` and `A` for equal."""
        parameters = super().db_parameters(connection)
        if connection.vendor == "mysql":
            parameters["collation"] = MYSQL_EXACT_COLLATION
        return parameters


class FixedCharField(_MySQLTypeMixin, CharField):
    """CHAR(n): identifiers and digests, always of full length."""

    def mysql_type(self) -> str:
        """CHAR of the field's length."""
        return f"char({self.max_length})"


class TextField(_MySQLTypeMixin, _CollatedMixin, models.TextField):
    """TEXT (64 KiB), where Django would make a LONGTEXT."""

    def mysql_type(self) -> str:
        """TEXT."""
        return "text"


class EnumField(_MySQLTypeMixin, CharField):
    """ENUM of the choices on MySQL; a text column with an IN check elsewhere."""

    def mysql_type(self) -> str:
        """ENUM with the values in the order of the choices."""
        return f"enum({self._quoted_values()})"

    def db_check(self, connection: BaseDatabaseWrapper) -> str | None:
        """No check on MySQL, where the type itself refuses other values."""
        if connection.vendor == "mysql":
            return None
        return f"{connection.ops.quote_name(str(self.column))} IN ({self._quoted_values()})"

    def _quoted_values(self) -> str:
        return ",".join(f"'{value}'" for value, _label in self.flatchoices)


class TinyUnsignedField(  # type: ignore[misc]  # Django's own mixin narrows rel_db_type
    _MySQLTypeMixin, _UnsignedMixin, models.PositiveSmallIntegerField
):
    """TINYINT UNSIGNED: 0 to 255."""

    def mysql_type(self) -> str:
        """TINYINT UNSIGNED."""
        return "tinyint UNSIGNED"


class SmallUnsignedField(_UnsignedMixin, models.PositiveSmallIntegerField):
    """SMALLINT UNSIGNED."""


class UnsignedField(_UnsignedMixin, models.PositiveIntegerField):
    """INT UNSIGNED."""


class BigUnsignedField(_UnsignedMixin, models.PositiveBigIntegerField):
    """BIGINT UNSIGNED."""


class BigUnsignedAutoField(  # type: ignore[misc]  # AutoField narrows contribute_to_class
    _MySQLTypeMixin, models.BigAutoField
):
    """BIGINT UNSIGNED AUTO_INCREMENT."""

    def mysql_type(self) -> str:
        """BIGINT UNSIGNED AUTO_INCREMENT; references to it drop the last word."""
        return "bigint UNSIGNED AUTO_INCREMENT"


class MediumBlobField(_MySQLTypeMixin, models.BinaryField):
    """MEDIUMBLOB: up to 16 MiB."""

    def mysql_type(self) -> str:
        """MEDIUMBLOB."""
        return "mediumblob"


class CurrentTimestamp(models.Func):
    """The database's clock as a column default, in whole seconds on every database."""

    template = "CURRENT_TIMESTAMP"
    arity = 0
    output_field = models.DateTimeField()

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> tuple[str, Any]:
        """PostgreSQL keeps microseconds unless told otherwise."""
        template = "date_trunc('second', CURRENT_TIMESTAMP)"
        return self.as_sql(compiler, connection, template=template, **context)


class TimestampField(_MySQLTypeMixin, models.DateTimeField):
    """TIMESTAMP: whole seconds, UTC, 1970 to 2038.

    `on_update=True` moves the column to the present whenever the row is saved: MySQL does it by
    itself, elsewhere `save()` does; services name it in each queryset `update()`.
    Raises ValidationError for a time outside the range, before the database sees it.
    """

    def __init__(self, *args: Any, on_update: bool = False, **kwargs: Any) -> None:
        self.on_update = on_update
        super().__init__(*args, **kwargs)

    def deconstruct(self) -> Any:
        """Keep `on_update` in migrations."""
        name, path, args, kwargs = super().deconstruct()
        if self.on_update:
            kwargs["on_update"] = True
        return name, path, args, kwargs

    def mysql_type(self) -> str:
        """TIMESTAMP; `NULL` is said by Django's column SQL."""
        return "timestamp"

    def db_type_suffix(self, connection: BaseDatabaseWrapper) -> str | None:
        """MySQL's own rule for columns that follow the row's changes."""
        if self.on_update and connection.vendor == "mysql":
            return "ON UPDATE CURRENT_TIMESTAMP"
        return super().db_type_suffix(connection)

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:  # noqa: FBT001 (Django's signature)
        """Floor the instance's value too, so that it equals what is stored."""
        value = super().pre_save(model_instance, add)
        if self.on_update:
            value = now_seconds()
        elif isinstance(value, datetime):
            value = value.replace(microsecond=0)
        else:
            return value
        setattr(model_instance, self.attname, value)
        return value

    def get_prep_value(self, value: Any) -> Any:
        """Floor to seconds and refuse what TIMESTAMP cannot hold."""
        prepared = super().get_prep_value(value)
        if not isinstance(prepared, datetime):
            return prepared
        if not TIMESTAMP_MIN <= prepared <= TIMESTAMP_MAX:
            raise ValidationError(
                _("%(time)s lies outside 1970-01-01 to 2038-01-18."),
                code="timestamp_range",
                params={"time": prepared.isoformat()},
            )
        return prepared.replace(microsecond=0)


class LongNameIndex(models.Index):
    """An index whose name may have 64 characters, as MySQL allows (Django stops at 30)."""

    max_name_length = 64


class ForeignKeyConstraint(models.BaseConstraint):
    """A named foreign key with its own ON DELETE rule, kept by the database.

    Stands beside a `ForeignKey(db_constraint=False, db_index=False)` whose `on_delete` says the
    same to the ORM. InnoDB names the index that it needs after the constraint.
    """

    def __init__(self, *, name: str, column: str, references: str, on_delete: str) -> None:
        super().__init__(name=name)
        self.column = column
        self.references = references
        self.on_delete = on_delete

    def deconstruct(self) -> Any:
        """Keep the three parts in migrations."""
        path, args, kwargs = super().deconstruct()
        kwargs |= {
            "column": self.column,
            "references": self.references,
            "on_delete": self.on_delete,
        }
        return path, args, kwargs

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ForeignKeyConstraint):
            return NotImplemented
        return bool(self.deconstruct() == other.deconstruct())

    def __hash__(self) -> int:
        return hash(self.name)

    def constraint_sql(
        self, model: type[models.Model] | None, schema_editor: BaseDatabaseSchemaEditor | None
    ) -> str:
        """The clause inside CREATE TABLE or ADD CONSTRAINT."""
        assert schema_editor is not None  # noqa: S101 (Django passes it; the stub allows None)
        quote = schema_editor.quote_name
        table, column = self.references.split(".")
        deferrable = (
            "" if schema_editor.connection.vendor == "mysql" else " DEFERRABLE INITIALLY DEFERRED"
        )
        return (
            f"CONSTRAINT {quote(self.name)} FOREIGN KEY ({quote(self.column)}) "
            f"REFERENCES {quote(table)} ({quote(column)}) "
            f"ON DELETE {self.on_delete} ON UPDATE CASCADE{deferrable}"
        )

    def create_sql(  # type: ignore[override]  # Django's own constraints return None too
        self, model: type[models.Model] | None, schema_editor: BaseDatabaseSchemaEditor | None
    ) -> str | None:
        """ALTER TABLE … ADD; SQLite remakes the table instead."""
        assert model is not None  # noqa: S101
        assert schema_editor is not None  # noqa: S101
        if schema_editor.connection.vendor == "sqlite":
            schema_editor._remake_table(model)  # type: ignore[attr-defined]  # noqa: SLF001 (Django's own constraints on SQLite go the same way)
            return None
        table = schema_editor.quote_name(model._meta.db_table)
        return f"ALTER TABLE {table} ADD {self.constraint_sql(model, schema_editor)}"

    def remove_sql(  # type: ignore[override]
        self, model: type[models.Model] | None, schema_editor: BaseDatabaseSchemaEditor | None
    ) -> str | None:
        """ALTER TABLE … DROP; SQLite remakes the table instead."""
        assert model is not None  # noqa: S101
        assert schema_editor is not None  # noqa: S101
        vendor = schema_editor.connection.vendor
        if vendor == "sqlite":
            schema_editor._remake_table(model)  # type: ignore[attr-defined]  # noqa: SLF001
            return None
        quote = schema_editor.quote_name
        kind = "FOREIGN KEY" if vendor == "mysql" else "CONSTRAINT"
        return f"ALTER TABLE {quote(model._meta.db_table)} DROP {kind} {quote(self.name)}"

    def validate(
        self,
        model: type[models.Model],
        instance: models.Model,
        exclude: Iterable[str] | None = None,
        using: str | None = None,
    ) -> None:
        """Nothing to do: the ForeignKey field checks that the row exists."""
