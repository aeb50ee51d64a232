"""Packs: the tasks of a server in their three splits, as files that people read and edit."""

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
    thrown_out: dict[str, int] = field(default_factory=dict[str, int])
    """How many drafts of a language model were not kept, by reason."""

    def split(self, split: Split) -> tuple[Scenario, ...]:
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
        """Rows of (tool, `tool.parameter` or `tool -> tool`, then the number of tasks in train, val and test that use
        it).
        """
        counts: dict[str, Counter[str]] = {}
        for scenario in self.scenarios:
            for name in covered(scenario):
                counts.setdefault(name, Counter())[scenario.split] += 1
        return [(name, row["train"], row["val"], row["test"]) for name, row in sorted(counts.items())]

    def untested(self) -> list[str]:
        """The tools that training tasks use and no test task does, so that the proof says nothing about them."""
        train, test = ({c.tool for s in self.split(split) for c in s.plan} for split in ("train", "test"))
        return sorted(train - test)

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
            "thrown_out": self.thrown_out,
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
    more = {name: head.get(name, {}) for name in ("left_out", "thrown_out")}
    return Pack(tuple(found), head["tool_hash"], head["seed"], head["generator"], **more)


SHARES: dict[Split, float] = {"test": 0.3, "val": 0.15, "train": 0.55}
"""The share of all values that belongs to each split."""


def split_of(seed: int, value: Any) -> Split:
    """The split to which a value belongs."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    fraction = int.from_bytes(hashlib.sha256(f"{seed}:{squash(str(value))}".encode()).digest()[:4]) / 2**32
    for split, share in SHARES.items():
        fraction -= share
        if fraction < 0:
            return split
    return "train"


def covered(scenario: Scenario) -> set[str]:
    """What a task uses: `tool`, `tool.parameter` and `tool -> tool`."""
    plan = scenario.plan
    used = {call.tool for call in plan} | {f"{call.tool}.{name}" for call in plan for name in call.arguments}
    return used | {f"{a.tool} -> {b.tool}" for a, b in pairwise(plan)}
