"""What varies between several results of one tool that share a skeleton: "The sum of 1 and 2 is 3."."""

import re
from collections.abc import Sequence

from mcprl.scenarios.readers.scalars import scalar
from mcprl.types import Scalar

_TOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|[-+]?\d[\d.,:/-]*\d|\d|\S")
_MOST_STEPS = 500_000
"""The longest text's tokens times all tokens: about what finding the skeleton costs."""
_SMALL = frozenset(
    "a an the of to in on at for and or is are was were be been by with from as it its has have had than then that "
    "this will would can".split()
)


def align(texts: Sequence[str]) -> list[dict[str, Scalar]] | None:
    """The varying parts of texts with one skeleton, a record a text; `None` if the texts share too little.

    A part is named by the words before it ("costs 12.50" -> `costs`), or behind it ("12 items" -> `items`). Half of the
    tokens at least must be the skeleton's, and it must have a word.
    """
    rows = [_tokens(text) for text in texts]
    different = list(dict.fromkeys(tuple(token for token, _, _ in row) for row in rows))
    if len(different) < 2 or max(map(len, different)) * sum(map(len, different)) > _MOST_STEPS:
        return None
    skeleton = list(different[0])
    for other in different[1:]:
        skeleton = _common(skeleton, other)
    words = sum(token[0].isalpha() for token in skeleton)
    if not words or len(skeleton) < 0.5 * sum(map(len, different)) / len(different):
        return None
    cut = [_gaps(text, row, skeleton) for text, row in zip(texts, rows, strict=True)]
    if any(gaps is None for gaps in cut):
        return None
    varying = [n for n in range(len(skeleton) + 1) if any(gaps and gaps[n] for gaps in cut)]
    labels = _labels(skeleton, varying)
    records: list[dict[str, Scalar]] = []
    for gaps in cut:
        values = {labels[n]: scalar(gaps[n].strip(" ,;:")) for n in varying if gaps and gaps[n]}
        records.append({name: value for name, value in values.items() if value is not None})
    return records


def _tokens(text: str) -> list[tuple[str, int, int]]:
    return [(match[0], match.start(), match.end()) for match in _TOKEN.finditer(text[:20_000])]


def _common(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """The longest common subsequence of two lists of tokens."""
    best = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i in range(len(one) - 1, -1, -1):
        for j in range(len(other) - 1, -1, -1):
            same = one[i] == other[j] and not one[i][0].isdigit()
            best[i][j] = best[i + 1][j + 1] + 1 if same else max(best[i + 1][j], best[i][j + 1])
    shared: list[str] = []
    i = j = 0
    while i < len(one) and j < len(other):
        if one[i] == other[j] and not one[i][0].isdigit() and best[i][j] == best[i + 1][j + 1] + 1:
            shared.append(one[i])
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    return shared


def _gaps(text: str, row: Sequence[tuple[str, int, int]], skeleton: Sequence[str]) -> list[str] | None:
    """The text between the skeleton's tokens: one part more than the skeleton has tokens."""
    gaps: list[str] = []
    position = end = 0
    for token in skeleton:
        at = next((n for n in range(position, len(row)) if row[n][0] == token), None)
        if at is None:
            return None
        gaps.append(text[row[position][1] : row[at - 1][2]] if at > position else "")
        position, end = at + 1, row[at][2]
    return [*gaps, text[end:].strip()]


def _labels(skeleton: Sequence[str], varying: Sequence[int]) -> dict[int, str]:
    """A name for each varying part: the nearest telling word before it, else behind it, else `value N`."""
    labels: dict[int, str] = {}
    for number, place in enumerate(varying):
        start = varying[number - 1] if number else 0
        end = varying[number + 1] if number + 1 < len(varying) else len(skeleton)
        before = [token for token in skeleton[start:place] if token[0].isalpha()]
        after = [token for token in skeleton[place:end] if _is_telling(token)]
        telling = [token for token in before if _is_telling(token)]
        name = next(iter([*telling[::-1], *before[::-1], *after]), f"value {number}")
        labels[place] = name if name not in labels.values() else f"value {number}"
    return labels


def _is_telling(token: str) -> bool:
    return token[0].isalpha() and token.casefold() not in _SMALL
