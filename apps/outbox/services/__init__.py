"""Everything that writes to the outbox."""

from apps.outbox.services.dead_letters import discard, edit_and_redrive, redrive
from apps.outbox.services.draining import DrainReport, drain
from apps.outbox.services.holding import hold_reason, release_held
from apps.outbox.services.pausing import pause_type, resume_type
from apps.outbox.services.pruning import prune
from apps.outbox.services.publishing import publish, publish_many

__all__ = [
    "DrainReport",
    "discard",
    "drain",
    "edit_and_redrive",
    "hold_reason",
    "pause_type",
    "prune",
    "publish",
    "publish_many",
    "redrive",
    "release_held",
    "resume_type",
]
