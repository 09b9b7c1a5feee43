"""What identities promise to subscribers."""

from apps.outbox.event_types import declare

declare(
    "IDENTITY_RECONCILED",
    "LIDs were found to belong to a phone number.",
    required={
        "lid": {"type": "string"},
        "jid": {"type": "string"},
        "lids": {"type": "array", "items": {"type": "string"}},
    },
)
