"""What a refusal means to the person at the browser, and what they can do about it."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.common.errors import DomainError
from apps.whatsapp_auth import errors
from apps.whatsapp_auth.login_links import Refusal

ASK_AGAIN = _("Send the bot “%(trigger)s” on WhatsApp and open the new link.")


@dataclass(frozen=True, slots=True)
class Explanation:
    """A headline and a way on, both translatable."""

    title: str | Promise
    advice: str | Promise


_BY_CODE = {
    errors.LoginLinkRequired.code: Explanation(_("Sign in from WhatsApp"), ASK_AGAIN),
    errors.LoginLinkInvalid.code: Explanation(_("This link is not valid"), ASK_AGAIN),
    errors.LoginLinkUsed.code: Explanation(_("This link has been used"), ASK_AGAIN),
    errors.LoginLinkRevoked.code: Explanation(_("This link was withdrawn"), ASK_AGAIN),
    errors.ConfirmationNeeded.code: Explanation(
        _("Something changed meanwhile"), _("Go back, read what would change, and confirm again.")
    ),
    errors.AmbiguousPhone.code: Explanation(
        _("Two accounts use this number"),
        _("The operator of this site has to settle which one is yours."),
    ),
    errors.Banned.code: Explanation(
        _("You may not sign in"), _("Write to the operator of this site if you think it is wrong.")
    ),
    errors.AccountRefused.code: Explanation(
        _("Google did not confirm the account"),
        _("Start again, and use an account whose e-mail address is verified."),
    ),
    errors.GoogleNotConfigured.code: Explanation(
        _("Google sign-in is not set up"), _("The operator of this site has to set it up first.")
    ),
    errors.TooManyAttempts.code: Explanation(
        _("Too many attempts"), _("Wait a quarter of an hour, then ask for a new link.")
    ),
}
_EXPIRED = Explanation(_("This link has expired"), ASK_AGAIN)
_OTHERWISE = Explanation(_("This does not work at the moment"), _("Try again in a minute."))


def explain(error: DomainError) -> Explanation:
    """The explanation of a refusal."""
    if error.details.get("reason") == Refusal.EXPIRED:
        return _EXPIRED
    return _BY_CODE.get(error.code, _OTHERWISE)
