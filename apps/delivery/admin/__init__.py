"""The operator's pages of delivery."""

from apps.delivery.admin import apps, deployments, domains, fleet, process_jobs, releases, usage

__all__ = ["apps", "deployments", "domains", "fleet", "process_jobs", "releases", "usage"]
