"""Which flags this process was asked for. Pure.

Adding a name that is there costs a hash look-up; nothing is counted and nothing is locked, so that
knowing which flags are still in use costs nothing where it matters.
"""

asked_flags: set[str] = set()


def take_asked_flags() -> set[str]:
    """The names asked for since the last call."""
    names = set(asked_flags)
    asked_flags.difference_update(names)
    return names
