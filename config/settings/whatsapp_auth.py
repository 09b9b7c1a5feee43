"""WhatsApp identity and sign-in."""

from apps.common import env

env.section("Sign-in")
WHATSAPP_LOGIN_LINK_SECRET = env.env_str(
    "WHATSAPP_LOGIN_LINK_SECRET", "", secret=True, help="Signs login links; `make run` makes one."
)
WHATSAPP_LOGIN_LINK_SECRET_PREVIOUS = env.env_list(
    "WHATSAPP_LOGIN_LINK_SECRET_PREVIOUS", [], help="Older secrets whose links still verify."
)
WHATSAPP_LOGIN_LINK_TTL_SECONDS = env.env_int(
    "WHATSAPP_LOGIN_LINK_TTL_SECONDS", 900, low=60, high=86_400, help="Life of a login link."
)
WHATSAPP_LOGIN_PATH = env.env_str(
    "WHATSAPP_LOGIN_PATH", "/login/", help="Path of the login page, also in links."
)
WHATSAPP_LOGIN_BASE_URL = env.env_url(
    "WHATSAPP_LOGIN_BASE_URL", "", help="Site that login links lead to; empty: SITE_ORIGIN."
)
WHATSAPP_LOGIN_TRIGGER = env.env_str(
    "WHATSAPP_LOGIN_TRIGGER", "iniciar", help="The chat message that asks for a login link."
)
LOGIN_LINKS_PER_PHONE = env.env_int(
    "LOGIN_LINKS_PER_PHONE", 5, low=1, high=1000, help="Links for one phone in 15 minutes."
)
LOGIN_ATTEMPTS_PER_ADDRESS = env.env_int(
    "LOGIN_ATTEMPTS_PER_ADDRESS",
    30,
    low=1,
    high=100_000,
    help="Refused sign-ins of one network address in 15 minutes.",
)

env.section("Google sign-in")
GOOGLE_CLIENT_ID = env.env_str(
    "GOOGLE_CLIENT_ID", "", help="OAuth client; empty switches Google sign-in off."
)
GOOGLE_CLIENT_SECRET = env.env_str(
    "GOOGLE_CLIENT_SECRET", "", secret=True, help="Secret of the OAuth client."
)
GOOGLE_ISSUER = env.env_url(
    "GOOGLE_ISSUER",
    "https://accounts.google.com",
    help="OpenID issuer; a local provider runs the same code.",
)

env.section("Web sessions")
WEB_SESSION_COOKIE_NAME = env.env_str(
    "WEB_SESSION_COOKIE_NAME", "pombo_person", help="Cookie of signed-in people."
)
WEB_SESSION_DAYS = env.env_int(
    "WEB_SESSION_DAYS", 7, low=1, high=365, help="Life of a web session."
)
WEB_SESSION_TOUCH_SECONDS = env.env_int(
    "WEB_SESSION_TOUCH_SECONDS",
    60,
    low=30,
    high=86_400,
    help="Least time between two notes of when a session was seen.",
)
SIGNED_IN_URL = env.env_str(
    "SIGNED_IN_URL", "/my/packs", help="Page on this site that people see after signing in."
)

env.section("Personal data")
LOGIN_EVENT_RETENTION_DAYS = env.env_int(
    "LOGIN_EVENT_RETENTION_DAYS", 180, low=1, high=3650, help="Age at which audit lines go."
)
LID_HISTORY_RETENTION_DAYS = env.env_int(
    "LID_HISTORY_RETENTION_DAYS", 365, low=1, high=3650, help="Age at which ended mappings go."
)
LID_MAPPING_RETENTION_DAYS = env.env_int(
    "LID_MAPPING_RETENTION_DAYS",
    730,
    low=30,
    high=3650,
    help="Time without a message after which a mapping goes.",
)
ENDED_SESSION_RETENTION_DAYS = env.env_int(
    "ENDED_SESSION_RETENTION_DAYS", 30, low=1, high=3650, help="Age at which ended sessions go."
)
