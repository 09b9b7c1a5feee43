"""Write what is missing of `.env`, with generated secrets: `python -m config.envfile [PATH]`.

Needs no Django, since Django does not start without a key. What the file already says stays.
"""

import os
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path

DEFAULT_PATH = Path(__file__).resolve().parent.parent / ".env"


def development_values() -> Mapping[str, str]:
    """Settings for a machine of one's own: readable logs, no HTTPS, fresh keys."""
    return {
        "DEBUG": "true",
        "LOG_JSON": "false",
        "SECRET_KEY": secrets.token_urlsafe(50),
        "WHATSAPP_LOGIN_LINK_SECRET": secrets.token_urlsafe(32),
    }


def complete(path: Path, values: Mapping[str, str]) -> list[str]:
    """Append the settings that the file lacks and return their names; others cannot read it."""
    text = path.read_text() if path.exists() else ""
    present = {line.partition("=")[0].strip() for line in text.splitlines()}
    missing = {name: value for name, value in values.items() if name not in present}
    if missing:
        if text and not text.endswith("\n"):
            text += "\n"
        text += "".join(f"{name}={value}\n" for name, value in missing.items())
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            os.fchmod(descriptor, 0o600)  # a file that was there keeps its mode otherwise
            file.write(text)
    return list(missing)


if __name__ == "__main__":
    complete(Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_PATH, development_values())
