"""The four flags that the platform itself reads.

Safe to run twice and on an adopted database: what an operator set stays, only descriptions are
refreshed.
"""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

SEEDED_FLAGS = (
    (
        "enable_ranking_snapshot_read",
        True,
        "Leitura HTTP do ranking/sinais a partir de snapshot",
    ),
    (
        "enable_domain_event_outbox",
        True,
        "Publicacao e consumo de eventos de dominio via outbox interno",
    ),
    (
        "enable_worker_dedicated_processes",
        False,
        "Ativa workers dedicados por tipo de task",
    ),
    (
        "enable_object_storage_delivery",
        False,
        "Entrega de assets via object storage/CDN com URL segura",
    ),
)


def seed_flags(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    FeatureFlag = apps.get_model("flags", "FeatureFlag")
    for name, is_enabled, description in SEEDED_FLAGS:
        flag, created = FeatureFlag.objects.get_or_create(
            flag_name=name,
            defaults={
                "is_enabled": is_enabled,
                "rollout_percent": 100,
                "description": description,
            },
        )
        if not created and flag.description != description:
            FeatureFlag.objects.filter(pk=flag.pk).update(description=description)


class Migration(migrations.Migration):
    dependencies = [("flags", "0001_initial")]

    operations = [migrations.RunPython(seed_flags, migrations.RunPython.noop)]
