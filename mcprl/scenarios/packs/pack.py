"""Packs: the tasks of a server in their three splits, as files that people read and edit.

The split of a value (`split_of`) and what a task uses (`covered`) are defined here too: every task maker needs them.
"""

import difflib
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, get_type_hints

import tomlkit
from pydantic import TypeAdapter, ValidationError

from mcprl.errors import ConfigError, ScenarioError
from mcprl.files import read_toml
from mcprl.judges.checks import squash
from mcprl.scenarios.packs.handwritten import calls_of, scenario_of
from mcprl.scenarios.packs.lines import of_each_seed, read_lines
from mcprl.text import shortened
from mcprl.types import Scenario, Split, Tool

_SCENARIO: TypeAdapter[Scenario] = TypeAdapter(Scenario)


SHARES: dict[Split, float] = {"test": 0.3, "val": 0.15, "train": 0.55}
"""The share of all values that belongs to each split."""


def tool_hash(tools: Iterable[Tool]) -> str:
    """A fingerprint of the tools as the model sees them (names, descriptions, schemas), in 16 hexadecimal digits."""
    listing = [tool.as_function() for tool in sorted(tools, key=lambda tool: tool.name)]
    return hashlib.sha256(json.dumps(listing, sort_keys=True).encode()).hexdigest()[:16]


def dump_task(scenario: Scenario) -> str:
    """A task as one line of JSON."""
    return _SCENARIO.dump_json(scenario).decode()


@dataclass(frozen=True)
class Pack:
    """The tasks of one server in their three splits.

    `tool_hash` is the fingerprint of the tools they were made for; a pack by hand may have none. `left_out` has the
    tools that no task can use, each with the reason. `quality` says what the pack is worth (`scenarios.packs.quality`).
    """

    scenarios: tuple[Scenario, ...]
    tool_hash: str = ""
    seed: int = 0
    generator: str = "grounded"
    left_out: dict[str, str] = field(default_factory=dict[str, str])
    quality: dict[str, Any] = field(default_factory=dict[str, Any])

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

    def untrained(self) -> list[str]:
        """The tools that test tasks use and no training task does: the run cannot teach them."""
        return sorted(self._tools("test") - self._tools("train"))

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
            "quality": self.quality,
        }
        (folder / "pack.toml").write_text(tomlkit.dumps(head))  # pyright: ignore[reportUnknownMemberType]
        for split in SHARES:
            lines = [dump_task(scenario) + "\n" for scenario in self.split(split)]
            (folder / f"{split}.jsonl").write_text("".join(lines))

    def fits(self, tools: Iterable[Tool]) -> bool:
        """Whether the pack was made for these tools; a pack without a fingerprint fits if they are all there."""
        tools = tuple(tools)
        return tool_hash(tools) == self.tool_hash if self.tool_hash else not misfits(self, tools)


def misfits(scenarios: Iterable[Scenario], tools: Iterable[Tool]) -> list[str]:
    """A sentence about each task whose plan or checks name a tool that is not among `tools`."""
    offered = [tool.name for tool in tools]
    clauses = ((scenario, misfit(scenario, offered)) for scenario in scenarios)
    return [f"the task {scenario.request!r} {clause}" for scenario, clause in clauses if clause]


