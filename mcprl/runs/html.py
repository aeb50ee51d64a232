"""A proof's page as one HTML file that needs nothing beside it: pictures are inside, no script runs.

Two transcripts in a row stand side by side, and a long table is folded.

The page's text is a server's and a model's in part. Raw HTML in it is shown as text, and the policy in the file's head
forbids scripts and frames, and loads from no address.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from mcprl.text import counted

_STYLE = """
:root { color-scheme: light dark; --ink: light-dark(#1c1e21, #e4e6ea); --faint: light-dark(#5c6370, #9aa3b0);
  --line: light-dark(#d9dde3, #3a4049); --panel: light-dark(#f5f6f8, #1d2127); }
body { background: light-dark(#fff, #14171b); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif;
  margin: 0 auto; max-width: 76rem; padding: 1.5rem 1rem 4rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin: 0 0 .5rem; }
h1 + p { border-left: 4px solid #0072b2; font-size: 1.1rem; padding-left: 1rem; }
h1 + p strong { font-weight: 500; }
h2 { border-bottom: 1px solid var(--line); font-size: 1.2rem; margin-top: 2.2rem; padding-bottom: .2rem; }
h3 { font-size: 1rem; }
.wide { display: block; margin: 1rem 0; overflow-x: auto; }
.pair { display: grid; gap: 0 1.5rem; grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); }
.pair > div { min-width: 0; }
summary { color: var(--faint); cursor: pointer; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .8rem .3rem 0; text-align: left; vertical-align: top; }
th:not([style]), td:not([style]) { min-width: 7rem; }
[style*="right"] { white-space: nowrap; }
th { color: var(--faint); font-weight: 600; }
blockquote { border-left: 4px solid #d55e00; margin-left: 0; padding-left: 1rem; }
pre { background: var(--panel); border-radius: 6px; font-size: .82rem; max-height: 24rem; overflow: auto;
  padding: .8rem; white-space: pre-wrap; }
code { font-family: ui-monospace, monospace; }
img { background: #fff; border-radius: 6px; max-width: 100%; min-width: min(40rem, 250%); }
@media (prefers-color-scheme: dark) { img { filter: invert(.91) hue-rotate(180deg); } }
"""
_MOST_ROWS = 30
"""Rows of a table that is not folded."""
_PAIR = ["paragraph_open", "inline", "paragraph_close", "fence"] * 2
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'"


def document(page: str, title: str, pictures: Mapping[str, bytes]) -> str:
    """A Markdown page as an HTML document. `pictures` are the PNG files that it may show, by name."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    markdown.add_render_rule("table_open", _table_open)
    markdown.add_render_rule("table_close", _table_close)
    markdown.add_render_rule("fence", _fence)
    markdown.add_render_rule("image", _image)
    tokens = _paired(markdown.parse(page))
    for token in tokens:
        for child in token.children or ():
            if child.type == "image":
                picture = pictures.get(str(child.attrs["src"]), b"")
                child.attrs["src"] = f"data:image/png;base64,{b64encode(picture).decode()}"
    body = markdown.renderer.render(tokens, markdown.options, {})
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )


def _paired(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with a frame around each two paragraphs that both have a code block below them."""
    framed: list[Token] = []
    at = 0
    while at < len(tokens):
        if [token.type for token in tokens[at : at + len(_PAIR)]] == _PAIR:
            half = len(_PAIR) // 2
            first, second = tokens[at : at + half], tokens[at + half : at + len(_PAIR)]
            framed += [_html('<div class="pair">\n<div>\n'), *first, _html("</div>\n<div>\n"), *second]
            framed.append(_html("</div>\n</div>\n"))
            at += len(_PAIR)
        else:
            framed.append(tokens[at])
            at += 1
    return framed


def _html(text: str) -> Token:
    """HTML of our own."""
    return Token("html_block", "", 0, content=text)


def _table_open(_self: Any, tokens: Sequence[Token], at: int, _options: Any, _env: Any) -> str:
    rows = _rows(tokens, at)
    fold = (
        f"<details>\n<summary>{escape(_title(tokens, at))}: {counted(rows, 'row')}</summary>\n"
        if rows > _MOST_ROWS
        else ""
    )
    return fold + '<div class="wide" tabindex="0">\n<table>\n'  # a keyboard scrolls what has the focus


def _table_close(_self: Any, tokens: Sequence[Token], at: int, _options: Any, _env: Any) -> str:
    opened = max(index for index in range(at) if tokens[index].type == "table_open")
    return "</table>\n</div>\n" + ("</details>\n" if _rows(tokens, opened) > _MOST_ROWS else "")


def _rows(tokens: Sequence[Token], opened: int) -> int:
    """The number of rows below the head of the table that opens there."""
    closed = next(at for at in range(opened, len(tokens)) if tokens[at].type == "table_close")
    return sum(token.type == "tr_open" for token in tokens[opened:closed]) - 1


def _title(tokens: Sequence[Token], opened: int) -> str:
    """What the first cell of the table's head says."""
    return next(token.content for token in tokens[opened:] if token.type == "inline")


def _image(_self: Any, tokens: Sequence[Token], at: int, _options: Any, _env: Any) -> str:
    source, words = str(tokens[at].attrs["src"]), tokens[at].content
    return f'<span class="wide" tabindex="0"><img src="{escape(source)}" alt="{escape(words)}"></span>'


def _fence(_self: Any, tokens: Sequence[Token], at: int, _options: Any, _env: Any) -> str:
    """A code block that a keyboard can scroll."""
    token = tokens[at]
    return f'<pre tabindex="0"><code class="language-{escape(token.info)}">{escape(token.content)}</code></pre>\n'
