"""An OpenID provider on this machine, for development and tests: anybody may be any account.

It speaks the part of OpenID Connect that sign-in uses: discovery, keys, the authorization code flow
with PKCE. It listens on the loopback address only and must never serve a public site.
"""

import base64
import hashlib
import html
import json
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

KEY_BITS = 2048
TOKEN_LIFE_SECONDS = 300
MAX_FORM_BYTES = 16_384


def _new_key() -> RSAKey:
    return RSAKey.generate_key(KEY_BITS, parameters={"use": "sig", "alg": "RS256"}, auto_kid=True)


@dataclass(frozen=True, slots=True)
class LocalAccount:
    """An account that can be chosen at the provider."""

    sub: str
    email: str
    name: str
    is_email_verified: bool = True

    def claims(self) -> dict[str, Any]:
        """What an ID token says about it."""
        return {
            "sub": self.sub,
            "email": self.email,
            "email_verified": self.is_email_verified,
            "name": self.name,
        }


@dataclass(slots=True)
class LocalProvider:
    """The provider's state; `start` serves it on a free port until `stop`.

    `claim_overrides` replaces claims of every token, so that tests can see bad ones refused.
    """

    accounts: Sequence[LocalAccount]
    client_id: str
    port: int = 0
    claim_overrides: dict[str, Any] = field(default_factory=dict)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    key: RSAKey = field(default_factory=_new_key)
    server: ThreadingHTTPServer | None = None

    @property
    def issuer(self) -> str:
        """The address to put into GOOGLE_ISSUER."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Listen in a background thread."""
        handler = type("Handler", (_Handler,), {"provider": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", self.port), handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        """Stop listening."""
        if self.server is not None:
            self.server.shutdown()
            self.server.server_close()

    def id_token(self, account: LocalAccount, nonce: str = "") -> str:
        """A signed ID token for the account."""
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": self.client_id,
            "iat": now,
            "exp": now + TOKEN_LIFE_SECONDS,
            **account.claims(),
        }
        if nonce:
            claims["nonce"] = nonce
        header = {"alg": "RS256", "kid": self.key.kid}
        return jwt.encode(header, claims | self.claim_overrides, self.key)

    def replace_key(self) -> None:
        """Sign with a new key from now on, as providers do from time to time."""
        self.key = _new_key()

    def metadata(self) -> dict[str, Any]:
        """The discovery document."""
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
        }

    def code_for(self, sub: str, request: Mapping[str, str]) -> str:
        """A one-time code for the chosen account, bound to the request."""
        code = secrets.token_urlsafe(16)
        self.codes[code] = {**request, "sub": sub}
        return code

    def redeem(self, form: Mapping[str, str]) -> dict[str, Any] | None:
        """Tokens for a code, or None when code, client, address or PKCE verifier do not fit."""
        request = self.codes.pop(form.get("code", ""), None)
        if request is None or form.get("redirect_uri") != request.get("redirect_uri"):
            return None
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if challenge != request.get("code_challenge"):
            return None
        account = next(one for one in self.accounts if one.sub == request["sub"])
        return {
            "access_token": secrets.token_urlsafe(16),
            "token_type": "Bearer",
            "expires_in": TOKEN_LIFE_SECONDS,
            "id_token": self.id_token(account, request.get("nonce", "")),
        }


class _Handler(BaseHTTPRequestHandler):
    provider: LocalProvider

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(address.query).items()}
        if address.path == "/.well-known/openid-configuration":
            self._answer_json(self.provider.metadata())
        elif address.path == "/keys":
            self._answer_json({"keys": [self.provider.key.as_dict(private=False)]})
        elif address.path == "/authorize":
            self._answer(200, "text/html; charset=utf-8", self._choice(query))
        elif address.path == "/choose":
            self._redirect_back(query)
        else:
            self._answer(404, "text/plain", "nothing here")

    def do_POST(self) -> None:
        length = min(int(self.headers.get("Content-Length", "0")), MAX_FORM_BYTES)
        form = parse_qs(self.rfile.read(length).decode())
        tokens = self.provider.redeem({name: values[0] for name, values in form.items()})
        if tokens is None:
            self._answer_json({"error": "invalid_grant"}, status=400)
        else:
            self._answer_json(tokens)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the server's signature)
        """Stay silent: the addresses hold codes."""

    def _choice(self, query: dict[str, str]) -> str:
        rows = "".join(
            f'<li><a href="/choose?{html.escape(urlencode({**query, "sub": account.sub}))}">'
            f"{html.escape(account.email)}</a></li>"
            for account in self.provider.accounts
        )
        return f"<!doctype html><title>Local provider</title><h1>Choose</h1><ul>{rows}</ul>"

    def _redirect_back(self, query: dict[str, str]) -> None:
        code = self.provider.code_for(query["sub"], query)
        answer = urlencode({"code": code, "state": query.get("state", "")})
        self.send_response(302)
        self.send_header("Location", f"{query['redirect_uri']}?{answer}")
        self.end_headers()

    def _answer_json(self, data: Mapping[str, Any], *, status: int = 200) -> None:
        self._answer(status, "application/json", json.dumps(data))

    def _answer(self, status: int, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
