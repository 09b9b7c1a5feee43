"""Browser policies: public pages load only from here, the admin has a policy of its own."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse


class AdminPolicyMiddleware:
    """Give answers below the admin's address the named policy that its theme needs."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Handle one request and mark the answer."""
        response = self.get_response(request)
        if request.path.startswith(reverse("admin:index")):
            # django-csp reads this attribute; its decorators set the same one.
            response._csp_config = settings.ADMIN_CONTENT_SECURITY_POLICY["DIRECTIVES"]  # type: ignore[attr-defined]  # noqa: SLF001
        return response
