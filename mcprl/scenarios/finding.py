"""Ways to a thing: by its key, by a list or a search, through another thing."""

from collections.abc import Mapping
from dataclasses import replace

from mcprl.judges.checks import holds
from mcprl.scenarios.askable import askable
from mcprl.scenarios.calls import Calls
from mcprl.scenarios.choice import Choice
from mcprl.scenarios.documents import document_row, titled
from mcprl.scenarios.english.nouns import is_person
from mcprl.scenarios.fields import scalars
from mcprl.scenarios.intents import Value
from mcprl.scenarios.naming import naming_of, record_found, row_found, said
from mcprl.scenarios.parameters import AGAINST, is_hash, is_search, shortened_hash
from mcprl.scenarios.probing.knowledge import State
from mcprl.scenarios.probing.results import takes_path
from mcprl.scenarios.probing.sources import Source
from mcprl.scenarios.slots import Slot
from mcprl.scenarios.steps import Found, Listed, Step, same
from mcprl.text import words
from mcprl.types import Scalar, Session, Tool


class Finder:
    """Finds things of the subset that a request can name, with plans of at most `max_calls` calls."""

    def __init__(self, choice: Choice, calls: Calls, max_calls: int) -> None:
        self._choice, self._calls, self._max_calls = choice, calls, max_calls
        self._underway: list[str] = []  # the tools whose values are being looked for: none gives its own
        self._subset = calls.subset
        self._catalog, self._known, self._rng = calls.subset.catalog, calls.subset.known, calls.subset.rng

    async def listed(self, session: Session, state: State, tool: Tool) -> Listed | None:
        """A list by a tool; a thing among its arguments may be named as people know it and looked up first."""
        entities = self._catalog.entity_slots(tool)
        if self.givers(tool) and (reached := await self._given(session, state, tool)):
            step, found = reached
            return Listed((*found.steps, step), _as_owner(found), found.entities)
        if len(entities) != 1 or self._max_calls < 3 or takes_path(entities[0]) or self._rng.random() < 0.5:
            step = await self._calls.read(session, state, tool, {})
            return Listed((step,), tuple(said(self._catalog, step.filled)), ()) if step else None
        named = await self.by_name(session, state, tool, entities[0])
        step = await self._calls.read(session, state, tool, {entities[0]: named[0]}) if named else None
        if named is None or step is None:
            return None
        rest = [pair for pair in step.filled if pair[0] != entities[0]]
        found, owner = named[1], self._catalog.named_by(tool, entities[0])
        first, *others = found.reference.values
        if any(value.attribute.meaning == "identifier" for value in others):
            return None  # the cheapest one of a product that is in an order seems to be in it, too
        # A customer's name is no name of an order: among orders it is the `customer`.
        meaning = first.attribute.meaning
        meaning = "person" if meaning in ("name", "person") and is_person(owner) else meaning
        label = self._catalog.slot(entities[0]).label
        label = label if {*words(label)} & AGAINST else owner
        naming = Value(replace(first.attribute, key=entities[0].key, label=label, meaning=meaning), first.value)
        return Listed((*found.steps, step), (naming, *others, *said(self._catalog, rest)), found.entities)

    async def thing(
        self, session: Session, state: State, tool: Tool | None = None, by_name: bool | None = None
    ) -> Found | None:
        """A thing of the split that a request can name, by its key, its name or a description, with its fields.

        `tool` returns it, by default one at random. `by_name` demands or excludes a way to it through a
        list, by default either.
        """
        tool = tool or self._choice.tool()
        if tool is None:
            return None
        entities = self._catalog.entity_slots(tool)
        by_name = self._rng.random() < 0.6 if by_name is None else by_name
        if by_name and self.givers(tool) and (through := await self._through(session, state, tool)):
            return through
        if len(entities) == 1 and self._max_calls > 1 and by_name:
            found = await self._located(session, state, tool, entities[0])
            if found:
                return found
        step = await self._calls.read(session, state, tool, {})
        if step is None:
            return None
        step = self._calls.as_one_record(step)
        single = len(step.rows) == 1 and entities and tool.name not in self._catalog.lists
        if step.rows and not single:
            searched = any(is_search(slot) for slot, _ in step.filled)
            sought = await self._searched(session, step) if searched else None
            return row_found(self._subset, sought or step, keyed=False)
        record = step.rows[0] if step.rows else step.record
        if not isinstance(record, Mapping) or (not step.rows and not self._catalog.is_usual(tool, record)):
            return None
        return record_found(self._subset, step, record)  # pyright: ignore[reportUnknownArgumentType]

    async def _located(self, session: Session, state: State, tool: Tool, slot: Slot) -> Found | None:
        """A thing named as people know it, read by its key with `tool`."""
        named = await self.by_name(session, state, tool, slot)
        if named is None:
            return None
        key, found = named
        step = await self._calls.read(session, state, tool, {slot: key})
        step = self._calls.as_one_record(step) if step else None
        if step and len(step.rows) > 1 and takes_path(slot):
            return document_row(self._subset, step, found)
        if step and step.rows and tool.name in self._catalog.lists:  # its only row is not the thing
            return None
        record = (step.rows[0] if len(step.rows) == 1 else step.record) if step else None
        if step is None or not isinstance(record, Mapping):
            return None
        return record_found(self._subset, step, record, found)  # pyright: ignore[reportUnknownArgumentType]

    async def _through(self, session: Session, state: State, tool: Tool) -> Found | None:
        """A thing that another thing's record leads to by several of its values, named by that other thing."""
        given = await self._given(session, state, tool)
        if given is None:
            return None
        step, found = self._calls.as_one_record(given[0]), given[1]
        if not step.rows:
            record = step.record
            if not isinstance(record, Mapping) or not self._catalog.is_usual(tool, record):
                return None
            reached = record_found(self._subset, step, record, found)  # pyright: ignore[reportUnknownArgumentType]
            return reached and replace(reached, entities=found.entities)  # coordinates are no other thing
        row = row_found(self._subset, replace(step, filled=[]))
        if row is None:
            return None
        reference = replace(row.reference, values=(*row.reference.values, *_as_owner(found)))
        steps, entities = (*found.steps, step), (*row.entities, *found.entities)
        return replace(row, reference=reference, steps=steps, entities=entities)

    async def _given(self, session: Session, state: State, tool: Tool) -> tuple[Step, Found] | None:
        """A call whose values one record gives together, and the thing that the record is of, which a request can name
        in their place."""
        givers = [(giver, keys) for giver, keys in self.givers(tool) if giver.name not in self._underway]
        self._rng.shuffle(givers)
        for giver, keys in givers:
            self._underway.append(tool.name)
            try:
                found = await self.thing(session, state, giver, by_name=True)
            finally:
                self._underway.pop()
            if found is None or not found.steps or len(found.steps) >= self._max_calls:
                continue
            values = {slot: found.record.get(key) for slot, key in keys.items()}
            said = [value.value for value in found.reference.values]
            if not said or any(value is None or value in said for value in values.values()):
                continue
            if step := await self._calls.read(session, state, tool, values):  # pyright: ignore[reportArgumentType]
                return step, found
        return None

    def givers(self, tool: Tool) -> list[tuple[Tool, dict[Slot, str]]]:
        """The tools of which one record has all values of the several that `tool` needs, with the fields that they are
        in: coordinates, or an office and a grid point."""
        needed = [s for s in self._catalog.needs(tool) if not s.choices and not self._known.is_setting(s)]
        givers: list[tuple[Tool, dict[Slot, str]]] = []
        for giver in self._known.reads() if len(needed) > 1 and self._max_calls > 1 else ():
            fields = {
                slot: [s[-1] for s in self._known.places_of(slot) if s[1] == giver.name and len(s) == 3]
                for slot in needed
            }
            named = {slot: keys[0] for slot, keys in fields.items() if keys}
            if giver is not tool and len({*named.values()}) == len(needed):  # not twice the same: a sum's two numbers
                givers.append((giver, named))
        return givers

    async def by_name(self, session: Session, state: State, tool: Tool, slot: Slot) -> tuple[str | int, Found] | None:
        """A key that the slot takes, and the thing as people name it, found in a list or by a search.

        The steps are empty if the name is the key: nothing needs to be looked up.
        """
        if takes_path(slot) and (document := await titled(self._calls, session, state, tool, slot)):
            return document
        for source in self.listed_in(tool, slot):
            listed = await self._calls.read(session, state, self._known.tools[source[1]], {})
            if listed is None or not listed.rows:
                continue
            found = row_found(self._subset, await self._searched(session, listed) or listed)
            if found is None:
                continue
            key = found.record.get(source[-1])
            if key is None:  # a place among the texts of a result has the name of a form, not of a field
                places = self._known.base.pool.get(source, {})
                key = next(
                    (value for value in found.record.values() if isinstance(value, str) and value in places), None
                )
            if not isinstance(key, str | int) or isinstance(key, bool) or not self._subset.allowed(key):
                continue
            key = shortened_hash(str(key)) if is_hash(key) else key
            if any(value.value == key for value in found.reference.values):
                naming = tuple(value for value in found.reference.values if value.value == key)
                found = replace(found, reference=replace(found.reference, values=naming), steps=(), entities=(key,))
            return key, found
        return None

    def listed_in(self, tool: Tool, slot: Slot) -> list[Source]:
        """The places in other reading tools' results whose values the slot takes, in random order."""
        sources = self._known.sources.get((tool.name, slot.path), [])
        reading = {each.name for each in self._known.reads()}
        lists = [s for s in sources if s[0] == "from" and s[1] != tool.name and s[1] in reading and len(s) > 2]
        self._rng.shuffle(lists)
        return lists[:3]

    async def _searched(self, session: Session, listed: Step) -> Step | None:
        """The list again, by a search for one row's name, if the tool can search."""
        searching = [slot for slot in self._known.slots[listed.tool.name] if is_search(slot)]
        if not searching:
            return None
        row = self._rng.choice(listed.rows)
        named = [value for value in naming_of(self._subset, listed, row, False) if value.attribute.meaning == "name"]
        if not named:
            return None
        return await self._calls.execute(session, listed.tool, [(searching[0], named[0].value)])

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
        self._rng.shuffle(values)
        for path, value in values:
            is_given = any(same(value, argument) for argument in given)
            if not self._subset.allowed(value):
                continue
            for tool in self._known.reads():
                needed = self._catalog.needs(tool)
                if len(needed) != 1 or needed[0].choices or tool.name in called:
                    continue
                if is_given and tool.name not in self._catalog.lists:
                    continue
                places = self._known.sources.get((tool.name, needed[0].path), [])
                if not any((*place[:2], place[-1]) == ("from", last, path[-1]) for place in places):
                    continue
                step = await self._calls.execute(session, tool, [(needed[0], value)])
                step = self._calls.as_one_record(step) if step else None
                reached = self._beyond(found, step) if step else None
                if reached and step:
                    listed = tool.name in self._catalog.lists
                    noun = self._catalog.noun(tool, step.keys) if listed else self._catalog.named_by(tool, needed[0])
                    return reached, noun, value
        return None

    def _beyond(self, found: Found, step: Step) -> Found | None:
        """The thing of a call's only record, reached from `found`, with the fields that no earlier result shows."""
        record = step.rows[0] if len(step.rows) == 1 else step.record
        if not isinstance(record, Mapping) or len(step.rows) > 1:
            return None
        given = [value.value for value in found.reference.values] + [value for _, value in step.filled]
        fields = askable(self._catalog, step, record, (), given)  # pyright: ignore[reportUnknownArgumentType]
        earlier = "\n".join(made.result.text for made in found.steps)
        fields = tuple(entry for entry in fields if not holds(earlier, entry.value))
        return Found(found.reference, (*found.steps, step), record, fields, found.entities)  # pyright: ignore[reportUnknownArgumentType]


def _as_owner(found: Found) -> tuple[Value, ...]:
    """The values that name a thing, as the request says whose something else is: `Denver` is a place."""
    noun, (first, *others) = found.reference.noun, found.reference.values
    return (replace(first, attribute=replace(first.attribute, label=noun, key=noun)), *others)
