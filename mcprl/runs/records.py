"""What a journal holds: its records as they are read, and scenarios and trajectories as they are stored."""

import json
import zlib
from array import array
from dataclasses import dataclass, field
from typing import Final, Literal

from pydantic import TypeAdapter

from mcprl.types import Adapter, Json, Scenario, StopReason, Trajectory

Metric = float | int | str | None
AdapterKind = Literal["train", "warm", "best"]

_SCENARIO = TypeAdapter(Scenario)
_TRAJECTORY = TypeAdapter(Trajectory)
_TOKENS: Final = {"prompt_ids": "I", "completion_ids": "I", "logprobs": "d"}
"""What a turn has for each token, as the machine's own numbers."""


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
    """An adapter on disk and what it is: a training checkpoint, the end of the warm start, or the best by
    validation.
    """

    adapter: Adapter
    kind: AdapterKind
    at: float


@dataclass(frozen=True)
class Outcome:
    """How one trajectory ended, without its tokens. `value` and `success` are `None` where no judge has scored it."""

    step: int
    trajectory_id: str
    scenario_id: str
    stop: StopReason
    value: float | None
    success: bool | None


def dump(value: Json) -> str:
    # The standard library's JSON keeps what pydantic's does not: NaN, infinities, and half surrogates from broken
    # servers.
    return json.dumps(value, separators=(",", ":"))


def dump_scenario(scenario: Scenario) -> str:
    return dump(_SCENARIO.dump_python(scenario))


def load_scenario(body: str) -> Scenario:
    return _SCENARIO.validate_python(json.loads(body))


def dump_trajectory(trajectory: Trajectory) -> tuple[str, bytes]:
    """The trajectory as JSON that a person can read in the sqlite3 shell, and its token ids and log-probabilities,
    compressed.

    Each turn repeats the context of the last, which compression takes back. Doubles: what is read equals what was
    written.
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
