"""What a supervisor needs of the operating system: adoption, children, signals as bytes.

Standard library only. Linux first; elsewhere there is no adoption and no list of children.
"""

import contextlib
import ctypes
import os
import select
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)

_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


def adopt_orphans() -> None:
    """Become the parent of orphaned descendants, as PID 1 is by nature."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def child_pids() -> set[int]:
    """Our direct children by /proc; empty where there is none."""
    own_pid = str(os.getpid())
    pids = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # The command name stands in brackets and may hold anything; the parent comes after.
            if stat.read_text(errors="replace").rpartition(")")[2].split()[1] == own_pid:
                pids.add(int(stat.parent.name))
    return pids


@contextlib.contextmanager
def caught_signals() -> Iterator[int]:
    """Turn signals into bytes on a pipe (its reading end), and restore the handlers after.

    Only in the main thread. SIGHUP stays ignored where it is (nohup).
    """
    read_fd, write_fd = os.pipe()
    os.set_blocking(read_fd, False)
    os.set_blocking(write_fd, False)
    ignored = {signal.SIGHUP} if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else set()
    numbers = {*STOP_SIGNALS, signal.SIGCHLD} - ignored
    handlers = {number: signal.signal(number, lambda *_: None) for number in numbers}
    wakeup_fd = signal.set_wakeup_fd(write_fd, warn_on_full_buffer=False)
    try:
        yield read_fd
    finally:
        signal.set_wakeup_fd(wakeup_fd)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        os.close(read_fd)
        os.close(write_fd)


def next_signals(wake_fd: int, wait_seconds: float | None) -> bytes:
    """The numbers of the signals that came, after waiting for at most so long."""
    readable, _, _ = select.select([wake_fd], [], [], wait_seconds)
    return os.read(wake_fd, 4096) if readable else b""


def send_signal(pid: int, number: signal.Signals) -> None:
    """Signal one process, if it is still there and ours to signal."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
