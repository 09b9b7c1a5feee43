"""Hearing of new jobs at once, wherever they were enqueued: MongoDB's change stream tells."""

from types import TracebackType
from typing import Any, Self

from pymongo.change_stream import CollectionChangeStream
from pymongo.collection import Collection
from pymongo.errors import OperationFailure

_NO_REPLICA_SET = 40573
_PIPELINE: list[dict[str, Any]] = [
    {"$match": {"operationType": "insert"}},
    {"$project": {"_id": 1}},
]


class Arrivals:
    """A change stream that is open while the worker has nothing to do.

    Transactions are heard of when they commit. A server without a replica set has no such stream;
    then the worker polls.
    """

    def __init__(self, jobs: Collection[dict[str, Any]], *, wait_seconds: float) -> None:
        self._jobs = jobs
        self._wait_ms = round(wait_seconds * 1000)
        self._stream: CollectionChangeStream[dict[str, Any]] | None = None
        self._is_supported = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def is_open(self) -> bool:
        """Whether it listens."""
        return self._stream is not None

    def listen(self) -> bool:
        """Begin to listen, if that is not the case already; False where the server cannot."""
        if self._stream is None and self._is_supported:
            try:
                self._stream = self._jobs.watch(_PIPELINE, max_await_time_ms=self._wait_ms)
            except OperationFailure as failure:
                if failure.code != _NO_REPLICA_SET:
                    raise
                self._is_supported = False
        return self.is_open

    def wait(self) -> None:
        """Return when a job arrives, or after a moment without any."""
        if self._stream is not None and self._stream.try_next() is not None:
            # There is work; what arrives meanwhile is found by the claims.
            self.close()

    def close(self) -> None:
        """Stop listening."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None
