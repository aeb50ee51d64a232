"""A journal's records as they are read, and scenarios and trajectories as they are stored."""

import json
import math
import platform
import struct
import zlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from statistics import fmean
from typing import Final, Literal

from pydantic import TypeAdapter

from mcprl.files import fingerprint
from mcprl.types import Adapter, Group, Json, Scenario, StopReason, Trajectory

Metric = float | int | str | None
AdapterKind = Literal["train", "supervised", "warm", "best"]

_SCENARIO = TypeAdapter(Scenario)
_TRAJECTORY = TypeAdapter(Trajectory)
_VERSIONED: Final = ("mcprl", "torch", "transformers", "peft", "mcp")
_TOKENS: Final = {"prompt_ids": "I", "completion_ids": "I", "logprobs": "d"}
"""A turn's fields with one number per token, each with the `array` type code it is stored as."""
_LARGEST_HALF: Final = 65504.0


@dataclass(frozen=True)
class StepRecord:
    """A complete optimizer step: its metrics, and when it was recorded (seconds since 1970)."""

    step: int
    metrics: dict[str, Metric]
    at: float


@dataclass(frozen=True)
class EventRecord:
    """Something that happened, and when (seconds since 1970)."""

    kind: str
    at: float
    data: dict[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True)
class SavedAdapter:
    """An adapter on disk and its kind: a checkpoint of RL or of the warm start, the end of the warm start, or the best
    by validation."""

    adapter: Adapter
    kind: AdapterKind
    at: float
    digest: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether every file is as it was written; of an adapter without a digest, whether its folder is there."""
        return fingerprint(self.adapter.path) == self.digest if self.digest else Path(self.adapter.path).is_dir()


@dataclass(frozen=True)
class Outcome:
    """How one trajectory ended, without its tokens. `value` and `success` are `None` if no judge has scored it.

    `at` is when it was written, in seconds since 1970. `given_calls`: calls that were made for the policy.
    """

    step: int
    trajectory_id: str
    scenario_id: str
    stop: StopReason
    value: float | None
    success: bool | None
    at: float = field(default=0.0, compare=False)
    given_calls: int = 0

    @property
    def counts_as(self) -> bool | None:
        """Whether the rollout counts as a success. A broken one counts as a failure, an unjudged one neither way
        (`None`).
        """
        return False if self.stop == "error" else self.success


def given_calls(trajectory: Trajectory) -> int:
    """The number of calls that were made for the policy before its first turn."""
    return sum(call.turn < 0 for call in trajectory.calls)


def given_turns(trajectory: Trajectory) -> int:
    """The number of assistant messages that hold the given calls, before those of the policy."""
    written = sum(message["role"] == "assistant" for message in trajectory.messages)
    return max(0, written - len(trajectory.turns)) if given_calls(trajectory) else 0


def success_by_task(outcomes: Iterable[Outcome]) -> dict[str, float]:
    """Each task's fraction of successful rollouts (0..1), by scenario id; a task without a rollout that counts is left
    out.
    """
    counted: defaultdict[str, list[bool]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.counts_as is not None:
            counted[outcome.scenario_id].append(outcome.counts_as)
    return {task: fmean(successes) for task, successes in counted.items()}


def dump(value: Json) -> str:
    # The standard library's JSON keeps what pydantic's does not: NaN, infinities, and half surrogates from broken
    # servers.
    return json.dumps(value, separators=(",", ":"))


def dump_scenario(scenario: Scenario) -> str:
    return dump(_SCENARIO.dump_python(scenario))


def load_scenario(body: str) -> Scenario:
    return _SCENARIO.validate_python(json.loads(body))


def dump_trajectory(trajectory: Trajectory) -> tuple[str, bytes]:
    """The trajectory as JSON that a person can read in the sqlite3 shell, and its compressed token ids and
    log-probabilities.

    Compression removes the repetition: each turn's prompt contains the previous turn. Log-probabilities are doubles, so
    that a trajectory read equals the one written.
    """
    tree = _TRAJECTORY.dump_python(trajectory)
    tokens = [array(code, turn.pop(name)).tobytes() for turn in tree["turns"] for name, code in _TOKENS.items()]
    lengths = array("I", map(len, tokens))
    return dump(tree), zlib.compress(b"".join((lengths.tobytes(), *tokens)), 1)


def load_trajectory(row: tuple[str, bytes]) -> Trajectory:
    tree, tokens = json.loads(row[0]), memoryview(zlib.decompress(row[1]))
    start = 4 * len(_TOKENS) * len(tree["turns"])
    lengths = iter(tokens[:start].cast("I"))
    for turn in tree["turns"]:
        for name, code in _TOKENS.items():
            end = start + next(lengths)
            turn[name] = array(code, tokens[start:end].tobytes()).tolist()
            start = end
    return _TRAJECTORY.validate_python(tree)


def dump_gaps(gaps: Sequence[float]) -> bytes:
    """The gaps (nats) of a trajectory's sampled tokens in half precision, three digits, compressed; beyond its largest
    number they are infinite."""
    within = [gap if gap <= _LARGEST_HALF else math.inf if gap > _LARGEST_HALF else math.nan for gap in gaps]
    return zlib.compress(struct.pack(f"<{len(within)}e", *within), 1)


def load_gaps(stored: bytes) -> tuple[float, ...]:
    halves = zlib.decompress(stored)
    return struct.unpack(f"<{len(halves) // 2}e", halves)


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that decide what a run computes."""
    found = {"python": platform.python_version()}
    for name in _VERSIONED:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def rollout_metrics(groups: Sequence[Group]) -> dict[str, float]:
    """Counts and means over all rollouts of a step.

    `cut_off`: fraction that a limit of tokens ended. `rollout_tokens`: sampled tokens of a rollout. `rollout_entropy`
    (nats): mean of -log p of a rollout's tokens together, an estimate of the entropy of the policy's rollouts.
    `calling`: fraction of the turns that call a tool. `answered`: fraction of the rollouts that ended with an answer.
    `same_tool`: fraction of the rollouts whose first call is to the tool that most of them call first.
    """
    trajectories = [trajectory for group in groups for trajectory in group.trajectories]
    sampled = sum(len(turn.completion_ids) for each in trajectories for turn in each.turns)
    turns = sum(len(each.turns) for each in trajectories)
    calling = sum(len({call.turn for call in each.calls if call.turn >= 0}) for each in trajectories)
    first = Counter(next((call.tool for call in each.calls if call.turn >= 0), "") for each in trajectories)
    del first[""]
    return {
        "groups": len(groups),
        "errors": sum(trajectory.stop == "error" for trajectory in trajectories),
        "turns": fmean(len(trajectory.turns) for trajectory in trajectories),
        "sampled_tokens": sampled,
        "cut_off": fmean(trajectory.stop == "max_tokens" for trajectory in trajectories),
        "calling": calling / max(1, turns),
        "answered": fmean(trajectory.stop == "answered" for trajectory in trajectories),
        "same_tool": max(first.values(), default=0) / len(trajectories),
        "rollout_tokens": sampled / len(trajectories),
        "rollout_entropy": fmean(-sum(sum(turn.logprobs) for turn in each.turns) for each in trajectories),
    }
