"""Which deed an answer reports, against the call that did it: another deed, another holder, things or numbers in each
other's places, parts left out. And of a call that reads, whether all of what it found is reported.

The rules are of grammar and of the tools' own names; what they do not understand is let through.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import combinations

from mcprl.judges.mentions import Reading
from mcprl.judges.phrases import sentences
from mcprl.judges.support import CALENDAR
from mcprl.judges.values import places, tokens
from mcprl.servers.arguments import leaves
from mcprl.servers.effects import is_read
from mcprl.text import stems
from mcprl.types import Call, CallRecord, Scenario, Tool

_HAVE_DONE = re.compile(
    r"\b(?:i|we)(?:'ve| have|'ll| will)(?: (?:just|now|also|already|gone ahead and))* (?!let you|be\b|not\b)([a-z]+)"
    r"|\bwill (?:now )?be ([a-z]+(?:ed|ent|one))\b|\bi ([a-z]+ed)\b"
)
_RECORDING = frozenset(
    "added appended attached called checked cleared corrected created deleted done dropped echoed entered erased "
    "filed found forwarded got handed included jotted kept left logged looked made marked moved noted passed "
    "posted put recorded registered remembered removed repeated replaced saved seen sent set stored taken told "
    "transferred updated written escalated connected contacted assisted helped wanted managed noticed put "
    "add note keep make remember".split()
)
"""What is done with a text that is kept or passed on."""
_WRITES = (
    r"(?:add|append|book|cancell?|chang|creat|delet|e?mail|eras|forward|insert|merg|messag|mov|notifi|order|past|post|push|"
    r"refund|renam|remov|reschedul|reset|return|sav|schedul|send|sent|sett?|shipp?|submitt|switch|transferr|updat|upload|wip|writ)"
)
_CLAIMED = re.compile(
    rf"\b(?:i|we)(?:'ve| have) (?:just |now |also |already )*({_WRITES}(?:ed|en|e)?)\b"
    r"(?! (?:(?:it|them|both|these) )?(?:nothing|none|no|up|down|out|together|over)\b)"
    rf"|\band ({_WRITES}ed) (?:it|them|the \w+) (?:to|into|onto)\b|\bi (?!add)({_WRITES}ed)\b"
)
"""A write in the first person."""
_ANY_WRITE = frozenset("add cha cre mad mak mov put sav set swi upd wri".split())
"""How the verbs begin that tell of any write."""
_ALIKE = ({*"can cle del dro era rem wip".split()}, {*"ema for mes not pos sen".split()}, {*"mov res sch".split()})
"""How verbs begin that tell one deed in other words: what is removed, sent, or put at another time."""
_NOT = re.compile(r"\b(?:not|never)\b|\bno longer\b|n't\b")
_LACKS = re.compile(r"\b(?:has|have)(?:n't)? (?:no(?:ne)?|any)\b(?! (?:other|further|more) )[^.;,!?]* (?:yet|so far)\b")
_GONE = r"(?:deleted|removed|erased|dropped|wiped|gone)"
_WHOLE = r"(?:entry|entity|record|page|profile|node|file|account)"
_REPLACED = re.compile(r"(?:exchang|replac|swap|switch|trad|substitut)\w*(?: \w+){0,2} (?:for|with|by)\b")
_LISTED = re.compile(r"\b([a-z]{2,}s)\b[:\s]+((?:[\w' ]{1,24}, )+(?:and )?[\w' ]{1,24})")
_PART = re.compile(r"[,;(\n]|\band\b|\bwith\b|\bwhile\b")
_AS_A = re.compile(
    r"\bas an? (?:new )?([a-z]+)\b|"
    r"\b(?:created|made|added|opened|started) an? (?:(?:new|empty|fresh) )*([a-z]+) (?:called|named)\b"
)
_ANY_KIND = frozenset("entry record item note entity one node reminder result whole new".split())
_PREPOSED = re.compile(
    r"\b(?:on|for|to|about|under|of|from|I(?:'ve| have)?(?: also)? [a-z]+) (?:the )?([A-Z][a-z]+(?: [A-Z]?[a-z]+)?)"
)
_SOME = re.compile(r"\b(?:such as|for (?:example|instance)|like|including|among|first|some|e\.g\.)")
_FEW = 12
"""Of more things an answer may name some."""


def misreported(scenario: Scenario, reading: Reading, known: Reading, tools: Mapping[str, Tool]) -> str:
    """What an answer says that was done instead of what the plan's last call does; empty if nothing is found.

    `known` is all that was given and found, as one text.
    """
    if not scenario.plan or scenario.plan[-1].tool not in tools or is_read(tools[scenario.plan[-1].tool]):
        return ""
    call, request = scenario.plan[-1], set(stems(scenario.request))
    values = [str(value) for _, value in leaves(call.arguments)]
    return (
        _another_write(call, reading, known)
        or _another_tool(call.tool, reading, request, tools)
        or _another_deed(scenario, reading, values, tools[call.tool])
        or _turned_round(reading, values)
        or _whole_instead_of_part(call, reading, values)
        or _numbers_swapped(call, reading, known)
        or _things_swapped(scenario.request, reading)
        or _parts_left_out(scenario.request, reading)
        or _another_kind(request, tools[call.tool], reading)
        or _another_holder(reading, known)
    )


def unreported(calls: Sequence[CallRecord], reading: Reading, tools: Mapping[str, Tool]) -> str:
    """What calls that read have found and the answer leaves out: of a few things some, or a text that is sent back."""
    for record in calls:
        if record.tool not in tools or not is_read(tools[record.tool]) or record.result.is_error:
            continue
        for _, value in leaves(record.arguments):
            sent = tokens(str(value))
            if (
                len(sent) > 1
                and tokens(record.result.text)[-len(sent) :] == sent
                and not set(sent) <= set(reading.places)
            ):
                return str(value)
        found: dict[object, set[str]] = {}
        for path, value in leaves(record.result.structured):
            if isinstance(value, str) and re.search(r"\d", value) and path:
                found.setdefault(path[-1], set()).add(value)
        for values in found.values():
            told = {value for value in values if places(reading, value, "identifier")}
            if 1 < len(told) < len(values) <= _FEW and not _SOME.search(reading.text):
                return ", ".join(sorted(values - told))
    return ""


def never_made(reading: Reading) -> str:
    """A write that an answer claims in the first person, where nothing was to be written; empty if there is none."""
    found = _CLAIMED.search(reading.text)
    return found[0] if found else ""


def _another_write(call: Call, reading: Reading, known: Reading) -> str:
    """A write in the first person whose verb nothing that is known has in any form."""
    usual = {word[:3] for word in (*known.places, *stems(call.tool))} | _ANY_WRITE
    usual |= {verb for verbs in _ALIKE if verbs & usual for verb in verbs}
    claims = ((match[0], next(filter(None, match.groups()))) for match in _CLAIMED.finditer(reading.text))
    return next((claim for claim, verb in claims if verb[:3] not in usual), "")


def _another_tool(name: str, reading: Reading, request: set[str], tools: Mapping[str, Tool]) -> str:
    """A tool that writes, if the answer has all words of its name that tell it from the one called, and none that tells
    that one."""
    said = set(stems(reading.text))
    for other, tool in tools.items():
        theirs, ours = set(stems(other)) - set(stems(name)), set(stems(name)) - set(stems(other))
        alike = set(stems(other)) & set(stems(name))
        if alike and ours and theirs - request and theirs <= said and not ours & said and not is_read(tool):
            return other
    return ""


def _another_deed(scenario: Scenario, reading: Reading, values: Sequence[str], tool: Tool) -> str:
    """A verb in the first person that is no word for keeping a text or passing it on, where a text was to be kept."""
    if not any(value.count(" ") > 1 for value in values):
        return ""
    rest = scenario.request.lower()
    for value in values:
        rest = rest.replace(value.lower(), "")
    usual = {word[:4] for word in (*stems(rest), *stems(f"{tool.name} {tool.description}"))}
    for match in _HAVE_DONE.finditer(reading.text):
        verb = match[1] or match[2] or match[3]
        if verb not in _RECORDING and verb[:4] not in usual:
            return match[0]
    return ""


def _turned_round(reading: Reading, values: Sequence[str]) -> str:
    """The sentence that tells a text which was to be kept with a negation that it does not have, or as lacking."""
    for text in (value.lower() for value in values if value.count(" ") > 2 and not _NOT.search(value.lower())):
        wanted = {word for word in tokens(text) if len(word) > 3}
        for part in sentences(reading.text):
            if _LACKS.search(part) or (_NOT.search(part) and len(wanted & {*tokens(part)}) > 0.7 * len(wanted) > 1):
                return part
    return ""


def _whole_instead_of_part(call: Call, reading: Reading, values: Sequence[str]) -> str:
    """The thing, if the answer says that it is gone, where only a text of it was deleted."""
    texts, holders = [value for value in values if value.count(" ") > 1], [v for v in values if v.count(" ") <= 1]
    if not texts or not {"delete", "remove", "clear", "erase"} & set(stems(call.tool)):
        return ""
    for holder in (re.escape(value.lower()) for value in holders):
        subject = rf"(?:^|[.!,] )(?:the )?{holder}(?: is| has been|'s been| was) (?:now )?{_GONE}"
        thing = rf"{_GONE} (?:the (?:\w+ )?{_WHOLE} (?:for|of|on|about|called) )?(?:the )?{holder}(?!')"
        passive = rf"\b{_WHOLE} (?:for|of|on|about|called) (?:the )?{holder}(?: is| has been| was) (?:now )?{_GONE}"
        if match := re.search(rf"{subject}|{thing}|{passive}", reading.text):
            return match[0]
    return ""


def _numbers_swapped(call: Call, reading: Reading, known: Reading) -> str:
    """A number that stands beside the name of another argument, or that nobody gave."""
    given = {str(path[-1]): value for path, value in leaves(call.arguments) if path and type(value) in (int, float)}
    there = {number.value for number in known.numbers}
    strange = [number for number in reading.numbers if number.value not in there and number.value > 1]
    if len(given) > 1 and strange:
        return reading.text[strange[0].start : strange[0].end]
    for one, other in combinations(given, 2):
        if given[one] == given[other]:
            continue
        telling = {one: set(stems(one)) - set(stems(other)), other: set(stems(other)) - set(stems(one))}
        for part in _PART.split(reading.text):
            has = [name for name in telling if telling[name] & set(stems(part))]
            numbers = [float(word) for word in re.findall(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w-])", part)]
            wrong = {one: given[other], other: given[one]}
            if len(has) == 1 and numbers == [float(wrong[has[0]])]:
                return part.strip()
    return ""


def _things_swapped(request: str, reading: Reading) -> str:
    """Two things of the request that the answer exchanges for one another the other way round."""
    asked = [word for word in tokens(request) if re.search(r"\d{2}", word)]
    for match in _REPLACED.finditer(reading.text) if " for " in request.lower() else ():
        old = [(ends[-1], word) for word in asked if (ends := _ends(reading.text[: match.start()], word))]
        new = [(ends[0], word) for word in asked if (ends := _ends(reading.text[match.end() :], word))]
        if old and new and asked.index(min(old)[1]) > asked.index(min(new)[1]):
            return f"{min(old)[1]} {match[0]} {min(new)[1]}"
    return ""


def _ends(text: str, word: str) -> list[int]:
    return [match.end() for match in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text)]


def _parts_left_out(request: str, reading: Reading) -> str:
    """A list of the request that the answer repeats under the same noun with fewer entries."""
    wanted = {match[1]: _entries(match[2]) for match in _LISTED.finditer(request.lower())}
    for match in _LISTED.finditer(reading.text):
        told = _entries(match[2])
        if match[1] in wanted and told < wanted[match[1]]:
            return match[0]
    return ""


def _entries(text: str) -> set[tuple[str, ...]]:
    return {stems(entry) for entry in re.split(r", (?:and )?| and ", text)}


def _another_kind(request: set[str], tool: Tool, reading: Reading) -> str:
    """The noun under which the answer says that something was made, if neither request nor tool has it."""
    there = request | {*stems(f"{tool.name} {tool.description}"), *_ANY_KIND}
    for match in _AS_A.finditer(reading.text):
        noun = stems(match[1] or match[2])[-1]
        if noun not in there:
            return match[0]
    return ""


def _another_holder(reading: Reading, known: Reading) -> str:
    """A name behind a preposition that nobody gave and no result holds."""
    for match in _PREPOSED.finditer(reading.cased):
        name = tokens(match[1])
        if name and name[0] not in CALENDAR and name[0] not in known.places and not places(known, match[1]):
            return match[1]
    return ""
