"""Where Pombo runs and on what: paths, databases, cache, apps and middleware."""

import os
from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _

from apps.common import env, observability

BASE_DIR = Path(__file__).resolve().parent.parent.parent
env.read_env_file(os.environ.get("ENV_FILE", str(BASE_DIR / ".env")))

env.section("Platform")
DEBUG = env.env_bool("DEBUG", False, help="Development mode: error pages, derived keys, no HTTPS.")
SECRET_KEY = env.env_str(
    "SECRET_KEY", "", secret=True, help="Signs sessions and derived keys; `make run` generates it."
)
if not SECRET_KEY:
    if not DEBUG:
        raise ImproperlyConfigured("SECRET_KEY is not set; `make run` writes one into .env.")
    SECRET_KEY = "development-only-key-that-signs-nothing-of-value"  # noqa: S105 (refused without DEBUG)
ALLOWED_HOSTS = env.env_list(
    "ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"], help="Host names that are answered."
)
CSRF_TRUSTED_ORIGINS = env.env_list(
    "CSRF_TRUSTED_ORIGINS", [], help="Origins (scheme and host) that may post forms."
)
SITE_ORIGIN = env.env_url(
    "SITE_ORIGIN", "http://127.0.0.1:8000", help="The public address of the web pages."
)
MEDIA_ROOT = Path(
    env.env_str(
        "MEDIA_ROOT", str(BASE_DIR / "var" / "media"), help="Folder of stored sticker files."
    )
)
LOG_LEVEL = env.env_choice(
    "LOG_LEVEL",
    "INFO",
    allowed=["DEBUG", "INFO", "WARNING", "ERROR"],
    help="Least severe log line.",
)
LOG_JSON = env.env_bool("LOG_JSON", True, help="One JSON object per log line; false for reading.")
METRICS_PUBLIC = env.env_bool(
    "METRICS_PUBLIC",
    True,
    help="Whether /metrics needs no token; it holds counts, no personal data.",
)
LOGGING = observability.logging_config(LOG_LEVEL, as_json=LOG_JSON)

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
INSTALLED_APPS = [
    "unfold",
    "unfold.contrib.filters",
    "django.contrib.admin.apps.SimpleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_filters",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "csp",
    "axes",
    "config",
    "apps.common",
    "apps.flags",
    "apps.outbox",
    "apps.whatsapp_auth",
    "apps.stickers",
    "apps.delivery",
    # After ours, so that our qcluster command takes the place of its own.
    "django_q",
]
MIDDLEWARE = [
    "apps.common.observability.RequestIdMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "apps.common.security.AdminPolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "apps.flags.gates.FlagSubjectMiddleware",
    "axes.middleware.AxesMiddleware",
]

DATABASE_URL = env.env_url(
    "DATABASE_URL",
    f"sqlite:///{BASE_DIR / 'var' / 'pombo.sqlite3'}",
    help="mysql://, postgres:// or sqlite:///; MySQL or MariaDB 10.6+ is meant for production.",
)
DB_CONN_MAX_AGE_SECONDS = env.env_int(
    "DB_CONN_MAX_AGE_SECONDS", 60, low=0, high=3600, help="How long a database connection is kept."
)


def _database(url: str) -> dict[str, Any]:
    """Django's settings for one database, with what each vendor needs to be correct."""
    config: dict[str, Any] = dict(environ.Env.db_url_config(url))
    options = config.setdefault("OPTIONS", {})
    config["CONN_MAX_AGE"] = DB_CONN_MAX_AGE_SECONDS
    config["CONN_HEALTH_CHECKS"] = True
    if config["ENGINE"].endswith("mysql"):
        options |= {
            "charset": "utf8mb4",
            "isolation_level": "read committed",
            "init_command": "SET time_zone='+00:00', sql_mode='STRICT_TRANS_TABLES'",
            "connect_timeout": 10,
        }
        config["TEST"] = {"CHARSET": "utf8mb4", "COLLATION": "utf8mb4_unicode_ci"}
    elif config["ENGINE"].endswith("sqlite3"):
        # Deferred transactions fail under two writers; IMMEDIATE makes them take turns.
        options |= {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        }
        # A file, since threads and worker processes of the tests share it.
        config["TEST"] = {"NAME": str(BASE_DIR / "var" / "test.sqlite3")}
        (BASE_DIR / "var").mkdir(exist_ok=True)
    else:
        options.setdefault("connect_timeout", 10)
    return config


DATABASES = {"default": _database(DATABASE_URL)}

REDIS_URL = env.env_url(
    "REDIS_URL", "", help="Shared cache, wake-ups and task broker; empty does without Redis."
)
_CACHE_BACKEND = (
    "django_redis.cache.RedisCache"
    if REDIS_URL
    else "django.core.cache.backends.locmem.LocMemCache"
)
CACHES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": _CACHE_BACKEND, "LOCATION": REDIS_URL or "pombo", "KEY_PREFIX": "pombo"}
}
if REDIS_URL:
    CACHES["default"]["OPTIONS"] = {"SOCKET_CONNECT_TIMEOUT": 2, "SOCKET_TIMEOUT": 2}

MONGODB_URI = env.env_url("MONGODB_URI", "", help="Replica set for process jobs and shared files.")

LANGUAGE_CODE = env.env_choice(
    "LANGUAGE_CODE", "en", allowed=["en", "pt-br"], help="Language where the browser names none."
)
LANGUAGES = [("en", _("English")), ("pt-br", _("Brazilian Portuguese"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = env.env_str("TIME_ZONE", "UTC", help="Time zone of pages and of the admin.")
USE_TZ = True
USE_I18N = True

STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / "var" / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    # Seen by all replicas; needs MONGODB_URI when it is used.
    "shared": {"BACKEND": "apps.delivery.file_storage.GridFSStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "apps.whatsapp_auth.context_processors.person",
            ]
        },
    }
]
