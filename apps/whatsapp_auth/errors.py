"""What can go wrong with identities and logins, one class per case."""

from apps.common.errors import Unavailable


class LoginBaseUrlMissing(Unavailable):
    """No configured address of this site is usable, so a login link would point nowhere."""

    code = "login_base_url_missing"

    def __init__(self) -> None:
        super().__init__("No usable base URL for login links; set WHATSAPP_LOGIN_BASE_URL.")
