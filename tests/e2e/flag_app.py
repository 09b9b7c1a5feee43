"""A small WSGI program for the tests: answers a flag from this process, without any other query."""

import os
from collections.abc import Callable, Iterable

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from apps.flags.services import evaluate


def application(
    environ: dict[str, str], start_response: Callable[[str, list[tuple[str, str]]], object]
) -> Iterable[bytes]:
    """`/NAME/SUBJECT` answers `on` or `off`."""
    _empty, name, subject = environ["PATH_INFO"].split("/", 2)
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"on" if evaluate(name, subject_key=subject).value else b"off"]
