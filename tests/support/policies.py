"""What operators may allow and servers may say, at random, and the documented rule of what is called."""

import random
from fnmatch import fnmatchcase
from typing import Any

from support.listed import READS

HINTS: list[dict[str, bool] | None] = [
    None,
    {},
    {"openWorldHint": False, "idempotentHint": True},
    READS,
    {"readOnlyHint": True, "destructiveHint": True},
    {"readOnlyHint": False},
    {"readOnlyHint": False, "destructiveHint": False},
    {"destructiveHint": False},
    {"destructiveHint": True},
]
"""All that a server may say of a tool; a server that lies says `READS` of a tool that wipes a disk."""


def near(name: str, rng: random.Random) -> str:
    """A name as a policy may misspell it."""
    return rng.choice([name, name, name, name.upper(), f" {name}", f"server__{name}", f"{name}\n", name[:-1], "*"])


def random_policy(rng: random.Random, names: list[str]) -> dict[str, Any]:
    """Some of the settings, each with patterns that match something."""

    def patterns(most: int) -> list[str]:
        chosen = rng.sample(names, min(len(names), rng.randint(0, most)))
        return [rng.choice([name, f"{name[:3]}*", f"*{name[-2:]}"]) for name in chosen]

    policy: dict[str, Any] = {"deny": patterns(6)} if rng.random() < 0.5 else {}
    if rng.random() < 0.4:
        policy["allow"] = patterns(25)
    if rng.random() < 0.6:
        policy["assume"] = {pattern: rng.choice(["read", "write"]) for pattern in patterns(12)}
    for flag, share in (("sandbox", 0.2), ("read_only", 0.2), ("allow_destructive", 0.3)):
        policy[flag] = rng.random() < share
    return policy


def allowed(each: dict[str, Any], policy: dict[str, Any]) -> bool:
    """The rule of docs/commands.md, written a second time."""
    name, hints = each["name"], each.get("annotations") or {}
    allow, assume = policy.get("allow", []), policy.get("assume", {})
    hit = [pattern for pattern in assume if fnmatchcase(name, pattern)]
    said = {assume[name]} if name in assume else {assume[pattern] for pattern in hit}
    unmarked = not {"readOnlyHint", "destructiveHint"} & hints.keys()
    safe = hints.get("readOnlyHint", False) and not hints.get("destructiveHint", False)
    destructive = not unmarked and not safe and hints.get("destructiveHint", True)
    if any(fnmatchcase(name, pattern) for pattern in policy.get("deny", [])):
        return False
    if allow and not any(fnmatchcase(name, pattern) for pattern in allow):
        return False
    if policy["read_only"] and ("write" in said or not (safe or (unmarked and said))):
        return False
    if destructive and not (policy["sandbox"] or policy["allow_destructive"] or name in allow):
        return False
    return not unmarked or bool(said) or policy["sandbox"] or bool(allow)
