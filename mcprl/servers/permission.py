"""Which tools may be called, and as what: the operator's word, then the server's marks, and never a guess.

`permission` is the one place that decides. `server.Server` offers and calls only what it allows, so that it holds for
probing, rollouts and evaluation alike.
"""

import difflib
import glob
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TypeVar

from mcprl.config import ToolPolicy, read_reward
from mcprl.errors import ConfigError, ServerError
from mcprl.servers.effects import Mark, mark
from mcprl.servers.proposals import propose, seems_to_read
from mcprl.text import counted, visible
from mcprl.types import Tool

_T = TypeVar("_T")
_MOST_FLAGS = 12
_MOST_LETTERS = 80
_WILD = frozenset("*?[]")


@dataclass(frozen=True)
class ToolStatus:
    """A tool that a server listed, whether it may be called, and why.

    `marked` is what the server says of it. `tool` is handled by its `read_only`: as the server marks it, else as the
    operator assumes, else as its name proposes; it is `None` if it could not be read. `stateless`: the server or the
    operator says that it reads, so that sessions may share a connection for it. `undecided`: it is left out since
    neither the server nor the operator says what it does. `behind`: mcprl alone calls it, to set tasks up or to score.
    """

    server: str
    name: str
    tool: Tool | None
    allowed: bool
    reason: str = ""
    marked: Mark = "unmarked"
    stateless: bool = False
    undecided: bool = False
    behind: bool = False


def permission(server: str, name: str, tool: Tool, policy: ToolPolicy) -> ToolStatus:
    """Whether the policy allows a tool, known as `name` among the tools of all servers."""
    names, marked = {name, tool.name}, mark(tool)
    assumed = _assumed(names, policy)
    reads = assumed != "write" and (marked == "read-only" or (marked == "unmarked" and assumed == "read"))
    shown = replace(tool, name=name)
    if reason := _behind(names, marked, reads, policy):
        return ToolStatus(server, name, shown, False, reason, marked, behind=True)
    if reason := _forbidden(names, marked, reads, policy):
        return ToolStatus(server, name, shown, False, reason, marked)
    allowed = marked != "unmarked" or assumed or policy.sandbox or matches(names, policy.allow)
    if not allowed:
        reason = f"unmarked; {assume_flag(name, tool)} or --sandbox allows it"
        return ToolStatus(server, name, shown, False, reason, marked, undecided=True)
    guessed = marked == "unmarked" and not assumed
    guess = seems_to_read(tool) if policy.sandbox else propose(tool) == "read"
    handled = guess if guessed else reads
    reason = _why(marked, assumed, policy)
    return ToolStatus(server, name, replace(shown, read_only=handled), True, reason, marked, stateless=reads)


def _behind(names: set[str], marked: Mark, reads: bool, policy: ToolPolicy) -> str:
    """By which flag mcprl alone calls a tool; empty if none says so, or if another rule forbids it."""
    exact = {*policy.setup, read_reward(policy.reward)[0] if policy.reward else ""}
    destroys = marked == "destructive" and not (names & exact or policy.allow_destructive or policy.sandbox)
    if matches(names, policy.deny) or (policy.read_only and not reads) or destroys:
        return ""
    if policy.reward and read_reward(policy.reward)[0] in names:
        return "--reward-tool: it scores rollouts"
    return "--setup-tool: it sets tasks up" if matches(names, policy.setup) else ""


def _forbidden(names: set[str], marked: Mark, reads: bool, policy: ToolPolicy) -> str:
    """Why the policy leaves out a tool, whatever its name suggests; empty if it does not."""
    if matches(names, policy.deny):
        return "denied by --deny-tool"
    if policy.allow and not matches(names, policy.allow):
        return "not among --allow-tool"
    if policy.read_only and not reads:
        return "not marked read-only"
    named = policy.allow_destructive or policy.sandbox or names & {*policy.allow}
    if marked == "destructive" and not named:
        return "marked destructive; --allow-destructive or --allow-tool with its exact name allows it"
    return ""


