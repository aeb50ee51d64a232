"""Scalars, names and `name: value` pairs as they are written in text. Every reader shares them."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from mcprl.types import Json, Scalar

Record = dict[str, Any]
"""One thing with its fields; a field's value is a scalar, a record, or a list of either."""

Pairs = list[tuple[str, Scalar | None]]

NULLS = frozenset(("", "null", "None", "NULL", "nil", "N/A", "n/a", "-", "--", "—", "<none>", "<nil>", "(null)", "NaN"))
BULLET = re.compile(r"(?:[-*+•◦▪‣●–·]|\(?\d{1,4}[.)]|\[\d{1,4}\]|[a-z]\))\s+(?=\S)")
RULE = re.compile(r"[-=_*~─━═]{3,}$")
_INT = re.compile(r"-?(?:0|[1-9]\d{0,17})$")
_FLOAT = re.compile(r"-?(?:0|[1-9]\d{0,17})\.\d{1,17}$")
# A name is at most 40 characters: a search for one costs a bounded number of steps at each place.
_NAME = r"[^\W\d_][\w ./()&%#°'’-]{0,40}?"
_PAIR = re.compile(rf"({_NAME})(?::\s+|\s?=>?\s?|\s:\s)(.*)$", re.DOTALL)
_BETWEEN = re.compile(rf"(?:[,;|·]\s++|\s{{2,}}+|\t)(?={_NAME}(?::\s|=|\s=\s))")
_APART = re.compile(r"\t|\s{3}")  # such a value is a row of a table
_LOGFMT = re.compile(r"(?<!\S)([A-Za-z_][\w.-]{0,40})=")
_CODE = re.compile(
    r"\s*(?:def \w+\(|class \w+[:({]|import \w|from \w\S* import|function\b.*[({]|(?:const|let|var) \w+ ?=|#include|"
    r"(?:public|private|static) \w|return\b|(?:if|for|while) ?\(|SELECT\s|CREATE\s|<\?php|@\w+\()"
)


def scalar(text: str) -> Scalar | None:
    """The number or boolean that a text is written as, `None` for an absent value, else the text without quotes.

    A number with leading zeros or more than 18 digits is an identifier and stays text.
    """
    text = text.strip()
    if text in NULLS:
        return None
    if _INT.match(text):
        return int(text)
    if _FLOAT.match(text):
        return float(text)
    if text in ("true", "True", "TRUE", "false", "False", "FALSE"):
        return text.lower() == "true"
    if len(text) > 2 and text[0] == text[-1] and text[0] in "\"'`" and text[0] not in text[1:-1]:
        return text[1:-1]
    return text


def plain(text: str) -> str:
    """A text without Markdown's emphasis, the ticks around it, and symbols (emoji, check marks) at its start."""
    text = text.strip()
    if "**" in text or "__" in text:
        text = re.sub(r"\*\*|(?<!\w)__|__(?!\w)", "", text).strip()
    if re.fullmatch(r"`[^`]+`", text):
        text = text[1:-1].strip()
    start = 0
    while start < len(text) and unicodedata.category(text[start]) in ("So", "Sk", "Mn", "Cf"):
        start += 1
    return text[start:].strip()


def is_name(text: str, most_words: int = 5) -> bool:
    """Whether a text can be the name of a field: at most 40 characters and five words, brackets closed."""
    return (
        0 < len(text) <= 40
        and len(text.split()) <= most_words
        and text.count("(") == text.count(")")
        and not text.endswith((".", "'", "("))
        and " - " not in text
        and any(char.isalpha() for char in text)
    )


def pair_of(text: str) -> tuple[str, str] | None:
    """`name: value`, `name = value` or `**Name:** value` as its two parts; `None` for any other text."""
    match = _PAIR.match(plain(text))
    if not match or not is_name(match[1].strip()) or _APART.search(match[2].strip()):
        return None
    return match[1].strip(), match[2].strip()


def pairs_in(line: str) -> Pairs:
    """The pairs of a line that has nothing else: `name: Ana, total: 12`, `n=1 t=2`; empty for any other line."""
    line = plain(line)
    keys = list(_LOGFMT.finditer(line))
    if len(keys) > 1 and not line[: keys[0].start()].strip():
        ends = [*(key.start() for key in keys[1:]), len(line)]
        return [
            (key[1], scalar(line[key.end() : end].strip().rstrip(","))) for key, end in zip(keys, ends, strict=True)
        ]
    pairs = [pair_of(part) for part in _BETWEEN.split(line)]
    if not all(pairs):
        return []
    return [(pair[0], scalar(pair[1].rstrip(","))) for pair in pairs if pair]


def record(pairs: Sequence[tuple[str, Json]]) -> Record:
    """The pairs as a record, absent values left out."""
    return {name: value for name, value in pairs if value is not None}


def is_prose(text: str) -> bool:
    """Whether a text reads as a sentence: many words, or several words and a full stop."""
    many = len(text.split())
    return many > 12 or (many > 3 and text.rstrip().endswith((".", "!", "?", ":", ",", ";")))


def is_code(text: str) -> bool:
    """Whether a line of the text begins as a line of a program does."""
    return any(_CODE.match(line) for line in text.splitlines())
