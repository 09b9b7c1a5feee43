"""Settings of the tests: Pombo's own, free of a developer's `.env`, with cheap password hashes."""

import os
import tempfile
from pathlib import Path

os.environ["ENV_FILE"] = os.devnull
os.environ.update(
    {
        "SECRET_KEY": "test-key-of-fifty-characters-that-signs-only-tests-0",
        "SECURE_HTTPS": "false",
        "LOG_LEVEL": "WARNING",
        "API_RATE_ANONYMOUS": "100000/min",
        "API_RATE_TOKEN": "100000/min",
        "ENGAGEMENT_RATE": "100000/min",
        "REPORT_RATE": "100000/hour",
        "CATALOGUE_CACHE_SECONDS": "0",
        "CATALOGUE_STATS_CACHE_SECONDS": "0",
    }
)
os.environ.setdefault("MEDIA_ROOT", str(Path(tempfile.gettempdir()) / "pombo-test-media"))

from config.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
AXES_ENABLED = False
STATIC_ROOT.mkdir(parents=True, exist_ok=True)  # noqa: F405 (WhiteNoise warns without it)
STORAGES["staticfiles"] = {  # noqa: F405
    "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
}
