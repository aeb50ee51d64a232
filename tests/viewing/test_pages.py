"""`mcprl view` in chromium: a real run followed while it writes, its pages, hostile texts, ten thousand rollouts."""

import math
import re
import socket
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import pytest
from support.browsing import PHONE, WIDE, chromium, is_as_wide_as_its_window, serious_findings, tab
from support.configs import small
from support.forked import Forked, command_line
from support.hostile_text import HOSTILE
from support.journals import played, scenario, trajectory

from mcprl.config import Config, ServerConfig
from mcprl.runs.journal import Journal
from mcprl.runs.settings import dump_config
from mcprl.types import CallRecord, Completion, Score, ToolResult
from mcprl.viewing.serving import server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PAGES = ["", "groups", "pairs", "tasks", "servers"]
LOOKS = [(WIDE, False), (PHONE, False), (WIDE, True), (PHONE, True)]
CONFIG = Config(servers=(ServerConfig(target="shop.py"),))


@pytest.fixture(scope="module")
def browser() -> "Generator[Browser]":
    with chromium() as opened:
        yield opened


@contextmanager
def served(run: Path) -> Generator[str]:
    """The address of a run's pages, served by a thread."""
    with Journal.open(run) as journal, socket.create_server(("127.0.0.1", 0)) as listening:
        pages = server(journal, "key")
        thread = Thread(target=pages.run, args=([listening],))
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/key/"
        pages.should_exit = True
        thread.join(20)


# --- a real run -------------------------------------------------------------------------------------------------------


RL_STEPS = 12
"""Enough that the page shows some of them while they are taken."""


@pytest.fixture(scope="module")
def followed(
    browser: "Browser", tiny_model: Path, tmp_path_factory: pytest.TempPathFactory
) -> Generator[tuple[str, list[str]]]:
    """The address of a run on the shop, and what its first page said, opened once, to its end."""
    folder = tmp_path_factory.mktemp("runs")
    training = {"recipe": "sft+rl", "steps": RL_STEPS, "warm_start_steps": 2, "eval_every": 6}
    settings = folder / "config.toml"
    settings.write_text(dump_config(small(tiny_model, folder, training=training)))
    view = ["view", "small", "--runs-dir", folder, "--no-open"]
    with Forked(folder, command_line, "train", "--config", settings) as train:
        said = [next(line for line in train.stdout if line.startswith("tasks"))]  # now there is a journal
        with Forked(folder, command_line, *view) as viewer:
            address = viewer.stdout.readline().split(" is at ")[1].split()[0]
            with tab(browser) as page:
                page.goto(address, wait_until="commit")
                page.evaluate(_WATCH)
                said += train.stdout
                assert train.ends() == 0, said
                page.get_by_text("finished", exact=True).and_(page.locator("#phase")).wait_for(timeout=20_000)
                page.locator("#running").filter(has_text=re.compile("^no")).wait_for(timeout=20_000)
                seen = page.evaluate("window.seen")
            yield address, seen


_WATCH = """() => {
  window.seen = [];
  const note = () => {
    const now = document.querySelector('#phase')?.textContent;
    if (now && window.seen.at(-1) !== now) window.seen.push(now);
  };
  new MutationObserver(note).observe(document, { childList: true, subtree: true });
  note();
}"""


ORDER = [
    "test of the base model",
    "measuring how hard the tasks are",
    "warm start",
    "test after the warm start",
    "RL",
    "test of the trained model",
    "finished",
]


def test_the_first_page_follows_a_run_from_its_tasks_to_its_end(browser, followed):
    address, seen = followed
    assert [phase for phase in ORDER if phase in seen] == [phase for phase in seen if phase in ORDER]
    assert "RL" in seen[:-1]  # others may be over before they are seen
    assert seen[-1] == "finished"
    with tab(browser) as page:
        page.goto(address, wait_until="commit")
        page.wait_for_selector(f"#steps tbody tr:nth-child({RL_STEPS})")
        numbers = page.locator("#steps tbody tr td:first-child").all_inner_texts()
        assert numbers == [str(step) for step in range(RL_STEPS, 0, -1)]
        assert page.locator("svg circle").count() >= 3


def test_a_group_stands_side_by_side_with_scores_words_and_advantages(browser, followed):
    with tab(browser) as page:
        page.goto(f"{followed[0]}groups?sort=spread")
        page.locator(".rows tbody a").first.click()
        columns = page.locator(".columns > section")
        columns.first.wait_for()
        assert columns.count() == 3
        boxes = [columns.nth(at).bounding_box() for at in range(3)]
        assert len({box["y"] for box in boxes if box}) == 1
        assert "advantage" in columns.first.inner_text()
        assert "outcome" in columns.first.locator(".words").inner_text()
        page.locator("a:has-text('show the sampled tokens')").click()
        page.wait_for_selector(".columns pre span")
        sampled = page.locator(".columns .assistant pre").first.inner_text()
        assert sampled.endswith("<|im_end|>") or len(sampled) > 10


