"""The supervisor with real processes: codes, order, time, and nothing left behind."""

import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import time
import uuid
from contextlib import suppress
from pathlib import Path

import pytest

from apps.delivery.supervisor import main
from tests.waiting import wait_until

DEADLINE_SECONDS = 20
IDLE = "while :; do sleep 0.02; done"
STUBBORN = f"trap '' TERM INT QUIT HUP; echo ready >> $LOG; {IDLE}"


def on(signal_name, action, *, ready="ready"):
    """A shell program that says it is ready and answers one signal."""
    return f"trap '{action}' {signal_name}; echo {ready} >> $LOG; {IDLE}"


class Run:
    """One supervisor process, its log, and every process that inherits its mark."""

    def __init__(self, folder: Path, **env: str) -> None:
        self.log = folder / "log"
        self.mark = f"POMBO_RUN={uuid.uuid4().hex}"
        self.env = {**os.environ, "LOG": str(self.log), **env}
        self.env.update([self.mark.split("=")])

    def start(self, backend, proxy=None, *arguments):
        command = [sys.executable, "-m", "apps.delivery.supervisor", "--backend", shell(backend)]
        command += ["--proxy", shell(proxy)] if proxy else []
        self.started_at = time.monotonic()
        self.process = subprocess.Popen([*command, *arguments], env=self.env)
        return self

    def wait(self):
        code = self.process.wait(DEADLINE_SECONDS)
        self.seconds = time.monotonic() - self.started_at
        return code

    def stop(self, number=signal.SIGTERM):
        self.started_at = time.monotonic()
        self.process.send_signal(number)
        return self.wait()

    def lines(self):
        return self.log.read_text().split() if self.log.exists() else []

    def processes(self):
        pids = [int(entry.name) for entry in Path("/proc").glob("[0-9]*")]
        return [pid for pid in pids if self.owns(pid)]

    def owns(self, pid):
        with suppress(OSError):
            return self.mark.encode() in Path(f"/proc/{pid}/environ").read_bytes()
        return False


def shell(script):
    return shlex.join(["sh", "-c", script])


@pytest.fixture
def run(tmp_path):
    made = Run(tmp_path, OON_SHUTDOWN_GRACE_MS="10000")
    yield made
    if made.process.poll() is None:
        made.process.kill()
        made.process.wait()
    for pid in made.processes():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def test_a_failing_backend_gives_its_code_and_the_proxy_is_drained(run):
    proxy = on("QUIT", "echo drained >> $LOG; exit 0")
    run.start("until test -e $LOG; do sleep 0.01; done; exit 3", proxy)
    assert run.wait() == 3
    assert run.lines() == ["ready", "drained"]
    assert run.seconds < 5
    assert run.processes() == []


def test_a_backend_that_ends_with_success_is_a_failure_too(run):
    assert run.start("exit 0", on("QUIT", "exit 0")).wait() == 1


def test_death_by_a_signal_is_told_as_shells_tell_it(run):
    assert run.start("kill -KILL $$").wait() == 128 + signal.SIGKILL


def test_the_first_failure_gives_the_code(run):
    proxy = on("QUIT", "exit 7")
    assert run.start("until test -e $LOG; do sleep 0.01; done; exit 3", proxy).wait() == 3


@pytest.mark.parametrize("broken", ["/no/such/program", "/etc/passwd"])
def test_a_program_that_cannot_start_ends_all_with_1(run, broken):
    run.start(on("TERM", "exit 0"), None, "--extra", f"broken={broken}")
    assert run.wait() == 1
    assert run.processes() == []


def test_a_proxy_that_cannot_start_ends_the_backend_before_it(run, tmp_path):
    command = ["--backend", shell(on("TERM", "exit 0")), "--proxy", str(tmp_path / "absent")]
    code = subprocess.call(
        [sys.executable, "-m", "apps.delivery.supervisor", *command], env=run.env, timeout=20
    )
    run.process = subprocess.Popen(["true"])
    assert (code, run.processes()) == (1, [])


def test_the_backend_is_stopped_only_after_the_proxy_is_gone(run):
    run.start(
        on("TERM", "echo backend-stops >> $LOG; exit 0", ready="backend-ready"),
        on("QUIT", "sleep 0.3; echo proxy-gone >> $LOG; exit 0", ready="proxy-ready"),
    )
    wait_until(lambda: len(run.lines()) == 2)
    assert run.stop() == 0
    assert run.lines()[2:] == ["proxy-gone", "backend-stops"]


def test_a_stubborn_proxy_leaves_the_backend_half_of_the_grace(run):
    run.env["OON_SHUTDOWN_GRACE_MS"] = "1200"
    run.start(on("TERM", "echo $(date +%s.%N) >> $LOG; exit 0"), STUBBORN)
    wait_until(lambda: len(run.lines()) == 2)
    stopped_at = time.time()
    assert run.stop() == 0
    assert 0.5 <= float(run.lines()[2]) - stopped_at < 1.1
    assert 1.1 <= run.seconds < 4
    assert run.processes() == []


def test_it_ends_as_soon_as_the_last_is_gone(run):
    run.start(
        on("TERM", "sleep 0.6; echo backend-gone >> $LOG; exit 0"),
        on("QUIT", "sleep 0.1; echo proxy-gone >> $LOG; exit 0"),
    )
    wait_until(lambda: len(run.lines()) == 2)
    assert run.stop() == 0
    assert run.lines()[2:] == ["proxy-gone", "backend-gone"]
    assert 0.6 < run.seconds < 5


