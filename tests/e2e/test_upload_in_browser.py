"""An author fills a pack in a real browser: chosen and dropped files, progress, resumed parts."""

import base64
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright

from tests.e2e.conftest import Platform
from tests.stickers.factories import webp_bytes
from tests.stickers.pictures import animation, disc, encoded, photo

PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 800}
CHROMIUM_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
SIGN_IN = """
from django.conf import settings
from django.utils import timezone
from tests.whatsapp_auth.factories import make_session
print(settings.WEB_SESSION_COOKIE_NAME, make_session(now=timezone.now()).token)
"""
DROP = """([name, type, content]) => {
  const bytes = Uint8Array.from(atob(content), (char) => char.charCodeAt(0));
  const transfer = new DataTransfer();
  transfer.items.add(new File([bytes], name, { type }));
  const event = new DragEvent("drop", { dataTransfer: transfer, cancelable: true });
  document.querySelector("[data-drop]").dispatchEvent(event);
}"""

pytestmark = [pytest.mark.e2e, pytest.mark.browser]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=CHROMIUM_FLAGS
        )
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def cookie(platform: Platform) -> dict[str, str]:
    """The cookie of a signed-in author."""
    name, token = platform.manage("shell", "-v", "0", "-c", SIGN_IN).split()
    return {"name": name, "value": token, "url": platform.address}


@pytest.fixture(params=[PHONE, DESKTOP], ids=["phone", "desktop"])
def draft(
    request: pytest.FixtureRequest, browser: Browser, platform: Platform, cookie: dict[str, str]
) -> Iterator[Page]:
    """The page of a new draft."""
    tab = browser.new_page(viewport=request.param, base_url=platform.address, locale="en")
    tab.context.add_cookies([cookie])
    tab.goto("/my/packs")
    tab.get_by_label("Name").fill("Cups")
    tab.get_by_label("Publisher").fill("Ana")
    tab.get_by_role("button", name="Create").click()
    tab.wait_for_selector("[data-drop]:visible")
    yield tab
    tab.close()


def file(name: str, data: bytes, kind: str) -> dict[str, object]:
    return {"name": name, "mimeType": kind, "buffer": data}


def test_files_are_sent_worked_on_and_the_pack_is_published(draft: Page) -> None:
    draft.get_by_label("Stickers").set_input_files(
        [
            file("photo.jpg", encoded(photo(700, 500), "JPEG"), "image/jpeg"),
            file("disc.png", encoded(disc(300, 200), "PNG"), "image/png"),
            file("bad.pdf", b"%PDF-1.7 no picture", "application/pdf"),
        ]
    )
    draft.get_by_role("button", name="Upload").click()
    expect(draft.locator("[data-list] li[data-state=done]")).to_have_count(2, timeout=40_000)
    expect(draft.locator("[data-list] li[data-state=failed]")).to_contain_text("no WebP")
    drop(draft, "third.webp", webp_bytes("third"))
    expect(draft.locator("[data-stickers] img")).to_have_count(3, timeout=40_000)
    assert draft.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    draft.get_by_role("button", name="Publish").click()
    expect(draft.get_by_role("status")).to_contain_text("Some uploads failed")
    draft.get_by_role("button", name="Discard").click()
    draft.get_by_role("button", name="Publish").click()
    expect(draft.get_by_role("status")).to_contain_text("The pack is published.")


def test_a_moving_picture_that_was_cut_off_is_resumed(draft: Page) -> None:
    cut: list[str] = []

    def cut_once(route: Route) -> None:
        if route.request.method == "PATCH" and not cut:
            cut.append(route.request.url)
            route.abort()
        else:
            route.continue_()

    draft.route("**/uploads/**", cut_once)
    drop(draft, "moving.gif", animation("GIF"))
    expect(draft.locator("[data-list] li[data-state=done]")).to_have_count(1, timeout=40_000)
    assert cut


def drop(page: Page, name: str, data: bytes) -> None:
    page.evaluate(DROP, [name, "image/webp", base64.b64encode(data).decode()])
