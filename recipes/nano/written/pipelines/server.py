"""A small continuous-integration service."""
from typing import Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("pipelines")

AUTHORS = {
    "mira": "Mira Keller <mira.keller@tarn.example>", "tomasz": "Tomasz Bielik <tbielik@tarn.example>",
    "aiko": "Aiko Sato <aiko@tarn.example>", "ruth": "Ruth Danso <ruth.danso@tarn.example>", "jon": "Jon Ibarra <jon@ibarra.example>",
}
# hash: author, reviewer, date, parent, message, files, plus, minus
COMMITS = {
    "9f3ac21": ("mira", "ruth", "Mon May 6 09:02:41 2024", "51be0d7", "Cache session tokens for ten minutes", 3, 41, 7),
    "51be0d7": ("tomasz", "mira", "Fri May 3 17:48:10 2024", "c07714e", "Drop support for the old export format", 12, 18, 264),
    "c07714e": ("aiko", "ruth", "Fri May 3 11:20:33 2024", "0a92f5b", "Fix rounding of partial refunds", 2, 9, 4),
    "0a92f5b": ("ruth", "tomasz", "Thu May 2 15:37:55 2024", "e6d8813", "Bump image to debian 12", 1, 1, 1),
    "e6d8813": ("mira", "aiko", "Tue Apr 30 10:11:02 2024", "-", "Split billing worker out of the api", 27, 612, 588),
    "b4417aa": ("jon", "mira", "Mon May 6 13:25:19 2024", "9f3ac21", "Add dark theme to the invoice page", 8, 203, 31),
    "7de2096": ("jon", "aiko", "Tue May 7 08:50:44 2024", "b4417aa", "Use theme variables in charts", 4, 37, 52),
    "f18b3c5": ("aiko", "tomasz", "Mon May 6 16:04:07 2024", "51be0d7", "Retry webhooks with backoff", 5, 96, 12),
    "2c60e9d": ("tomasz", "ruth", "Tue May 7 10:15:38 2024", "c07714e", "Backport refund rounding to 3.8", 2, 9, 4),
    "a3f95d0": ("ruth", "jon", "Sat May 4 12:30:00 2024", "0a92f5b", "Try postgres 16 in the test setup", 6, 44, 40),
}
BRANCHES = {
    "main": {"log": ["9f3ac21", "51be0d7", "c07714e", "0a92f5b", "e6d8813"], "protected": "yes", "deploys_to": "staging"},
    "feature/dark-theme": {"log": ["7de2096", "b4417aa", "9f3ac21"], "protected": "no", "deploys_to": "preview-14"},
    "fix/webhook-retry": {"log": ["f18b3c5", "51be0d7"], "protected": "no", "deploys_to": "-"},
    "release/3.8": {"log": ["2c60e9d", "c07714e"], "protected": "yes", "deploys_to": "production"},
    "spike/pg16": {"log": ["a3f95d0", "0a92f5b"], "protected": "no", "deploys_to": "-"},
}
# name: os, zone, state, slots, contact, version
RUNNERS = {
    "rn-01": {"os": "linux-amd64", "zone": "fra1", "state": "online", "slots": 4, "contact": "ops@tarn.example", "agent": "2.14.1"},
    "rn-02": {"os": "linux-amd64", "zone": "fra1", "state": "draining", "slots": 4, "contact": "ops@tarn.example", "agent": "2.13.0"},
    "rn-04": {"os": "linux-arm64", "zone": "hel2", "state": "online", "slots": 2, "contact": "ruth.danso@tarn.example", "agent": "2.14.1"},
    "mac-mini": {"os": "darwin-arm64", "zone": "office", "state": "offline", "slots": 1, "contact": "jon@ibarra.example", "agent": "2.11.6"},
    "rn-07": {"os": "linux-amd64", "zone": "nyc3", "state": "online", "slots": 8, "contact": "us-infra@tarn.example", "agent": "2.15.0"},
}
# number: status, branch, commit, runner, started, steps (name, state, seconds)
BUILDS = {
    4463: ("passed", "main", "c07714e", "rn-01", "2024-05-03 11:22", [("checkout", "ok", 4), ("compile", "ok", 71), ("unit", "ok", 133), ("publish", "ok", 22)]),
    4464: ("failed", "main", "51be0d7", "rn-02", "2024-05-03 17:50", [("checkout", "ok", 5), ("compile", "ok", 80), ("unit", "FAIL", 64)]),
    4465: ("passed", "main", "51be0d7", "rn-01", "2024-05-03 18:31", [("checkout", "ok", 4), ("compile", "ok", 69), ("unit", "ok", 140), ("publish", "ok", 25)]),
    4466: ("failed", "spike/pg16", "a3f95d0", "rn-04", "2024-05-04 12:33", [("checkout", "ok", 6), ("compile", "FAIL", 38)]),
    4467: ("passed", "main", "9f3ac21", "rn-07", "2024-05-06 09:05", [("checkout", "ok", 3), ("compile", "ok", 55), ("unit", "ok", 101), ("publish", "ok", 19)]),
    4468: ("failed", "feature/dark-theme", "b4417aa", "mac-mini", "2024-05-06 13:27", [("checkout", "ok", 9), ("lint", "FAIL", 12)]),
    4469: ("passed", "fix/webhook-retry", "f18b3c5", "rn-04", "2024-05-06 16:06", [("checkout", "ok", 6), ("compile", "ok", 92), ("unit", "ok", 187)]),
    4470: ("cancelled", "spike/pg16", "a3f95d0", "rn-02", "2024-05-06 18:44", [("checkout", "ok", 5), ("compile", "stopped", 410)]),
    4471: ("failed", "feature/dark-theme", "7de2096", "rn-07", "2024-05-07 08:53", [("checkout", "ok", 3), ("lint", "ok", 10), ("screenshots", "FAIL", 248)]),
    4472: ("running", "release/3.8", "2c60e9d", "rn-01", "2024-05-07 10:17", [("checkout", "ok", 4), ("compile", "ok", 70), ("unit", "running", 0)]),
    4473: ("queued", "fix/webhook-retry", "f18b3c5", "rn-04", "-", []),
    4474: ("queued", "main", "9f3ac21", "rn-01", "-", []),
}
LOGS = {
    (4464, "unit"): "17:52:31 INFO  collected 412 tests\n17:52:58 ERROR test_export_legacy: KeyError 'columns'\n17:53:02 INFO  411 passed, 1 failed\n17:53:02 ERROR exit code 1",
    (4466, "compile"): "12:33:21 INFO  resolving psycopg 3.2\n12:33:40 ERROR libpq-fe.h: No such file or directory\n12:33:44 ERROR exit code 2",
    (4468, "lint"): "13:27:44 WARN  invoice.css:88 unknown property 'colour'\n13:27:45 ERROR 6 problems in 2 files\n13:27:45 ERROR exit code 1",
    (4471, "screenshots"): "08:54:10 INFO  rendering 64 pages\n08:57:29 ERROR page 'charts/yearly' differs by 3.7 %\n08:57:31 INFO  63 of 64 equal\n08:57:31 ERROR exit code 3",
    (4470, "compile"): "18:44:20 INFO  linking\n18:51:10 WARN  no output for 300 s\n18:51:15 INFO  cancelled by ruth",
    (4469, "unit"): "16:08:02 INFO  collected 418 tests\n16:10:51 INFO  418 passed\n16:10:51 INFO  exit code 0",
}


