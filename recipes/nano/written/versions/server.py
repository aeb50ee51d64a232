from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("tarn-registry")

MAINTAINERS = {
    "pkessler": ("Paula Kessler", "paula@kessler.example", "yes", "Europe/Vienna", "Northgate Tools", "2017-03-02"),
    "odara": ("Oluchi Dara", "oluchi@dara.example", "yes", "Africa/Lagos", "Lumen Labs", "2019-10-21"),
    "jwhitlow": ("Jim Whitlow", "jim.whitlow@post.example", "no", "America/Denver", "none", "2015-06-11"),
    "mstrand": ("Maja Strand", "maja@strandkode.example", "yes", "Europe/Oslo", "Strandkode", "2020-02-17"),
    "yuki-t": ("Yuki Terada", "yuki@hollow.example", "yes", "Asia/Tokyo", "Hollow Security", "2018-08-30"),
    "bela": ("Bela Horvath", "bela.h@post.example", "no", "Europe/Budapest", "none", "2021-12-05"),
    "rcosta": ("Renata Costa", "renata@mapflask.example", "yes", "America/Recife", "Mapflask Project", "2016-01-28"),
    "fenwick": ("Tom Fenwick", "tom@fenwick.example", "no", "Europe/London", "Northgate Tools", "2022-07-14"),
}

# name: description, licence, maintainer, weekly downloads, dist-tags, repository
PACKAGES = {
    "tidy-queue": ["In-process job queue with retries", "MIT", "pkessler", 48210, {"latest": "3.2.1", "next": "4.0.0-beta.1"}, "git.example/northgate/tidy-queue"],
    "lumen-log": ["Structured logger with pretty output", "Apache-2.0", "odara", 132904, {"latest": "5.3.0"}, "git.example/lumen/log"],
    "papercsv": ["Streaming CSV parser and writer", "MIT", "jwhitlow", 97655, {"latest": "4.1.2"}, "git.example/jwhitlow/papercsv"],
    "quill-dates": ["Date formatting for many locales", "ISC", "mstrand", 21870, {"latest": "1.8.0", "legacy": "0.9.7"}, "git.example/strandkode/quill-dates"],
    "routelet": ["Tiny HTTP router", "MIT", "fenwick", 15322, {"latest": "2.0.3"}, "git.example/northgate/routelet"],
    "snapstore": ["Key-value store in a single file", "BSD-3-Clause", "bela", 6418, {"latest": "0.14.1"}, "git.example/bela/snapstore"],
    "emberhash": ["Fast non-cryptographic hashing", "MIT", "yuki-t", 210377, {"latest": "6.0.2"}, "git.example/hollow/emberhash"],
    "yamlette": ["Small YAML reader without surprises", "MIT", "jwhitlow", 54003, {"latest": "1.4.5"}, "git.example/jwhitlow/yamlette"],
    "glint-cli": ["Linter for HTML templates, command line", "GPL-3.0", "mstrand", 8120, {"latest": "3.0.0", "next": "3.1.0-rc.2"}, "git.example/strandkode/glint"],
    "mapflask": ["Map tile server", "AGPL-3.0", "rcosta", 2987, {"latest": "7.2.0"}, "git.example/mapflask/mapflask"],
    "retry-kit": ["Backoff and retry helpers", "MIT", "pkessler", 73561, {"latest": "2.1.4"}, "git.example/northgate/retry-kit"],
    "colourbox": ["Colour conversion and contrast checks", "ISC", "odara", 31245, {"latest": "1.1.0"}, "git.example/lumen/colourbox"],
    "formwise": ["Form validation with readable messages", "MIT", "bela", 11092, {"latest": "2.6.0", "next": "3.0.0-alpha.4"}, "git.example/bela/formwise"],
}

