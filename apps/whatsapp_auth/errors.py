"""What can be wrong with an identity, a link, a session or a token.

Refusals of a sign-in never say more than the person already knows: no number, account or address of
somebody else appears in them unmasked.
"""

from collections.abc import Sequence

from apps.common.errors import (
    Conflict,
    Forbidden,
    InvalidInput,
    LimitReached,
    NotFound,
    Unavailable,
)


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


class LoginSecretMissing(Unavailable):
    """Without a secret a link would prove nothing, so none is issued."""

    code = "login_secret_missing"

    def __init__(self) -> None:
        super().__init__("Login links cannot be signed; set WHATSAPP_LOGIN_LINK_SECRET.")


class LoginLinkRequired(InvalidInput):
    """A sign-in without a hint: the way in starts in the WhatsApp chat."""

    code = "login_link_required"

    def __init__(self) -> None:
        super().__init__("Open the link that the bot sends you on WhatsApp.")


class LoginLinkInvalid(Forbidden):
    """A hint that proves nothing; `details.reason` says what is wrong with it."""

    code = "login_link_invalid"

    def __init__(self, reason: str) -> None:
        super().__init__("This login link is not valid.", details={"reason": reason})


class LoginLinkUsed(Conflict):
    """A link works once."""

    code = "already_used"

    def __init__(self) -> None:
        super().__init__("This login link has been used; ask the bot for another.")


class LoginLinkRevoked(Forbidden):
    """The links of this phone were called back, or its number moved to another WhatsApp account."""

    code = "login_link_revoked"

    def __init__(self) -> None:
        super().__init__("This login link was withdrawn; ask the bot for another.")


class ConfirmationNeeded(Conflict):
    """Signing in would change who holds a phone, which the person has not agreed to yet."""

    code = "confirmation_needed"

    def __init__(self, changes: str) -> None:
        super().__init__("Signing in would change an account.", details={"changes": changes})


class AmbiguousPhone(Conflict):
    """Two accounts exist under spellings of one number; a person has to decide."""

    code = "ambiguous_phone"

    def __init__(self) -> None:
        super().__init__("Two accounts use this number; ask the operator to settle it.")


class Banned(Forbidden):
    """The account, its address or its phone may not sign in."""

    code = "not_allowed"

    def __init__(self) -> None:
        super().__init__("This account may not sign in.")


class AccountRefused(Forbidden):
    """What the provider says about an account is not enough to trust it."""

    code = "account_refused"

    def __init__(self, reason: str) -> None:
        super().__init__("The Google account cannot be used.", details={"reason": reason})


class GoogleNotConfigured(Unavailable):
    """There is no OAuth client, so nobody can sign in."""

    code = "google_not_configured"

    def __init__(self) -> None:
        super().__init__("Google sign-in is not set up on this site.")


class ProviderUnavailable(Unavailable):
    """The OpenID provider does not answer."""

    code = "provider_unavailable"

    def __init__(self) -> None:
        super().__init__("Google does not answer at the moment; try again in a minute.")


class SessionCheckUnavailable(Unavailable):
    """Whether a session still holds cannot be said now; it is neither believed nor ended."""

    code = "session_check_unavailable"

    def __init__(self) -> None:
        super().__init__("Your session cannot be checked at the moment; try again in a minute.")


class PhoneUnknown(Conflict):
    """WhatsApp hides the sender's number and the LID map does not know it."""

    code = "phone_unknown"

    def __init__(self) -> None:
        super().__init__("The sender's phone is not known, so no link can be made.")


class NotAPrivateChat(InvalidInput):
    """A link sent into a group would be everybody's."""

    code = "not_a_private_chat"

    def __init__(self) -> None:
        super().__init__("Login links are given in private chats only.")


class OwnMessage(InvalidInput):
    """The bot's own message names the other side, not its sender."""

    code = "own_message"

    def __init__(self) -> None:
        super().__init__("The bot itself sent this message.")


class NotALoginRequest(InvalidInput):
    """The chat text is not the word that asks for a link."""

    code = "not_a_login_request"

    def __init__(self) -> None:
        super().__init__("The text does not ask for a login link.")


class TooManyLinks(LimitReached):
    """The phone got its share of links for now."""

    code = "too_many_links"

    def __init__(self) -> None:
        super().__init__("Too many links for this phone; wait a few minutes.")


class TooManyAttempts(LimitReached):
    """Too many refused sign-ins from one network address."""

    code = "too_many_attempts"

    def __init__(self) -> None:
        super().__init__("Too many attempts; wait a few minutes.")


class NothingToBan(InvalidInput):
    """A ban must name an account, an address or an owner."""

    code = "nothing_to_ban"

    def __init__(self) -> None:
        super().__init__("Name an account, an e-mail address or an owner.")


class SessionNotFound(NotFound):
    """No living session of this person has that name."""

    code = "session_not_found"

    def __init__(self) -> None:
        super().__init__("There is no such session.")


class PersonNotFound(NotFound):
    """Nobody is known under that phone, account or address."""

    code = "person_not_found"

    def __init__(self) -> None:
        super().__init__("Nobody is known under that name.")