def line(n):
    status, branch, commit, runner, started, steps = BUILDS[n]
    return f"#{n} {status.upper():9} {branch} @{commit} on {runner} started {started}"


def build(n):
    if n not in BUILDS:
        raise ToolError(f"build #{n} not found (known: #{min(BUILDS)} to #{max(BUILDS)})")
    return BUILDS[n]


@server.tool()
def show_build(number: int) -> str:
    "One build with its steps and their seconds."
    steps = build(number)[5]
    rows = [f"  [{state}] {name} {sec}s" for name, state, sec in steps] or ["  (no steps yet)"]
    return "\n".join([line(number)] + rows)


@server.tool()
def list_builds(branch: str = "", status: Literal["", "passed", "failed", "running", "queued", "cancelled"] = "", limit: int = 12) -> str:
    "Builds, newest first, optionally of one branch or with one status."
    rows = [line(n) for n in sorted(BUILDS, reverse=True) if branch in ("", BUILDS[n][1]) and status in ("", BUILDS[n][0])]
    return "\n".join(rows[:limit]) or "no builds match"


@server.tool()
def step_log(build_number: int, step: str) -> str:
    "Tail of the log of one step of a build, e.g. step 'unit'."
    if step not in [s[0] for s in build(build_number)[5]]:
        raise ToolError(f"build #{build_number} has no step '{step}'")
    return LOGS.get((build_number, step), "(log was not kept)")


