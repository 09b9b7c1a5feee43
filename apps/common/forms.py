"""Forms that show a refusal of the rules at the field that caused it."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from unfold.widgets import UnfoldAdminTextareaWidget

from apps.common.errors import DomainError


class LinesField(forms.CharField):
    """A list of short texts, one a line."""

    widget = UnfoldAdminTextareaWidget(attrs={"rows": 5})

    def prepare_value(self, value: Any) -> Any:
        """A list as lines; lines that were refused come back as typed."""
        return "\n".join(map(str, value)) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        """The lines that hold something, without the space around them."""
        return [line.strip() for line in (value or "").splitlines() if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Compare lists; the base class compares the list with the lines as typed."""
        return bool((initial or []) != self.to_python(data))


class OptionalJSONField(forms.JSONField):
    """JSON that may be missing; then the box is empty instead of saying null."""

    widget = UnfoldAdminTextareaWidget(attrs={"rows": 5})

    def prepare_value(self, value: Any) -> Any:
        """Nothing for no value, otherwise the JSON."""
        return "" if value is None else super().prepare_value(value)


class CheckedForm(forms.ModelForm):
    """A model form that asks the rules while it is cleaned, so that no save fails on them."""

    # What a rule calls a field, by the name that the form knows it under.
    names: ClassVar[Mapping[str, str]] = {}

    def ask_rules(self) -> None:
        """Raise the refusal of the service that would store the instance."""
        raise NotImplementedError

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]  # the stubs leave this hook out
        if self.errors:
            return
        try:
            self.ask_rules()
        except DomainError as error:
            named = str(error.details.get("field", ""))
            field = self.names.get(named, named)
            self.add_error(field if field in self.fields else None, error.message)
