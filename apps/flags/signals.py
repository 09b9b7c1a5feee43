"""What other apps may listen to."""

from django.dispatch import Signal

# Sent inside the transaction of the change, with: flag_name, action, before, after, actor.
flag_changed = Signal()
