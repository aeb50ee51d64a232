"""Constructions that also say since when: how many lines were added to a file since a commit."""

import random
import re
from dataclasses import replace

from mcprl.scenarios.intents import Reference
from mcprl.scenarios.wording.modifiers import since_when
from mcprl.scenarios.wording.template import Option

_OF_IT = re.compile(r"\b(?:of|for|to|from|in|into|\{of\}|\{side\}|for\]) \{it\}|\{(?:of|side)\} \{it\}")
"""The thing behind a preposition: what follows it belongs to it."""
_SENTENCE_END = re.compile(r"[?.](?= |$)")


def with_since(option: Option, since: str) -> Option:
    """A construction that also says since when. Those that tell the things apart would say it twice."""
    told = [pattern for pattern in option.patterns if not re.search(r"\{(?:first|rest|commas)\}", pattern)]
    return replace(option, patterns=tuple(map(_since, told)), slots={**option.slots, "since": since})


def apart(thing: Reference, rng: random.Random) -> tuple[Reference, str]:
    """A thing without the commit that it is compared with, and since when: a file. What is not staged yet is said so,
    too: `docs/release.md`, and `in the unstaged changes`."""
    if staged := re.fullmatch(r"((?:un)?staged) (\w+)", thing.noun):
        return replace(thing, noun=staged[2]), f"in the {staged[1]} changes"
    values, since = since_when(thing.values, rng)
    return replace(thing, noun=thing.noun.removeprefix("changed ") if since else thing.noun, values=values), since


def _since(pattern: str) -> str:
    """A pattern that says since when behind the thing, or at the end of the sentence that asks about it."""
    if _OF_IT.search(pattern):
        return _OF_IT.sub(r"\g<0> {since}", pattern, count=1)
    if re.search(r"\b(?:about|on|got|have) \{it\}(?:[:.,]| in front)", pattern):
        text = pattern.rstrip("?.")
        return f"{text} {{since}}{pattern[len(text) :]}"
    start = max(pattern.find("{it}"), pattern.find("{its}"), 0)
    end = next((match.start() for match in _SENTENCE_END.finditer(pattern, start)), len(pattern))
    return f"{pattern[:end]} {{since}}{pattern[end:]}"
