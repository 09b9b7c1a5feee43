"""The faces of Pombo: REST API, its documentation, and the admin's look."""

from typing import Any

from django.templatetags.static import static
from django.urls import reverse_lazy
from django.utils.translation import gettext_lazy as _

from apps.common import env

env.section("API")
API_RATE_ANONYMOUS = env.env_str(
    "API_RATE_ANONYMOUS", "120/min", help="Requests of one address without a token, as N/period."
)
API_RATE_TOKEN = env.env_str(
    "API_RATE_TOKEN", "6000/min", help="Requests of one token or user, as N/period."
)
REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "apps.whatsapp_auth.api.authentication.ApiTokenAuthentication",
        "apps.whatsapp_auth.api.authentication.PersonAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["apps.common.access.DeclaredAccess"],
    "DEFAULT_PAGINATION_CLASS": "apps.common.api.Pages",
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_THROTTLE_CLASSES": [
        "rest_framework.throttling.AnonRateThrottle",
        "rest_framework.throttling.UserRateThrottle",
    ],
    "DEFAULT_THROTTLE_RATES": {"anon": API_RATE_ANONYMOUS, "user": API_RATE_TOKEN},
    "EXCEPTION_HANDLER": "apps.common.api.answer_error",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Pombo",
    "DESCRIPTION": "Flags, WhatsApp identity, sticker packs, events and delivery.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_NAME_OVERRIDES": {
        "LeaseStatusEnum": "apps.common.choices.LeaseStatus",
        "PackStatusEnum": "apps.stickers.choices.PackStatus",
        "RolloutStepStatusEnum": "apps.flags.choices.StepStatus",
        "DeploymentStepStatusEnum": "apps.delivery.choices.StepStatus",
        "DomainStatusEnum": "apps.delivery.choices.DomainStatus",
        "ReportOutcomeEnum": "apps.stickers.choices.Outcome",
        "DecisionOutcomeEnum": "apps.stickers.choices.DECISIONS",
        "LookupStatusEnum": "apps.whatsapp_auth.choices.LookupStatus",
    },
}
UNFOLD = {
    "SITE_TITLE": "Pombo",
    "SITE_HEADER": "Pombo",
    "SITE_SYMBOL": "send",
    "SITE_FAVICONS": [
        {
            "rel": "icon",
            "type": "image/svg+xml",
            "href": lambda _request: static("common/pombo.svg"),
        }
    ],
    "SHOW_HISTORY": True,
    "SHOW_VIEW_ON_SITE": True,
    "SIDEBAR": {"show_search": True, "show_all_applications": True},
    "STYLES": [lambda _request: static("common/admin.css")],
    "SITE_URL": reverse_lazy("home"),
    "SITE_DROPDOWN": [
        {"icon": "storefront", "title": _("Catalogue"), "link": reverse_lazy("home")},
        {"icon": "api", "title": _("API documentation"), "link": reverse_lazy("api-docs")},
    ],
}
