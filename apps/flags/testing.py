"""Flags in tests: `with override_flag("new_checkout", is_enabled=True): …`, also as a decorator."""

from collections.abc import Iterator
from contextlib import contextmanager

from apps.flags.evaluation import FULL_PERCENT, FlagDefinition
from apps.flags.services import flag_cache


@contextmanager
def override_flag(
    flag_name: str, *, is_enabled: bool = True, rollout_percent: int = FULL_PERCENT
) -> Iterator[None]:
    """Have a flag be so while the block runs, whatever the table says.

    Seen at once, may be nested, is undone after an exception, and touches no database.
    """
    definition = FlagDefinition(flag_name, is_enabled, rollout_percent)
    with flag_cache.overridden(definition):
        yield
