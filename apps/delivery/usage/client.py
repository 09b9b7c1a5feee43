"""Reports usage to Pombo from an app: one file without dependencies, to be copied as it is.

    usage = UsageClient("https://pombo.example", "pombo_…")
    usage.report("orders", 1, event_id=f"order-{order.id}", occurred_at=order.paid_at)
    usage.flush()                     # at the end of a request or job, and before the process ends

Events wait in memory and leave in batches. Each keeps its id through every retry, so that a batch
whose answer got lost is counted once. For events that must survive a crash of the app, take id and
time from what happened (an order's number) and report them again after the start.
"""

import json
import random
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

BATCH_SIZE = 500
MAX_PAUSE_SECONDS = 30.0
_RETRIED_STATUSES = frozenset({408, 425, 500, 502, 503, 504})
_TOO_MANY_REQUESTS = 429


class UsageError(Exception):
    """Pombo refused a call for good; `status`, `code` and `details` say why."""

    def __init__(self, status: int, code: str, message: str, details: Any = None) -> None:
        super().__init__(f"{code}: {message}")
        self.status = status
        self.code = code
        self.details = details


class UsageUnavailable(Exception):
    """Pombo did not answer through all retries; the events are kept for the next flush."""


class UsageClient:
    """Reports, checks and reserves usage; may be shared by threads.

    `on_refused` gets each event that Pombo refuses for good, with the reason; without it refusals
    are counted in `refused_count` only.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        app: str | None = None,
        retries: int = 8,
        timeout_seconds: float = 10.0,
        pause_seconds: float = 0.5,
        on_refused: Callable[[dict[str, Any], str], None] | None = None,
    ) -> None:
        self._url = url.rstrip("/") + "/api/v1/usage/"
        self._token = token
        self._app = {"app": app} if app else {}
        self._retries = retries
        self._timeout_seconds = timeout_seconds
        self._pause_seconds = pause_seconds
        self._on_refused = on_refused
        self._waiting: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self.refused_count = 0

    def report(
        self,
        metric: str,
        quantity: int = 1,
        *,
        event_id: str | None = None,
        occurred_at: datetime | None = None,
        subject: str = "",
    ) -> str:
        """Note that something was used; a full batch leaves at once. Returns the event's id.

        An id of the app's own needs the time of what happened: reported again with another time it
        would be refused as a conflict. Without them both are made here, once.
        """
        if event_id is not None and occurred_at is None:
            raise ValueError(
                "An event_id needs its occurred_at, so that a repetition says the same."
            )
        event = {
            "metric": metric,
            "id": event_id or str(uuid.uuid4()),
            "quantity": quantity,
            "occurred_at": (occurred_at or datetime.now(UTC)).isoformat(),
            "subject": subject,
        }
        with self._lock:
            self._waiting.append(event)
            is_full = len(self._waiting) >= BATCH_SIZE
        if is_full:
            self.flush()
        return str(event["id"])

    def flush(self) -> int:
        """Send what waits; tells how many events were told. Raises UsageUnavailable, UsageError."""
        told = 0
        with self._sending:
            while batch := self._taken():
                try:
                    answer = self._call("POST", "events", {**self._app, "events": batch})
                except BaseException:
                    with self._lock:
                        self._waiting[:0] = batch
                    raise
                self._note_refusals(batch, answer["results"])
                told += len(batch)
        return told

    def check(self, metric: str, quantity: int = 1) -> bool:
        """Whether so much more would fit; advice that may be some seconds old."""
        asked = "&".join(
            f"{name}={urllib.parse.quote(str(value))}"
            for name, value in {**self._app, "metric": metric, "quantity": quantity}.items()
        )
        return bool(self._call("GET", f"check?{asked}")["is_allowed"])

    def reserve(
        self,
        metric: str,
        quantity: int,
        *,
        reservation_id: str | None = None,
        hold_seconds: int = 300,
    ) -> str | None:
        """Hold units; the reservation's id, or None when the plan has no room for them."""
        name = reservation_id or str(uuid.uuid4())
        ask = self._named(metric, name) | {"quantity": quantity, "hold_seconds": hold_seconds}
        try:
            self._call("POST", "reservations", ask)
        except UsageError as error:
            if error.status == _TOO_MANY_REQUESTS:
                return None
            raise
        return name

    def commit(self, metric: str, reservation_id: str, used: int | None = None) -> None:
        """Count a reservation, or what of it was used."""
        amount = {} if used is None else {"used": used}
        self._call("POST", "reservations/commit", self._named(metric, reservation_id) | amount)

    def release(self, metric: str, reservation_id: str) -> None:
        """Give a reservation back."""
        self._call("POST", "reservations/release", self._named(metric, reservation_id))

    def _named(self, metric: str, reservation_id: str) -> dict[str, Any]:
        return {**self._app, "metric": metric, "id": reservation_id}

    def _taken(self) -> list[dict[str, Any]]:
        with self._lock:
            batch, self._waiting = self._waiting[:BATCH_SIZE], self._waiting[BATCH_SIZE:]
        return batch

    def _note_refusals(self, batch: list[dict[str, Any]], results: list[dict[str, Any]]) -> None:
        for event, result in zip(batch, results, strict=True):
            if result["status"] in {"accepted", "duplicate"}:
                continue
            self.refused_count += 1
            if self._on_refused is not None:
                self._on_refused(event, result["status"])

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        """One request, again after a growing pause while Pombo does not answer."""
        for attempt in range(self._retries + 1):
            try:
                return self._once(method, path, body)
            except (OSError, _TryAgain) as failure:
                if attempt == self._retries:
                    raise UsageUnavailable(str(failure)) from failure
                longest = min(MAX_PAUSE_SECONDS, self._pause_seconds * 2**attempt)
                time.sleep(random.uniform(longest / 2, longest))  # noqa: S311 (no secret)
        raise AssertionError

    def _once(self, method: str, path: str, body: Any) -> Any:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(  # noqa: S310 (the operator's own address)
            self._url + path, content, headers, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=self._timeout_seconds) as answer:  # noqa: S310
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise self._refusal(error) from error
        except ValueError as error:  # an answer that was cut
            raise _TryAgain(str(error)) from error

    def _refusal(self, error: urllib.error.HTTPError) -> Exception:
        with error:
            text = error.read().decode("utf-8", "replace")
        try:
            problem = json.loads(text)["error"]
            code, message = str(problem["code"]), str(problem["message"])
        except (ValueError, KeyError, TypeError):
            return _TryAgain(f"HTTP {error.code}")  # a proxy's page, not an answer of Pombo
        is_throttled = error.code == _TOO_MANY_REQUESTS and code != "usage_limit_reached"
        if error.code in _RETRIED_STATUSES or is_throttled:
            return _TryAgain(f"HTTP {error.code}: {code}")
        return UsageError(error.code, code, message, problem.get("details"))


class _TryAgain(Exception):
    """An answer that may be another one in a moment."""
