"""The tables of delivery."""

from apps.delivery.models.apps import App, Environment, Plan
from apps.delivery.models.deployments import Deployment, DeploymentPlan, DeploymentStep
from apps.delivery.models.domains import CustomDomain
from apps.delivery.models.fleet import ClusterStatus, EnvironmentStatus
from apps.delivery.models.process_jobs import ProcessJobAction, RemoteRunner
from apps.delivery.models.releases import Release
from apps.delivery.models.usage import (
    AppAccount,
    LimitAlert,
    PlanLimit,
    UsageEvent,
    UsageMetric,
    UsageReservation,
    UsageTotal,
)

__all__ = [
    "App",
    "AppAccount",
    "ClusterStatus",
    "CustomDomain",
    "Deployment",
    "DeploymentPlan",
    "DeploymentStep",
    "Environment",
    "EnvironmentStatus",
    "LimitAlert",
    "Plan",
    "PlanLimit",
    "ProcessJobAction",
    "Release",
    "RemoteRunner",
    "UsageEvent",
    "UsageMetric",
    "UsageReservation",
    "UsageTotal",
]
