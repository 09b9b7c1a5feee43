"""PID 1 of a container: starts its programs, passes the stop on, leaves nothing behind.

    python -m apps.delivery.supervisor --proxy "nginx -g 'daemon off;'" --backend "node server.js"

Promises, for `supervise` and the command alike:
- Programs start in reverse drain order (the backend before its proxy), each in a process group of
  its own; the backend hears `PORT=4000`.
- An exit that nobody asked for ends them all. The result is the code of the first program that
  failed (128 + n for signal n, 1 when it ended with 0); 1 when one cannot start; 0 after a stop
  that was asked for by SIGTERM, SIGINT, SIGQUIT or SIGHUP.
- Draining is ordered: a group gets its own stop signal once those before it are gone, at the
  latest when its share of the grace begins (with two programs: at half). At the end of the grace
  everything left is killed; a second SIGINT ends the grace at once.
- Orphans are adopted and reaped; it returns as soon as the last descendant is gone.
Standard library only, Linux first (elsewhere orphans are adopted only as PID 1).
"""

import argparse
import contextlib
import logging
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from apps.delivery.process_tree import (
    STOP_SIGNALS,
    adopt_orphans,
    caught_signals,
    child_pids,
    next_signals,
    send_signal,
)
from apps.delivery.shutdown import grace_ms_from_env, pod_grace_limit_ms

__all__ = ["BACKEND_PORT", "ChildSpec", "grace_ms_from_env", "main", "supervise"]

BACKEND_PORT = "4000"

_KILL_INTERVAL_SECONDS = 0.05

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ChildSpec:
    """A program to keep running. `env` is added to our own environment."""

    name: str
    command: Sequence[str]
    stop_signal: signal.Signals = signal.SIGTERM
    cwd: str | Path | None = None
    env: Mapping[str, str] = field(default_factory=dict)


def supervise(
    *,
    backend: ChildSpec,
    proxy: ChildSpec | None = None,
    extra: Sequence[ChildSpec] = (),
    grace_ms: int | None = None,
) -> int:
    """Run the programs until one ends or a stop is asked for; return the exit code.

    They drain in the order proxy, backend, extra. Without `grace_ms` the environment decides;
    either way the grace is cut to what the pod grants. Call it from the main thread of a process
    that has no other children: it reaps, and in the end stops, all there are.
    """
    proxies = [proxy] if proxy else []
    wanted_ms = grace_ms_from_env(os.environ) if grace_ms is None else grace_ms
    supervisor = _Supervisor(
        [*proxies, _with_port(backend), *extra], grace_seconds=_fitted_ms(wanted_ms) / 1000
    )
    return supervisor.run()


def _with_port(backend: ChildSpec) -> ChildSpec:
    """The backend with its port, unless its own environment names another."""
    env = {"PORT": BACKEND_PORT, **backend.env}
    return ChildSpec(backend.name, backend.command, backend.stop_signal, backend.cwd, env)


def _fitted_ms(wanted_ms: int) -> int:
    """The wanted grace, cut to the pod's: the kubelet would end a longer one by SIGKILL."""
    limit_ms = pod_grace_limit_ms(os.environ)
    if limit_ms is None or wanted_ms <= limit_ms:
        return wanted_ms
    logger.warning("supervisor.grace_cut from %d ms to %d ms", wanted_ms, limit_ms)
    return max(limit_ms, 0)


@dataclass(slots=True)
class _Child:
    """A started program and its process group."""

    spec: ChildSpec
    process: subprocess.Popen[bytes]
    is_signalled: bool = False
    is_gone: bool = False

    def signal_group(self, number: signal.Signals) -> None:
        """Signal the whole group, while there is one."""
        if not self.is_gone:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, number)

    def refresh(self) -> None:
        """Notice that the last member of the group is gone; its id may then be used again."""
        if self.is_gone:
            return
        try:
            os.killpg(self.process.pid, 0)
        except ProcessLookupError:
            self.is_gone = True
        except PermissionError:
            return  # members that changed their user still count


