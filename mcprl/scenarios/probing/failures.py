"""Which results are failures: told by what a tool returns for deliberate nonsense, not by a list of words.

A failure says nothing but what the call said: with the arguments' values blanked, a tool returns one text for several
different nonsense values. Results of real calls differ in what the arguments did not say.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcprl.judges.checks import leaves
from mcprl.scenarios.readers import read_text
from mcprl.servers.digest import looks_like_error
from mcprl.text import words
from mcprl.types import Json, ToolResult

_ALIKE = 0.75
"""The share of two replies' words that must agree, in order, for them to be of one skeleton."""
_LONGEST = 120
"""A reply of more words is a page or a table: no failure."""
_KEPT = 12
"""How many replies to nonsense are kept of a tool."""
_BLANK = "\0"
_TOKEN = re.compile(r"\0|\d+(?:[.,:/-]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*")
_EXCEPTION = re.compile(
    r"\s*(?:Traceback \(most recent call last\)|[\w.]{0,80}[a-z](?:Error|Exception)\b\s*:|"
    r"\W{0,3}(?:\w{1,20} ){0,2}error\]?\s*:\s*+(?!\d))",
    re.IGNORECASE,
)
_NOTHING = re.compile(r"\W*(?:no|none|nothing|0|zero)\s+[^\W\d]\D{0,60}$", re.IGNORECASE)


@dataclass(frozen=True)
class _Reply:
    """A result as its words, values of the call blanked; `label` is the fixed part before its first colon or comma."""

    tokens: tuple[str, ...]
    keys: frozenset[str]
    label: str
    rest: int
    """How many words come behind the label."""
    echoes: bool
    """Whether a value of the call stands in it."""

    @property
    def said(self) -> list[str]:
        """Its own words, without the blanks."""
        return [token for token in self.tokens if token != _BLANK]

    @property
    def numbers(self) -> set[str]:
        return {token for token in self.tokens if token[0].isdigit()}


@dataclass
class Failures:
    """What each tool returns for values that it cannot know. Replies to nonsense writes must not be learnt: a note
    with a nonsense title is a note.
    """

    _replies: dict[str, list[_Reply]] = field(default_factory=dict[str, list[_Reply]])
    _answers: set[str] = field(default_factory=set[str])
    """Tools that answer nonsense as they answer anything: a sum, an echo, a forecast for any word."""

    def learn(self, tool: str, arguments: Mapping[str, Any], result: ToolResult) -> None:
        """Keep the reply to a call whose values were nonsense. A reply with data of its own is none of a failure."""
        if result.unanswered or _is_plain_failure(result) or _has_records(result):
            return
        reply = _reply(arguments, result)
        if len(reply.said) < 2 or len(reply.tokens) > _LONGEST or _only_names(reply, tool):
            return
        known = self._replies.setdefault(tool, [])
        if any(_similar(reply, other) and reply.numbers != other.numbers for other in known):
            self._answers.add(tool)  # two nonsense values, two figures: this is an answer
        if reply not in known and len(known) < _KEPT:
            known.append(reply)

    def is_failure(self, tool: str, arguments: Mapping[str, Any], result: ToolResult) -> bool:
        """Whether a result tells that a call failed or found nothing.

        If nothing was learnt of the tool: the protocol's flag, emptiness, an exception's shape.
        """
        if _is_plain_failure(result):
            return True
        known = self._replies.get(tool, [])
        if not known and tool not in self._answers and result.structured is None:
            return bool(_NOTHING.match(result.text)) or self._elsewhere(tool, arguments, result)
        reply = _reply(arguments, result)
        if tool in self._answers or len(reply.said) < 2 or _only_names(reply, tool) or _has_records(result):
            return False
        return any(_matches(reply, other) for other in known) or self._elsewhere(tool, arguments, result)

    def _elsewhere(self, tool: str, arguments: Mapping[str, Any], result: ToolResult) -> bool:
        """Whether another tool of the server has this very reply, or the label of it, for nonsense."""
        reply = _reply(arguments, result)
        for name, known in self._replies.items():
            if name in self._answers or len(reply.said) < 2:
                continue
            for other in known:
                labelled = len(other.label.split()) > 1 and _same_label(reply, other)
                if labelled or reply.tokens == other.tokens:
                    return True
        return False


