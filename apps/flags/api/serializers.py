"""Flags as the API takes and gives them: types and bounds here, rules in the services."""

from typing import Any

from rest_framework import serializers

from apps.flags.evaluation import FULL_PERCENT, MAX_NAME_LENGTH, UNIT_COUNT
from apps.flags.models import FeatureFlag, FlagChange, FlagRule, RolloutStep


class FlagSerializer(serializers.ModelSerializer[FeatureFlag]):
    """A flag's row."""

    class Meta:
        model = FeatureFlag
        fields = [
            "flag_name",
            "is_enabled",
            "rollout_percent",
            "description",
            "updated_by",
            "updated_at",
            "created_at",
        ]


class RuleSerializer(serializers.ModelSerializer[FlagRule]):
    """What a flag has beside its row."""

    class Meta:
        model = FlagRule
        exclude = ["flag_name"]


class ChangeSerializer(serializers.ModelSerializer[FlagChange]):
    """A line of a flag's log."""

    class Meta:
        model = FlagChange
        exclude = ["flag_name"]


class RolloutStepSerializer(serializers.ModelSerializer[RolloutStep]):
    """A planned percentage."""

    class Meta:
        model = RolloutStep
        fields = ["id", "rollout_percent", "due_at", "status", "actor", "applied_at"]


class FlagWishSerializer(serializers.Serializer[Any]):
    """A change of a flag's row; what is left out stays."""

    flag_name = serializers.CharField(max_length=MAX_NAME_LENGTH, required=False)
    is_enabled = serializers.BooleanField(required=False)
    rollout_percent = serializers.IntegerField(min_value=0, max_value=FULL_PERCENT, required=False)
    description = serializers.CharField(max_length=255, required=False, allow_blank=True)
    reason = serializers.CharField(max_length=255, required=False, allow_blank=True)


class RuleWishSerializer(serializers.Serializer[Any]):
    """A change of a flag's rule; what is left out stays."""

    salt = serializers.CharField(max_length=64, required=False, allow_blank=True)
    rollout_units = serializers.IntegerField(
        min_value=0, max_value=UNIT_COUNT, required=False, allow_null=True
    )
    allowed = serializers.ListField(child=serializers.CharField(max_length=255), required=False)
    denied = serializers.ListField(child=serializers.CharField(max_length=255), required=False)
    prerequisites = serializers.ListField(
        child=serializers.CharField(max_length=MAX_NAME_LENGTH), required=False, max_length=20
    )
    is_client_visible = serializers.BooleanField(required=False)
    owner = serializers.CharField(max_length=150, required=False, allow_blank=True)
    expires_on = serializers.DateField(required=False, allow_null=True)
    tags = serializers.ListField(child=serializers.CharField(max_length=40), required=False)
    reason = serializers.CharField(max_length=255, required=False, allow_blank=True)


class ReasonSerializer(serializers.Serializer[Any]):
    """Why."""

    reason = serializers.CharField(max_length=255)


class PlannedStepSerializer(serializers.Serializer[Any]):
    """A percentage and its time."""

    due_at = serializers.DateTimeField()
    rollout_percent = serializers.IntegerField(min_value=0, max_value=FULL_PERCENT)


class RolloutPlanSerializer(serializers.Serializer[Any]):
    """The steps of a rollout, in order."""

    steps = PlannedStepSerializer(many=True, allow_empty=False)


class QuestionSerializer(serializers.Serializer[Any]):
    """Flags asked for one subject; all flags when none is named."""

    subject_key = serializers.CharField(max_length=255, required=False, allow_blank=True)
    flags = serializers.ListField(
        child=serializers.CharField(max_length=200), required=False, max_length=200
    )


class StaleQuestionSerializer(serializers.Serializer[Any]):
    """For how many days nobody changed or asked for a flag."""

    days = serializers.IntegerField(min_value=0, max_value=3650, default=30)
