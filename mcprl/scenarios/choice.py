"""Which tool a task is made with and which fields it asks for: those that its kind seldom used come first."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping

from mcprl.scenarios.fields import named_cells, rows_of
from mcprl.scenarios.packs.pack import SHARES
from mcprl.scenarios.parameters import is_paging
from mcprl.scenarios.steps import Field, Found
from mcprl.scenarios.subset import Subset
from mcprl.types import Tool

_MOST = 30
"""Draws without a task in one split after which a kind is drawn with a tool no more there."""
_MOST_IN_ALL = 90
"""The same for all splits: a split may own none of the few things that a tool finds."""
_MOST_BARREN = 3
"""Computations without a result that could be asked for, after which a tool is given up."""


class Choice:
    """Chooses tools and fields for the kind of task that was begun last.

    `barren` counts, for each tool, the computations without a result that could be asked for.
    """

    def __init__(self, subset: Subset) -> None:
        self._subset = subset
        self._kind: object = None
        self._drawn: set[str] = set()
        self._used: defaultdict[tuple[object, str], float] = defaultdict(float)
        self._asked: Counter[tuple[tuple[object, ...], str]] = Counter()
        self.barren: Counter[str] = Counter()

    def begin(self, kind: object) -> None:
        """Choose for a task of this kind from now on."""
        self._kind, self._drawn = kind, set()

    def end(self, made: bool) -> None:
        """Count the tools that were drawn since `begin`. A draw in vain counts half, so that a tool that seldom works
        does not starve the others."""
        catalog = self._subset.catalog
        for tool in self._drawn:
            self._used[self._kind, tool] += 1 if made else 0.5
            catalog.draws[self._kind, tool, self._subset.split] += 1
            if made:
                catalog.fruitful.add((self._kind, tool))

    def took(self, tool: Tool, seconds: float) -> None:
        """Count how long a call took: what takes seconds is seldom drawn."""
        self._used[self._kind, tool.name] += 8 * int(seconds)

    def tool(
        self, fits: Callable[[Tool], object] = lambda _: True, weight: Callable[[Tool], float] = lambda _: 1.0
    ) -> Tool | None:
        """A read-only tool, at random among those that fit, those first that this kind of task seldom used for their
        `weight`."""
        known, rng = self._subset.known, self._subset.rng
        unfit = {table.tool for table in known.tables}
        tools = [tool for tool in known.reads() if tool.name not in unfit and not self._is_vain(tool) and fits(tool)]
        if not tools:
            return None
        drawn = {tool.name: self._used[self._kind, tool.name] + 4 * rng.random() for tool in tools}
        tool = min(tools, key=lambda tool: (drawn[tool.name] / weight(tool), tool.name))
        if rng.random() < 0.4:  # else tools that never make a task would come first again and again
            tool = rng.choices(tools, [weight(tool) for tool in tools])[0]
        self._drawn.add(tool.name)
        return tool

    def _is_vain(self, tool: Tool) -> bool:
        """Whether many draws of the kind with a tool made no task, here or in all splits: every draw costs a call."""
        draws = self._subset.catalog.draws
        in_all = sum(draws[self._kind, tool.name, split] for split in SHARES)
        many = draws[self._kind, tool.name, self._subset.split] >= _MOST or in_all >= _MOST_IN_ALL
        return many and (self._kind, tool.name) not in self._subset.catalog.fruitful

    def is_given_up(self, tool: Tool) -> bool:
        """Whether too many computations of a tool had no result that could be asked for."""
        return self.barren[tool.name] >= _MOST_BARREN

    def is_plain(self, tool: Tool) -> bool:
        """Whether no result of the tool is a record or has rows that a request could name, or none had anything new."""
        if self.is_given_up(tool):
            return True
        catalog = self._subset.catalog
        paged = any(is_paging(slot) for slot in catalog.needs(tool))
        for example in self._subset.known.examples.get(tool.name, []):
            record = catalog.record(tool, example.result)
            _, rows = rows_of(record, least=1) or ((), [])
            if named_cells(rows) and not paged if rows else isinstance(record, Mapping):
                return False
        return True

    def fields(self, found: Found, count: int = 0, fits: Callable[[Field], bool] = lambda _: True) -> tuple[Field, ...]:
        """One or two fields to ask for (or `count`), those seldom asked first. Truth values can be guessed: rare."""
        rng = self._subset.rng
        place = (self._kind, *(step.tool.name for step in found.steps))
        fields = [
            entry
            for entry in found.fields
            if fits(entry) and (entry.attribute.meaning != "flag" or rng.random() < 0.2)
            if entry.attribute.label != found.reference.noun.split()[-1]  # the file of a file
        ]
        count = count or (2 if len(fields) > 1 and rng.random() < 0.3 else 1)
        fields.sort(key=lambda entry: (self._asked[place, entry.attribute.key] // 3, rng.random()))
        chosen = tuple(fields[:count])
        self._asked.update((place, entry.attribute.key) for entry in chosen)
        return chosen
