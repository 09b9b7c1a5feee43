"""Who gets in and what browsers may load: authentication, cookies, HTTPS, content policy."""

from datetime import timedelta

from csp.constants import NONE, SELF, UNSAFE_EVAL, UNSAFE_INLINE

from apps.common import env
from config.settings.base import DEBUG
from config.settings.stickers import PICTURE_ORIGINS

env.section("Security")
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"
AXES_FAILURE_LIMIT = env.env_int(
    "LOGIN_FAILURE_LIMIT", 8, low=1, high=100, help="Failed admin logins before a pause."
)
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_VERBOSE = False

SECURE_HTTPS = env.env_bool(
    "SECURE_HTTPS",
    not DEBUG,
    shown="not DEBUG",
    help="Redirect to HTTPS, send HSTS and mark cookies secure.",
)
TRUST_PROXY_HEADER = env.env_bool(
    "TRUST_PROXY_HEADER", False, help="Believe X-Forwarded-Proto; only behind your own proxy."
)
if TRUST_PROXY_HEADER:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_SSL_REDIRECT = SECURE_HTTPS
SECURE_REDIRECT_EXEMPT = [r"^health/", r"^metrics$"]
SECURE_HSTS_SECONDS = 31_536_000 if SECURE_HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HTTPS
SECURE_HSTS_PRELOAD = SECURE_HTTPS
SESSION_COOKIE_SECURE = SECURE_HTTPS
CSRF_COOKIE_SECURE = SECURE_HTTPS
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        # The object storage, where pictures are redirected to; nobody without one.
        "img-src": [SELF, *PICTURE_ORIGINS],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "object-src": [NONE],
    }
}
# The admin theme is built on Alpine.js, which evaluates expressions and sets inline styles; the
# reader of the API sets inline styles and shows its icons as data addresses.
ADMIN_CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": CONTENT_SECURITY_POLICY["DIRECTIVES"]
    | {
        "script-src": [SELF, UNSAFE_EVAL, UNSAFE_INLINE],
        "style-src": [SELF, UNSAFE_INLINE],
        "img-src": [SELF, "data:", *PICTURE_ORIGINS],
    }
}
