"""report.html as people see it, in chromium: no error, no script of a server's or a model's text, nothing cut off."""

from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.browsing import PHONE, WIDE, chromium, is_as_wide_as_its_window, serious_findings, tab
from support.hostile_text import HOSTILE
from support.journals import scenario, trajectory

from mcprl.config import Config, ServerConfig
from mcprl.runs.journal import Journal
from mcprl.runs.report import write
from mcprl.types import Score

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser() -> "Generator[Browser]":
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def page_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A report of a run in which all texts of server, model, judge and tasks are hostile, and all tasks are lost."""
    folder = tmp_path_factory.mktemp("runs") / "hostile"
    tasks = [replace(scenario(n), request=text, form=text) for n, text in enumerate(HOSTILE)]
    with Journal.create(folder, Config(servers=(ServerConfig(target="http://127.0.0.1:4242/mcp"),))) as journal:
        journal.write_scenarios(tasks)
        journal.write_fact("server", ["<b>shop</b>"])
        journal.write_fact("left_out", {"<script>": "<img src=x onerror=alert(1)>"})
        for model, good in (("base", True), ("trained", False)):
            made = [_hostile(trajectory(task, f"{model}/{task.id}", good)) for task in tasks]
            journal.write_trajectories(f"test:{model}", 0, made)
            scores = [Score(each.id, 0.5, good, each.messages[1]["content"]) for each in made]
            journal.write_scores(f"test:{model}", 0, scores)
    write(folder)
    return (folder / "report.html").as_uri()


def _hostile(rollout):
    """The rollout with its request in the place of the tool's output and of the answer."""
    text = rollout.messages[1]["content"]
    messages = [
        {**each, "content": text} if each["role"] in ("tool", "assistant") else each for each in rollout.messages
    ]
    return replace(rollout, messages=tuple(messages))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_the_report_fits_its_window_and_has_no_serious_finding(browser, page_url, size, dark):
    with tab(browser, size, dark) as page:
        page.goto(page_url)
        assert is_as_wide_as_its_window(page)
        assert serious_findings(page) == []


def test_hostile_texts_are_read_in_the_report_and_run_nowhere(browser, page_url):
    with tab(browser) as page:
        page.goto(page_url)
        shown = page.inner_text("body")
        for text in HOSTILE:
            assert " ".join(text.split())[:20] in " ".join(shown.split())
        assert page.evaluate("[...document.querySelectorAll('script, iframe, svg, a')].length") == 0


def test_what_was_lost_stands_above_all_else_but_the_result(browser, page_url):
    with tab(browser) as page:
        page.goto(page_url)
        assert page.locator("h2").first.inner_text() == "Lost tasks"
        first = page.locator("h2:has-text('Lost tasks') + .wide tbody tr").first.locator("td")
        assert first.count() == 5
        pair = page.locator(".pair").first.locator("> div")
        left, right = (pair.nth(at).bounding_box() for at in (0, 1))
        assert left
        assert right
        assert (left["y"], left["x"] + left["width"] < right["x"]) == (right["y"], True)


def test_the_report_names_a_server_that_can_be_given_again(page_url):
    page = Path(page_url.removeprefix("file://")).with_suffix(".md").read_text()
    assert "mcprl train --config config.toml --name again --server URL-or-command" in page
    assert "The server was `http://127.0.0.1:4242/mcp`, which was started for this run" in page
