"""Issue, list, rotate and revoke API tokens."""

import json
from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.common.errors import DomainError
from apps.common.scopes import Scope
from apps.whatsapp_auth.models import ApiToken
from apps.whatsapp_auth.services import tokens


class Command(BaseCommand):
    """Manage the tokens with which bots and apps call the API."""

    help = "Issue (create), list, rotate or revoke API tokens; a new token's secret is shown once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        create = actions.add_parser("create", help="Issue a token and print its secret.")
        create.add_argument("--name", default="command line")
        create.add_argument("--scope", action="append", required=True, metavar="SCOPE")
        create.add_argument("--owner", help="User name; the first superuser if omitted.")
        create.add_argument("--days", type=int, help="Days until it expires; never if omitted.")
        create.add_argument("--client-side", action="store_true")
        create.add_argument("--json", action="store_true", dest="as_json")
        listing = actions.add_parser("list", help="Show all tokens, without secrets.")
        listing.add_argument("--json", action="store_true", dest="as_json")
        rotate = actions.add_parser("rotate", help="Replace a token; the former one ends later.")
        rotate.add_argument("prefix")
        rotate.add_argument("--grace-hours", type=int, default=24)
        revoke = actions.add_parser("revoke", help="End a token at once.")
        revoke.add_argument("prefix")
        create.epilog = f"Scopes: {', '.join(Scope.values)}; 'all' stands for each of them."

    def handle(self, *args: Any, action: str, **options: Any) -> None:
        getattr(self, action)(**options)

    def create(self, *, name: str, scope: list[str], owner: str | None, **options: Any) -> None:
        """Issue a token for the owner."""
        days = options["days"]
        try:
            token, secret = tokens.issue_token(
                name,
                owner=_owner(owner),
                scopes=Scope.values if scope == ["all"] else scope,
                expires_at=timezone.now() + timedelta(days=days) if days else None,
                is_client_side=options["client_side"],
            )
        except DomainError as error:
            raise CommandError(error.message) from error
        if options["as_json"]:
            self.stdout.write(json.dumps({**_row(token), "token": secret}))
        else:
            self.stdout.write(secret)

    def list(self, *, as_json: bool, **options: Any) -> None:
        """Show what exists."""
        rows = [_row(token) for token in ApiToken.objects.select_related("owner")]
        if as_json:
            self.stdout.write(json.dumps(rows))
            return
        for row in rows:
            self.stdout.write("\t".join(str(value) for value in row.values()))

    def rotate(self, *, prefix: str, grace_hours: int, **options: Any) -> None:
        """Issue a successor and print its secret."""
        token = ApiToken.objects.filter(prefix=prefix).first()
        grace = timedelta(hours=grace_hours)
        try:
            _new, secret = tokens.rotate_token(
                token.pk if token else 0, grace=grace, now=timezone.now()
            )
        except DomainError as error:
            raise CommandError(f"No living token starts with {prefix}.") from error
        self.stdout.write(secret)

    def revoke(self, *, prefix: str, **options: Any) -> None:
        """End the token with that prefix."""
        ids = list(ApiToken.objects.filter(prefix=prefix).values_list("pk", flat=True))
        if not tokens.revoke_tokens(ids, now=timezone.now()):
            raise CommandError(f"No living token starts with {prefix}.")


def _owner(username: str | None) -> User:
    users = User.objects.filter(is_active=True)
    wanted = users.filter(username=username) if username else users.filter(is_superuser=True)
    owner = wanted.order_by("pk").first()
    if owner is None:
        raise CommandError("There is no such user; create one first or name one with --owner.")
    return owner


def _row(token: ApiToken) -> dict[str, Any]:
    return {
        "prefix": token.prefix,
        "name": token.name,
        "owner": token.owner.get_username(),
        "scopes": token.scopes,
        "expires_at": token.expires_at.isoformat() if token.expires_at else None,
        "revoked_at": token.revoked_at.isoformat() if token.revoked_at else None,
    }
