"""Google sign-in as an OpenID client: the one module that knows Authlib.

Authlib keeps state, nonce and the PKCE verifier in the browser's Django session, fetches and caches
the provider's metadata and keys, and checks the ID token's signature, issuer, audience, expiry and
nonce. The issuer is a setting, so a local provider runs the same code.
"""

import re
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import requests
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.django_client import OAuth
from authlib.oidc.core import CodeIDToken
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from joserfc.errors import JoseError

from apps.common.parsing import js_trim
from apps.whatsapp_auth.errors import AccountRefused, GoogleNotConfigured, ProviderUnavailable

SCOPE = "openid email profile"
TIMEOUT_SECONDS = 10
LEEWAY_SECONDS = 30
MAX_NAME_LENGTH = 120
MAX_PICTURE_LENGTH = 1024
MAX_EMAIL_LENGTH = 255
# Google's subjects are digits; characters that would have to be dropped could make two one.
_SUBJECT = re.compile(r"[A-Za-z0-9_-]{1,80}")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]+")


@dataclass(frozen=True, slots=True)
class GoogleAccount:
    """An account that its provider vouches for: `sub` never changes, the rest may."""

    sub: str
    email: str
    name: str = ""
    picture_url: str = ""


def to_session(account: GoogleAccount) -> dict[str, str]:
    """The account as a browser's session keeps it between two pages."""
    return asdict(account)


def is_configured() -> bool:
    """Whether this site has an OAuth client."""
    return bool(settings.GOOGLE_CLIENT_ID)


def start(request: HttpRequest, callback_url: str) -> HttpResponse:
    """Send the browser to the provider. Raises GoogleNotConfigured, ProviderUnavailable."""
    try:
        answer: HttpResponse = _client().authorize_redirect(
            request, callback_url, prompt="select_account"
        )
    except requests.RequestException as error:
        raise ProviderUnavailable from error
    return answer


def finish(request: HttpRequest) -> GoogleAccount:
    """The account behind the provider's answer, whose state is used up by this.

    Raises AccountRefused when the answer, its token or its account is not acceptable, and
    ProviderUnavailable.
    """
    try:
        token = _client().authorize_access_token(
            request, leeway=LEEWAY_SECONDS, claims_options=_claims_options()
        )
    except requests.RequestException as error:
        raise ProviderUnavailable from error
    except (AuthlibBaseError, JoseError, ValueError) as error:
        raise AccountRefused(type(error).__name__) from error
    return account_from_claims(token.get("userinfo") or {})


def check_id_token(id_token: str) -> GoogleAccount:
    """The account in an ID token that a bot or an app got by itself.

    Raises AccountRefused and ProviderUnavailable. There is no nonce: the login link that must come
    with it works once.
    """
    try:
        claims = _client().parse_id_token(
            {"id_token": id_token},
            nonce=None,
            leeway=LEEWAY_SECONDS,
            claims_cls=CodeIDToken,
            claims_options=_claims_options(),
        )
    except requests.RequestException as error:
        raise ProviderUnavailable from error
    except (AuthlibBaseError, JoseError, ValueError) as error:
        raise AccountRefused(type(error).__name__) from error
    return account_from_claims(claims)


def account_from_claims(claims: dict[str, Any]) -> GoogleAccount:
    """What we keep of verified claims. Raises AccountRefused without a usable subject or e-mail."""
    sub, email = claims.get("sub"), claims.get("email")
    if not isinstance(sub, str) or not _SUBJECT.fullmatch(sub):
        raise AccountRefused("subject")
    if claims.get("email_verified") not in (True, "true") or not isinstance(email, str):
        raise AccountRefused("email_not_verified")
    return GoogleAccount(
        sub=sub,
        email=email.lower()[:MAX_EMAIL_LENGTH],
        name=_clean(claims.get("name"), MAX_NAME_LENGTH),
        picture_url=_https_only(_clean(claims.get("picture"), MAX_PICTURE_LENGTH)),
    )


def _client() -> Any:
    if not is_configured():
        raise GoogleNotConfigured
    return _client_for(
        settings.GOOGLE_ISSUER, settings.GOOGLE_CLIENT_ID, settings.GOOGLE_CLIENT_SECRET
    )


@lru_cache(maxsize=4)
def _client_for(issuer: str, client_id: str, client_secret: str) -> Any:
    """One client per configuration; it caches the provider's metadata and keys."""
    registry = OAuth()
    return registry.register(
        "google",
        client_id=client_id,
        client_secret=client_secret,
        server_metadata_url=f"{issuer.rstrip('/')}/.well-known/openid-configuration",
        client_kwargs={
            "scope": SCOPE,
            "code_challenge_method": "S256",
            "default_timeout": TIMEOUT_SECONDS,
        },
    )


def _claims_options() -> dict[str, dict[str, Any]]:
    """Google writes its issuer with and without the scheme."""
    issuer = settings.GOOGLE_ISSUER.rstrip("/")
    return {
        "iss": {"essential": True, "values": [issuer, issuer.removeprefix("https://")]},
        "aud": {"essential": True, "value": settings.GOOGLE_CLIENT_ID},
        "exp": {"essential": True},
    }


def _clean(value: Any, max_length: int) -> str:
    text = value if isinstance(value, str) else ""
    return js_trim(_CONTROLS.sub(" ", text))[:max_length]


def _https_only(url: str) -> str:
    return url if url.startswith("https://") else ""
