"""The parts of `manage.py delivery`: each module here is a sub-command of its name.

A module has a docstring (its help), `add_arguments(parser)` and `handle(command, options)`.
"""
