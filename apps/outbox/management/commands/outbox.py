"""The outbox on the command line: what waits, and what to do about it."""

import dataclasses
import getpass
import json
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from apps.outbox import queries, services
from apps.outbox.services.draining import DEFAULT_BATCH_SIZE


class Command(BaseCommand):
    """Look at the outbox, work it off, and decide about dead letters."""

    help = "status, drain, redrive, discard, prune, pause or resume; each with --json."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        for name, text in {
            "status": "Show depth by type and state, and the age of the oldest due event.",
            "drain": "Handle due events in this process.",
            "redrive": "Send dead letters back, in id order.",
            "discard": "Delete dead letters for good.",
            "prune": "Delete completed events past their retention.",
            "pause": "Leave a type alone from now on.",
            "resume": "Take a paused type up again.",
        }.items():
            action = actions.add_parser(name, help=text)
            action.add_argument("--json", action="store_true", dest="as_json")
            self._add_options(name, action)

    def _add_options(self, name: str, action: ArgumentParser) -> None:
        if name == "drain":
            action.add_argument("--seconds", type=float, default=60)
            action.add_argument("--batch", type=int, default=DEFAULT_BATCH_SIZE)
        if name in {"redrive", "discard"}:
            action.add_argument("ids", nargs="*", type=int, help="Events; with --type all of it.")
            action.add_argument("--type", dest="event_type")
            action.add_argument("--aggregate", dest="aggregate_id", help="Only of this aggregate.")
            action.add_argument("--dry-run", action="store_true")
        if name == "redrive":
            action.add_argument("--handler", help="Only this one (dotted name) runs again.")
        if name in {"redrive", "discard", "pause"}:
            action.add_argument("--reason", required=True)
        if name in {"pause", "resume"}:
            action.add_argument("event_type")
        if name == "prune":
            action.add_argument("--days", type=int, default=settings.OUTBOX_RETENTION_DAYS)

    def handle(self, *args: Any, action: str, as_json: bool, **options: Any) -> None:
        result = getattr(self, action)(**options)
        if as_json:
            self.stdout.write(json.dumps(result))
        else:
            self._print(result)

    def status(self, **options: Any) -> dict[str, Any]:
        """What waits, by type and state."""
        return {
            "oldest_due_seconds": queries.oldest_due_seconds(),
            "paused": queries.paused_types(),
            "depth": [dataclasses.asdict(row) for row in queries.depth_by_type()],
        }

    def drain(self, *, seconds: float, batch: int, **options: Any) -> dict[str, Any]:
        """Handle due events here."""
        return dataclasses.asdict(services.drain(seconds, batch))

    def redrive(self, *, reason: str, handler: str | None, **options: Any) -> dict[str, Any]:
        """Send the chosen dead letters back."""
        ids = self._chosen(**options)
        if options["dry_run"]:
            return {"would_redrive": ids}
        moved = services.redrive(ids, actor=_actor(), reason=reason, handler=handler)
        return {"redriven": moved}

    def discard(self, *, reason: str, **options: Any) -> dict[str, Any]:
        """Delete the chosen dead letters."""
        ids = self._chosen(**options)
        if options["dry_run"]:
            return {"would_discard": ids}
        return {"discarded": services.discard(ids, actor=_actor(), reason=reason)}

    def prune(self, *, days: int, **options: Any) -> dict[str, Any]:
        """Delete old completed events."""
        return {"pruned": services.prune(older_than_seconds=days * 86_400)}

    def pause(self, *, event_type: str, reason: str, **options: Any) -> dict[str, Any]:
        """Leave the type alone."""
        services.pause_type(event_type, actor=_actor(), reason=reason)
        return {"paused": queries.paused_types()}

    def resume(self, *, event_type: str, **options: Any) -> dict[str, Any]:
        """Take the type up again."""
        if not services.resume_type(event_type):
            raise CommandError(f"{event_type} is not paused.")
        return {"paused": queries.paused_types()}

    def _chosen(
        self, *, ids: list[int], event_type: str | None, aggregate_id: str | None, **options: Any
    ) -> list[int]:
        if not ids and not event_type:
            raise CommandError("Name events or a --type.")
        return queries.dead_event_ids(ids=ids, event_type=event_type, aggregate_id=aggregate_id)

    def _print(self, result: dict[str, Any]) -> None:
        for name, value in result.items():
            if name == "depth":
                for row in value:
                    self.stdout.write("\t".join(str(cell) for cell in row.values()))
            else:
                shown = " ".join(map(str, value)) if isinstance(value, list) else value
                self.stdout.write(f"{name}\t{shown}")


def _actor() -> str:
    return f"shell:{getpass.getuser()}"
