"""Browser policies: public pages load only from here, tools of staff have their own policy."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse


class AdminPolicyMiddleware:
    """Give the admin and the API's reader the named policy that their scripts need."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Handle one request and mark the answer."""
        response = self.get_response(request)
        if request.path.startswith((reverse("admin:index"), reverse("api-docs"))):
            # django-csp reads this attribute; its decorators set the same one.
            response._csp_config = settings.ADMIN_CONTENT_SECURITY_POLICY["DIRECTIVES"]  # type: ignore[attr-defined]  # noqa: SLF001
        return response
