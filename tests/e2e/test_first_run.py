"""A newcomer starts the platform, and a sticker goes all its way.

That one Ctrl-C ends everything is checked whenever the platform of a test module stops.
"""

import pytest
import requests

from tests.e2e.conftest import Platform
from tests.stickers.factories import webp_bytes
from tests.waiting import wait_until

pytestmark = pytest.mark.e2e

DEMO_PACKS = {"Bouncing", "Faces", "Pigeons", "Shapes", "Weather"}


def ranked(platform: Platform) -> dict[str, int]:
    """The names in the popular catalogue and their places."""
    answer = requests.get(f"{platform.address}/api/v1/packs?sort=popular&limit=60", timeout=10)
    return {row["name"]: place for place, row in enumerate(answer.json()["results"])}


def test_the_demo_is_ranked_soon_after_the_start(platform: Platform) -> None:
    wait_until(lambda: ranked(platform).keys() >= DEMO_PACKS, seconds=30)


def test_a_sticker_goes_from_upload_to_the_ranked_list(platform: Platform) -> None:
    token = platform.manage("api_token", "create", "--scope", "packs:write").strip()
    headers = {"Authorization": f"Bearer {token}"}
    packs = f"{platform.address}/api/v1/packs"
    wish = {"name": "Uploaded", "publisher": "Ana"}
    key = requests.post(packs, json=wish, headers=headers, timeout=10).json()["pack_key"]
    for number in range(3):
        files = {"file": ("s.webp", webp_bytes(number), "image/webp")}
        answer = requests.post(f"{packs}/{key}/stickers", files=files, headers=headers, timeout=10)
        assert answer.status_code == 201, answer.text
    wait_until(lambda: "cartoon" in _tags(packs, key), seconds=10)
    assert "Uploaded" in ranked(platform)


def test_every_event_is_completed_and_the_platform_is_ready(platform: Platform) -> None:
    wait_until(lambda: "pending" not in _metrics(platform), seconds=10)
    assert 'outcome="completed"' in _metrics(platform)
    assert requests.get(f"{platform.address}/health/ready", timeout=10).json()["status"] == "ready"


def test_process_jobs_run_on_a_mongod_of_our_own(platform: Platform) -> None:
    ready = requests.get(f"{platform.address}/health/ready", timeout=10).json()
    assert ready["checks"]["process_jobs"]["queue"] == "mongodb"
    scopes = ("--scope", "delivery:write", "--scope", "delivery:read")
    token = platform.manage("api_token", "create", *scopes).strip()
    jobs, headers = f"{platform.address}/api/v1/delivery/process-jobs/", _bearer(token)
    wish = {"model": "UsageTotal", "selectors": {"appCode": "none", "metric": "x", "period": "x"}}
    assert requests.post(jobs, json=wish, headers=headers, timeout=10).status_code == 202

    def failed() -> bool:
        answer = requests.get(f"{jobs}?state=failed", headers=headers, timeout=10)
        return bool(answer.json()["count"] == 1)  # a worker ran it, and there is no such metric

    wait_until(failed, seconds=90)


def test_running_the_setup_again_changes_nothing(platform: Platform) -> None:
    before = (platform.folder / ".env").read_text()
    shown = platform.manage("bootstrap")
    assert "password" not in shown
    assert "0 demo packs drawn" in shown
    assert (platform.folder / ".env").read_text() == before


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _tags(packs: str, key: str) -> list[str]:
    tags: list[str] = requests.get(f"{packs}/{key}", timeout=10).json()["tags"]
    return tags


def _metrics(platform: Platform) -> str:
    text = requests.get(f"{platform.address}/metrics", timeout=10).text
    return "\n".join(line for line in text.splitlines() if line.startswith("pombo_outbox"))
