"""What an API token may be allowed to do; every endpoint names one of these."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Scope(models.TextChoices):
    """A right that a token carries, as `subject:verb`."""

    FLAGS_READ = "flags:read", _("read flags")
    FLAGS_WRITE = "flags:write", _("change flags")
    FLAGS_EVALUATE = "flags:evaluate", _("evaluate flags")
    OUTBOX_READ = "outbox:read", _("read events and dead letters")
    OUTBOX_WRITE = "outbox:write", _("redrive, discard and pause events")
    PACKS_READ = "packs:read", _("read packs that are not public")
    PACKS_WRITE = "packs:write", _("create packs and upload stickers")
    PACKS_ENGAGE = "packs:engage", _("name the visitors who open and like packs")
    PACKS_MODERATE = "packs:moderate", _("moderate packs and reports")
    WHATSAPP_READ = "whatsapp:read", _("resolve WhatsApp identities")
    WHATSAPP_WRITE = "whatsapp:write", _("learn identities and issue login links")
    DELIVERY_READ = "delivery:read", _("read apps and deployments")
    DELIVERY_WRITE = "delivery:write", _("change and deploy apps")
    USAGE_READ = "usage:read", _("read usage and limits")
    USAGE_WRITE = "usage:write", _("report usage")
    FILES_READ = "files:read", _("read shared files")
    FILES_WRITE = "files:write", _("write shared files")
    METRICS_READ = "metrics:read", _("read metrics")
