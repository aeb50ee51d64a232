"""What git prints: logs, a commit, the status, branches, statistics, unified diffs.

Hunks are counted here because unidiff and whatthepatch refuse a diff that a server has cut short.
"""

import re

from mcprl.scenarios.readers.scalars import Record

_COMMIT = re.compile(r"commit ([0-9a-f]{7,40})\b(?: \((.{1,200})\))?$", re.MULTILINE)
_PERSON = re.compile(r"(Author|Commit|Committer):\s+(.{0,200}?)\s*<([^<>\n]{1,200})>$")
_ONELINE = re.compile(r"[*|\\/ ]{0,8}([0-9a-f]{7,40}) (?:\(([^()]{1,200})\) )?(\S.*)$")
_STAT = re.compile(r" ?(\S.{0,250}?)\s+\|\s+(\d+|Bin .{1,60}?)(?: ([+-]+))?$")
_STATS = re.compile(r" ?(\d+) files? changed(?:, (\d+) insertions?\(\+\))?(?:, (\d+) deletions?\(-\))?$", re.MULTILINE)
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_STATE = re.compile(
    r"\s+(?:(modified|new file|deleted|renamed|copied|typechange|both modified|added by us|deleted by us):\s+)?(\S.*)$"
)
_SHORT = re.compile(r"([ MADRCTU?!]{2}) (\S.*)$")
_SHORT_WORDS = {
    "M": "modified",
    "A": "new file",
    "D": "deleted",
    "R": "renamed",
    "C": "copied",
    "?": "untracked",
    "U": "unmerged",
}
_BRANCH = re.compile(r"(\* |  )(\(HEAD detached at \S+\)|[\w./-]+)(?:\s+([0-9a-f]{7,40}) (?:\[.{1,100}\] )?(\S.*))?$")


def read_git(text: str) -> Record | list[Record] | None:
    """The commits, files or branches that git's output lists; `None` if the text is no output of git."""
    if _COMMIT.search(text):
        return _commits(text)
    if re.search(r"^(?:On branch \S+|HEAD detached at \S+)$", text, re.MULTILINE):
        return _status(text)
    if files := _diff(text):
        return files
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    if stats := _statistics(lines):
        return stats
    return _oneline(lines) or _branches(lines) or _short_status(lines)


def _commits(text: str) -> Record | list[Record] | None:
    """`git log` or `git show`: a record a commit, with its files if the log has diffs or statistics."""
    starts = [match.start() for match in _COMMIT.finditer(text)]
    ends = [*starts[1:], len(text)]
    records = [_commit(text[start:end]) for start, end in zip(starts, ends, strict=True)]
    if any("author" not in record and "message" not in record for record in records):
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
        elif line.startswith(("diff --git", "--- ")) or (message and _STAT.match(line)):
            body = number
            break
        elif not line.strip() and message:
            message.append("")
    spoken = "\n".join(message).strip()
    if spoken:
        record["message"] = spoken.split("\n")[0]
        if rest := spoken.partition("\n")[2].strip():
            record["body"] = rest
    files = _diff("\n".join(lines[body:])) or _statistics([line for line in lines[body:] if line.strip()])
    return {**record, **({"files": files} if files else {})}


def _diff(text: str) -> list[Record]:
    """The files of a unified diff: `file`, `change`, `added_lines` and `removed_lines`. Hunks count by headers, so
    that a removed line `-- x`, printed as `--- x`, begins no file.
    """
    if not re.search(r"^(?:@@ -\d|diff --git )", text, re.MULTILINE):
        return []
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
    return records


def _path(line: str) -> str:
    path = line[4:].split("\t")[0].strip()
    return path[2:] if path.startswith(("a/", "b/")) else path


def _statistics(lines: list[str]) -> list[Record] | None:
    """`git diff --stat`: a record a file."""
    if not any(_STATS.match(line) for line in lines):
        return None
    matches = [match for line in lines if (match := _STAT.match(line))]
    return [
        {"file": match[1], "changes": int(match[2]) if match[2].isdigit() else match[2]} for match in matches
    ] or None


_SECTIONS = {"Changes to be committed": "staged", "Changes not staged for commit": "unstaged"}


def _status(text: str) -> Record:
    """`git status`: the branch and the files, each with its change and status (`staged`, `unstaged`, `untracked`)."""
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


def _oneline(lines: list[str]) -> list[Record] | None:
    matches = [match for line in lines if (match := _ONELINE.match(line))]
    if not matches or len(matches) < max(2, len(lines) - 1) or not any(re.search("[a-f]", m[1]) for m in matches):
        return None
    return [{"commit": m[1], **({"refs": m[2]} if m[2] else {}), "message": m[3]} for m in matches]


def _branches(lines: list[str]) -> list[Record] | None:
    """`git branch`: a record a branch; exactly one line is marked as the current one."""
    matches = [_BRANCH.match(line) for line in lines]
    if not all(matches) or sum(line.startswith("* ") for line in lines) != 1:
        return None
    return [
        {"branch": m[2], "current": m[1] == "* ", **({"commit": m[3], "message": m[4]} if m[3] else {})}
        for m in matches
        if m
    ]


def _short_status(lines: list[str]) -> list[Record] | None:
    """`git status --short`."""
    lines = [line for line in lines if not line.startswith("## ")]
    matches = [_SHORT.match(line) for line in lines]
    if not all(matches) or not any(re.match(r" ?[MAD?]", line) for line in lines):
        return None
    return [{"file": m[2], "change": _SHORT_WORDS.get(m[1].strip()[:1], m[1].strip())} for m in matches if m]
