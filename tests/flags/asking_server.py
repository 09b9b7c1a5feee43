"""A web process that only asks for flags: nothing here touches the database but the flags do.

`GET /?flag=…&subject=…` answers `on` or `off`; `POST /?flag=…&percent=…` changes the flag.
"""

import os
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qs

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"

import django

django.setup()

from apps.flags.services import is_enabled, set_flag  # noqa: E402 (Django starts first)


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    query = {name: values[0] for name, values in parse_qs(environ["QUERY_STRING"]).items()}
    if environ["REQUEST_METHOD"] == "POST":
        set_flag(query["flag"], actor="test", rollout_percent=int(query["percent"]))
        answer = b"done"
    else:
        answer = (
            b"on" if is_enabled(query["flag"], subject_key=query.get("subject", "")) else b"off"
        )
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [answer]
