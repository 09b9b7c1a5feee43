"""What the delivery tests build: contexts, rows and image references."""

from typing import Any

from apps.delivery.context import DeliveryContext, as_context

DIGEST = "sha256:" + "ab" * 32
IMAGE_REF = f"registry.example/team/loja@{DIGEST}"
INFRA = {"INGRESS_CLASS": "nginx"}
DOMAINS = ["loja.example", "www.loja.example"]


def context_fields(**fields: Any) -> dict[str, Any]:
    """The mapping that Central would send for one app."""
    return {
        "app_code": "loja",
        "namespace": "loja-main",
        "hostname": "loja.apps.example",
        "image_repository": "registry.example/team/loja",
        "release_id": "r1",
        **fields,
    }


def make_context(**fields: Any) -> DeliveryContext:
    """A checked context."""
    return as_context(context_fields(**fields))
