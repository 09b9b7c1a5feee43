"""Telling long-running tasks that their cluster is stopping.

django-q2 lets a worker finish its task, however long, and has no way to tell it to hurry. This
event is made before the workers are forked, so that the parent can set it for all of them.
"""

import multiprocessing

stop_requested = multiprocessing.get_context("fork").Event()
