"""One word a thing: the words that docs/glossary.md bans stand neither in the package nor in what users read."""

import ast
import io
import keyword
import re
import tokenize
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from support.paths import ROOT

GLOSSARY = ROOT / "docs" / "glossary.md"
BANNED = "## Banned"
SOURCES = sorted(path for path in (ROOT / "mcprl").rglob("*.py"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def banned() -> list[tuple[str, str, str]]:
    """The rows of the glossary's table: a word or phrase, what to use, and a regex of the contexts that are fine."""
    _, _, section = GLOSSARY.read_text().partition(f"\n{BANNED}\n")
    table = [line for line in section.split("\n## ")[0].splitlines() if line.startswith("|")]
    rows: list[tuple[str, str, str]] = []
    for line in table[2:]:  # after the header and the rule below it
        cells = [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        word, use, *contexts = cells
        rows.append((word.strip("`"), use, contexts[0].strip("`") if contexts else ""))
    return rows


def words_of(source: str) -> str:
    """Python source in which all but identifiers, comments and strings is blank; every character keeps its place."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    kept = [letter if letter.isspace() else "\0" for letter in source]
    code = {tokenize.OP, tokenize.NUMBER, tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in code or keyword.iskeyword(token.string):
            continue
        start, end = (starts[line - 1] + column for line, column in (token.start, token.end))
        kept[start:end] = source[start:end].replace("#", " ") if token.type == tokenize.COMMENT else source[start:end]
    return "".join(kept)


def text_of(page: Path) -> str:
    """A page without the table of banned words."""
    text = page.read_text()
    if page != GLOSSARY:
        return text
    before, title, section = text.partition(f"\n{BANNED}\n")
    return before + title + re.sub(r"^\|.*$", "", section, flags=re.MULTILINE)


def found(source: str, text: str) -> Iterator[tuple[int, str]]:
    """The line of each banned word in a text, and what to use; `source` holds the contexts that are fine."""
    for word, use, fine in banned():
        spans = [match.span() for match in re.finditer(fine, source, re.MULTILINE)] if fine else []
        pattern = r"[\s_]+".join(re.escape(part) for part in word.split())
        for match in re.finditer(rf"(?<![^\W_]){pattern}(?![^\W_])", text, re.IGNORECASE):
            if not any(start < match.end() and match.start() < end for start, end in spans):
                yield text.count("\n", 0, match.start()) + 1, f"{word!r}, use {use!r}"


def test_the_glossary_lists_banned_words() -> None:
    assert len(banned()) > 3
    assert all(word and use for word, use, _ in banned())


def test_banned_words_are_found_in_names_comments_and_strings_and_nowhere_else() -> None:
    source = 'def the_try(x):\n    try:  # the\n        # try\n        return f"The Try" or x.the_trying\n'
    source += "    finally:\n        pass\n"
    pattern = re.compile(r"the[\s_]+try(?!\w)", re.IGNORECASE)
    lines = [source.count("\n", 0, match.start()) + 1 for match in pattern.finditer(words_of(source))]
    assert lines == [1, 2, 4]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_package_uses_the_glossarys_words(path: Path) -> None:
    source = path.read_text()
    wrong = [f"{path.relative_to(ROOT)}:{line}: {what}" for line, what in found(source, words_of(source))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_pages_use_the_glossarys_words(path: Path) -> None:
    text = text_of(path)
    wrong = [f"{path.relative_to(ROOT)}:{line}: {what}" for line, what in found(text, text)]
    assert not wrong, "\n".join(wrong)


COUNTED = "task rollout step call tool group row minute request sample time server session page option"
NUMBER_AND_PLURAL = re.compile(rf" (?:[a-z-]+ )?(?:{'|'.join(COUNTED.split())})s\b")
NEVER_ONE = {
    "BATCH", "MAX_RUNNING", "_MAX_TOOLS", "NO_SIGNAL_STEPS", "config.rollouts", "self._skips", "measured.tools",
    "self._after_s / 60", "wall_s(journal) / 60",
}  # fmt: skip
NO_NUMBER = {"split", "model.name"}
FOR_THE_MODEL = {
    ("author.py", "BATCH"),
    ("limits.py", "self.most"),
    ("replay.py", "others"),
}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_number_that_can_be_one_stands_before_a_plural_nowhere(path: Path) -> None:
    """`text.counted` writes `1 task`. What a model reads keeps its wording: another one would change a seed's run."""
    wrong = [
        (node.lineno, ast.unparse(number.value) + str(noun.value))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.JoinedStr)
        for number, noun in pairwise(node.values)
        if isinstance(number, ast.FormattedValue)
        and isinstance(noun, ast.Constant)
        and NUMBER_AND_PLURAL.match(str(noun.value))
        and ast.unparse(number.value) not in NEVER_ONE | NO_NUMBER
        and (path.name, ast.unparse(number.value)) not in FOR_THE_MODEL
    ]
    assert wrong == []
