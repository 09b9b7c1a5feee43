"""Writing down, once in a while, which flags were asked for."""

from datetime import date

from apps.flags.models import FlagUsage
from apps.flags.sampling import take_asked_flags


def record_usage(*, today: date) -> int:
    """Note the flags that this process was asked for since the last call; tells how many."""
    names = sorted(take_asked_flags())
    for name in names:
        FlagUsage.objects.update_or_create(flag_name=name, defaults={"last_evaluated_on": today})
    return len(names)