def misfit(scenario: Scenario, offered: Sequence[str]) -> str:
    """What is wrong with the tools that a task names, as a clause ("calls ..."); empty if all are offered."""
    for name in dict.fromkeys(call.tool for call in calls_of(scenario)):
        if name not in offered:
            near = difflib.get_close_matches(name, offered, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"it offers {', '.join(offered[:8]) or 'none'}"
            return f"calls {name!r}, which the server does not offer; {hint}"
    return ""


def require_tools(scenarios: Iterable[Scenario], tools: Iterable[Tool], source: str) -> None:
    """Raise `ScenarioError` with the first tasks of `source` that name a tool which the server does not offer."""
    if sentences := misfits(scenarios, tools):
        more = f" (and {len(sentences) - 2} more)" if len(sentences) > 2 else ""
        raise ScenarioError(f"{source}: {'; '.join(sentences[:2])}{more}")


def load_pack(path: str | Path) -> Pack:
    """Read a pack: a folder with a file of tasks for each split (JSONL, CSV, or one of each), or one such file.

    A file of a folder decides the split of its tasks; `pack.toml` may be missing. A task of a single file is a test
    task unless its line names a split. Raises `ScenarioError` with the file, line and field that cannot be read.
    """
    path = Path(path)
    if path.is_file():
        return Pack(_read(path, None), generator="by hand")
    files: list[tuple[Split, Path]] = [(split, file) for split in SHARES for file in task_files(path, split)]
    head: dict[str, Any] = {"generator": "by hand"}
    if (path / "pack.toml").is_file():
        head = _read_head(path / "pack.toml")
    elif not files:
        raise ScenarioError(
            f"{path} holds no scenario pack; make one with: mcprl scenarios --out {path}, or write train.jsonl, "
            "val.jsonl and test.jsonl by hand"
        )
    scenarios = tuple(scenario for split, file in files for scenario in _read(file, split))
    _require_different(scenarios, path)
    return Pack(scenarios, **head)


def _read_head(path: Path) -> dict[str, Any]:
    """The fields of `Pack` in a pack.toml. Raises `ScenarioError`."""
    try:
        tree = read_toml(path)
    except ConfigError as error:
        raise ScenarioError(str(error)) from None
    head: dict[str, Any] = {}
    for name, kind in get_type_hints(Pack).items():
        if name in tree and name != "scenarios":
            try:
                head[name] = TypeAdapter(kind).validate_python(tree[name], strict=True)
            except ValidationError as error:
                shown = shortened(repr(tree[name]), 100)
                raise ScenarioError(f"{path}: {name} = {shown}: {error.errors()[0]['msg']}") from None
    return head


def load_test_pack(path: str | Path) -> tuple[Scenario, ...]:
    """The tasks that a person wrote to test with, from a file or a folder: all of them test tasks of suite "people".

    Raises `ScenarioError` as `load_pack` does, and if there are none.
    """
    tests = (each for each in load_pack(path) if each.suite != "seeds" or each.split == "test")
    scenarios = tuple(replace(each, split="test", suite="people") for each in tests)
    if not scenarios:
        raise ScenarioError(f"{path} holds no task; write one request a line, below a header if it is a CSV file")
    return scenarios


def with_tests(pack: Pack, tests: Iterable[Scenario]) -> Pack:
    """The pack with further test tasks, except those that it tests already."""
    ids = {scenario.id for scenario in pack.test}
    return replace(pack, scenarios=(*pack.scenarios, *(test for test in tests if test.id not in ids)))


def task_files(folder: Path, split: Split) -> list[Path]:
    """The files of a split: JSONL, CSV or both."""
    return [file for suffix in ("jsonl", "csv") if (file := folder / f"{split}.{suffix}").is_file()]


def _read(path: Path, split: Split | None) -> tuple[Scenario, ...]:
    """The tasks of one file. Raises `ScenarioError`, also if two lines are the same task."""
    places: dict[str, str] = {}
    scenarios: list[Scenario] = []
    for line in chain.from_iterable(map(of_each_seed, read_lines(path))):
        scenario = scenario_of(line)
        if scenario.id in places:
            raise line.error("id", f"{scenario.id!r} is the task of {places[scenario.id]} again; leave one of them out")
        if split and scenario.suite == "seeds" and line.tree.get("split", split) != split:
            raise line.error("seeds", f"a range of {scenario.split} stands in the file of {split}")
        places[scenario.id] = line.place
        scenarios.append(replace(scenario, split=split or line.tree.get("split", "test")))
    return tuple(scenarios)


def _require_different(scenarios: Iterable[Scenario], folder: Path) -> None:
    """Raise `ScenarioError` if two files hold the same task."""
    splits: dict[str, Split] = {}
    for scenario in scenarios:
        if scenario.id in splits:
            raise ScenarioError(
                f"{folder}: the task {scenario.request!r} (id {scenario.id!r}) stands in {splits[scenario.id]} and in "
                f"{scenario.split}; leave it out of one"
            )
        splits[scenario.id] = scenario.split


def split_of(seed: int, value: Any) -> Split:
    """The split to which a value belongs. Case and white space do not matter, and `3.0` is `3`."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    left = fraction(f"{seed}:{squash(str(value))}")
    for split, share in SHARES.items():
        left -= share
        if left < 0:
            return split
    return "train"


def covered(scenario: Scenario) -> set[str]:
    """What a task uses: its tools, their parameters as `tool.parameter`, and pairs of calls as `tool -> tool`."""
    tools = {call.tool for call in scenario.plan}
    parameters = {f"{call.tool}.{name}" for call in scenario.plan for name in call.arguments}
    pairs = {f"{call.tool} -> {following.tool}" for call, following in pairwise(scenario.plan)}
    return tools | parameters | pairs


def held_out_forms(seed: int, name: str, forms: Sequence[str]) -> list[str]:
    """The constructions of a set that belong to the test on forms alone: a third of them."""
    return sorted(forms, key=lambda form: fraction(f"form {seed} {name}/{form}"))[: len(forms) // 3]


@lru_cache(maxsize=65_536)
def fraction(text: str) -> float:
    """A hash of the text in 0..1."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) / 2**32
