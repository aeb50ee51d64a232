"""Pages in a real browser: Debian's chromium, driven through Playwright, and axe-core's findings about them."""

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from support.paths import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page

AXE = Path(os.environ.get("MCPRL_AXE", ROOT / "node_modules" / "axe-core" / "axe.min.js"))
WIDE, PHONE = (1400, 900), (390, 844)


@contextmanager
def chromium() -> Generator["Browser"]:
    """The browser. The test is skipped with a sentence if it or its driver is not installed."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if not program:
        pytest.skip("chromium is not installed: apt-get install chromium")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def tab(browser: "Browser", size: tuple[int, int] = WIDE, dark: bool = False) -> Generator["Page"]:
    """A tab that must end without an error on its console, without a dialog, and with nothing loaded from elsewhere."""
    width, height = size
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light")
    wrong: list[str] = []

    def dismissed(dialog: "Dialog") -> None:
        wrong.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    page.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", dismissed)
    page.on("request", lambda request: wrong.append(request.url) if "evil.example" in request.url else None)
    yield page
    page.close()
    assert wrong == []


def is_as_wide_as_its_window(page: "Page") -> bool:
    return page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def serious_findings(page: "Page") -> list[str]:
    """What axe-core finds serious or critical about the page, a line each."""
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: run npm install here, or name its axe.min.js in MCPRL_AXE")
    page.evaluate(AXE.read_text())
    found: dict[str, Any] = page.evaluate("axe.run(document)")
    return [
        f"{each['id']}: {node['html'][:200]}"
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]
