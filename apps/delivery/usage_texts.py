"""What refusals and contradictions of usage mean, in words."""

from django.utils.translation import gettext_lazy as _

from apps.delivery.usage.events import MAX_ID_LENGTH, MAX_QUANTITY, MAX_SUBJECT_LENGTH, Refusal
from apps.delivery.usage.terms import Contradiction

CONTRADICTION_TEXTS = {
    Contradiction.ADDON_WITHOUT_OVERAGE: _("Charging for more needs a price."),
    Contradiction.BLOCK_WITH_OVERAGE: _("A plan that blocks never charges for more."),
    Contradiction.BLOCK_SIZE_WITHOUT_BLOCKS: _("Has no meaning unless blocks are charged."),
    Contradiction.BLOCKS_WITHOUT_SIZE: _("Blocks need a size."),
    Contradiction.OVERAGE_WITHOUT_PRICE: _("More use needs its price in cents."),
    Contradiction.PRICE_WITHOUT_OVERAGE: _("Say what the price is for: units or blocks."),
    Contradiction.HARD_BELOW_INCLUDED: _("Must not lie below what is included."),
    Contradiction.SOFT_ABOVE_HARD: _("Must not lie above the hard limit."),
}

# Answers of the API are in English, as all its messages are.
REFUSAL_TEXTS = {
    Refusal.MALFORMED: "An event is an object with app, metric, id and quantity.",
    Refusal.UNKNOWN_FIELD: "An event has only app, metric, id, quantity, occurred_at and subject.",
    Refusal.OTHER_APP: "This token speaks for another app.",
    Refusal.UNKNOWN_METRIC: "The app declares no such metric.",
    Refusal.INVALID_ID: f"The id takes 1 to {MAX_ID_LENGTH} visible ASCII characters.",
    Refusal.INVALID_QUANTITY: f"The quantity is a whole number from 0 to {MAX_QUANTITY}.",
    Refusal.INVALID_SUBJECT: f"The subject takes up to {MAX_SUBJECT_LENGTH} printable characters.",
    Refusal.INVALID_TIME: "The time needs its offset from UTC.",
    Refusal.TOO_EARLY: "The time lies more than five minutes ahead.",
    Refusal.TOO_LATE: "The period of this time is closed.",
    Refusal.EVENT_CONFLICT: "The id was used before, for something else.",
    Refusal.LIMIT_REACHED: "The plan has no room for so much more.",
}
