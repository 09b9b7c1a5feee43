"""The three roles of staff, kept in step with the permissions that exist.

A viewer sees everything, an operator also changes what runs, an owner also deletes and decides who
may do what. Own permissions (`Meta.permissions`) belong to operators unless their code name starts
with `own_`.
"""

from django.contrib.auth.models import Group, Permission
from django.db.models import Q

from apps.whatsapp_auth.choices import Role

OUR_APPS = ("flags", "outbox", "whatsapp_auth", "stickers", "delivery")
OWNER_APPS = (*OUR_APPS, "auth", "django_q", "axes")
# Deciding who gets in is for owners only, whatever the verb.
OWNER_MODELS = ("apitoken",)


def sync_roles() -> None:
    """Give each role its permissions; run after every migration, harmless to repeat."""
    for role, wanted in _permissions().items():
        group, _created = Group.objects.get_or_create(name=role)
        group.permissions.set(Permission.objects.filter(wanted))


def _permissions() -> dict[Role, Q]:
    ours = Q(content_type__app_label__in=OUR_APPS)
    viewing = ours & Q(codename__startswith="view_")
    not_for_operators = (
        Q(codename__startswith="delete_")
        | Q(codename__startswith="own_")
        | Q(content_type__model__in=OWNER_MODELS)
    )
    return {
        Role.VIEWER: viewing,
        Role.OPERATOR: viewing | (ours & ~not_for_operators),
        Role.OWNER: Q(content_type__app_label__in=OWNER_APPS),
    }
