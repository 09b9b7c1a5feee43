"""Documents keep step with what they describe."""

import re
from pathlib import Path

import pytest
from django.core.management import get_commands

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PIN = re.compile(r"^([A-Za-z0-9_-]+)(\[[a-z0-9,]+\])?==", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#]+)")


def _pins() -> list[str]:
    files = sorted(ROOT.glob("requirements*.txt"))
    return sorted({match[1] for file in files for match in PIN.finditer(file.read_text())})


def _own_commands() -> list[str]:
    return sorted(
        name for name, app in get_commands().items() if str(app).startswith(("apps.", "config"))
    )


@pytest.mark.parametrize("package", _pins())
def test_every_pinned_package_has_its_reason(package: str) -> None:
    assert package in (ROOT / "docs/dependencies.md").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    targets = LINK.findall(page.read_text())
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert not missing


@pytest.mark.parametrize("command", _own_commands())
def test_every_command_is_documented_and_tested(command: str) -> None:
    pages = "\n".join(page.read_text() for page in PAGES)
    tests = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("*.py"))
    assert re.search(rf"\b{command}\b", pages), f"no page mentions {command}"
    assert re.search(rf"\b{command}\b", tests), f"no test runs {command}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_stay_readable_in_one_sitting(page: Path) -> None:
    limit = 400 if page.name == "settings.md" else 200
    assert len(page.read_text().splitlines()) <= limit
