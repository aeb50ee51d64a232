"""Packs: the tasks of a server in their three splits, as files that people read and edit.

The split of a value (`split_of`) and what a task uses (`covered`) are defined here too: every task maker needs them.
"""

import hashlib
import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import tomlkit
from pydantic import TypeAdapter

from mcprl.errors import ScenarioError
from mcprl.judges.checks import squash
from mcprl.types import Scenario, Split, Tool

_SCENARIO: TypeAdapter[Scenario] = TypeAdapter(Scenario)


SHARES: dict[Split, float] = {"test": 0.3, "val": 0.15, "train": 0.55}
"""The share of all values that belongs to each split."""


def tool_hash(tools: Iterable[Tool]) -> str:
    """A fingerprint of the tools as the model sees them (names, descriptions, schemas), in 16 hexadecimal digits."""
    listing = [tool.as_function() for tool in sorted(tools, key=lambda tool: tool.name)]
    return hashlib.sha256(json.dumps(listing, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Pack:
    """The tasks of one server in their three splits.

    `tool_hash` is the fingerprint of the tools they were made for. `left_out` has the tools that no task can use, each
    with the reason. `thrown_out` counts the drafts of a language model that were not kept, by reason.
    """

    scenarios: tuple[Scenario, ...]
    tool_hash: str
    seed: int
    generator: str = "grounded"
    left_out: dict[str, str] = field(default_factory=dict[str, str])
    thrown_out: dict[str, int] = field(default_factory=dict[str, int])

    def split(self, split: Split) -> tuple[Scenario, ...]:
        """The tasks of one split."""
        return tuple(scenario for scenario in self.scenarios if scenario.split == split)

    @property
    def train(self) -> tuple[Scenario, ...]:
        return self.split("train")

    @property
    def val(self) -> tuple[Scenario, ...]:
        return self.split("val")

    @property
    def test(self) -> tuple[Scenario, ...]:
        return self.split("test")

    def __iter__(self) -> Iterator[Scenario]:
        return iter(self.scenarios)

    def __len__(self) -> int:
        return len(self.scenarios)

    def coverage(self) -> list[tuple[str, int, int, int]]:
        """How many tasks use a thing: rows of (name, train, val, test). The names are those of `covered`."""
        counts: dict[str, Counter[str]] = {}
        for scenario in self.scenarios:
            for name in covered(scenario):
                counts.setdefault(name, Counter())[scenario.split] += 1
        return [(name, row["train"], row["val"], row["test"]) for name, row in sorted(counts.items())]

    def untested(self) -> list[str]:
        """The tools that training tasks use and no test task does: the proof says nothing about them."""
        return sorted(self._tools("train") - self._tools("test"))

    def _tools(self, split: Split) -> set[str]:
        return {call.tool for scenario in self.split(split) for call in scenario.plan}

    def save(self, folder: str | Path) -> None:
        """Write `pack.toml` and one JSONL file per split, for a person to read and edit."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        head = {
            "format": 1,
            "generator": self.generator,
            "seed": self.seed,
            "tool_hash": self.tool_hash,
            "left_out": self.left_out,
            "thrown_out": self.thrown_out,
        }
        (folder / "pack.toml").write_text(tomlkit.dumps(head))  # pyright: ignore[reportUnknownMemberType]
        for split in SHARES:
            lines = [_SCENARIO.dump_json(scenario).decode() + "\n" for scenario in self.split(split)]
            (folder / f"{split}.jsonl").write_text("".join(lines))

    def fits(self, tools: Iterable[Tool]) -> bool:
        """Whether the pack was made for these tools."""
        return tool_hash(tools) == self.tool_hash


def load_pack(folder: str | Path) -> Pack:
    """Read a pack. Raises `ScenarioError` with the file and line that cannot be read."""
    folder = Path(folder)
    try:
        head = tomllib.loads((folder / "pack.toml").read_text())
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ScenarioError(
            f"{folder} holds no scenario pack ({error}); make one with: mcprl scenarios --out {folder}"
        ) from None
    scenarios: list[Scenario] = []
    for split in SHARES:
        path = folder / f"{split}.jsonl"
        for number, line in enumerate(path.read_text().splitlines() if path.exists() else (), 1):
            try:
                scenarios.append(replace(_SCENARIO.validate_json(line), split=split))
            except ValueError as error:
                raise ScenarioError(f"{path}, line {number} is not a scenario: {str(error).splitlines()[0]}") from None
    left_out = head.get("left_out", {})
    thrown_out = head.get("thrown_out", {})
    return Pack(tuple(scenarios), head["tool_hash"], head["seed"], head["generator"], left_out, thrown_out)


def split_of(seed: int, value: Any) -> Split:
    """The split to which a value belongs. Case and white space do not matter, and `3.0` is `3`."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    fraction = int.from_bytes(hashlib.sha256(f"{seed}:{squash(str(value))}".encode()).digest()[:4]) / 2**32
    for split, share in SHARES.items():
        fraction -= share
        if fraction < 0:
            return split
    return "train"


def covered(scenario: Scenario) -> set[str]:
    """What a task uses: its tools, their parameters as `tool.parameter`, and pairs of calls as `tool -> tool`."""
    tools = {call.tool for call in scenario.plan}
    parameters = {f"{call.tool}.{name}" for call in scenario.plan for name in call.arguments}
    pairs = {f"{call.tool} -> {following.tool}" for call, following in pairwise(scenario.plan)}
    return tools | parameters | pairs
