"""Documents as people name them, and not by a path: the cleaning contract, invoice INV-1044."""

import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from mcprl.judges.checks import holds
from mcprl.scenarios.calls import Calls
from mcprl.scenarios.intents import Attribute, Reference, Value
from mcprl.scenarios.naming import row_found
from mcprl.scenarios.parameters import FOLDERS, is_search, opens
from mcprl.scenarios.probing.knowledge import State
from mcprl.scenarios.probing.results import folder_of, takes_path
from mcprl.scenarios.slots import Slot
from mcprl.scenarios.steps import Found, Step
from mcprl.scenarios.subset import Subset
from mcprl.text import singular, words
from mcprl.types import Session, Tool

_KINDS = frozenset(
    "ad agenda brief budget calendar catalogue charter checklist contract draft faq form guide guideline handbook "
    "handout invoice itinerary journal lease letter list log manual memo menu minutes newsletter note notes offer "
    "order plan playbook policy poster presentation proposal protocol quote readme receipt recipe release report "
    "roadmap roster rota schedule script sheet standup summary survey template transcript".split()
)
"""What documents are: the word for it may stand anywhere in a file name, and stands last in a request."""
_FILES = frozenset("file files path paths document documents".split())
"""Words of tools that search for files."""
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


async def titled(calls: Calls, session: Session, state: State, tool: Tool, slot: Slot) -> tuple[str, Found] | None:
    """The path of a document that people name by what its file name says, found by a search or in its folder."""
    if calls.subset.catalog.named_by(tool, slot) == "folder":
        return None
    paths = {
        str(calls.subset.catalog.from_root(path))
        for path in calls.subset.known.options(slot, state, calls.subset.rng, lambda _: True)
    }
    titles = {path: title for path in sorted(paths) if opens(tool, path) and (title := title_of(path))}
    called = Counter(title.text for title in titles.values())
    own = [path for path, title in titles.items() if called[title.text] == 1 and calls.subset.allowed(path)]
    if not own:
        return None
    path = calls.subset.rng.choice(own)
    kind = titles[path].reference.noun.split()[-1]
    told = kind == singular(PurePosixPath(path).parent.name.lower())  # an invoice is among the invoices
    found = await _in_folder(calls, session, path) if told and calls.subset.rng.random() < 0.4 else None
    found = found or await _searched_for(calls, session, titles[path].sought, path)
    return (path, Found(titles[path].reference, (found,), {}, (), (path,))) if found else None


async def _searched_for(calls: Calls, session: Session, sought: str, path: str) -> Step | None:
    """A search for a part of a file's name, over everything that is served, that finds only this file."""
    for tool in calls.subset.known.reads():
        needed = calls.subset.catalog.needs(tool)
        searching = [slot for slot in calls.subset.known.slots[tool.name] if is_search(slot)][:1]
        if not searching or not _FILES & {*words(f"{tool.name} {tool.description.partition('.')[0]}")}:
            continue
        if any(slot not in searching and not takes_path(slot) for slot in needed):
            continue
        whole = [(slot, ".") for slot in needed if takes_path(slot)]
        for pattern in (f"**/*{sought}*", f"*{sought}*", sought):
            step = await calls.execute(session, tool, [*whole, (searching[0], pattern)])
            if step and [PurePosixPath(line.strip()).name for line in step.result.text.splitlines()] == [
                PurePosixPath(path).name
            ]:
                return step
    return None


async def _in_folder(calls: Calls, session: Session, path: str) -> Step | None:
    """A list of the folder that a file is in."""
    name, folder = PurePosixPath(path).name, folder_of(path)
    for tool in calls.subset.known.reads():
        needed = calls.subset.catalog.needs(tool)
        if len(needed) == 1 and takes_path(needed[0]) and {*words(tool.name)} & {*FOLDERS, "list", "ls"}:
            step = await calls.execute(session, tool, [(needed[0], folder)])
            if step and holds(step.result.text, name):
                return step
    return None


def document_row(subset: Subset, step: Step, document: Found) -> Found | None:
    """A row of a document, which is named as the document is: Hanne in the contacts list."""
    row = row_found(subset, step, keyed=False)
    title = title_of(str(document.entities[0])) if document.steps else None
    if row is None or title is None:
        return None if document.steps else row
    if any(value.attribute.meaning == "date" for value in title.reference.values):
        return None
    values = tuple(
        replace(value, value=title.text) if value.value == document.entities[0] else value
        for value in row.reference.values
    )
    return replace(row, reference=replace(row.reference, values=values), steps=(*document.steps, step))
