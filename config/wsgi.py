"""Entry point of the web server."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()

from apps.flags.services import WebUsage  # noqa: E402 (models load after Django has started)

# Signals hold their receivers weakly, so the module keeps it.
web_usage = WebUsage()
web_usage.connect()
