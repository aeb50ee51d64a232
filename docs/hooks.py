"""Hooks of mkdocs: the repository's pages as pages of the site.

Pages are written for readers of the repository, so they link to files outside docs/. README.md becomes the site's
first page; a Markdown file or a picture that a page links to joins the site below repository/; of a link to anything
else only its text is kept.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)#\s]*)(#[^)\s]*)?\)")
_FENCE = re.compile(r"^```(\w+) [^\n]*$", re.MULTILINE)
_PICTURES = {".png", ".svg"}


def on_files(files: Files, config: MkDocsConfig, **_: Any) -> Files:
    """Add README.md, and what pages link to, and what those link to."""
    waiting = ["README.md", *(f"docs/{file.src_uri}" for file in files.documentation_pages())]
    seen = set(waiting)
    while waiting:
        page = waiting.pop()
        if not page.startswith("docs/"):
            files.append(File.generated(config, _site(page), abs_src_path=str(ROOT / page)))
        if Path(page).suffix == ".md":
            linked = {_target(page, link[3]) for link in _LINK.finditer((ROOT / page).read_text(encoding="utf-8"))}
            new = sorted(link for link in linked - seen if link and _site(link) and not link.startswith("docs/"))
            seen.update(new)
            waiting += new
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Point links to where their targets stand in the site, and leave what tests read out of the fences."""
    at = page.file.src_uri
    source = _source(at)

    def moved(link: re.Match[str]) -> str:
        mark, text, path, anchor = link.groups()
        target = _target(source, path)
        if target is None:
            return link[0]
        site = _site(target)
        return f"{mark}[{text}]({posixpath.relpath(site, posixpath.dirname(at))}{anchor or ''})" if site else text

    return _LINK.sub(moved, _FENCE.sub(r"```\1", markdown))


def _target(page: str, link: str) -> str | None:
    """The path in the repository that a link of a page leads to, `None` if it leads elsewhere."""
    if not link or "://" in link or link.startswith("mailto:"):
        return None
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), link))
    return path if (ROOT / path).exists() else None


def _site(path: str) -> str:
    """Where a file of the repository stands in the site, empty if it does not."""
    if path == "README.md":
        return "index.md"
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"repository/{path}" if Path(path).suffix in {".md", *_PICTURES} else ""


def _source(site: str) -> str:
    """The file of the repository that stands there in the site."""
    if site == "index.md":
        return "README.md"
    return site.removeprefix("repository/") if site.startswith("repository/") else f"docs/{site}"
