"""Shapes of what bots and people send and get; rules are in the services."""

import json
from typing import Any

from rest_framework import serializers

from apps.whatsapp_auth.choices import LookupStatus
from apps.whatsapp_auth.jids import MAX_JID_LENGTH

MAX_LOOKUPS = 1000
MAX_PAIRS = 5000
MAX_ID_TOKEN_LENGTH = 8192


def whole_characters(value: Any) -> None:
    """Refuse halves of surrogate pairs, which JSON can hold and no answer could repeat."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise serializers.ValidationError("Some text is not valid Unicode.") from error


class ResolveSerializer(serializers.Serializer):
    """One question: a message, a user in any shape, or many LIDs."""

    message = serializers.DictField(required=False, validators=[whole_characters])
    user = serializers.JSONField(required=False, validators=[whole_characters])
    lids = serializers.ListField(
        child=serializers.CharField(max_length=MAX_JID_LENGTH),
        max_length=MAX_LOOKUPS,
        allow_empty=False,
        required=False,
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Exactly one of the three."""
        if len(attrs) != 1:
            raise serializers.ValidationError("Give one of message, user or lids.")
        return attrs


class LookupSerializer(serializers.Serializer):
    """What is known of one LID."""

    lid = serializers.CharField()
    status = serializers.ChoiceField(choices=LookupStatus.choices)
    jid = serializers.CharField(allow_null=True)


class SenderSerializer(serializers.Serializer):
    """Identities of a sender; `user_id` is the best address known."""

    lid = serializers.CharField(allow_null=True)
    jid = serializers.CharField(allow_null=True)
    participant_alt = serializers.CharField(allow_null=True)
    remote_jid = serializers.CharField(allow_null=True)
    group_message = serializers.BooleanField()
    user_id = serializers.CharField(allow_null=True)
    status = serializers.ChoiceField(choices=LookupStatus.choices)


class ResolveAnswerSerializer(serializers.Serializer):
    """One sender, or results in the order of the LIDs asked for."""

    sender = SenderSerializer(required=False)
    results = LookupSerializer(many=True, required=False)


class PairSerializer(serializers.Serializer):
    """A LID and its phone address; the map itself judges them, so that one bad pair fails alone."""

    lid = serializers.CharField(max_length=512, allow_blank=True)
    jid = serializers.CharField(max_length=512, allow_null=True, allow_blank=True, default=None)


class LearnSerializer(serializers.Serializer):
    """Pairs, or a message, contact or history sync as the bot's library gives it."""

    pairs = PairSerializer(many=True, required=False, max_length=MAX_PAIRS)  # type: ignore[call-arg]  # the stubs forget ListSerializer's own arguments
    payload = serializers.DictField(required=False, validators=[whole_characters])
    source = serializers.RegexField(r"^[a-z0-9_-]{1,32}\Z", default="message")  # type: ignore[assignment]  # declared fields leave the class

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """At least something to learn from."""
        if "pairs" not in attrs and "payload" not in attrs:
            raise serializers.ValidationError("Give pairs or a payload.")
        return attrs


class LearnAnswerSerializer(serializers.Serializer):
    """How many rows were written, were news, or told nothing new; what was refused and why."""

    written_count = serializers.IntegerField()
    reconciled_count = serializers.IntegerField()
    skipped_count = serializers.IntegerField()
    rejected = serializers.DictField(child=serializers.CharField())


class LinkRequestSerializer(serializers.Serializer):
    """For whom a link is wanted: the sender of a message, or a phone."""

    message = serializers.DictField(required=False, validators=[whole_characters])
    user_id = serializers.CharField(max_length=MAX_JID_LENGTH, required=False)
    text = serializers.CharField(max_length=1000, required=False, allow_blank=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Exactly one of message and user_id; a text belongs to a message."""
        if ("message" in attrs) == ("user_id" in attrs):
            raise serializers.ValidationError("Give either message or user_id.")
        return attrs


class LinkSerializer(serializers.Serializer):
    """An issued link; it works once, until it expires."""

    url = serializers.CharField()
    masked_phone = serializers.CharField()
    expires_at = serializers.DateTimeField()


class RevokeLinksSerializer(serializers.Serializer):
    """The phone whose open links are to die."""

    user_id = serializers.CharField(max_length=MAX_JID_LENGTH)


class IdTokenSerializer(serializers.Serializer):
    """A Google ID token; the login hint stands beside it in any of its spellings."""

    google_id_token = serializers.CharField(max_length=MAX_ID_TOKEN_LENGTH, required=False)
    id_token = serializers.CharField(max_length=MAX_ID_TOKEN_LENGTH, required=False)
    changes = serializers.CharField(max_length=64, required=False, allow_blank=True, default="")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """One of the two names of the token."""
        if not (attrs.get("google_id_token") or attrs.get("id_token")):
            raise serializers.ValidationError("Give google_id_token.")
        return attrs


class PersonSerializer(serializers.Serializer):
    """The signed-in person and the session in use."""

    google_sub = serializers.CharField()
    owner_jid = serializers.CharField()
    owner_phone = serializers.CharField()
    email = serializers.CharField()
    name = serializers.CharField()
    session_ref = serializers.CharField()
    expires_at = serializers.DateTimeField()


class SessionSerializer(serializers.Serializer):
    """One of a person's own sessions, by a reference that opens nothing."""

    session_ref = serializers.CharField()
    expires_at = serializers.DateTimeField()
    last_seen_at = serializers.DateTimeField(allow_null=True)
    is_current = serializers.BooleanField()
