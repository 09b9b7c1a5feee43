"""Fill `owner_phone` from `owner_jid` where it is empty.

Only 10 to 15 digits on a phone server count: a LID or an old `g…@google.oauth` owner has no phone.
A value that is set is never touched, so running it twice changes nothing.
"""

import re

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps
from django.db.models import Q

PHONE_JID = re.compile(
    r"(?P<phone>[0-9]{10,15})(_[^:@]*)?(:[^@]*)?@(s\.whatsapp\.net|c\.us|hosted)"
)
BATCH_SIZE = 500


def backfill_owner_phone(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    for name in ("GoogleUser", "GoogleSession"):
        _backfill(apps.get_model("whatsapp_auth", name))


def _backfill(model) -> None:
    empty = Q(owner_phone=None) | Q(owner_phone="")
    rows = []
    for row in model.objects.filter(empty).only("pk", "owner_jid").iterator(BATCH_SIZE):
        if match := PHONE_JID.fullmatch(row.owner_jid):
            row.owner_phone = match["phone"]
            rows.append(row)
    model.objects.bulk_update(rows, ["owner_phone"], batch_size=BATCH_SIZE)


class Migration(migrations.Migration):
    dependencies = [("whatsapp_auth", "0002_api_token")]

    operations = [migrations.RunPython(backfill_owner_phone, migrations.RunPython.noop)]
