"""What asking for a flag costs, beside django-waffle and the OpenFeature SDK in the same run.

    .venv/bin/python -m benchmarks.flags [--calls 100000] [--runs 5]

All are warm and decide a 50 % rollout for one subject; medians over the runs, in microseconds. The
floor is the bare decision: SHA-1, four bytes, remainder, one dictionary look-up. waffle asks for a
request and its user; the OpenFeature in-memory provider answers a static flag.
"""

import argparse
import hashlib
import os
import statistics
import tempfile
import timeit
from collections.abc import Callable
from types import SimpleNamespace

SUBJECT = "5511987654321@s.whatsapp.net"


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        subjects = prepare(folder)
        figures = {name: cost(call, options) for name, call in subjects.items()}
    ours = figures["ours"]
    for name, value in figures.items():
        print(f"{name:<24}{value:>10.2f} µs   {value / ours:>8.2f} x ours")


def cost(call: Callable[[], object], options: argparse.Namespace) -> float:
    """The median cost of one call in microseconds."""
    calls = options.calls if timeit.timeit(call, number=10) < 1e-3 else options.calls // 20
    runs = [timeit.timeit(call, number=calls) / calls * 1e6 for _run in range(options.runs)]
    return statistics.median(runs)


def prepare(folder: str) -> dict[str, Callable[[], object]]:
    """A database with one flag of each kind, and the calls to be measured."""
    os.environ |= {
        "DATABASE_URL": f"sqlite:///{folder}/bench.sqlite3",
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "SECRET_KEY": "bench",
        "DEBUG": "false",
        "ENV_FILE": os.devnull,
    }
    import django
    from django.conf import settings

    settings.INSTALLED_APPS.append("waffle")
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    return {"floor": floor, "ours": ours(), **peers()}


def floor(
    percent: dict[str, int] = {"half": 50},  # noqa: B006 (a constant look-up, part of the floor)
) -> bool:
    """The bare decision."""
    digest = hashlib.sha1(SUBJECT.encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest[:4], "big") % 100 < percent["half"]


def ours() -> Callable[[], object]:
    """`is_enabled` of a percentage flag."""
    from apps.flags.services import flag_cache, is_enabled, set_flag

    set_flag("half", actor="bench", is_enabled=True, rollout_percent=50)
    flag_cache.refresh(force=True)
    return lambda: is_enabled("half", subject_key=SUBJECT)


def peers() -> dict[str, Callable[[], object]]:
    """django-waffle and the OpenFeature SDK."""
    from django.contrib.auth.models import User
    from openfeature import api
    from openfeature.provider.in_memory_provider import InMemoryFlag, InMemoryProvider
    from waffle import flag_is_active
    from waffle.models import Flag

    Flag.objects.create(name="half", percent=50)
    user = User.objects.create_user("bench")
    request = SimpleNamespace(user=user, COOKIES={}, GET={}, META={}, headers={})
    api.set_provider(InMemoryProvider({"half": InMemoryFlag("on", {"on": True, "off": False})}))
    client = api.get_client()
    return {
        "django-waffle": lambda: flag_is_active(request, "half"),
        "OpenFeature, static": lambda: client.get_boolean_value("half", default_value=False),
    }


if __name__ == "__main__":
    main()
