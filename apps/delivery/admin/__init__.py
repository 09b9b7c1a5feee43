"""The operator's pages of delivery."""

from apps.delivery.admin import apps, deployments, domains, fleet, releases, usage

__all__ = ["apps", "deployments", "domains", "fleet", "releases", "usage"]
