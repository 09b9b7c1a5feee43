"""What can be wrong with an identity, a link, a session or a token."""

from collections.abc import Sequence

from apps.common.errors import Conflict, Forbidden, InvalidInput, LimitReached, NotFound, Unavailable


class NoScope(InvalidInput):
    """A token without a scope could do nothing."""

    code = "no_scope"

    def __init__(self) -> None:
        super().__init__("A token needs at least one scope.")


class UnknownScope(InvalidInput):
    """A scope that no endpoint knows."""

    code = "unknown_scope"

    def __init__(self, scopes: Sequence[str]) -> None:
        super().__init__(f"Unknown scopes: {', '.join(scopes)}.", details={"scopes": list(scopes)})


class InvalidToken(Forbidden):
    """Unknown, wrong, expired or revoked; the caller is not told which."""

    code = "invalid_token"

    def __init__(self) -> None:
        super().__init__("The token is not valid.")


class LoginBaseUrlMissing(Unavailable):
    """No configured address of this site is usable, so a login link would point nowhere."""

    code = "login_base_url_missing"

    def __init__(self) -> None:
        super().__init__("No usable base URL for login links; set WHATSAPP_LOGIN_BASE_URL.")
