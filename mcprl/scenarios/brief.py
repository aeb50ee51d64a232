"""A brief: what a plan that was executed asks for, which is all that a writer of its request reads.

A plan's calls, and what of their results matters, say what the person wants. The request must give each value that no
earlier result holds, and must not give away what the calls are made to find out.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mcprl.judges.checks import holds, leaves, squash
from mcprl.scenarios.derivable import derivable
from mcprl.scenarios.fields import record_of
from mcprl.scenarios.slots import slots
from mcprl.text import shortened
from mcprl.types import AsksBack, CallRecord, Declines, Fact, Scalar, Scenario, Tool

_ABOUT = 160
_SHORT = 60
_LITERALS = re.compile(r"'((?:[^']|'')+)'|(?<![\w.'])(-?\d+(?:\.\d+)?)(?![\w.'])")
_QUERY = re.compile(r"\s*(?:select|insert|update|delete|with|match)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<! no\.) ")
_NAME_IN_CODE = re.compile(r"[a-z0-9]+(?:[_-][a-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]*)+")
_KINDS = {
    "relation": "chain",
    "compare": "chain",
    "combine": "chain",
    "each": "chain",
    "both": "chain",
    "count": "list",
    "total": "list",
    "extreme": "list",
    "listing": "list",
    "search": "list",
    "link": "list",
    "whether": "lookup",
    "compute": "lookup",
    "action": "write",
    "adjust": "write",
    "conditional": "write",
    "asks": "ask",
    "declines": "decline",
}
"""What the generator's kinds are to a writer."""


@dataclass(frozen=True)
class BriefedCall:
    """One call that was made. `about` is the first sentence of the tool's description; `found` has, by label, the
    values of the result that a later call or the answer takes."""

    tool: str
    about: str
    arguments: Mapping[str, object]
    found: tuple[tuple[str, Scalar], ...] = ()


@dataclass(frozen=True)
class Brief:
    """What a request must ask for.

    `kind` is lookup, chain, list, write, missing, ask or decline: a writer knows no finer ones. `asked` has the label
    and the value of each fact that the answer must state. `said` must stand in the request, `unsaid` must not. `meant`
    are options of the tools, which people say in other words ("needs cleaning" for `dirty`); `instead` has pairs of an
    option and of another in its place. `others` are further fields of the last result, which the request must not ask
    for.
    """

    id: str
    kind: str
    steps: tuple[BriefedCall, ...]
    answer: str
    asked: tuple[tuple[str, Scalar], ...]
    said: tuple[Scalar, ...]
    meant: tuple[Scalar, ...]
    unsaid: tuple[Scalar, ...]
    others: tuple[tuple[str, Scalar], ...] = ()
    instead: tuple[tuple[Scalar, Scalar], ...] = ()


def brief(
    scenario: Scenario, records: Sequence[CallRecord], tools: Mapping[str, Tool], named: Sequence[Scalar] = ()
) -> Brief:
    """The brief of a task whose plan was executed: `records` has its calls with their results. `named` are values that
    the request must name although no call takes them: by which a thing is found in a list."""
    asked = tuple((check.name, check.value) for check in scenario.checks if isinstance(check, Fact))
    said: list[Scalar] = []
    meant: list[Scalar] = []
    found: list[list[tuple[str, Scalar]]] = [[] for _ in records]
    passed: list[Scalar] = []  # what an earlier call finds for a later one
    for number, record in enumerate(records):
        options = _options(tools.get(record.tool))
        for value in given(record.arguments or {}):
            source = next((n for n in range(number) if holds(records[n].result.text, value)), None)
            if isinstance(value, bool) or value in options:
                meant += [value] if value not in meant else []
            elif source is None:
                said += [value] if value not in said else []
            elif value not in said:
                found[source].append((_label(records[source], value), value))
                passed.append(value)
    all_options = frozenset(option for record in records for option in _options(tools.get(record.tool)))
    for value in named:
        if value not in said and value not in meant and not any(_same(value, other) for other in (*said, *meant)):
            (meant if isinstance(value, bool) or value in all_options else said).append(value)
            source = next((n for n, record in enumerate(records) if holds(record.result.text, value)), None)
            if source is not None and not isinstance(value, bool):
                found[source].append((_label(records[source], value), value))
    for name, value in asked:
        source = next((n for n, record in enumerate(records) if holds(record.result.text, value)), None)
        if source is not None:
            found[source].append((_label(records[source], value) or name, value))
    steps = tuple(
        BriefedCall(
            record.tool, first_sentence(tools.get(record.tool)), record.arguments or {}, tuple(dict.fromkeys(values))
        )
        for record, values in zip(records, found, strict=True)
    )
    hidden = [*passed, *(value for _, value in asked), *_names(tools, records)]
    open_ = (*said, *meant)
    unsaid = tuple(value for value in dict.fromkeys(hidden) if not any(_same(value, other) for other in open_))
    if any(isinstance(check, AsksBack | Declines) for check in scenario.checks):
        asked = ()
    kind = _KINDS.get(scenario.kind, scenario.kind)
    others = _others(records, asked, open_)
    instead = tuple((value, other) for value in meant if (other := _another(value, records, tools)) is not None)
    return Brief(scenario.id, kind, steps, scenario.answer, asked, tuple(said), tuple(meant), unsaid, others, instead)