@server.tool()
def commit_text(commit: str) -> str:
    "A commit by its short hash: author, reviewer, date, parent, message, size."
    if commit not in COMMITS:
        return f"fatal: bad object {commit}"
    author, reviewer, when, parent, message, files, plus, minus = COMMITS[commit]
    return (f"commit {commit}\nparent {parent}\nAuthor: {AUTHORS[author]}\nDate:   {when}\n\n    {message}\n\n"
            f"    Reviewed-by: {AUTHORS[reviewer]}\n\n {files} files changed, {plus} insertions(+), {minus} deletions(-)")


@server.tool()
def branch_info(branch: str) -> str:
    "A branch: protection, deploy target and its newest commits, head first (git log --oneline)."
    if branch not in BRANCHES:
        raise ToolError(f"no branch '{branch}'; branches: {', '.join(BRANCHES)}")
    b = BRANCHES[branch]
    log = "\n".join(f"{h} {COMMITS[h][4]}" for h in b["log"])
    return f"branch {branch}  protected={b['protected']}  deploys_to={b['deploys_to']}\n{log}"


@server.tool()
def runner_info(name: str) -> str:
    "State, slots, zone and contact of a build runner."
    if name not in RUNNERS:
        return f"runner {name}: unknown"
    return f"runner {name}: " + " ".join(f"{k}={v}" for k, v in RUNNERS[name].items())


@server.tool()
def run_build(ref: str, runner: str = "rn-01") -> str:
    "Queue a new build of a branch or of a commit hash."
    if ref in BRANCHES:
        branch, commit = ref, BRANCHES[ref]["log"][0]
    elif ref in COMMITS:
        branch, commit = next(b for b, v in BRANCHES.items() if ref in v["log"]), ref
    else:
        raise ToolError(f"'{ref}' is neither a branch nor a commit")
    if runner not in RUNNERS:
        raise ToolError(f"runner {runner} unknown")
    if RUNNERS[runner]["state"] != "online":
        raise ToolError(f"runner {runner} is {RUNNERS[runner]['state']}")
    n = max(BUILDS) + 1
    BUILDS[n] = ("queued", branch, commit, runner, "-", [])
    return line(n)


@server.tool()
def cancel_build(number: int) -> str:
    "Cancel a queued or running build."
    b = build(number)
    if b[0] not in ("queued", "running"):
        raise ToolError(f"build #{number} is already {b[0]}")
    BUILDS[number] = ("cancelled",) + b[1:]
    return f"#{number} {b[0]} -> cancelled"


@server.tool()
def configure_runner(name: str, state: Literal["online", "draining", "offline"] | None = None, slots: int | None = None) -> str:
    "Set the state and/or the number of parallel slots of a runner. Draining finishes its builds but takes no new ones."
    if name not in RUNNERS:
        raise ToolError(f"runner {name} unknown")
    RUNNERS[name].update({k: v for k, v in {"state": state, "slots": slots}.items() if v is not None})
    return f"runner {name}: state={RUNNERS[name]['state']} slots={RUNNERS[name]['slots']}"


if __name__ == "__main__":
    server.run()
