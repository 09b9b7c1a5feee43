"""What the admin asks before it sends a dead letter back."""

import json
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from apps.outbox.models import OutboxEvent
from apps.outbox.registry import registered
from apps.outbox.tracing import without_trace


class IndentedEncoder(json.JSONEncoder):
    """One line for each field: people read it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options | {"indent": 2})


class RedriveForm(forms.Form):
    """A payload to mend if need be, one handler or all of them, and the reason."""

    payload = forms.JSONField(
        label=_("payload"),
        required=False,
        encoder=IndentedEncoder,
        widget=UnfoldAdminTextareaWidget({"rows": 10}),
    )
    handler = forms.ChoiceField(
        label=_("handler"), required=False, widget=UnfoldAdminSelectWidget()
    )
    reason = forms.CharField(label=_("Why?"), max_length=255, widget=UnfoldAdminTextInputWidget())

    def __init__(self, event: OutboxEvent, data: Any = None) -> None:
        self._payload, _trace = without_trace(event.payload)
        super().__init__(data, initial={"payload": self._payload})
        names = [each.name for each in registered() if each.takes(event.event_type)]
        choices = [("", _("all that are not done")), *((name, name) for name in names)]
        self.fields["handler"].choices = choices  # type: ignore[attr-defined]

    @property
    def is_edited(self) -> bool:
        """Whether the payload differs from the stored one."""
        return bool(self.cleaned_data["payload"] != self._payload)

    def clean_payload(self) -> Any:
        """Handlers read fields: an edited payload is an object."""
        payload = self.cleaned_data["payload"]
        if payload != self._payload and not isinstance(payload, dict):
            raise forms.ValidationError(_("The payload must be a JSON object."))
        return payload
