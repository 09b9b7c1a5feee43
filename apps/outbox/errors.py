"""What can be wrong with publishing and handling events."""

from apps.common.errors import Conflict, DomainError, InvalidInput, NotFound


class IncompleteEvent(InvalidInput):
    """One of the event's three names is empty after normalising."""

    code = "incomplete_event"

    def __init__(self) -> None:
        super().__init__("An event needs a type, an aggregate type and an aggregate id.")


class InvalidPayload(InvalidInput):
    """The payload breaks the schema that its event type promises."""

    code = "invalid_payload"

    def __init__(self, event_type: str, place: str, problem: str) -> None:
        super().__init__(
            f"The payload of {event_type} breaks its schema at {place}: {problem}",
            details={"event_type": event_type, "place": place},
        )


class NoTransaction(DomainError):
    """Published outside a transaction: event and change could come apart."""

    code = "no_transaction"

    def __init__(self) -> None:
        super().__init__(
            "publish() belongs into the transaction of the change it tells; "
            "say outside_transaction=True where there is no change."
        )


class LeaseLost(Conflict):
    """Somebody else has claimed the row since; this worker's effects are rolled back."""

    code = "lease_lost"

    def __init__(self, event_id: int) -> None:
        super().__init__(f"The lease of event {event_id} was lost.")


class Snoozed(Exception):
    """A handler is not ready: come back later, without counting an attempt."""

    def __init__(self, delay_seconds: int) -> None:
        super().__init__(f"again in {delay_seconds} s")
        self.delay_seconds = delay_seconds


class Cancelled(Exception):
    """A handler knows that trying again is useless: straight to the dead letters."""


class DeliveryFailed(Exception):
    """A subscriber did not take an event; it is sent again later."""

    def __init__(self, status_code: int | None, error: str) -> None:
        super().__init__(f"answered {status_code}" if status_code else error)


class WebhookNotFound(NotFound):
    """No webhook subscription has that id."""

    code = "webhook_not_found"

    def __init__(self, subscription_id: int) -> None:
        super().__init__(f"There is no webhook subscription {subscription_id}.")


class WebhookNameTaken(Conflict):
    """Another subscription has that name."""

    code = "webhook_name_taken"

    def __init__(self, name: str) -> None:
        super().__init__(f"There is a webhook subscription named {name} already.")


class DeadLetterNotFound(NotFound):
    """No dead letter has that id."""

    code = "dead_letter_not_found"

    def __init__(self, event_id: int) -> None:
        super().__init__(f"Event {event_id} is not a dead letter.")