def test_what_ignores_every_signal_is_killed_when_the_grace_is_over(run):
    run.env["OON_SHUTDOWN_GRACE_MS"] = "400"
    run.start(STUBBORN, STUBBORN)
    wait_until(lambda: len(run.lines()) == 2)
    assert run.stop() == 0
    assert 0.4 <= run.seconds < 4
    assert run.processes() == []


def test_a_second_interrupt_ends_the_grace(run):
    run.start(STUBBORN)
    wait_until(run.lines)
    run.process.send_signal(signal.SIGINT)
    time.sleep(0.1)  # two equal signals at once would be delivered as one
    assert run.stop(signal.SIGINT) == 0
    assert run.seconds < 5


def test_the_grace_is_cut_to_what_the_pod_grants(run):
    run.env |= {"OON_PRE_STOP_SECONDS": "5", "OON_TERMINATION_GRACE_SECONDS": "8"}
    run.start(STUBBORN)
    wait_until(run.lines)
    assert run.stop() == 0
    assert 1 <= run.seconds < 5


def test_orphans_that_left_their_group_are_ended_too(run):
    run.env["OON_SHUTDOWN_GRACE_MS"] = "500"
    # The middle shell ends at once, so that its child is an orphan in a session of its own.
    maker = shell(f"setsid {shell(STUBBORN)} & echo child >> $LOG")
    run.start(on("TERM", "exit 0"), None, "--extra", f"maker={shell(f'{maker}; {IDLE}')}")
    wait_until(lambda: sorted(run.lines()) == ["child", "ready", "ready"])
    assert run.stop() == 0
    assert run.processes() == []


def test_adopted_orphans_are_reaped_while_running(run):
    run.start("(sh -c 'sleep 0.1; echo gone >> $LOG' &); " + on("TERM", "exit 0"))
    wait_until(lambda: sorted(run.lines()) == ["gone", "ready"])
    wait_until(lambda: zombies_of(run.process.pid) == [])
    assert run.stop() == 0


def zombies_of(parent_pid):
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
            found += [stat.parent.name] if (state, int(parent)) == ("Z", parent_pid) else []
    return found


def test_only_the_backend_hears_the_port(run):
    run.env.pop("PORT", None)
    run.start(
        "echo backend=$PORT >> $LOG; " + IDLE,
        "echo proxy=$PORT >> $LOG; " + on("QUIT", "exit 0"),
    )
    wait_until(lambda: len(run.lines()) == 3)
    run.stop()
    assert {"backend=4000", "proxy="} <= set(run.lines())


def can_make_namespaces():
    probe = ["unshare", "--pid", "--fork", "--mount-proc", "true"]
    return (
        shutil.which("unshare")
        and subprocess.run(probe, check=False, capture_output=True).returncode == 0
    )


@pytest.mark.skipif(not can_make_namespaces(), reason="needs the right to make a PID namespace")
def test_as_first_process_of_a_container_it_keeps_its_promises(run):
    command = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-m"]
    backend = shell("(setsid sleep 60 &); test $PPID = 1 && exit 3")
    command += ["apps.delivery.supervisor", "--backend", backend, "--proxy", shell(IDLE)]
    run.process = subprocess.Popen(command, env=run.env)
    assert run.process.wait(DEADLINE_SECONDS) == 3
    assert run.processes() == []


@pytest.mark.parametrize(
    "arguments", [[], ["--backend", ""], ["--backend", "'"], ["--backend", "true", "--extra", "x"]]
)
def test_a_command_line_that_names_no_program_is_refused(arguments, capfd):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage" in capfd.readouterr().err


def test_it_loads_nothing_but_the_standard_library():
    script = (
        "import sys, apps.delivery.supervisor as s;"
        "strange = {n.partition('.')[0] for n in sys.modules} - sys.stdlib_module_names;"
        "print(sorted(strange - {'apps', '__main__', 'sitecustomize'}))"
    )
    found = subprocess.check_output([sys.executable, "-S", "-c", script], text=True)
    assert found.strip() == "[]"


BEHAVIOURS = {
    "obedient": on("TERM", "exit 0"),
    "slow": on("TERM", "sleep 0.2; exit 0"),
    "stubborn": STUBBORN,
    "ends": "echo ready >> $LOG; sleep 0.1; exit 9",
    "killed": "echo ready >> $LOG; sleep 0.1; kill -KILL $$",
    "forks": "(setsid sleep 60 &); (sleep 60 &); " + on("TERM", "exit 0"),
}


@pytest.mark.chaos
@pytest.mark.parametrize("seed", range(6))
def test_whatever_the_programs_do_the_end_is_in_time_and_complete(run, seed):
    chosen = random.Random(seed).choices(sorted(BEHAVIOURS), k=4)
    run.env["OON_SHUTDOWN_GRACE_MS"] = "600"
    backend, proxy, *extra = (BEHAVIOURS[name] for name in chosen)
    options = [f"--extra=x{place}={shell(script)}" for place, script in enumerate(extra)]
    run.start(backend, proxy, *options)
    ends_itself = {"ends", "killed"} & set(chosen)
    wait_until(lambda: len(run.lines()) == 4 or run.process.poll() is not None)
    code = run.wait() if ends_itself else run.stop()
    assert code in ({9, 137} if ends_itself else {0})
    assert run.seconds < 6
    assert run.processes() == []
