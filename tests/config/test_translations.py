"""Every text of the interface has its Brazilian Portuguese, and says the same."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import polib
import pytest

ROOT = Path(__file__).parents[2]
CATALOGUE = ROOT / "locale/pt_BR/LC_MESSAGES/django.po"
PLACEHOLDER = re.compile(r"%\([a-z_]+\)[sd]|\{[a-z_]*\}|</?[a-z]+")


@pytest.fixture(scope="module")
def catalogue() -> polib.POFile:
    return polib.pofile(str(CATALOGUE))


def test_nothing_is_untranslated_doubtful_or_left_over(catalogue: polib.POFile) -> None:
    assert catalogue.untranslated_entries() == []
    assert catalogue.fuzzy_entries() == []
    assert catalogue.obsolete_entries() == []


def test_translations_keep_every_placeholder(catalogue: polib.POFile) -> None:
    for entry in catalogue:
        wanted = set(PLACEHOLDER.findall(entry.msgid))
        for text in [entry.msgstr, *entry.msgstr_plural.values()]:
            assert not text or set(PLACEHOLDER.findall(text)) == wanted, entry.msgid


def test_the_catalogue_compiles(tmp_path: Path) -> None:
    command = ["msgfmt", "--check", "--output-file", str(tmp_path / "django.mo"), str(CATALOGUE)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_no_text_is_missing_from_the_catalogue(tmp_path: Path, catalogue: polib.POFile) -> None:
    for name in ("apps", "config", "templates", "locale", "manage.py"):
        source, target = ROOT / name, tmp_path / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, target)  # type: ignore[operator]
    subprocess.run(
        [sys.executable, "manage.py", "makemessages", "-l", "pt_BR", "-v0"],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "DEBUG": "true"},
        check=True,
        capture_output=True,
    )
    collected = polib.pofile(str(tmp_path / "locale/pt_BR/LC_MESSAGES/django.po"))
    assert [entry.msgid for entry in collected.untranslated_entries()] == []
    assert {entry.msgid for entry in collected} == {entry.msgid for entry in catalogue}
