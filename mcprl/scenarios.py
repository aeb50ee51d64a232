"""Tasks for a server that has told us nothing but its tools: grounded, executed, checked, and split so that nothing
leaks.

`generate` probes the server (`grounding`), composes plans of 1-4 calls, executes each, keeps those that work and
repeat, words them (`wording`) and stores what the execution proved. The split is by value: every entity value belongs
to train, val or test by a hash of the seed, and a task is kept only in the split to which all its values belong. The
same seed gives the same pack.
"""

import hashlib
import json
import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import tomlkit
from pydantic import TypeAdapter

from mcprl.compose import SHARES, Composer
from mcprl.config import ScenarioConfig
from mcprl.errors import ScenarioError
from mcprl.grounding import Knowledge, probe
from mcprl.types import Fact, Message, Scenario, Split, Tool, ToolServer

_SCENARIO: TypeAdapter[Scenario] = TypeAdapter(Scenario)


def tool_hash(tools: Iterable[Tool]) -> str:
    """A short fingerprint of what the tools look like to the model: names, descriptions, schemas."""
    listing = [tool.as_function() for tool in sorted(tools, key=lambda tool: tool.name)]
    return hashlib.sha256(json.dumps(listing, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Pack:
    """The tasks of one server in their three splits, with the fingerprint of the tools they were made for."""

    scenarios: tuple[Scenario, ...]
    tool_hash: str
    seed: int
    generator: str = "grounded"
    left_out: dict[str, str] = field(default_factory=dict[str, str])

    def split(self, split: Split) -> tuple[Scenario, ...]:
        return tuple(scenario for scenario in self.scenarios if scenario.split == split)

    def coverage(self) -> list[tuple[str, int, int, int]]:
        """Rows of (tool, `tool.parameter` or `tool -> tool`, then the number of tasks in train, val and test that use
        it).
        """
        counts: dict[str, Counter[str]] = {}
        for scenario in self.scenarios:
            used = {call.tool for call in scenario.plan}
            used |= {f"{call.tool}.{name}" for call in scenario.plan for name in call.arguments}
            used |= {f"{a.tool} -> {b.tool}" for a, b in zip(scenario.plan, scenario.plan[1:], strict=False)}
            for name in used:
                counts.setdefault(name, Counter())[scenario.split] += 1
        return [(name, row["train"], row["val"], row["test"]) for name, row in sorted(counts.items())]

    def save(self, folder: str | Path) -> None:
        """Write `pack.toml` and one JSONL file a split, for a person to read and edit."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        head = {
            "format": 1,
            "generator": self.generator,
            "seed": self.seed,
            "tool_hash": self.tool_hash,
            "left_out": self.left_out,
        }
        (folder / "pack.toml").write_text(tomlkit.dumps(head))  # pyright: ignore[reportUnknownMemberType]
        for split in SHARES:
            lines = [_SCENARIO.dump_json(scenario).decode() + "\n" for scenario in self.split(split)]
            (folder / f"{split}.jsonl").write_text("".join(lines))

    def fits(self, tools: Iterable[Tool]) -> bool:
        return tool_hash(tools) == self.tool_hash


def load_pack(folder: str | Path) -> Pack:
    """Read a pack. Raises `ScenarioError` naming the file and line that cannot be read."""
    folder = Path(folder)
    try:
        head = tomllib.loads((folder / "pack.toml").read_text())
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ScenarioError(
            f"{folder} holds no scenario pack ({error}); make one with: mcprl scenarios --out {folder}"
        ) from None
    found: list[Scenario] = []
    for split in SHARES:
        path = folder / f"{split}.jsonl"
        for number, line in enumerate(path.read_text().splitlines() if path.exists() else (), 1):
            try:
                found.append(replace(_SCENARIO.validate_json(line), split=split))
            except ValueError as error:
                raise ScenarioError(f"{path}, line {number} is not a scenario: {str(error).splitlines()[0]}") from None
    return Pack(tuple(found), head["tool_hash"], head["seed"], head["generator"], head.get("left_out", {}))


async def generate(server: ToolServer, config: ScenarioConfig, seed: int = 0) -> Pack:
    """Make a pack for a server. Raises `ScenarioError` where no task could be made or repeated."""
    if not server.tools:
        raise ScenarioError("the server offers no tool that may be called; see mcprl inspect and the --allow options")
    known = await probe(server, seed, config.probe_calls)
    made: list[Scenario] = []
    targets: dict[Split, int] = {"test": config.test, "val": config.val, "train": config.train}
    for split, target in targets.items():
        made += await Composer(server, known, split, seed, config).compose(target)
    made = [
        s for s in made if not any((s.plan[-1].tool, c.name) in known.volatile for c in s.checks if isinstance(c, Fact))
    ]
    if not any(s.split == "train" for s in made) or not any(s.split == "test" for s in made):
        raise ScenarioError(_why_none(server, known))
    idle = {name: "never gave a result when probed" for name in known.tools if not known.working.get(name)}
    idle |= {
        tool.name: "its arguments cannot be filled from its schema"
        for tool in server.tools
        if tool.name not in known.tools
    }
    return Pack(tuple(made), tool_hash(server.tools), seed, left_out=idle)


def _why_none(server: ToolServer, known: Knowledge) -> str:
    working = [name for name in known.tools if known.working.get(name)]
    return (
        f"no repeatable tasks could be made: of {len(server.tools)} tools {len(working)} gave results in "
        f"{known.calls} probing calls"
        f"{' (' + ', '.join(working[:5]) + ')' if working else ''}; give the server some data, allow tools that write "
        "(--allow-tool, --allow-destructive), or write a pack by hand (--pack)"
    )


async def transcript(server: ToolServer, scenario: Scenario) -> tuple[Message, ...]:
    """The ideal conversation of a scenario: its plan executed in a fresh session, then its answer."""
    messages: list[Message] = [{"role": "user", "content": scenario.request}]
    async with server.session(scenario.setup) as session:
        for number, call in enumerate(scenario.plan):
            function = {"name": call.tool, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
            calls = [{"id": f"call{number:05}", "type": "function", "function": function}]
            messages.append({"role": "assistant", "content": None, "tool_calls": calls})
            result = await session.call(call.tool, call.arguments)
            messages.append({"role": "tool", "tool_call_id": f"call{number:05}", "content": result.text})
    return (*messages, {"role": "assistant", "content": scenario.answer})
