"""Lines of a known kind: log lines, directory listings, trees."""

import re

from mcprl.scenarios.readers.scalars import Record, scalar

_TIME = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d| UTC)?"
_LEVEL = r"TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERR(?:OR)?|FATAL|CRITICAL"
_LOG = re.compile(
    rf"\[?(?P<time>{_TIME}|[A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d:\d\d|\d\d:\d\d:\d\d(?:[.,]\d{{1,9}})?)\]?\s*[|,-]?\s*"
    rf"(?:[\[|(]?(?P<level>(?i:{_LEVEL}))\b[\])]?\s*[|:-]?\s*)?(?P<message>\S.*)"
)
_LEVELLED = re.compile(rf"\[?(?P<level>{_LEVEL})\b\]?\s*[|:-]?\s*\[?(?P<time>{_TIME})\]?\s*[|:-]?\s*(?P<message>\S.*)")
_WEB = re.compile(
    r"(?P<address>\S+) \S+ (?P<user>\S+) \[(?P<time>[^\]]+)\] \"(?P<request>[^\"]*)\" (?P<status>\d{3}) (?P<size>\d+|-)"
    r"(?: \"(?P<referer>[^\"]*)\" \"(?P<agent>[^\"]*)\")?"
)
_LS = re.compile(
    r"(?P<permissions>[-dlbcps][-rwxsStT]{9}[.+@]?)\s+(?P<links>\d+)\s+(?P<owner>\S+)\s+(?P<group>\S+)\s+"
    r"(?P<size>[\d.,]+[KMGT]?)\s+(?P<modified>[A-Z][a-z]{2}\s+\d{1,2}\s+[\d:]{4,5}|\d{4}-\d\d-\d\d \d\d:\d\d\S*)\s+"
    r"(?P<name>.+)"
)
_BARE = re.compile(rf"\[?(?P<level>{_LEVEL})\b(?:\]\s*:?|:)\s+(?P<message>\S.*)")
_CHECKED = re.compile(r"(?:[-*+]\s+)?\[(?P<done>[ xX✓])\]\s+(?P<name>\S.*)")
_TAGGED = re.compile(r"\[(?P<type>[A-Z]{1,12})\]\s+(?P<name>\S.*)")
_SIZE = re.compile(r"\s?\d[\d.]{0,20} ?[KMGT]?i?B")
_BRANCH = re.compile(r"((?:[│|]\s{1,3}|\s{4})*)[├└+`╰][─-]{1,2}[─┬-]?\s?\s?(?P<name>\S.*)")


def read_listing(text: str) -> list[Record] | None:
    """Log lines, lines of a directory listing or a tree's entries as records; `None` for any other text."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    if not lines:
        return None
    for pattern in (_BARE, _TAGGED, _LS, _WEB, _LOG, _LEVELLED):
        matches = [pattern.match(line.strip()) for line in lines]
        found = [match for match in matches if match]
        if not found or len(found) < _needed(pattern, len(lines)):
            continue
        if pattern is _TAGGED:
            return [_entry(match) for match in found]
        return [_fields(match) for match in found]
    checked = [match for line in lines if (match := _CHECKED.match(line.strip()))]
    if len(checked) > max(1, 0.6 * len(lines)):
        return [{"name": match["name"], "done": match["done"] != " "} for match in checked]
    return _tree(lines)


def _needed(pattern: re.Pattern[str], lines: int) -> float:
    """How many of the lines must match: nearly all; log lines may be followed by lines that go on."""
    if pattern is _TAGGED:
        return lines * 0.5
    return max(2, lines * 0.5) if pattern in (_LOG, _LEVELLED) else max(2 if pattern is _BARE else 1, lines * 0.8 - 1)


def _fields(match: re.Match[str]) -> Record:
    found = {name: scalar(part) for name, part in match.groupdict().items() if part is not None}
    return {name: value for name, value in found.items() if value is not None}


def _entry(match: re.Match[str]) -> Record:
    """`[FILE] a.txt  12.5 KB` as a record."""
    name, _, size = match["name"].rpartition("  ")
    if not _SIZE.fullmatch(size):
        return {"type": match["type"], "name": match["name"]}
    return {"type": match["type"], "name": name.strip(), "size": size.strip()}


def _tree(lines: list[str]) -> list[Record] | None:
    """The entries of a drawn tree, each with its parent and depth."""
    entries = [(match, line) for line in lines if (match := _BRANCH.match(line))]
    if len(entries) < max(2, len(lines) * 0.6):
        return None
    first = _BRANCH.match(lines[0])
    path: list[str] = [] if first else [lines[0].strip()]
    rooted = len(path)
    records: list[Record] = []
    for match, _ in entries:
        depth = rooted + _depth(match[1])
        name = match["name"].strip()
        path = [*path[:depth], name]
        parent = {"parent": path[depth - 1]} if 0 < depth < len(path) else {}
        records.append({"name": name, **parent, "depth": depth - rooted + 1})
    return records


def _depth(indent: str) -> int:
    bars = len(re.findall(r"[│|]", indent))
    blanks = len(re.sub(r"[│|]\s{0,3}", "", indent)) // 4
    return bars + blanks if "│   " in indent or blanks else bars
