"""Ways to a thing: by its key, by a list or a search, through another thing."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from mcprl.judges.checks import holds
from mcprl.scenarios.calls import MOST_BARREN
from mcprl.scenarios.english.nouns import is_person
from mcprl.scenarios.fields import named_cells, rows_of, scalars
from mcprl.scenarios.intents import Value
from mcprl.scenarios.naming import Naming
from mcprl.scenarios.parameters import FOLDERS, is_hash, is_paging, is_search, opens, shortened_hash
from mcprl.scenarios.probing.knowledge import State
from mcprl.scenarios.probing.results import folder_of, takes_path
from mcprl.scenarios.probing.sources import Source
from mcprl.scenarios.slots import Slot
from mcprl.scenarios.steps import Found, Reached, Step, same
from mcprl.scenarios.titles import title_of
from mcprl.text import singular, words
from mcprl.types import Scalar, Session, Tool

_AGAINST = frozenset("target base against reference baseline since from to".split())
"""Words of parameters that name what something is compared with, not what it is about."""


_FILES = frozenset("file files path paths document documents".split())
"""Words of tools that search for files."""


class Finder(Naming):
    """Finds things of the split that a request can name."""

    def is_plain(self, tool: Tool) -> bool:
        """Whether no result of the tool is a record or has rows that a request could name, or none had anything new."""
        if self.barren[tool.name] >= MOST_BARREN:
            return True
        paged = any(is_paging(slot) for slot in self.needs(tool))
        for example in self.known.examples.get(tool.name, []):
            record = self.record(tool, example.result)
            _, rows = rows_of(record, least=1) or ((), [])
            if named_cells(rows) and not paged if rows else isinstance(record, Mapping):
                return False
        return True

    async def read_named(self, session: Session, state: State, tool: Tool) -> Reached | None:
        """Call a read-only tool; a thing among its arguments may be named as people know it and looked up first."""
        entities = [slot for slot in self.needs(tool) if self.catalog.names_entity(slot)]
        if len(entities) != 1 or self.max_calls < 3 or takes_path(entities[0]) or self.rng.random() < 0.5:
            step = await self.read(session, state, tool, {})
            return Reached(step, tuple(self.said(step.filled)), [step.call]) if step else None
        named = await self.by_name(session, state, tool, entities[0])
        step = await self.read(session, state, tool, {entities[0]: named[0]}) if named else None
        if named is None or step is None:
            return None
        rest = [pair for pair in step.filled if pair[0] != entities[0]]
        found, owner = named[1], self.catalog.named_by(tool, entities[0])
        first, *others = found.reference.values
        if any(value.attribute.meaning == "identifier" for value in others):
            return None  # the cheapest one of a product that is in an order seems to be in it, too
        # A customer's name is no name of an order: among orders it is the `customer`.
        meaning = first.attribute.meaning
        meaning = "person" if meaning in ("name", "person") and is_person(owner) else meaning
        label = self.catalog.slot(entities[0]).label
        label = label if {*words(label)} & _AGAINST else owner
        naming = Value(replace(first.attribute, key=entities[0].key, label=label, meaning=meaning), first.value)
        return Reached(step, (naming, *others, *self.said(rest)), [*found.plan, step.call], found.entities)

    async def thing(
        self, session: Session, state: State, tool: Tool | None = None, by_name: bool | None = None
    ) -> Found | None:
        """A thing of the split that a request can name, by its key, its name or a description, with its fields.

        `tool` returns it, by default one at random. `by_name` demands or excludes a way to it through a
        list, by default either.
        """
        tool = tool or self.tool()
        if tool is None:
            return None
        entities = [slot for slot in self.needs(tool) if self.catalog.names_entity(slot)]
        by_name = self.rng.random() < 0.6 if by_name is None else by_name
        if len(entities) == 1 and self.max_calls > 1 and by_name:
            found = await self._located(session, state, tool, entities[0])
            if found:
                return found
        step = await self.read(session, state, tool, {})
        if step is None:
            return None
        step = self._whole_record(step)
        single = len(step.rows) == 1 and entities and tool.name not in self.catalog.lists
        if step.rows and not single:
            searched = any(is_search(slot) for slot, _ in step.filled)
            return self.row((await self._searched(session, step) if searched else None) or step, keyed=False)
        record = step.rows[0] if step.rows else step.record
        if not isinstance(record, Mapping) or (not step.rows and not self.catalog.is_usual(tool, record)):
            return None
        return self._record(step, record)  # pyright: ignore[reportUnknownArgumentType]

    async def _located(self, session: Session, state: State, tool: Tool, slot: Slot) -> Found | None:
        """A thing named as people know it, read by its key with `tool`."""
        named = await self.by_name(session, state, tool, slot)
        if named is None:
            return None
        key, found = named
        step = await self.read(session, state, tool, {slot: key})
        step = self._whole_record(step) if step else None
        if step and len(step.rows) > 1 and takes_path(slot):
            return self.row_of_document(step, found)
        if step and step.rows and tool.name in self.catalog.lists:  # its only row is not the thing
            return None
        record = (step.rows[0] if len(step.rows) == 1 else step.record) if step else None
        if step is None or not isinstance(record, Mapping):
            return None
        return self._record(step, record, found)  # pyright: ignore[reportUnknownArgumentType]

    async def by_name(self, session: Session, state: State, tool: Tool, slot: Slot) -> tuple[str | int, Found] | None:
        """A key that the slot takes, and the thing as people name it, found in a list or by a search.

        The steps are empty if the name is the key: nothing needs to be looked up.
        """
        if takes_path(slot) and (titled := await self.titled(session, state, tool, slot)):
            return titled
        for source in self.listed_in(tool, slot):
            listed = await self.read(session, state, self.known.tools[source[1]], {})
            if listed is None or not listed.rows:
                continue
            found = self.row(await self._searched(session, listed) or listed)
            if found is None:
                continue
            key = found.record.get(source[-1])
            if key is None:  # a place among the texts of a result has the name of a form, not of a field
                places = self.known.base.pool.get(source, {})
                key = next(
                    (value for value in found.record.values() if isinstance(value, str) and value in places), None
                )
            if not isinstance(key, str | int) or isinstance(key, bool) or not self.allowed(key):
                continue
            key = shortened_hash(str(key)) if is_hash(key) else key
            if any(value.value == key for value in found.reference.values):
                naming = tuple(value for value in found.reference.values if value.value == key)
                found = replace(found, reference=replace(found.reference, values=naming), steps=(), entities=(key,))
            return key, found
        return None

    async def titled(self, session: Session, state: State, tool: Tool, slot: Slot) -> tuple[str, Found] | None:
        """The path of a document that people name by what its file name says, found by a search or in its folder."""
        if self.catalog.named_by(tool, slot) == "folder":
            return None
        paths = {
            str(self.catalog.from_root(path)) for path in self.known.options(slot, state, self.rng, lambda _: True)
        }
        titles = {path: title for path in sorted(paths) if opens(tool, path) and (title := title_of(path))}
        called = Counter(title.text for title in titles.values())
        own = [path for path, title in titles.items() if called[title.text] == 1 and self.allowed(path)]
        if not own:
            return None
        path = self.rng.choice(own)
        kind = titles[path].reference.noun.split()[-1]
        told = kind == singular(PurePosixPath(path).parent.name.lower())  # an invoice is among the invoices
        found = await self._in_folder(session, path) if told and self.rng.random() < 0.4 else None
        found = found or await self._searched_for(session, titles[path].sought, path)
        return (path, Found(titles[path].reference, (found,), {}, (), (path,))) if found else None

    async def _searched_for(self, session: Session, sought: str, path: str) -> Step | None:
        """A search for a part of a file's name, over everything that is served, that finds only this file."""
        for tool in self.known.reads():
            needed = self.needs(tool)
            searching = [slot for slot in self.known.slots[tool.name] if is_search(slot)][:1]
            if not searching or not _FILES & {*words(f"{tool.name} {tool.description.partition('.')[0]}")}:
                continue
            if any(slot not in searching and not takes_path(slot) for slot in needed):
                continue
            whole = [(slot, ".") for slot in needed if takes_path(slot)]
            for pattern in (f"**/*{sought}*", f"*{sought}*", sought):
                step = await self.execute(session, tool, [*whole, (searching[0], pattern)])
                if step and [PurePosixPath(line.strip()).name for line in step.result.text.splitlines()] == [
                    PurePosixPath(path).name
                ]:
                    return step
        return None

    async def _in_folder(self, session: Session, path: str) -> Step | None:
        """A list of the folder that a file is in."""
        name, folder = PurePosixPath(path).name, folder_of(path)
        for tool in self.known.reads():
            needed = self.needs(tool)
            if len(needed) == 1 and takes_path(needed[0]) and {*words(tool.name)} & {*FOLDERS, "list", "ls"}:
                step = await self.execute(session, tool, [(needed[0], folder)])
                if step and holds(step.result.text, name):
                    return step
        return None

    def row_of_document(self, step: Step, document: Found) -> Found | None:
        """A row of a document, which is named as the document is: Hanne in the contacts list."""
        row = self.row(step, keyed=False)
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

    def listed_in(self, tool: Tool, slot: Slot) -> list[Source]:
        """The places in other reading tools' results whose values the slot takes, in random order."""
        sources = self.known.sources.get((tool.name, slot.path), [])
        reading = {each.name for each in self.known.reads()}
        lists = [s for s in sources if s[0] == "from" and s[1] != tool.name and s[1] in reading and len(s) > 2]
        self.rng.shuffle(lists)
        return lists[:3]

    async def _searched(self, session: Session, listed: Step) -> Step | None:
        """The list again, by a search for one row's name, if the tool can search."""
        searching = [slot for slot in self.known.slots[listed.tool.name] if is_search(slot)]
        if not searching:
            return None
        row = self.rng.choice(listed.rows)
        named = [value for value in self._naming(listed, row, False) if value.attribute.meaning == "name"]
        if not named:
            return None
        return await self.execute(session, listed.tool, [(searching[0], named[0].value)])

    async def follow(self, session: Session, found: Found) -> tuple[Found, str, Scalar] | None:
        """The thing that a value of the record leads to by one more call: with the steps so far, its noun, the value.

        A value that an earlier call was made with, or that the request names, leads back to the same thing, unless to a
        list of what belongs to it.
        """
        last = found.steps[-1].tool.name
        called = {step.tool.name for step in found.steps}
        given = [argument for step in found.steps for _, argument in step.filled]
        given += [named.value for named in found.reference.values]
        values = [(path, value) for path, value in scalars(found.record) if not isinstance(value, bool)]
        self.rng.shuffle(values)
        for path, value in values:
            is_given = any(same(value, argument) for argument in given)
            if not self.allowed(value):
                continue
            for tool in self.known.reads():
                needed = self.needs(tool)
                if len(needed) != 1 or needed[0].choices or tool.name in called:
                    continue
                if is_given and tool.name not in self.catalog.lists:
                    continue
                places = self.known.sources.get((tool.name, needed[0].path), [])
                if not any((*place[:2], place[-1]) == ("from", last, path[-1]) for place in places):
                    continue
                step = await self.execute(session, tool, [(needed[0], value)])
                step = self._whole_record(step) if step else None
                reached = self._beyond(found, step) if step else None
                if reached and step:
                    listed = tool.name in self.catalog.lists
                    noun = self.catalog.noun(tool, step.keys) if listed else self.catalog.named_by(tool, needed[0])
                    return reached, noun, value
        return None

    def _beyond(self, found: Found, step: Step) -> Found | None:
        """The thing of a call's only record, reached from `found`, with the fields that no earlier result shows."""
        record = step.rows[0] if len(step.rows) == 1 else step.record
        if not isinstance(record, Mapping) or len(step.rows) > 1:
            return None
        given = [value.value for value in found.reference.values] + [value for _, value in step.filled]
        fields = self.fields(step, record, (), given)  # pyright: ignore[reportUnknownArgumentType]
        earlier = "\n".join(made.result.text for made in found.steps)
        fields = tuple(entry for entry in fields if not holds(earlier, entry.value))
        return Found(found.reference, (*found.steps, step), record, fields, found.entities, step.keys)  # pyright: ignore[reportUnknownArgumentType]
