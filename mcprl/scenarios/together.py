"""Values that fill a call together, since one record or one call that worked has them all."""

import random
from collections.abc import Callable, Sequence

from mcprl.judges.checks import leaves
from mcprl.scenarios.addresses import as_person
from mcprl.scenarios.catalog import Catalog
from mcprl.scenarios.intents import Value
from mcprl.scenarios.probing.sources import Source
from mcprl.scenarios.slots import Slot
from mcprl.types import Scalar, Tool

Row = tuple[Scalar, ...]


class Together:
    """The rows of values for the required slots of each tool. Each is worked out once: every draw asks for all."""

    def __init__(self, catalog: Catalog, naming: Callable[[Slot, Scalar], Value]) -> None:
        self._catalog, self._naming = catalog, naming
        self._records: dict[str, list[Row]] = {}
        self._called: dict[str, list[Row]] = {}
        self._named: dict[tuple[str, Row], Row] = {}

    def of(self, tool: Tool, slots: Sequence[Slot], places: list[list[Source]], rng: random.Random) -> list[Row]:
        """The rows of records or, half the time, of calls that worked."""
        known = self._catalog.known
        if tool.name not in self._records:
            self._records[tool.name] = known.records.together(places)
            worked = [dict(leaves(example.arguments)) for example in known.examples.get(tool.name, ())]
            whole = [given for given in worked if {*given} >= {slot.path for slot in slots}]
            self._called[tool.name] = [tuple(given[slot.path] for slot in slots) for given in whole]
        called = self._called[tool.name]
        return called if called and rng.random() < 0.5 else self._records[tool.name]

    def named(self, tool: Tool, slots: Sequence[Slot], row: Row) -> Row:
        """The values of a row that name things, as a request says them: a person by both names."""
        if (tool.name, row) not in self._named:
            filled = zip(slots, row, strict=True)
            said = as_person([self._naming(slot, value) for slot, value in filled if self._catalog.names_entity(slot)])
            self._named[tool.name, row] = tuple(value.value for value in said)
        return self._named[tool.name, row]
