"""Tools found by search: where a server's tools would fill the context, the policy gets one tool that finds others.

The definitions that a search finds arrive as its result, so a prompt always extends the one before, and training sees
the tokens that the engine saw.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from mcprl.text import singular
from mcprl.types import Tool

FOUND: Final = 5
"""Definitions that a search gives at most."""
_BYTES_PER_TOKEN: Final = 4
_SATURATION, _LENGTH_WEIGHT = 1.2, 0.75
"""BM25's k1 and b (Robertson and Zaragoza 2009, section 3.2), at the values that Lucene has."""


class ToolSearch:
    """An index of tools by the words of their names, descriptions and parameters, ranked by BM25."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._words = {tool.name: Counter(_words(_text(tool))) for tool in tools}
        holding = Counter(word for words in self._words.values() for word in words)
        count = len(tools)
        self._rarity = {word: math.log(1 + (count - n + 0.5) / (n + 0.5)) for word, n in holding.items()}
        self._mean = sum(words.total() for words in self._words.values()) / max(1, count)
        name = "search_tools"
        while name in self._tools:  # a server may have one of that name
            name += "_"
        self.tool = Tool(
            name,
            f"Find tools among {count} by what they do. Gives the definitions of up to {FOUND}, to call next.",
            {
                "type": "object",
                "properties": {"query": {"type": "string", "description": "What the tool must do, in words."}},
                "required": ["query"],
            },
        )

    def find(self, query: str) -> list[Tool]:
        """The tools that share words with the query, the best first, at most `FOUND`."""
        asked = set(_words(query))
        scores = {name: self._score(words, asked) for name, words in self._words.items()}
        best = sorted((name for name in scores if scores[name] > 0), key=lambda name: -scores[name])
        return [self._tools[name] for name in best[:FOUND]]

    def answer(self, arguments: Any) -> str:
        """The result of a call of `tool`: a line of JSON for each tool that was found."""
        query = arguments.get("query") if isinstance(arguments, dict) else None
        if not isinstance(query, str):
            return f"Error: give {self.tool.name} a query, in words"
        found = [json.dumps(tool.as_function()["function"], ensure_ascii=False) for tool in self.find(query)]
        return "\n".join(found) or f"no tool matches {query!r}; use other words"

    def query_for(self, request: str, tool: str) -> str:
        """A query that finds a tool for a request: the request, or the words of the tool's name if that does not."""
        return request if tool in {found.name for found in self.find(request)} else " ".join(_words(tool))

    def _score(self, words: Counter[str], asked: set[str]) -> float:
        shrink = _SATURATION * (1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * words.total() / self._mean)
        return sum(
            self._rarity[word] * words[word] * (1 + _SATURATION) / (words[word] + shrink)
            for word in asked & words.keys()
        )


def searching(tools: Sequence[Tool], budget: int) -> ToolSearch | None:
    """The search that takes the place of the tools, if their definitions exceed the budget (tokens, about four bytes
    each); 0 is no budget."""
    if not budget:
        return None
    size = len(json.dumps([tool.as_function() for tool in tools], ensure_ascii=False).encode(errors="replace"))
    return ToolSearch(tools) if size > budget * _BYTES_PER_TOKEN else None


def _text(tool: Tool) -> str:
    """What a tool is found by. Its name counts twice."""
    parameters = " ".join(tool.input_schema.get("properties") or ())
    return f"{tool.name} {tool.name} {tool.description} {parameters}"


def _words(text: str) -> list[str]:
    """Lower-case words, names in camel case and with underscores split, plurals in the singular."""
    words = re.findall(r"[^\W\d_]+|\d+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).lower())
    return [singular(word) for word in words]