@pytest.mark.parametrize(("size", "dark"), LOOKS, ids=["wide", "phone", "wide, dark", "phone, dark"])
def test_every_page_fits_its_window_and_has_no_serious_finding(browser, followed, size, dark):
    with tab(browser, size, dark) as page:
        page.goto(f"{followed[0]}groups", wait_until="domcontentloaded")
        group = page.locator(".rows tbody a").first.get_attribute("href")
        page.goto(f"{followed[0]}pairs?verdict=unsolved", wait_until="domcontentloaded")
        pair = page.locator("article h2 a").first.get_attribute("href")
        for name in (*PAGES, "report.html", group, pair):
            page.goto(urljoin(followed[0], name), wait_until="domcontentloaded")
            assert is_as_wide_as_its_window(page), name
            assert serious_findings(page) == [], name


def test_the_report_is_one_click_away(browser, followed):
    with tab(browser) as page:
        page.goto(f"{followed[0]}tasks")
        page.locator("header a:has-text('report.html')").click()
        assert "held-out tasks" in page.inner_text("body")


# --- journals of runs that were never made ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """A run in which all texts of server, model, judge and tasks are hostile."""
    folder = tmp_path_factory.mktemp("runs") / "hostile"
    tasks = [replace(scenario(n), request=text, answer=text, kind=text) for n, text in enumerate(HOSTILE)]
    with Journal.create(folder, CONFIG) as journal:
        journal.write_scenarios(tasks)
        journal.write_fact("tools", HOSTILE)
        for text in HOSTILE:
            journal.write_event("note", text=text)
        for phase in ("train", "test:base", "test:trained"):
            made = [
                replace(
                    trajectory(task, f"{phase}/{task.id}", True),
                    messages=tuple({"role": role, "content": task.request} for role in ("user", "tool", "assistant")),
                    calls=(CallRecord(0, task.request, {}, ToolResult(task.request, is_error=True)),),
                )
                for task in tasks
            ]
            journal.write_trajectories(phase, 0, made)
            scores = [Score(each.id, 0.5, phase == "test:base", each.messages[0]["content"]) for each in made]
            journal.write_scores(phase, 0, scores)
    with served(folder) as address:
        yield address