def given(arguments: Mapping[str, object]) -> list[Scalar]:
    """The scalars in the arguments of a call. Of a query, what its literals name."""
    values: list[Scalar] = []
    for _, leaf in leaves(arguments):  # pyright: ignore[reportArgumentType]
        if isinstance(leaf, str) and _QUERY.match(leaf):
            values += [text.replace("''", "'").strip("%") or number for text, number in _LITERALS.findall(leaf)]
        elif leaf is not None and leaf != "":
            values.append(leaf)
    return values


def lacking(text: str, brief: Brief) -> list[Scalar]:
    """The values that a request must say and does not."""
    return [value for value in brief.said if not derivable(value, text)]


def leaking(text: str, brief: Brief) -> list[Scalar]:
    """What a request gives away: the answer, what an earlier call finds out, names of tools and parameters."""
    told = [value for value in brief.unsaid if not isinstance(value, bool) and holds(text, value)]
    return [value for value in told if not any(holds(str(said), value) for said in brief.said)]


def written_for(brief: Brief) -> str:
    """The brief as a writer reads it: calls, what of their results matters, what is asked for, the answer."""
    lines: list[str] = []
    for step in brief.steps:
        arguments = ", ".join(f"{name}={_shown(value)}" for name, value in step.arguments.items())
        lines.append(f"{step.tool}({arguments})" + (f"  # {step.about}" if step.about else ""))
        if step.found:
            lines.append("-> " + ", ".join(f"{label}={_shown(value)}" for label, value in step.found))
    lines.append(f"kind: {brief.kind}")
    if labels := [label for label, _ in brief.asked if label]:
        lines.append(f"asked: {', '.join(dict.fromkeys(labels))}")
    return "\n".join((*lines, f"answer: {brief.answer}"))


def style_of(request: str) -> str:
    """How long and how careful a request is, in two words of which a writer is told one pair."""
    words = len(request.split())
    length = "short" if words <= 6 else "medium" if words <= 12 else "long"
    return f"{length} {'careful' if request[:1].isupper() and request[-1:] in '.?!' else 'casual'}"


def first_sentence(tool: Tool | None) -> str:
    """What a tool says of itself, in a sentence."""
    text = " ".join((tool.description if tool else "").split())
    return shortened(_SENTENCE_END.split(text)[0], _ABOUT) if text else ""


def _label(record: CallRecord, value: Scalar) -> str:
    """The key under which a result has a value; empty if it is in its text alone."""
    paths = (path for path, leaf in leaves(record_of(record.result)) if _same(leaf, value))
    return next((str(part) for path in paths for part in reversed(path) if isinstance(part, str)), "")


def _others(
    records: Sequence[CallRecord], asked: Sequence[tuple[str, Scalar]], given: Sequence[Scalar]
) -> tuple[tuple[str, Scalar], ...]:
    """Fields of the last result that are neither asked for nor given, one of each name."""
    found: dict[str, Scalar] = {}
    for path, leaf in leaves(record_of(records[-1].result)) if records else ():
        label = next((str(part) for part in reversed(path) if isinstance(part, str)), "")
        known = (value for value in (*(value for _, value in asked), *given))
        if label and leaf is not None and len(str(leaf)) < _SHORT and not any(_same(leaf, value) for value in known):
            found.setdefault(label, leaf)
    return tuple((label, value) for label, value in found.items() if label not in {name for name, _ in asked})


def _options(tool: Tool | None) -> frozenset[Scalar]:
    """The values that a tool's schema lists, and those that its description quotes or lists in words."""
    if tool is None:
        return frozenset()
    known = slots(tool)
    listed = {choice for slot in known for choice in slot.choices}
    told = " ".join([tool.description, *(slot.description for slot in known)])
    return frozenset(listed | set(re.findall(r"[a-z]+(?:[_-][a-z]+)*", told)))


def _another(value: Scalar, records: Sequence[CallRecord], tools: Mapping[str, Tool]) -> Scalar | None:
    """Another option of the first parameter whose schema lists the value; `None` if none does."""
    known = [slot for record in records if record.tool in tools for slot in slots(tools[record.tool])]
    for slot in known:
        if value in slot.choices and not isinstance(value, bool):
            return next((choice for choice in slot.choices if choice != value), None)
    return None


def _names(tools: Mapping[str, Tool], records: Sequence[CallRecord]) -> list[str]:
    """The names of the called tools and of their parameters that only code has: `get_order`, `customerId`."""
    names = [record.tool for record in records]
    names += [name for record in records for name in (record.arguments or {})]
    return [name for name in dict.fromkeys(names) if _NAME_IN_CODE.fullmatch(name)]


def _same(one: Scalar, other: Scalar) -> bool:
    return squash(str(one)) == squash(str(other))


def _shown(value: object) -> str:
    return repr(value) if isinstance(value, str) else str(value)
