"""A snapshot is loaded once at a time, survives failures, and recovers by itself."""

import itertools
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from apps.flags.cache import LONGEST_BACKOFF_SECONDS, FlagCache, Snapshot
from apps.flags.evaluation import FlagDefinition

ON = {"f": FlagDefinition("f", is_enabled=True, rollout_percent=100)}


class Clock:
    """A clock that stands still until it is told to move."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def make_cache(
    load: Callable[[], Snapshot], clock: Clock, errors: list[Exception] | None = None
) -> FlagCache:
    return FlagCache(
        load,
        ttl_seconds=30,
        clock=clock,
        on_error=(errors if errors is not None else []).append,
    )


def test_a_fresh_snapshot_is_not_loaded_again() -> None:
    loads: list[int] = []
    clock = Clock()
    cache = make_cache(lambda: loads.append(1) or ON, clock)
    for _time in range(3):
        assert cache.get() == ON
    clock.now += 29.9
    cache.get()
    assert len(loads) == 1
    clock.now += 0.2
    cache.get()
    assert len(loads) == 2


def test_c1_the_last_known_flags_serve_while_loading_fails_and_tries_grow_rarer() -> None:
    tries: list[float] = []
    clock, errors = Clock(), []
    is_broken = False

    def load() -> Snapshot:
        tries.append(clock.now)
        if is_broken:
            raise ConnectionError("gone")
        return ON

    cache = make_cache(load, clock, errors)
    cache.get()
    is_broken = True
    for _second in range(200):
        clock.now += 1
        assert cache.get() == ON
    gaps = [later - earlier for earlier, later in itertools.pairwise(tries[1:])]
    assert gaps[:4] == [1, 2, 4, 8]
    assert max(gaps) <= LONGEST_BACKOFF_SECONDS
    assert len(errors) == len(tries) - 1


def test_it_recovers_as_soon_as_loading_works_again() -> None:
    clock = Clock()
    state = {"table": False}

    def load() -> Snapshot:
        if not state["table"]:
            raise LookupError("no such table")
        return ON

    cache = make_cache(load, clock)
    assert cache.get() == {}
    state["table"] = True
    clock.now += LONGEST_BACKOFF_SECONDS
    assert cache.get() == ON


def test_c4_many_threads_load_once() -> None:
    loads: list[int] = []
    barrier = threading.Barrier(8)
    cache = make_cache(lambda: loads.append(1) or ON, Clock())

    def read(_number: int) -> Snapshot:
        barrier.wait()
        return cache.get()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(read, range(8))) == [ON] * 8
    assert len(loads) == 1


def test_readers_do_not_wait_for_a_slow_refresh() -> None:
    clock = Clock()
    may_finish, has_started = threading.Event(), threading.Event()
    is_slow = False

    def load() -> Snapshot:
        if is_slow:
            has_started.set()
            assert may_finish.wait(20)
        return ON

    cache = make_cache(load, clock)
    cache.get()
    clock.now += 60
    is_slow = True
    refresher = threading.Thread(target=cache.get)
    refresher.start()
    assert has_started.wait(20)
    assert cache.get() == ON
    may_finish.set()
    refresher.join()


def test_a_fork_in_the_middle_of_a_refresh_does_not_hang_the_child() -> None:
    cache = make_cache(lambda: ON, Clock())
    cache._lock.acquire()
    child = os.fork()
    if child == 0:
        os._exit(0 if cache.get() == ON else 1)
    _pid, status = os.waitpid(child, 0)
    cache._lock.release()
    assert os.waitstatus_to_exitcode(status) == 0


def test_clearing_makes_the_next_reader_load() -> None:
    loads: list[int] = []
    cache = make_cache(lambda: loads.append(1) or ON, Clock())
    cache.get()
    cache.clear()
    cache.get()
    assert len(loads) == 2


def test_a_change_during_a_load_is_not_lost() -> None:
    off = {"f": FlagDefinition("f", is_enabled=False, rollout_percent=100)}
    answers = [ON, off]
    cache: FlagCache

    def load() -> Snapshot:
        read = answers.pop(0)
        if read is ON:
            cache.clear()  # somebody commits after we read and before we keep what we read
        return read

    cache = make_cache(load, Clock())
    assert cache.get() == ON
    assert cache.get() == off


class SharedVersion:
    """A version in a shared cache that can be moved and be away."""

    def __init__(self) -> None:
        self.value, self.is_away, self.reads = 1, False, 0

    def __call__(self) -> int:
        self.reads += 1
        if self.is_away:
            raise ConnectionError("away")
        return self.value


def versioned_cache(
    load: Callable[[], Snapshot], clock: Clock, version: SharedVersion
) -> FlagCache:
    return FlagCache(
        load,
        ttl_seconds=30,
        clock=clock,
        on_error=lambda _error: None,
        version=version,
        version_seconds=0.5,
    )


def test_a_change_elsewhere_is_seen_within_half_a_second() -> None:
    loads: list[int] = []
    clock, version = Clock(), SharedVersion()
    cache = versioned_cache(lambda: loads.append(1) or ON, clock, version)
    for _step in range(10):
        cache.get()
        clock.now += 0.51
    assert len(loads) == 1
    version.value = 2
    cache.get()
    cache.get()
    assert len(loads) == 2


def test_without_the_shared_cache_the_age_decides_and_nobody_waits_for_it_again() -> None:
    loads: list[int] = []
    clock, version = Clock(), SharedVersion()
    cache = versioned_cache(lambda: loads.append(1) or ON, clock, version)
    cache.get()
    version.is_away, version.reads = True, 0
    for _step in range(40):
        clock.now += 0.7
        assert cache.get() == ON
    assert (len(loads), version.reads) == (1, 1)
    clock.now += 3
    cache.get()
    assert len(loads) == 2
