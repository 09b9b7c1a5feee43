"""What can be wrong with an identity, a link, a session or a token."""

from collections.abc import Sequence

from apps.common.errors import Forbidden, InvalidInput


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
