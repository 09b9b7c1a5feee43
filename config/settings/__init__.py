"""All settings of Pombo, one module per subject.

Each value comes from the environment through `apps.common.env`, which gives it a type, bounds and a
line in `docs/settings.md`.
"""

from config.settings.base import *  # noqa: F403 (Django reads settings as one module's names)
from config.settings.delivery import *  # noqa: F403
from config.settings.flags import *  # noqa: F403
from config.settings.interface import *  # noqa: F403
from config.settings.outbox import *  # noqa: F403
from config.settings.security import *  # noqa: F403
from config.settings.stickers import *  # noqa: F403
from config.settings.whatsapp_auth import *  # noqa: F403
from config.settings.workers import *  # noqa: F403
