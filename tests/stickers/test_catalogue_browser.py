"""The catalogue in a real browser: scroll, opinions, previews, and axe-core's rules of WCAG AA."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Browser, Page, sync_playwright

from apps.stickers.choices import ReportReason
from apps.stickers.models import AssetClassification, PackEngagement, PackReport, StickerPack
from apps.stickers.services.moderation import report_pack
from apps.stickers.services.snapshots import refresh_snapshots
from tests.stickers.factories import make_pack
from tests.waiting import wait_until

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 800}
DEADLINE_MS = 20_000

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
]

Visit = Callable[[Callable[..., Any]], Any]


@pytest.fixture(autouse=True)
def _no_limits_of_this_machine(settings: Any) -> None:
    settings.ENGAGEMENT_VISITORS_PER_ADDRESS = 1000


@pytest.fixture
def visit(live_server: Any) -> Iterator[Visit]:
    """Runs a visit in a thread of its own: the browser's loop must not be the database's thread."""

    def in_browser(work: Callable[..., Any]) -> Any:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
            )
            try:
                return work(browser)
            finally:
                browser.close()

    with ThreadPoolExecutor(1) as pool:
        yield lambda work: pool.submit(in_browser, work).result()


def page_of(browser: Browser, site: str, **options: Any) -> Page:
    context = browser.new_context(**{"base_url": site, "locale": "en", "viewport": PHONE} | options)
    page = context.new_page()
    page.set_default_timeout(DEADLINE_MS)
    return page


def ranked(count: int = 1, **values: Any) -> StickerPack:
    made = [make_pack(**{"stickers": 1, "name": f"p{n}"} | values) for n in range(count)]
    refresh_snapshots([pack.pk for pack in made], now=timezone.now())
    return made[0]


def faults(page: Page) -> list[str]:
    """What axe-core finds, as rule and place."""
    page.evaluate(AXE)
    found = page.evaluate("rules => axe.run(document, rules)", RULES)
    return [
        f"{rule['id']}: {node['html'][:120]}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]


def test_scrolling_brings_the_next_packs_and_without_scripts_a_link_does(
    live_server: Any, visit: Visit
) -> None:
    ranked(30)

    def scroll(browser: Browser) -> tuple[int, int, int]:
        page = page_of(browser, live_server.url)
        page.goto("/")
        page.mouse.wheel(0, 20_000)
        page.locator(".pack-card").nth(29).wait_for()
        links = page.locator("[data-more]").count()
        plain = page_of(browser, live_server.url, java_script_enabled=False)
        plain.goto("/")
        first = plain.locator(".pack-card").count()
        plain.get_by_role("link", name="More packs").click()
        return links, first, plain.locator(".pack-card").count()

    assert visit(scroll) == (0, 24, 6)


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_visitor_likes_and_takes_it_back(live_server: Any, visit: Visit, scripts: bool) -> None:
    pack = ranked()

    def like(browser: Browser) -> list[str]:
        page = page_of(browser, live_server.url, java_script_enabled=scripts)
        page.goto(f"/packs/{pack.pack_key}")
        states = []
        button = page.locator("button[value=like]")
        for pressed in ("true", "false"):
            button.click()
            page.wait_for_selector(f"button[value=like][aria-pressed={pressed}]")
            states.append(button.locator("[data-count]").inner_text())
        return states

    assert visit(like) == ["1", "0"]


def test_whoever_stays_has_opened_the_pack(live_server: Any, visit: Visit) -> None:
    pack = ranked()

    def stay(browser: Browser) -> None:
        page = page_of(browser, live_server.url)
        with page.expect_response("**/open"):
            page.goto(f"/packs/{pack.pack_key}")

    visit(stay)
    wait_until(lambda: PackEngagement.objects.get(pack=pack).open_count == 1)


def test_a_sticker_is_enlarged_and_the_keyboard_closes_it(live_server: Any, visit: Visit) -> None:
    pack = ranked()

    def look(browser: Browser) -> tuple[bool, bool]:
        page = page_of(browser, live_server.url)
        page.goto(f"/packs/{pack.pack_key}")
        page.locator(".sticker-grid a").first.press("Enter")
        shown = page.locator("dialog.preview").is_visible()
        page.keyboard.press("Escape")
        return shown, page.locator("dialog.preview").is_visible()

    assert visit(look) == (True, False)


def test_a_report_is_sent_from_the_page(live_server: Any, visit: Visit) -> None:
    pack = ranked()

    def complain(browser: Browser) -> str:
        page = page_of(browser, live_server.url)
        page.goto(f"/packs/{pack.pack_key}")
        page.get_by_text("Report this pack").click()
        page.get_by_label("What is wrong?").select_option("copyright")
        page.get_by_role("button", name="Report", exact=True).click()
        return page.get_by_role("status").first.inner_text()

    assert "Thank you" in visit(complain)
    assert PackReport.objects.get().reason == "copyright"


def test_pages_keep_the_rules_of_accessibility(live_server: Any, visit: Visit) -> None:
    """On phone and desktop, light and dark, in both languages; no page is wider than its screen."""
    pack, bold = ranked(2, name="Cups", publisher="Ana"), make_pack(name="Bold", stickers=1)
    AssetClassification.objects.create(asset=bold.cover_sticker, nsfw_score=0.9, is_nsfw=True)
    refresh_snapshots([bold.pk], now=timezone.now())
    report_pack(pack, reason=ReportReason.SPAM, text="x", actor_key="v", now=timezone.now())
    User.objects.create_superuser("mod", "mod@pombo.example", "mod-password")
    places = ["/?sensitive=1", f"/packs/{pack.pack_key}", f"/packs/{bold.pack_key}", "/moderation"]

    def inspect(browser: Browser) -> list[str]:
        complaints: list[str] = []
        for screen, scheme, locale in (
            (PHONE, "light", "en"),
            (DESKTOP, "dark", "pt-BR"),
        ):
            page = page_of(
                browser, live_server.url, viewport=screen, color_scheme=scheme, locale=locale
            )
            page.on("console", lambda line: complaints.append(f"console: {line.text}"))
            page.goto("/admin/login/?next=/moderation")
            page.fill("[name=username]", "mod")
            page.fill("[name=password]", "mod-password")
            page.keyboard.press("Enter")
            page.wait_for_selector("article.case")
            for place in places:
                page.goto(place)
                for details in page.locator("details").all():
                    details.evaluate("each => { each.open = true; }")
                complaints.extend(f"{place} {scheme}: {fault}" for fault in faults(page))
                if not page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"):
                    complaints.append(f"{place} is too wide at {screen['width']}")
        return complaints

    assert visit(inspect) == []