class _Supervisor:
    """One run: the children in drain order, and how far the stop has come."""

    def __init__(self, specs: Sequence[ChildSpec], *, grace_seconds: float) -> None:
        self._specs = specs
        self._grace_seconds = grace_seconds
        self._children: list[_Child] = []
        self._stopping_since: float | None = None
        self._exit_code = 0
        self._asked_strays: set[int] = set()

    def run(self) -> int:
        """Start, wait, drain; return the exit code."""
        adopt_orphans()
        with caught_signals() as wake_fd:
            self._start_all()
            while self._reap():
                self._advance_stop()
                for number in next_signals(wake_fd, self._wait_seconds()):
                    self._on_signal(number)
        return self._exit_code

    def _start_all(self) -> None:
        """Start in reverse drain order; the first that cannot start ends them all with 1."""
        for spec in reversed(self._specs):
            try:
                process = subprocess.Popen(  # noqa: S603 - the commands are our caller's own
                    list(spec.command),
                    cwd=spec.cwd,
                    env={**os.environ, **spec.env},
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                logger.error("supervisor.start_failed %s: %s", spec.name, error)  # noqa: TRY400
                self._stop(1)
                return
            self._children.insert(0, _Child(spec, process))

    def _reap(self) -> bool:
        """Collect dead children and adopted orphans; False once there is none left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                # Without a child of any kind the run is over, whatever has been asked for.
                return False
            if pid == 0:
                break
            self._on_exit(pid, os.waitstatus_to_exitcode(status))
        for child in self._children:
            child.refresh()
        return True

    def _on_exit(self, pid: int, code: int) -> None:
        """Record the end of one of our programs; orphans need no more than the reaping."""
        for child in self._children:
            if child.process.pid == pid:
                child.process.returncode = code  # Popen would wait for it again
                logger.info("supervisor.exited %s: %d", child.spec.name, code)
                self._stop(_shell_code(code) or 1)

    def _on_signal(self, number: int) -> None:
        """A stop that was asked for; a second Ctrl-C loses patience."""
        if number == signal.SIGINT and self._stopping_since is not None:
            self._grace_seconds = 0
        elif number in STOP_SIGNALS:
            self._stop(0)

    def _stop(self, code: int) -> None:
        """Begin to drain; only the first reason counts."""
        if self._stopping_since is None:
            self._stopping_since = time.monotonic()
            self._exit_code = code

    def _advance_stop(self) -> None:
        """Signal the groups whose turn has come, and kill when the grace is over."""
        if self._stopping_since is None:
            return
        elapsed = time.monotonic() - self._stopping_since
        if elapsed >= self._grace_seconds:
            self._kill_all()
            return
        for position, child in enumerate(self._children):
            is_first = all(earlier.is_gone for earlier in self._children[:position])
            if not is_first and elapsed < self._turn_seconds(position):
                return
            if not child.is_signalled:
                child.is_signalled = True
                child.signal_group(child.spec.stop_signal)
        if all(child.is_gone for child in self._children):
            self._terminate_strays()

    def _turn_seconds(self, position: int) -> float:
        """When a group is signalled at the latest, counted from the begin of the stop."""
        return self._grace_seconds * position / len(self._children)

    def _kill_all(self) -> None:
        """Kill every group, and every adopted orphan that left its group."""
        for child in self._children:
            child.signal_group(signal.SIGKILL)
        for pid in self._stray_pids():
            send_signal(pid, signal.SIGKILL)

    def _terminate_strays(self) -> None:
        """Ask each stray once to end; many programs take a second SIGTERM as an order to hurry."""
        for pid in self._stray_pids() - self._asked_strays:
            self._asked_strays.add(pid)
            send_signal(pid, signal.SIGTERM)

    def _stray_pids(self) -> set[int]:
        """Our children that we did not start: adopted, and outside of the groups."""
        return child_pids() - {child.process.pid for child in self._children}

    def _wait_seconds(self) -> float | None:
        """How long nothing is due: for ever while running, until the next turn while draining."""
        if self._stopping_since is None:
            return None
        elapsed = time.monotonic() - self._stopping_since
        if elapsed >= self._grace_seconds:
            return _KILL_INTERVAL_SECONDS  # a killed parent hands us new orphans to kill
        turns = [self._turn_seconds(position) for position in range(len(self._children))]
        return min(turn for turn in [*turns, self._grace_seconds] if turn > elapsed) - elapsed


def _shell_code(returncode: int) -> int:
    """The exit code as shells and containers tell it: 128 + n after signal n."""
    return returncode if returncode >= 0 else 128 - returncode


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line, supervise, and return the exit code."""
    parser = argparse.ArgumentParser(prog="supervisor", description="Run programs as one.")
    parser.add_argument("--backend", required=True, type=_command, help="the main program")
    parser.add_argument("--backend-cwd", help="folder that it starts in")
    parser.add_argument("--proxy", type=_command, help="the proxy before it; drained first")
    parser.add_argument(
        "--proxy-stop-signal", default="SIGQUIT", choices=[s.name for s in STOP_SIGNALS]
    )
    parser.add_argument(
        "--extra",
        action="append",
        default=[],
        type=_extra_spec,
        metavar="NAME=COMMAND",
        help="drained last",
    )
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    # SIGQUIT is nginx's graceful stop.
    stop_signal = signal.Signals[options.proxy_stop_signal]
    return supervise(
        backend=ChildSpec("backend", options.backend, cwd=options.backend_cwd),
        proxy=ChildSpec("proxy", options.proxy, stop_signal) if options.proxy else None,
        extra=options.extra,
    )


def _command(text: str) -> list[str]:
    """Split a command line as a shell would. Raises ValueError when it is empty or unbalanced."""
    parts = shlex.split(text)
    if not parts:
        raise ValueError("empty command")
    return parts


def _extra_spec(text: str) -> ChildSpec:
    """Parse `NAME=COMMAND`. Raises ValueError."""
    name, _, command = text.partition("=")
    return ChildSpec(name, _command(command))


if __name__ == "__main__":
    sys.exit(main())
