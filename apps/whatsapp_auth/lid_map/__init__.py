"""The LID map: which phone stands behind a hidden WhatsApp identity, as far as bots have told us.

Learning writes at once, in batches that one bad row cannot hold up. A LID whose phone becomes known
or changes is *reconciled* in the same transaction: accounts move to the phone, an event tells other
apps to move what they keep, and login links of a phone that lost its LID die. One phone has one LID
per server: when another takes it, the former one stops resolving.
"""

from apps.whatsapp_auth.lid_map.learning import (
    Learned,
    LearnReport,
    learn,
    learn_many,
    reconcile,
)
from apps.whatsapp_auth.lid_map.lookups import (
    Lookup,
    current_phone,
    resolve_many,
    resolve_user_id,
)

__all__ = [
    "LearnReport",
    "Learned",
    "Lookup",
    "current_phone",
    "learn",
    "learn_many",
    "reconcile",
    "resolve_many",
    "resolve_user_id",
]
