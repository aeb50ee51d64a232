"""How people name documents: the cleaning contract, invoice INV-1044 or the stand-up of 9 March, and not by a path."""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from mcprl.scenarios.intents import Attribute, Reference, Value
from mcprl.text import singular

_KINDS = frozenset(
    "ad agenda brief budget calendar catalogue charter checklist contract draft faq form guide guideline handbook "
    "handout invoice itinerary journal lease letter list log manual memo menu minutes newsletter note notes offer "
    "order plan playbook policy poster presentation proposal protocol quote readme receipt recipe release report "
    "roadmap roster rota schedule script sheet standup summary survey template transcript".split()
)
"""What documents are: the word for it may stand anywhere in a file name, and stands last in a request."""
READING = frozenset("read open view cat".split())
"""Verbs of tools that give what is in a document."""
_CODE = re.compile(r"(?<![A-Za-z0-9])([A-Z]{1,6}-?\d{2,8})(?![A-Za-z0-9])")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOST_WORDS = 4


@dataclass(frozen=True)
class Title:
    """What a document is called, and the part of its file name that a search can look for."""

    reference: Reference
    sought: str

    @property
    def text(self) -> str:
        """The title as one phrase."""
        kind = self.reference.noun
        return (
            " ".join([kind, *(str(v.value) for v in self.reference.values)]) if self.reference.values else f"the {kind}"
        )


def title_of(path: str) -> Title | None:
    """What people call the document at a path; `None` if its name has no words that would tell it."""
    file = PurePosixPath(path)
    folder = file.parent.name.lower()
    kind = singular(folder) if folder.isalpha() and singular(folder) != folder else ""
    if not file.suffix:
        return None
    if code := _CODE.search(file.stem):
        number = Value(Attribute("number", "number", "identifier"), code[1])
        return Title(Reference(kind or "file", (number,)), code[1])
    day = _DAY.search(file.stem)
    words = re.findall(r"[^\W_]+", _DAY.sub(" ", file.stem).lower())
    if not words or len(words) > _MOST_WORDS or not all(map(str.isalpha, words)):
        return None
    named = _with_kind_last(words, kind)
    if named is None:
        return None
    if day:
        return Title(Reference(named, (Value(Attribute("date", "date", "date"), day[0]),)), day[0])
    told = [word for word in words if word not in _KINDS] or words
    return Title(Reference(named), max(told, key=len))


def _with_kind_last(words: list[str], kind: str) -> str | None:
    """The words with what the document is at the end: `job ad barista` is the barista job ad, the `contacts` among the
    lists are the contacts list."""
    at = next((n for n, word in enumerate(words) if singular(word) in _KINDS or word in _KINDS), None)
    if at is not None:
        return " ".join([*words[at + 1 :], *words[: at + 1]])
    return " ".join([*words, kind]) if kind and words[-1] != kind else None
