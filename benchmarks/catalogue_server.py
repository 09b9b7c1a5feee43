"""The server that `benchmarks.catalogue` measures: Pombo beside a view of constant bytes."""

import os
from typing import Any

MEASURED = "/api/v1/packs?limit=24"


def application() -> Any:
    """The WSGI application; the constant view gives what our list gives now."""
    import django
    from django.http import HttpRequest, HttpResponse

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from django.core.wsgi import get_wsgi_application
    from django.db import connection
    from django.test import Client
    from django.urls import path

    from config import urls

    body = Client().get(MEASURED, HTTP_HOST="127.0.0.1").content
    connection.close()

    def constant(request: HttpRequest) -> HttpResponse:
        return HttpResponse(body, content_type="application/json")

    urls.urlpatterns.insert(0, path("constant", constant))
    return get_wsgi_application()