@pytest.fixture(scope="module")
def gapped(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """A run with a group whose gaps are known, one of an older mcprl, one that waits for its step, and one of equal
    scores."""
    folder = tmp_path_factory.mktemp("runs") / "gapped"
    task = scenario(0, "train")
    message = {"role": "assistant", "content": "It is 12.50."}
    turn = Completion(message, (1, 2), (70, 80, 90, 300), (-1.0,) * 4, "stop")
    with Journal.create(folder, CONFIG) as journal:
        journal.write_scenarios([task])
        for step, fate in ((1, "trained"), (2, "trained"), (3, None), (4, "no signal")):
            names = [f"{step}/{member}" for member in range(2)]
            made = [replace(trajectory(task, name, True), messages=(message,), turns=(turn,)) for name in names]
            journal.write_trajectories("train", step, made)
            scores = [Score(name, float(fate != "no signal" and name[-1] == "0"), None) for name in names]
            journal.write_scores("train", step, scores)
            if fate:
                gaps = {name: [0.0002, math.nan, 0.012, 1.1] for name in names} if step == 1 else None
                journal.write_step(step, {"sampler_gap_mean": 0.37}, fates=dict.fromkeys(names, fate), gaps=gaps)
    with served(folder) as address:
        yield address


def test_hostile_texts_are_read_on_every_page_and_run_on_none(browser, hostile):
    with tab(browser) as page:
        for name in ("groups", "pairs", "tasks", "servers"):
            page.goto(f"{hostile}{name}")
            shown = " ".join(page.inner_text("main").split())
            for text in HOSTILE:
                assert " ".join(text.split())[:30] in shown, name
            assert page.evaluate("document.scripts.length") == 1
        page.goto(f"{hostile}", wait_until="commit")
        page.wait_for_selector("#progress li")
        for at in range(len(HOSTILE)):
            page.goto(f"{hostile}pair?task=test-{at}")
            assert (
                page.evaluate("document.querySelectorAll('main script, main img, main iframe, main style').length") == 0
            )


def colour(page: "Page", selector: str) -> str:
    return page.eval_on_selector(selector, "each => getComputedStyle(each).backgroundColor")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_switch_tints_the_tokens_by_advantage_or_by_gap(browser, gapped, dark):
    with tab(browser, PHONE if dark else WIDE, dark) as page:
        page.goto(f"{gapped}group?phase=train&step=1&task=train-0")
        assert "gap 0.371 nats" in page.locator(".columns > section").first.inner_text()
        page.locator("a:has-text('show the sampled tokens')").click()
        first, far = ".tokens span:nth-child(1)", ".tokens span:nth-child(4)"
        by_advantage = [colour(page, each) for each in (".tokens", first, far)]
        assert by_advantage[1] == by_advantage[2] == "rgba(0, 0, 0, 0)"  # the rollout's colour is seen through
        assert page.locator(".by-gap").is_hidden()
        page.get_by_label("advantage").focus()
        page.keyboard.press("ArrowRight")
        assert page.get_by_label("gap").is_checked()
        by_gap = [colour(page, each) for each in (".tokens", first, far)]
        assert by_gap[0] != by_advantage[0]
        assert by_gap[1] == by_advantage[1]
        assert by_gap[2] != by_advantage[2]
        assert page.locator(".by-advantage").is_hidden()
        assert page.locator(far).first.get_attribute("title") == "probability 0.368, gap 1.1 nats"
        page.locator(".tokens").first.focus()
        for _ in range(4):
            page.keyboard.press("ArrowRight")
        told = page.locator("#token")
        assert told.inner_text().endswith(": probability 0.368, gap 1.1 nats")
        page.keyboard.press("ArrowLeft")
        assert told.inner_text().endswith(": probability 0.368, gap 0.012 nats")
        assert page.locator(".at").count() == 1
        assert is_as_wide_as_its_window(page)
        assert serious_findings(page) == []


@pytest.mark.parametrize(
    ("step", "why"), [(2, "older mcprl"), (3, "when the step is taken"), (4, "nothing was trained on")]
)
def test_a_group_without_gaps_says_why_and_has_no_switch(browser, gapped, step, why):
    with tab(browser) as page:
        page.goto(f"{gapped}group?phase=train&step={step}&task=train-0&tokens=1")
        assert why in page.inner_text("main")
        assert page.locator("input").count() == 0
        assert page.locator(".tokens span").count() == 8


def test_nothing_is_shown_without_the_key_or_to_another_host(hostile):
    address = urlsplit(hostile)

    def status(path: str, host: str = address.netloc) -> tuple[int, str | None]:
        connection = HTTPConnection(address.netloc, timeout=10)
        try:
            connection.request("GET", path, headers={"Host": host})
            answer = connection.getresponse()
            answer.read()
            return answer.status, answer.getheader("Content-Security-Policy")
        finally:
            connection.close()

    found, policy = status(f"{address.path}groups")
    assert (found, str(policy)[:18]) == (200, "default-src 'none'")
    assert "unsafe" not in str(policy)
    assert status("/")[0] == status("/groups")[0] == status("/wrong/groups")[0] == status("/static/view.css")[0] == 404
    assert status(address.path, "evil.example")[0] == 400
    assert status(f"{address.path}groups?page=-1")[0] == status(f"{address.path}groups?sort=1;drop")[0] == 400
    assert status(f"{address.path}static/../app.py")[0] == status(f"{address.path}journal.sqlite")[0] == 404


def test_ctrl_c_ends_it_in_one_line_while_a_page_is_open(browser, tmp_path):
    Journal.create(tmp_path / "run", CONFIG).close()
    with Forked(tmp_path, command_line, "view", "run", "--runs-dir", tmp_path, "--no-open") as viewer:
        address = viewer.stdout.readline().split(" is at ")[1].split()[0]
        with tab(browser) as page:
            page.goto(address, wait_until="commit")
            page.locator("#phase").wait_for()
            viewer.interrupt()
            assert viewer.ends(within_s=10) == 130
        assert (viewer.stdout.read() + viewer.stderr.read()).strip() == "stopped"


def test_ten_thousand_rollouts_are_browsed_with_keys(browser, tmp_path):
    tasks = [scenario(n, "train") for n in range(50)]
    with Journal.create(tmp_path / "big", CONFIG) as journal:
        journal.write_scenarios(tasks)
        for step in range(1, 26):
            played(journal, "train", step, tasks, lambda n, member: (n + member) % 3 == 0, rollouts=8)
            journal.write_step(step, {"score": 0.5})
    with served(tmp_path / "big") as address, tab(browser) as page:
        page.goto(address, wait_until="commit")
        page.goto(f"{address}groups", wait_until="domcontentloaded")
        while not page.evaluate("performance.getEntriesByName('first-contentful-paint').length"):
            page.wait_for_timeout(20)  # `wait_for_function` would poll by eval, which the page's policy refuses
        asked = page.evaluate("performance.getEntriesByType('resource').map(each => each.name.split('/').pop())")
        assert asked == ["view.js"]  # the style stands in the page, so its first paint waits for nothing else
        assert page.locator(".rows tbody tr").count() == 100
        first, second = page.locator(".rows tbody a").all_inner_texts()[:2]
        page.keyboard.press("j")
        page.keyboard.press("j")
        assert page.evaluate("document.activeElement.textContent") == second != first
        page.keyboard.press("n")
        page.wait_for_url("**page=1**")
        page.keyboard.press("/")
        page.keyboard.type("order 7?")
        page.keyboard.press("Enter")
        page.wait_for_url("**words=order**")
        assert set(page.locator(".rows tbody a").all_inner_texts()) == {"What is the total of order 7?"}
