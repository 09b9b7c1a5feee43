"""Process jobs on the command line: what waits, a worker, and decisions about what failed."""

import dataclasses
import getpass
import json
import signal
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.progress import track

from apps.common.errors import DomainError
from apps.delivery import mongodb
from apps.delivery.choices import ProcessJobActionKind
from apps.delivery.process_jobs import inspection, operations
from apps.delivery.process_jobs.workers import SignOfLife, own_name, worker_rows
from apps.delivery.readiness import IN_MEMORY
from apps.delivery.services import process_job_actions
from apps.delivery.services.process_jobs import claimable_models, new_queue

PAGE = 200


class Command(BaseCommand):
    """Look at process jobs, run them, and decide about the failed ones."""

    help = "status, work, drain, retry or purge; each with --json."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        for name, text in {
            "status": "Show depth by model and state, the oldest due job, and the workers.",
            "work": "Run jobs as they come, until SIGTERM or SIGINT.",
            "drain": "Run what is due, then end.",
            "retry": "Give failed jobs all their attempts again.",
            "purge": "Delete failed jobs for good.",
        }.items():
            action = actions.add_parser(name, help=text)
            action.add_argument("--json", action="store_true", dest="as_json")
            self._add_options(name, action)

    def _add_options(self, name: str, action: ArgumentParser) -> None:
        if name in {"retry", "purge"}:
            action.add_argument("ids", nargs="*", help="Jobs; none means all failed ones.")
            action.add_argument("--model", default="", help="Only jobs of this model.")
            action.add_argument("--days", type=float, default=0, help="Failed so long ago.")
            action.add_argument("--reason", required=True)
            action.add_argument("--dry-run", action="store_true")

    def handle(self, *args: Any, action: str, as_json: bool, **options: Any) -> None:
        try:
            result = getattr(self, action)(as_json=as_json, **options)
        except DomainError as error:
            raise CommandError(error.message) from error
        if as_json:
            self.stdout.write(json.dumps(result, default=str))
        else:
            self._print(result)

    def status(self, **options: Any) -> dict[str, Any]:
        """What waits, and who works."""
        if not mongodb.is_configured():
            return IN_MEMORY
        with mongodb.answering() as database:
            return {
                "queue": "mongodb",
                "oldest_due_seconds": inspection.oldest_due_seconds(database),
                "depth": [dataclasses.asdict(row) for row in inspection.depth(database)],
                "workers": [
                    {"name": row.name, "alive": row.is_alive, "seen_at": row.seen_at}
                    for row in worker_rows(database)
                ],
            }

    def work(self, **options: Any) -> dict[str, Any]:
        """Stay and run jobs."""
        with mongodb.answering() as database:
            queue = new_queue()
            queue.ensure_ready()
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, lambda _number, _frame: queue.ask_to_stop())
            with SignOfLife(database, own_name(), claimable_models):
                queue.work()
        return {"stopped": True}

    def drain(self, **options: Any) -> dict[str, Any]:
        """Run what is due in this process."""
        with mongodb.answering():
            return {"processed": new_queue().drain()}

    def retry(self, **options: Any) -> dict[str, Any]:
        """Send failed jobs back."""
        return self._decide(ProcessJobActionKind.RETRY, "retried", **options)

    def purge(self, **options: Any) -> dict[str, Any]:
        """Delete failed jobs."""
        return self._decide(ProcessJobActionKind.DISCARD, "purged", **options)

    def _decide(
        self,
        kind: ProcessJobActionKind,
        done: str,
        *,
        ids: list[str],
        model: str,
        days: float,
        reason: str,
        dry_run: bool,
        as_json: bool,
        **options: Any,
    ) -> dict[str, Any]:
        with mongodb.answering() as database:
            chosen = ids or operations.failed_ids(database, model=model, older_than_days=days)
        if dry_run:
            return {f"would_be_{done}": chosen}
        changed = 0
        for start in track(range(0, len(chosen), PAGE), disable=as_json or len(chosen) <= PAGE):
            page = chosen[start : start + PAGE]
            actor = f"shell:{getpass.getuser()}"
            changed += len(process_job_actions.act(kind, page, actor=actor, reason=reason))
        return {done: changed}

    def _print(self, result: dict[str, Any]) -> None:
        for name, value in result.items():
            if isinstance(value, list) and value and isinstance(value[0], dict):
                for row in value:
                    self.stdout.write("\t".join([name, *map(str, row.values())]))
            else:
                shown = " ".join(map(str, value)) if isinstance(value, list) else value
                self.stdout.write(f"{name}\t{shown}")
