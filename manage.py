#!/usr/bin/env python
"""Pombo's commands."""

import os
import sys


def main() -> None:
    """Run the command named on the command line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.management import execute_from_command_line  # noqa: PLC0415 (after the settings are named)

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
