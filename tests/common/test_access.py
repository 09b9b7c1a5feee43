"""Every endpoint says who may call it."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import URLPattern, URLResolver, get_resolver
from rest_framework.views import APIView

from apps.common.access import Access, DeclaredAccess, declared_access

# The OpenAPI document and its reader are public by drf-spectacular's own setting.
FOREIGN_PUBLIC_VIEWS = {"SpectacularAPIView", "SpectacularSwaggerSplitView"}


def _patterns(resolver: URLResolver) -> Iterator[URLPattern]:
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            yield from _patterns(pattern)
        else:
            yield pattern


def _endpoints() -> Iterator[tuple[type[APIView], str]]:
    for pattern in _patterns(get_resolver()):
        view = getattr(pattern.callback, "cls", None) or getattr(
            pattern.callback, "view_class", None
        )
        if view is None or not issubclass(view, APIView) or view.__name__ in FOREIGN_PUBLIC_VIEWS:
            continue
        actions: dict[str, str] = getattr(pattern.callback, "actions", None) or {}
        methods = actions or {m: m for m in view.http_method_names if hasattr(view, m)}
        for method, action in methods.items():
            if method not in {"options", "head"}:
                yield view, action


def _declared(view_class: type[APIView], action: str) -> Access | None:
    view: Any = view_class()
    view.action = action
    return declared_access(view, action)


@pytest.mark.parametrize(("view", "action"), sorted(set(_endpoints()), key=str))
def test_every_endpoint_declares_its_access(view: type[APIView], action: str) -> None:
    assert DeclaredAccess in view.permission_classes
    access = _declared(view, action)
    assert access is not None, f"{view.__name__}.{action} declares no access"
    assert access.public or access.scope or access.permission or access.person


def test_an_undeclared_endpoint_admits_nobody(rf: Any) -> None:
    class Undeclared(APIView):
        permission_classes = [DeclaredAccess]

    assert not DeclaredAccess().has_permission(rf.get("/"), Undeclared())
