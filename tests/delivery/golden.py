"""Whole renders kept as JSON: what a change of the manifests changes is seen in review.

`python -m tests.delivery.golden` writes the files anew.
"""

import json
from pathlib import Path
from typing import Any

from apps.delivery.manifests import baseline, runtime
from tests.delivery.factories import DOMAINS, IMAGE_REF, context_fields

FOLDER = Path(__file__).parents[1] / "data" / "manifests"
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "restricted-with-domains": (
        context_fields(
            replicas=3,
            resource_profile="medium",
            performance_mode="normal",
            custom_domains=DOMAINS,
            functional_capabilities={"core.secrets": {"enabled": True}},
            secrets_checksum="0123456789abcdef",
            liveness_path="/api/health/live",
        ),
        {"INGRESS_CLASS": "nginx", "PLATFORM_CLUSTER_ISSUER": "letsencrypt-dns01"},
    ),
    "adopted-on-an-old-cluster": (
        context_fields(
            pod_security="baseline",
            writable_paths=[],
            egress=[
                {"name": "database", "namespace": "mongodb", "ports": [27017]},
                {"name": "partner", "cidrs": ["203.0.113.0/24"], "ports": [443, 8443]},
            ],
        ),
        {"INGRESS_CLASS": "", "KUBERNETES_VERSION": "v1.29.4"},
    ),
}


def render(name: str) -> list[dict[str, Any]]:
    """All objects of one case."""
    context, infra = CASES[name]
    return baseline(context, infra) + runtime(context, infra, IMAGE_REF)


def stored(name: str) -> list[dict[str, Any]]:
    """What the file says."""
    objects: list[dict[str, Any]] = json.loads((FOLDER / f"{name}.json").read_text())
    return objects


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for case in CASES:
        text = json.dumps(render(case), indent=1, ensure_ascii=False) + "\n"
        (FOLDER / f"{case}.json").write_text(text)
