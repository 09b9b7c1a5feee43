"""The tables of delivery."""

from apps.delivery.models.apps import App, Environment, Plan
from apps.delivery.models.deployments import Deployment, DeploymentPlan, DeploymentStep
from apps.delivery.models.domains import CustomDomain
from apps.delivery.models.fleet import ClusterStatus, EnvironmentStatus
from apps.delivery.models.releases import Release

__all__ = [
    "App",
    "ClusterStatus",
    "CustomDomain",
    "Deployment",
    "DeploymentPlan",
    "DeploymentStep",
    "Environment",
    "EnvironmentStatus",
    "Plan",
    "Release",
]
