"""What every page may show about its visitor."""

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from apps.whatsapp_auth.errors import SessionCheckUnavailable
from apps.whatsapp_auth.people import Person, person_of


def person(request: HttpRequest) -> dict[str, SimpleLazyObject]:
    """`person`, asked of the database only when a template uses it and a cookie is there."""
    return {"person": SimpleLazyObject(lambda: _person_or_none(request))}


def _person_or_none(request: HttpRequest) -> Person | None:
    """A page that only greets its visitor is still shown when the session cannot be checked."""
    try:
        return person_of(request)
    except SessionCheckUnavailable:
        return None
