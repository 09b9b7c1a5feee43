"""All tables of flags."""

from apps.flags.models.desk import FlagChange, FlagRule, FlagUsage, RolloutStep
from apps.flags.models.mirrored import FeatureFlag

__all__ = ["FeatureFlag", "FlagChange", "FlagRule", "FlagUsage", "RolloutStep"]
