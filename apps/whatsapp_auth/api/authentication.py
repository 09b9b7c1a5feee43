"""How API callers say who they are: a token, or the cookie of a person on the web pages."""

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import (
    BaseAuthentication,
    SessionAuthentication,
    get_authorization_header,
)
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from apps.whatsapp_auth.errors import InvalidToken
from apps.whatsapp_auth.models import ApiToken
from apps.whatsapp_auth.people import Person, person_of
from apps.whatsapp_auth.services import tokens


class ApiTokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer pombo_…`: the caller is its owner, `request.auth` the token."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Check the bearer token, or leave the request to the next class."""
        words = get_authorization_header(request).split()
        if not words or words[0].lower() != b"bearer":
            return None
        try:
            token = tokens.check_token(words[-1].decode("ascii"), now=timezone.now())
        except (InvalidToken, UnicodeDecodeError) as error:
            raise AuthenticationFailed("The token is not valid.") from error
        return token.owner, token

    def authenticate_header(self, request: Request) -> str:
        """Makes the answer a 401 with the scheme to use."""
        return "Bearer"


class ApiTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """The scheme's entry in the OpenAPI document."""

    target_class = ApiTokenAuthentication
    name = "apiToken"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        """A plain bearer scheme."""
        return {"type": "http", "scheme": "bearer"}


class PersonAuthentication(SessionAuthentication):
    """The web session's cookie: `request.user` is the person, and changes need the CSRF token."""

    def authenticate(self, request: Request) -> tuple[Person, None] | None:
        """Check the cookie; a request without a living session is left to the next class."""
        person = person_of(request._request)  # noqa: SLF001 (the Django request below DRF's)
        if person is None:
            return None
        self.enforce_csrf(request)
        return person, None


class PersonScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """The cookie's entry in the OpenAPI document."""

    target_class = PersonAuthentication
    name = "webSession"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        """A cookie."""
        return {"type": "apiKey", "in": "cookie", "name": settings.WEB_SESSION_COOKIE_NAME}