def _is_plain_failure(result: ToolResult) -> bool:
    """Whether a result shows by itself that it is a failure or empty."""
    if result.is_error or looks_like_error(result.text, result.structured):
        return True
    if result.structured is None:
        bare = result.text.strip()
        return bare in ("", "[]", "{}", "()", "null", "None") or bool(_EXCEPTION.match(bare))
    found = [leaf for _, leaf in leaves(result.structured)]
    if not any(leaf not in ("", 0, False) for leaf in found):
        return not found or _has_hole(result.structured)
    texts = [leaf for leaf in found if isinstance(leaf, str)]
    return len(texts) == len(found) and all(_EXCEPTION.match(text) for text in texts)


def _has_hole(value: Json) -> bool:
    """Whether a list, an object, a text or a null inside a value is empty: `{"orders": [], "total": 0}`."""
    if isinstance(value, dict):
        return not value or any(map(_has_hole, value.values()))
    if isinstance(value, list):
        return not value or any(map(_has_hole, value))
    return value is None or value == ""


def _has_records(result: ToolResult) -> bool:
    """Whether a result has rows: two records or more."""
    value = result.structured if result.structured is not None else read_text(result.text)
    lists = [value] if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else []
    return any(isinstance(rows, list) and sum(isinstance(row, dict) for row in rows) > 1 for rows in lists)


def _reply(arguments: Mapping[str, Any], result: ToolResult) -> _Reply:
    text = result.text[:20_000]
    keys: frozenset[str] = frozenset()
    if result.structured is not None:
        found = [(path, leaf) for path, leaf in leaves(result.structured)]
        keys = frozenset(str(path[-1]) for path, _ in found if path)
        text = "\n".join(str(leaf) for _, leaf in found)[:20_000]
    blanked = _blanked(text, [leaf for _, leaf in leaves(dict(arguments))])
    tokens = _merged(_TOKEN.findall(blanked.casefold()))
    label = re.match(r"([^\0\n:,]{2,60})[:,]\s", blanked)
    named = " ".join(_TOKEN.findall(label[1].casefold())) if label and result.structured is None else ""
    rest = len(_TOKEN.findall(blanked[label.end() :].replace(_BLANK, " "))) if label else 0
    return _Reply(tuple(tokens), keys, named, rest, _BLANK in tokens)


def _blanked(text: str, values: Sequence[object]) -> str:
    """The text with the values of a call blanked, whole or word by word."""
    parts: set[str] = set()
    for value in values:
        whole = str(value).strip()
        if whole and not isinstance(value, bool):
            single = re.findall(r"[\w.@-]+", whole[:1_000])
            parts |= {whole, *(part for part in single if len(part) > 2 or part.isdigit())}
    if not parts:
        return text
    ordered = sorted(parts, key=len, reverse=True)[:100]
    pattern = "|".join(rf"(?<!\w){re.escape(part)}(?!\w)" for part in ordered)
    return re.sub(pattern, _BLANK, text, flags=re.IGNORECASE)


def _merged(tokens: Sequence[str]) -> list[str]:
    """The tokens, a run of blanks as one."""
    return [token for n, token in enumerate(tokens) if token != _BLANK or n == 0 or tokens[n - 1] != _BLANK]


def _only_names(reply: _Reply, tool: str) -> bool:
    """Whether a reply's own words are the tool's: "Echo: paddle" is what an echo is for."""
    return set(reply.said) <= set(words(tool))


def _matches(reply: _Reply, other: _Reply) -> bool:
    """Whether a reply is of the kind of a reply to nonsense. A number that neither it nor the call has is news."""
    if reply.keys != other.keys or not reply.numbers <= other.numbers:
        return False
    return reply.tokens == other.tokens or _similar(reply, other) or _same_label(reply, other)


def _same_label(reply: _Reply, other: _Reply) -> bool:
    """Whether two replies begin with one label ("Database error:") before a sentence."""
    return bool(other.label) and reply.label == other.label and reply.rest + 2 * reply.echoes > 2 and not reply.numbers


def _similar(reply: _Reply, other: _Reply) -> bool:
    """Whether most words of two replies are the same in the same order, numbers aside."""
    one = [token for token in reply.tokens if not token[0].isdigit()]
    two = [token for token in other.tokens if not token[0].isdigit()]
    if max(len(one), len(two)) > _LONGEST or min(len(one), len(two)) < 3 or reply.keys != other.keys:
        return False
    lengths = [0] * (len(two) + 1)
    for token in one:
        before = 0
        for n, held in enumerate(two, 1):
            kept = lengths[n]
            lengths[n] = before + 1 if token == held else max(lengths[n], lengths[n - 1])
            before = kept
    return 2 * lengths[-1] / (len(one) + len(two)) >= _ALIKE