def _why(marked: Mark, assumed: str, policy: ToolPolicy) -> str:
    """By whose word an allowed tool is called."""
    if assumed and (marked == "unmarked" or (marked, assumed) == ("read-only", "write")):
        return "--assume"
    if marked in ("read-only", "writes"):
        return "marked"
    if policy.sandbox:
        return "--sandbox"
    return "--allow-destructive" if marked == "destructive" and policy.allow_destructive else "--allow-tool"


def _assumed(names: set[str], policy: ToolPolicy) -> str:
    """What the operator says the tool does, empty if nothing: by its exact name, else `write` before `read`."""
    said = said_of(names, policy.assume)
    return "write" if "write" in said else next(iter(said), "")


def said_of(names: Collection[str], by_pattern: Mapping[str, _T]) -> list[_T]:
    """What is said of a tool by its exact name, else by the globs that match it."""
    exact = [by_pattern[name] for name in names if name in by_pattern]
    return exact or [value for pattern, value in by_pattern.items() if matches(names, [pattern])]


def matches(names: Collection[str], patterns: Iterable[str]) -> bool:
    """Whether a pattern is or, as a glob, matches one of a tool's names."""
    return any(name == pattern or fnmatchcase(name, pattern) for name in names for pattern in patterns)


def require_matches(policy: ToolPolicy, names: Collection[str]) -> None:
    """Raise `ConfigError` for a pattern of the policy that matches none of the names that the servers list."""
    flags = {
        "--allow-tool": policy.allow,
        "--deny-tool": policy.deny,
        "--assume": policy.assume,
        "--max-calls-per-tool": policy.max_calls_per_tool,
        "--max-rate": policy.max_rate,
        "--argument-rule": policy.argument_rules,
        "--reward-tool": [read_reward(policy.reward)[0]] if policy.reward else [],
        "--setup-tool": policy.setup,
    }
    for flag, patterns in flags.items():
        for pattern in patterns:
            if not matches(names, [pattern]):
                bare = "".join(char for char in pattern if char not in _WILD)
                short = sorted({name[:_MOST_LETTERS] for name in names})
                near = difflib.get_close_matches(bare, short, n=3, cutoff=0.5) or short[:5]
                told = f"the nearest are {visible(', '.join(near))}" if near else "the server lists none"
                raise ConfigError(f"{flag} {pattern!r} matches no tool; {told}")


def assume_flag(name: str, tool: Tool) -> str:
    """The flag that allows an unmarked tool as what it seems to do."""
    effect = "read" if propose(tool) == "read" else "write"
    return f"--assume {shlex.quote(f'{visible(glob.escape(name))}={effect}')}"


def unmarked_note(listing: Sequence[ToolStatus]) -> str:
    """What is left out since it is unmarked, and the flags that allow it; empty if nothing is."""
    flags = [assume_flag(status.name, status.tool) for status in listing if status.undecided and status.tool]
    if not flags:
        return ""
    more = f" (and {len(flags) - _MOST_FLAGS} more, which mcprl inspect lists)" if len(flags) > _MOST_FLAGS else ""
    which = f"{len(flags)} of {counted(len(listing), 'tool')}"
    why = "is not called, since the server does not mark what it does; allow it"
    if len(flags) > 1:
        why = "are not called, since the server does not mark what they do; allow them"
    return (
        f"{which} {why} with {' '.join(flags[:_MOST_FLAGS])}{more}, where =read is for those that only read, or all "
        "with --sandbox if the server is disposable"
    )


def require_callable(listing: Sequence[ToolStatus]) -> None:
    """Raise `ServerError` with the reasons if no tool may be called."""
    if any(status.allowed for status in listing):
        return
    reasons = Counter(status.reason for status in listing if not status.undecided)
    told = [f"{count} {reason}" for reason, count in reasons.most_common(3)]
    if note := unmarked_note(listing):
        told.append(note)
    raise ServerError(f"no tool of the server may be called: {'; '.join(told) or 'it lists none'}")