# spec: date, publisher, size kB, node, dependencies, changes, deprecation
RELEASES = {
    "tidy-queue@4.0.0-beta.1": ["2026-02-20", "fenwick", 91, ">=20", {"retry-kit": "^2.1.4"}, ["Breaking: jobs are async only", "Removed: lumen-log dependency"], ""],
    "tidy-queue@3.2.1": ["2026-01-14", "pkessler", 84, ">=18", {"retry-kit": "^2.1.0", "lumen-log": "^5.0.0"}, ["Fixed: lost jobs when a worker throws"], ""],
    "tidy-queue@3.2.0": ["2025-11-03", "fenwick", 83, ">=18", {"retry-kit": "^2.0.0", "lumen-log": "^5.0.0"}, ["Added: delayed jobs", "Added: pause() and resume()"], ""],
    "tidy-queue@2.9.4": ["2024-05-19", "pkessler", 61, ">=14", {"lumen-log": "^4.2.0"}, ["Fixed: memory leak in timers"], "2.x is no longer maintained"],
    "lumen-log@5.3.0": ["2026-02-02", "odara", 40, ">=18", {"colourbox": "^1.0.0"}, ["Added: log rotation", "Fixed: colours on dumb terminals"], ""],
    "lumen-log@5.2.1": ["2025-09-26", "mstrand", 39, ">=18", {"colourbox": "^1.0.0"}, ["Fixed: timestamps in local time"], ""],
    "lumen-log@4.2.0": ["2023-12-08", "odara", 35, ">=14", {}, ["Added: child loggers"], ""],
    "papercsv@4.1.2": ["2026-01-30", "jwhitlow", 58, ">=16", {}, ["Security: formula injection in writer"], ""],
    "papercsv@4.1.1": ["2025-12-12", "jwhitlow", 57, ">=16", {}, ["Fixed: empty last column"], ""],
    "papercsv@4.0.0": ["2025-04-22", "bela", 55, ">=16", {}, ["Breaking: headers are case-sensitive"], ""],
    "quill-dates@1.8.0": ["2025-10-15", "mstrand", 212, ">=16", {}, ["Added: Welsh and Basque", "Fixed: week numbers in January"], ""],
    "quill-dates@1.7.2": ["2025-06-01", "mstrand", 205, ">=16", {}, ["Fixed: Arabic numerals"], ""],
    "quill-dates@0.9.7": ["2022-08-23", "jwhitlow", 148, ">=10", {}, ["Fixed: leap seconds"], ""],
    "routelet@2.0.3": ["2026-02-11", "fenwick", 19, ">=18", {"lumen-log": "^5.2.0"}, ["Security: path traversal in static files"], ""],
    "routelet@2.0.2": ["2025-12-29", "fenwick", 19, ">=18", {"lumen-log": "^5.2.0"}, ["Fixed: HEAD requests"], ""],
    "routelet@1.6.0": ["2025-01-09", "pkessler", 16, ">=14", {}, ["Added: wildcard routes"], ""],
    "snapstore@0.14.1": ["2025-08-07", "bela", 73, ">=18", {"emberhash": "^5.0.0"}, ["Fixed: file lock on Windows"], ""],
    "snapstore@0.13.0": ["2025-03-18", "bela", 70, ">=16", {"emberhash": "^5.0.0"}, ["Added: iterators"], ""],
    "emberhash@6.0.2": ["2025-11-28", "yuki-t", 27, ">=18", {}, ["Fixed: big-endian machines"], ""],
    "emberhash@5.4.0": ["2025-02-14", "yuki-t", 25, ">=14", {}, ["Added: 128-bit output"], ""],
    "yamlette@1.4.5": ["2025-07-21", "jwhitlow", 46, ">=14", {}, ["Fixed: tabs in block scalars"], ""],
    "yamlette@1.4.4": ["2025-05-05", "odara", 46, ">=14", {}, ["Security: alias expansion limit"], ""],
    "glint-cli@3.1.0-rc.2": ["2026-03-01", "mstrand", 340, ">=20", {"yamlette": "^1.4.4", "colourbox": "^1.1.0"}, ["Added: --fix option"], ""],
    "glint-cli@3.0.0": ["2025-09-09", "mstrand", 322, ">=18", {"yamlette": "^1.4.0"}, ["Breaking: configuration in glint.yml"], ""],
    "mapflask@7.2.0": ["2026-02-25", "rcosta", 1480, ">=20", {"routelet": "^2.0.0", "snapstore": "^0.14.0"}, ["Added: vector tiles", "Changed: cache is on by default"], ""],
    "mapflask@7.1.3": ["2025-12-17", "odara", 1395, ">=18", {"routelet": "^2.0.0", "snapstore": "^0.13.0"}, ["Fixed: blank tiles near the date line"], ""],
    "retry-kit@2.1.4": ["2025-10-30", "pkessler", 12, ">=16", {}, ["Fixed: jitter was always zero"], ""],
    "retry-kit@2.0.0": ["2025-02-27", "fenwick", 11, ">=16", {}, ["Breaking: retries default to 3"], ""],
    "colourbox@1.1.0": ["2025-06-24", "odara", 33, ">=16", {}, ["Added: OKLCH"], ""],
    "colourbox@1.0.2": ["2024-10-10", "yuki-t", 30, ">=14", {}, ["Fixed: rounding in HSL"], ""],
    "formwise@3.0.0-alpha.4": ["2026-02-28", "bela", 66, ">=20", {"quill-dates": "^1.8.0"}, ["Breaking: new rule syntax"], ""],
    "formwise@2.6.0": ["2025-11-19", "bela", 62, ">=16", {"quill-dates": "^1.7.0"}, ["Added: custom messages"], ""],
    "formwise@2.5.1": ["2025-04-04", "mstrand", 60, ">=16", {"quill-dates": "^1.7.0"}, ["Fixed: e-mail rule with plus signs"], ""],
}

