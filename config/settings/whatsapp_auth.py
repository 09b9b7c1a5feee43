"""WhatsApp identity and sign-in."""

from apps.common import env

env.section("Sign-in")
WHATSAPP_LOGIN_LINK_SECRET = env.env_str(
    "WHATSAPP_LOGIN_LINK_SECRET", "", secret=True, help="Signs login links; `make run` makes one."
)
