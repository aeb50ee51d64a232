"""The report as one HTML file: what it shows, and that no text of a server or a model becomes more than text."""

from html.parser import HTMLParser

import pytest
from support.hostile_text import HOSTILE

from mcprl.runs.html import document
from mcprl.runs.page import fenced, grid, inline


class Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


def assert_inert(page: str) -> Tags:
    tags = Tags(page)
    assert not {*tags.names} & {"script", "iframe", "object", "embed", "svg", "form", "link", "base", "a"}
    assert tags.names.count("style") == 1
    assert tags.names.count("body") == 1
    assert [name for name, _ in tags.attributes if name.startswith("on")] == []
    assert {value[:22] for name, value in tags.attributes if name == "src"} <= {"data:image/png;base64,"}
    assert "default-src 'none'" in page.split("</head>")[0]
    return tags


@pytest.mark.parametrize("text", HOSTILE)
def test_text_of_servers_and_models_is_shown_and_never_runs(text: str) -> None:
    parts = [f"# {inline(text)}", f"**{inline(text)}**", grid([("task", "why"), (text, text)]), fenced(text)]
    tags = assert_inert(document("\n\n".join(parts), text, {}))
    for word in ("alert(1)", "evil.example"):
        if word in text:
            assert tags.text.count(word) >= 4


@pytest.mark.parametrize("text", [text for text in HOSTILE if not text.startswith("[")])
def test_even_where_nothing_was_escaped_html_stays_text(text: str) -> None:
    assert_inert(document(f"# A run\n\n{text}\n\n- {text}", "a run", {}))


def test_tables_code_and_the_curve_are_inside_the_file() -> None:
    page = (
        "# shop\n\n"
        + grid([("suite", "base"), ("forms", "10 %")])
        + "\n\n"
        + fenced("a < b")
        + "\n\n![curve](curve.png)"
    )
    html = document(page, "shop & co", {"curve.png": b"png"})
    assert "<title>shop &amp; co</title>" in html
    assert '<div class="wide" tabindex="0">\n<table>' in html
    assert '<pre tabindex="0"><code class="language-text">a &lt; b\n</code></pre>' in html
    assert 'src="data:image/png;base64,cG5n" alt="curve"' in html
