"""Formats of single programs: git's output, server-filesystem's listings, logs, check lists. More belong here.

Each reader takes a text and gives its record or records, or `None` if the text is not of its program. `PROGRAMS` come
before the general readers, in their order.
"""

import re
from collections.abc import Callable

from mcprl.scenarios.readers.scalars import Record, scalar

# --- git --------------------------------------------------------------------------------------------------------------

_COMMIT = re.compile(r"commit ([0-9a-f]{7,40})\b(?: \((.{1,200})\))?$", re.MULTILINE)
_PERSON = re.compile(r"(Author|Commit|Committer):\s+(.{0,200}?)\s*<([^<>\n]{1,200})>$")
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_STATE = re.compile(
    r"\s+(?:(modified|new file|deleted|renamed|copied|typechange|both modified|added by us|deleted by us):\s+)?(\S.*)$"
)
_SECTIONS = {"Changes to be committed": "staged", "Changes not staged for commit": "unstaged"}
_BRANCH = re.compile(r"(\* |  )(\(HEAD detached at \S+\)|[\w./-]+)(?:\s+([0-9a-f]{7,40}) (?:\[.{1,100}\] )?(\S.*))?$")


def read_commits(text: str) -> Record | list[Record] | None:
    """`git log` or `git show`: a record a commit, with its files if the log has diffs."""
    starts = [match.start() for match in _COMMIT.finditer(text)]
    ends = [*starts, len(text)][1:]
    records = [_commit(text[start:end]) for start, end in zip(starts, ends, strict=True)]
    if not records or any("author" not in record and "message" not in record for record in records):
        return None
    return records if len(records) > 1 else records[0]


def _commit(text: str) -> Record:
    head, *lines = text.splitlines()
    match = _COMMIT.match(head)
    record: Record = {"commit": match[1]} if match else {}
    if match and match[2]:
        record["refs"] = match[2]
    message: list[str] = []
    body = len(lines)
    for number, line in enumerate(lines):
        if person := _PERSON.match(line):
            role = "author" if person[1] == "Author" else "committer"
            record |= {role: person[2], f"{role} email": person[3]}
        elif named := re.match(r"(Date|AuthorDate|CommitDate|Merge):\s+(.+)", line):
            record["merge" if named[1] == "Merge" else "date"] = named[2]
        elif line.startswith("    "):
            message.append(line[4:])
        elif line.startswith(("diff --git", "--- ")):
            body = number
            break
        elif not line.strip() and message:
            message.append("")
    spoken = "\n".join(message).strip()
    if spoken:
        record["message"] = spoken.split("\n")[0]
        if rest := spoken.partition("\n")[2].strip():
            record["body"] = rest
    files = read_diff("\n".join(lines[body:]))
    return {**record, **({"files": files} if files else {})}


def read_diff(text: str) -> list[Record] | None:
    """The files of a unified diff: `file`, `change`, `added_lines` and `removed_lines`.

    Hunks count by headers, so that a removed line `-- x`, printed as `--- x`, begins no file. They are counted here
    because unidiff and whatthepatch refuse a diff that a server has cut short.
    """
    if not re.search(r"^(?:@@ -\d|diff --git )", text, re.MULTILINE):
        return None
    records: list[Record] = []
    old = new = 0
    before = ""
    for line in text.splitlines():
        if (old > 0 or new > 0) and (not line or line[0] in " +-\\"):
            mark = line[:1]
            if mark in ("+", "-") and records:
                records[-1]["added_lines" if mark == "+" else "removed_lines"] += 1
            new -= mark not in ("-", "\\")
            old -= mark not in ("+", "\\")
            continue
        if match := re.match(r"diff --git a/(.+) b/(.+)$", line):
            records.append({"file": match[2], "change": "modified", "added_lines": 0, "removed_lines": 0})
        elif line.startswith("--- "):
            before = _path(line)
        elif line.startswith("+++ "):
            file = _path(line)
            kind = "new file" if before == "/dev/null" else "deleted" if file == "/dev/null" else "modified"
            name = before if kind == "deleted" else file
            if not records or records[-1]["file"] != name or records[-1]["added_lines"] or records[-1]["removed_lines"]:
                records.append({"file": name, "change": kind, "added_lines": 0, "removed_lines": 0})
            records[-1]["change"] = kind if records[-1]["change"] == "modified" else records[-1]["change"]
        elif match := re.match(r"(new|deleted) file mode|(rename) from", line):
            if records:
                records[-1]["change"] = {"new": "new file", "deleted": "deleted"}.get(match[1] or "", "renamed")
        elif match := _HUNK.match(line):
            old, new = int(match[1] or 1), int(match[2] or 1)
    return records or None


def _path(line: str) -> str:
    path = line[4:].split("\t")[0].strip()
    return path[2:] if path.startswith(("a/", "b/")) else path


