"""Settings from the environment: typed, bounded, and documented where they are declared.

Every setting is read through one of the functions below, so that a wrong value stops the start with
its name and its bounds, and `docs/settings.md` can be written from `REGISTRY`. A name may carry the
prefix `DJANGO_`; an empty value counts as unset.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import environ
from django.core.exceptions import ImproperlyConfigured

T = TypeVar("T")
N = TypeVar("N", int, float)


@dataclass(frozen=True, slots=True)
class Setting:
    """One declared setting, as the documentation shows it."""

    name: str
    kind: str
    default: str
    bounds: str
    help: str
    section: str
    is_secret: bool


REGISTRY: dict[str, Setting] = {}
_sections: list[str] = ["General"]


def section(title: str) -> None:
    """Start a section of the documentation; settings declared next belong to it."""
    _sections.append(title)


def env_str(name: str, default: str, *, help: str, secret: bool = False) -> str:  # noqa: A002 (reads as documentation at the call)
    """A text; with `secret` its default never shows in the documentation."""
    _register(name, "text", default, "", help, is_secret=secret)
    return _read(name, default, str)


def env_choice(name: str, default: str, *, allowed: Sequence[str], help: str) -> str:  # noqa: A002
    """One of the allowed words."""
    _register(name, "choice", default, ", ".join(allowed), help)
    value = _read(name, default, str)
    if value not in allowed:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(allowed)}, not {value!r}.")
    return value


def env_bool(name: str, default: bool, *, help: str, shown: str = "") -> bool:  # noqa: A002, FBT001
    """A switch: 1/true/yes/y/on or 0/false/no/n/off; `shown` tells a default that depends."""
    _register(name, "boolean", shown or str(default).lower(), "", help)
    return _read(name, default, _parse_bool)


def env_int(name: str, default: int, *, low: int, high: int, help: str) -> int:  # noqa: A002
    """A whole number within its bounds."""
    return _bounded(name, default, low, high, help, int)


def env_float(name: str, default: float, *, low: float, high: float, help: str) -> float:  # noqa: A002
    """A number within its bounds."""
    return _bounded(name, default, low, high, help, float)


def env_list(name: str, default: Sequence[str], *, help: str) -> list[str]:  # noqa: A002
    """Words separated by commas; blanks around them do not count."""
    _register(name, "list", ",".join(default), "", help)
    return _read(name, list(default), _parse_list)


def env_url(name: str, default: str, *, help: str) -> str:  # noqa: A002
    """An address that may hold a password, so it is not shown where it is set."""
    _register(name, "URL", default, "", help)
    return _read(name, default, str)


def read_env_file(path: str) -> None:
    """Load a `.env` file; what the environment already says wins."""
    environ.Env.read_env(path)


def _bounded(name: str, default: N, low: N, high: N, text: str, kind: Callable[[str], N]) -> N:
    _register(name, "integer" if kind is int else "number", str(default), f"{low} to {high}", text)
    value = _read(name, default, kind)
    if not low <= value <= high:
        raise ImproperlyConfigured(f"{name} must lie between {low} and {high}, not {value}.")
    return value


def _read(name: str, default: T, parse: Callable[[str], T]) -> T:
    raw = os.environ.get(name) or os.environ.get(f"DJANGO_{name}") or ""
    if not raw.strip():
        return default
    try:
        return parse(raw.strip())
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {raw!r} is not understood ({error}).") from error


def _parse_bool(raw: str) -> bool:
    word = raw.lower()
    if word in {"1", "true", "yes", "y", "on"}:
        return True
    if word in {"0", "false", "no", "n", "off"}:
        return False
    raise ValueError("use true or false")


def _parse_list(raw: str) -> list[str]:
    return [word for part in raw.split(",") if (word := part.strip())]


def _register(
    name: str, kind: str, default: str, bounds: str, text: str, *, is_secret: bool = False
) -> None:
    shown = "" if is_secret else default
    REGISTRY[name] = Setting(name, kind, shown, bounds, text, _sections[-1], is_secret)