# id: package, severity, affected, fixed in, reporter, date, title
ADVISORIES = {
    "ADV-2026-011": ["routelet", "critical", "<2.0.3", "2.0.3", "yuki-t", "2026-02-12", "Path traversal in static file handler"],
    "ADV-2026-007": ["papercsv", "high", "<4.1.2", "4.1.2", "odara", "2026-01-31", "Formula injection in CSV output"],
    "ADV-2026-003": ["snapstore", "moderate", "<=0.14.1", "none", "yuki-t", "2026-01-09", "World-readable temporary files"],
    "ADV-2025-042": ["tidy-queue", "low", "<3.2.1", "3.2.1", "rcosta", "2025-12-20", "Job arguments leak into error messages"],
    "ADV-2025-038": ["mapflask", "moderate", "<7.1.3", "7.1.3", "fenwick", "2025-12-18", "Unbounded tile cache fills the disk"],
    "ADV-2025-016": ["yamlette", "high", "<1.4.4", "1.4.4", "bela", "2025-05-06", "Alias expansion exhausts memory"],
    "ADV-2025-009": ["colourbox", "low", "<1.0.2", "1.0.2", "pkessler", "2025-03-01", "Slow regular expression in parser"],
}


def _versions(name):
    return [spec.split("@")[1] for spec in RELEASES if spec.startswith(name + "@")]


@server.tool()
def view(package: str) -> str:
    """Package page: latest version, licence, dist-tags, maintainer login, downloads, version list."""
    if package not in PACKAGES:
        return f"ERR 404 '{package}' is not in this registry"
    text, licence, owner, downloads, tags, repo = PACKAGES[package]
    versions = _versions(package)
    return "\n".join([f"{package}@{tags['latest']} | {licence} | versions: {len(versions)}", text, f"https://{repo}", "",
                      "dist-tags:", *(f"{t}: {v}" for t, v in tags.items()), "", f"maintainer: {owner}",
                      f"weekly downloads: {downloads}", "versions: " + ", ".join(versions)])


@server.tool()
def release(spec: str) -> str:
    """Changelog entry of one release. spec is package@version with the exact version, no tags or ranges."""
    if spec not in RELEASES:
        return f"ERR 404 no release {spec}"
    date, by, size, node, deps, changes, gone = RELEASES[spec]
    name, version = spec.split("@")
    lines = [f"## {name} {version} ({date})", *(f"- {c}" for c in changes), "", f"published by: {by}", f"unpacked size: {size} kB", f"node: {node}",
             "dependencies: " + (", ".join(f"{d} {r}" for d, r in deps.items()) or "none")]
    return "\n".join(lines + ([f"DEPRECATED: {gone}"] if gone else []))


@server.tool()
def search(text: str) -> str:
    """Search package names and descriptions."""
    hits = [f"{n}  {p[4]['latest']}  {p[0]}" for n, p in PACKAGES.items() if text.lower() in (n + " " + p[0]).lower()]
    return "\n".join(hits) or f"no packages match '{text}'"


@server.tool()
def maintainer(login: str) -> str:
    """Profile of a registry user by login."""
    if login not in MAINTAINERS:
        raise ToolError(f"unknown user: {login}")
    name, mail, tfa, zone, org, since = MAINTAINERS[login]
    return f"{login}\nname: {name}\nemail: {mail}\ntwo-factor: {tfa}\ntimezone: {zone}\norganisation: {org}\nmember since: {since}"


@server.tool()
def advisories(severity: Literal["low", "moderate", "high", "critical"] | None = None, package: str | None = None) -> str:
    """List security advisories, newest first, optionally by severity or package."""
    rows = [f"{i}  {a[1]:<8}  {a[0]}" for i, a in ADVISORIES.items() if severity in (None, a[1]) and package in (None, a[0])]
    return "\n".join(rows) or "no advisories"


@server.tool()
def advisory(id: str) -> str:
    """One security advisory, e.g. ADV-2025-016."""
    if id not in ADVISORIES:
        raise ToolError(f"no advisory {id}")
    package, severity, affected, fixed, who, date, title = ADVISORIES[id]
    return f"{id}: {title}\npackage: {package}\nseverity: {severity}\naffected: {affected}\nfixed in: {fixed}\nreported by: {who}\npublished: {date}"


@server.tool()
def deprecate(spec: str, reason: str) -> str:
    """Mark a release (package@version) as deprecated with a message; an empty reason takes the mark away."""
    if spec not in RELEASES:
        raise ToolError(f"no release {spec}")
    RELEASES[spec][6] = reason
    return f"{spec} deprecated: {reason}" if reason else f"{spec} is no longer deprecated"


@server.tool()
def dist_tag(package: str, tag: str, version: str) -> str:
    """Point a dist-tag (latest, next, legacy, ...) of a package to a published version."""
    if f"{package}@{version}" not in RELEASES:
        raise ToolError(f"{package} has no version {version}")
    old = PACKAGES[package][4].get(tag, "(unset)")
    PACKAGES[package][4][tag] = version
    return f"+{tag}: {package}@{version} (was {old})"


@server.tool()
def transfer(package: str, to_login: str) -> str:
    """Hand a package to another maintainer."""
    if package not in PACKAGES:
        raise ToolError(f"'{package}' is not in this registry")
    if to_login not in MAINTAINERS:
        raise ToolError(f"unknown user: {to_login}")
    old, PACKAGES[package][2] = PACKAGES[package][2], to_login
    return f"{package}: maintainer {old} -> {to_login}"


if __name__ == "__main__":
    server.run()