def read_status(text: str) -> Record | None:
    """`git status`: the branch and the files, each with its change and status (`staged`, `unstaged`, `untracked`)."""
    if not re.search(r"^(?:On branch \S+|HEAD detached at \S+)$", text, re.MULTILINE):
        return None
    record: Record = {}
    files: list[Record] = []
    section = ""
    for line in text.splitlines():
        if match := re.match(r"(?:On branch|HEAD detached at) (\S+)$", line):
            record["branch"] = match[1]
        elif match := re.match(r"Your branch is (.+)$", line):
            record["upstream"] = match[1].rstrip(".:")
        elif re.match(r"[A-Z].*:$", line):
            section = line[:-1]
        elif section and not line.lstrip().startswith("(") and (match := _STATE.match(line)):
            state = _SECTIONS.get(section, section.removesuffix(" files").lower())
            files.append({"file": match[2], **({"change": match[1]} if match[1] else {}), "status": state})
        elif match := re.match(r"nothing to commit, (.+)$", line):
            record["state"] = match[1]
    return {**record, **({"files": files} if files else {})}


def read_branches(text: str) -> list[Record] | None:
    """`git branch`: a record a branch; exactly one line is marked as the current one."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    matches = [_BRANCH.match(line) for line in lines]
    if not all(matches) or sum(line.startswith("* ") for line in lines) != 1:
        return None
    return [
        {"branch": m[2], "current": m[1] == "* ", **({"commit": m[3], "message": m[4]} if m[3] else {})}
        for m in matches
        if m
    ]


# --- one line an entry ------------------------------------------------------------------------------------------------

_TIME = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d| UTC)?"
_LEVEL = r"TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERR(?:OR)?|FATAL|CRITICAL"
_LOG = re.compile(
    rf"\[?(?P<time>{_TIME}|[A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d:\d\d|\d\d:\d\d:\d\d(?:[.,]\d{{1,9}})?)\]?\s*[|,-]?\s*"
    rf"(?:[\[|(]?(?P<level>(?i:{_LEVEL}))\b[\])]?\s*[|:-]?\s*)?(?P<message>\S.*)"
)
_REQUESTED = re.compile(
    r"(?P<address>\S+) \S+ (?P<user>\S+) \[(?P<time>[^\]]+)\] \"(?P<request>[^\"]*)\" (?P<status>\d{3}) (?P<size>\d+|-)"
    r"(?: \"(?P<referer>[^\"]*)\" \"(?P<agent>[^\"]*)\")?"
)
_LEVELLED = re.compile(rf"\[?(?P<level>{_LEVEL})\b(?:\]\s*:?|:)\s+(?P<message>\S.*)")
_CHECKED = re.compile(r"(?:[-*+]\s+)?\[(?P<done>[ xX✓])\]\s+(?P<name>\S.*)")
_LISTED = re.compile(r"\[(?P<type>FILE|DIR|LINK)\]\s+(?P<name>\S.*)")
_SIZE = re.compile(r"\s?\d[\d.]{0,20} ?[KMGT]?i?B")


def read_folder(text: str) -> list[Record] | None:
    """server-filesystem's listing of a folder: `[FILE] a.txt`, perhaps with a size."""
    matches, lines = _matches(_LISTED, text)
    if not matches or len(matches) < lines * 0.5:
        return None
    records: list[Record] = []
    for match in matches:
        name, _, size = match["name"].rpartition("  ")
        sized = _SIZE.fullmatch(size)
        entry: Record = {"name": name.strip(), "size": size.strip()} if sized else {"name": match["name"]}
        records.append({"type": match["type"], **entry})
    return records


def read_log(text: str) -> list[Record] | None:
    """A log: a record a line that begins with a time or a level, or of a web server. Lines that go on may stand
    between those with a time."""
    for pattern, least in ((_LEVELLED, 0.8), (_REQUESTED, 0.8), (_LOG, 0.5)):
        matches, lines = _matches(pattern, text)
        if len(matches) >= max(2, lines * least):
            found = ({name: scalar(part or "") for name, part in match.groupdict().items()} for match in matches)
            return [{name: value for name, value in row.items() if value is not None} for row in found]
    return None


def read_checked(text: str) -> list[Record] | None:
    """A check list: `[x] measure the doors`."""
    matches, lines = _matches(_CHECKED, text)
    if len(matches) <= max(1, 0.6 * lines):
        return None
    return [{"name": match["name"], "done": match["done"] != " "} for match in matches]


def _matches(pattern: re.Pattern[str], text: str) -> tuple[list[re.Match[str]], int]:
    """The matches of a text's lines, and how many lines it has; blank ones do not count."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return [match for line in lines if (match := pattern.match(line))], len(lines)


PROGRAMS: tuple[Callable[[str], Record | list[Record] | None], ...] = (
    read_commits,
    read_status,
    read_diff,
    read_branches,
    read_folder,
    read_log,
    read_checked,
)
