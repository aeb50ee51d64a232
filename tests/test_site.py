"""The site of docs/ builds without a warning, lacks nothing, and asks no other host for anything."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from support.paths import ROOT

import mcprl
from mcprl.cli.commands import cli

pytest.importorskip("mkdocs", reason="the extra docs is not installed: pip install '.[docs]'")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    variables = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    return folder


def text(page: Path) -> str:
    return (page / "index.html").read_text(encoding="utf-8")


def test_every_page_of_docs_is_in_the_navigation() -> None:
    listed = set(re.findall(r"[\w-]+\.md", yaml.safe_dump(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"])))
    assert listed == {"index.md", *(path.name for path in (ROOT / "docs").glob("*.md"))}


def test_the_first_page_is_the_readme_and_its_links_lead_into_the_site(site: Path) -> None:
    first = text(site)
    assert "Give it any MCP server" in first
    links = re.findall(r'href="([^"#:]+)(?:#[^"]*)?"', first.partition("<article")[2].partition("</article>")[0])
    assert "commands/" in links
    assert any(link.startswith("repository/") for link in links), "what is no page is a file of the repository"
    assert [link for link in links if not (site / link).exists()] == []


def test_the_api_has_every_public_name_with_its_docstring(site: Path) -> None:
    page = text(site / "api")
    headings = set(re.findall(r'<h3 id="mcprl\.[\w.]*?(\w+)"', page))
    renamed = {"Trajectory": "ArtTrajectory"}
    assert {renamed.get(name, name) for name in mcprl.__all__} - {"__version__"} <= headings
    assert "Train an adapter for the configured servers" in page


def test_every_command_is_there_with_the_options_that_it_has(site: Path) -> None:
    page = text(site / "cli")
    for name, command in cli.commands.items():
        assert f"mcprl {name}" in page
        assert all(option in page for parameter in command.params for option in parameter.opts if option[:2] == "--")


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 20
    loaded = re.compile(
        r'<(?:script|img|iframe)[^>]*src="(?:https?:)?//|<link[^>]*rel="(?:stylesheet|preconnect)[^>]*//'
    )
    assert [page for page in pages if loaded.search(page.read_text(encoding="utf-8"))] == []
