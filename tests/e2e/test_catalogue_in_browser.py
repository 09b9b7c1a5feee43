"""The catalogue in a real browser: phone and desktop, two languages, with and without scripts."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.e2e.conftest import Platform
from tests.e2e.test_first_run import ranked
from tests.waiting import wait_until

PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 800}
CHROMIUM_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]

pytestmark = [pytest.mark.e2e, pytest.mark.browser]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=CHROMIUM_FLAGS
        )
        yield chromium
        chromium.close()


@pytest.fixture(params=[PHONE, DESKTOP], ids=["phone", "desktop"])
def page(request: pytest.FixtureRequest, browser: Browser, platform: Platform) -> Iterator[Page]:
    """A fresh page that fails the test on any error of its console."""
    wait_until(lambda: len(ranked(platform)) == 5, seconds=30)
    tab = browser.new_page(viewport=request.param, base_url=platform.address, locale="en")
    complaints: list[str] = []
    tab.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
    tab.on("requestfailed", lambda failed: complaints.append(failed.url))
    yield tab
    tab.close()
    assert not complaints


def test_packs_are_shown_with_pictures_and_fit_the_screen(page: Page) -> None:
    page.goto("/")
    pictures = page.locator(".pack-card img")
    assert pictures.count() == 5
    for picture in pictures.all():
        picture.scroll_into_view_if_needed()
        page.wait_for_function(
            "picture => picture.complete && picture.naturalWidth > 0",
            arg=picture.element_handle(),
        )
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_pack_is_opened_by_its_card(page: Page) -> None:
    page.goto("/")
    page.get_by_role("link", name="Pigeons").click()
    page.wait_for_url("**/packs/pigeons-*")
    assert page.get_by_role("heading", name="Pigeons").is_visible()
    assert page.locator(".sticker-grid img").count() == 4


def test_the_language_is_changed_by_its_button(page: Page) -> None:
    page.goto("/")
    page.get_by_role("button", name="Brazilian Portuguese").click()
    page.wait_for_selector("html[lang='pt-br']")


def test_searching_finds_by_name(page: Page) -> None:
    page.goto("/")
    page.get_by_role("searchbox").fill("weath")
    page.get_by_role("button", name="Search").click()
    page.wait_for_url("**q=weath**")
    assert page.locator(".pack-name").all_inner_texts() == ["Weather"]
