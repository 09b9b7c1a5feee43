"""What authors send from their pages: shapes here, rules in the services."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.stickers.choices import ReportReason, Visibility
from apps.stickers.models import StickerPack
from apps.stickers.texts import DESCRIPTION_LIMIT, NAME_LIMIT

MAX_FILES = 30


class MultipleFileInput(forms.ClearableFileInput):
    """A field that takes several files at once."""

    allow_multiple_selected = True


class MultipleFileField(forms.FileField):
    """Several files, each cleaned by itself."""

    widget = MultipleFileInput

    def clean(self, data: Any, initial: Any = None) -> Any:
        """A list of files, whether one or several came."""
        files = data if isinstance(data, list | tuple) else [data]
        if len(files) > MAX_FILES:
            raise forms.ValidationError(_("At most 30 files at once."))
        return [super(MultipleFileField, self).clean(file, initial) for file in files]


class NewPackForm(forms.Form):
    """A new pack."""

    name = forms.CharField(max_length=NAME_LIMIT, label=_("Name"))
    publisher = forms.CharField(max_length=NAME_LIMIT, label=_("Publisher"))
    visibility = forms.ChoiceField(choices=Visibility.choices, label=_("Visible"))


class StickersForm(forms.Form):
    """Images for a pack, with the emojis that they all get."""

    stickers = MultipleFileField(label=_("Stickers (WebP, PNG, JPEG or GIF)"))
    emojis = forms.CharField(
        max_length=60, required=False, label=_("Emojis, one to three, separated by blanks")
    )

    def emoji_list(self) -> Sequence[str]:
        """The emojis as a list."""
        return str(self.cleaned_data["emojis"]).split()


class EditPackForm(NewPackForm):
    """Texts, tags and visibility of a pack that is there."""

    description = forms.CharField(
        max_length=DESCRIPTION_LIMIT,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        label=_("Description"),
    )
    tags = forms.CharField(
        max_length=300, required=False, label=_("Tags, at most eight, separated by commas")
    )

    @classmethod
    def of(cls, pack: StickerPack) -> "EditPackForm":
        """The form filled with what the pack says now."""
        values = {name: getattr(pack, name) for name in ("name", "publisher", "visibility")}
        hidden = {"description": pack.shown_description, "tags": ", ".join(pack.manual_tags)}
        return cls(initial=values | hidden, auto_id="edit_%s")

    def changes(self) -> dict[str, Any]:
        """What the service takes."""
        return self.cleaned_data | {"tags": self.cleaned_data["tags"].split(",")}

    def first_error(self) -> str:
        """The first complaint, with the field's name before it."""
        field, complaints = next(iter(self.errors.items()))
        label = self.fields[field].label if field in self.fields else ""
        return f"{label}: {complaints[0]}"


class ReportForm(forms.Form):
    """A complaint about a pack."""

    reason = forms.ChoiceField(choices=ReportReason.choices, label=_("What is wrong?"))
    text = forms.CharField(
        max_length=500,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        label=_("More about it (you may leave this empty)"),
    )
