"""Trajectories, groups and RULER from Python, as users of OpenPipe's ART know them.

    judged = await ruler_score_group(TrajectoryGroup(trajectories), "openai/o4-mini")

Needs litellm (`pip install 'mcprl[llm]'`), no torch.
"""

import asyncio
import time
from collections.abc import Awaitable, Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from mcprl.errors import ConfigError, McprlError
from mcprl.judges.ruler import Rubric, Ruler, load_rubric
from mcprl.llm import LanguageModel, open_llm
from mcprl.types import Message, Tool

DEFAULT_JUDGE = "openai/o4-mini"
_LITELLMS = "provider_specific_fields"
"""What litellm's messages have besides OpenAI's, which no endpoint takes back."""


class History(BaseModel):
    """A conversation: OpenAI messages, with the `Choice` objects of OpenAI's client for the model's own.

    `rollout` is the name of one that the server recorded (the header `X-Mcprl-Rollout`): its turns are trained then,
    and messages are for judges and logs alone.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    messages_and_choices: list[Any] = []
    tools: list[dict[str, Any]] | None = None
    rollout: str = ""

    def messages(self) -> list[Message]:
        """All items as messages: a `Choice` as its assistant message."""
        return [as_message(item) for item in self.messages_and_choices]


class ArtTrajectory(History):
    """One rollout with its reward. `additional_histories` are further conversations of it (a sub-agent's, say), which
    share its reward."""

    additional_histories: list[History] = Field(default=[])
    reward: float = 0.0
    metrics: dict[str, float | int | bool] = Field(default={})
    metadata: dict[str, float | int | str | bool | None] = Field(default={})
    logs: list[str] = Field(default=[])
    _began: float = PrivateAttr(default_factory=time.monotonic)

    def log(self, text: str) -> None:
        self.logs.append(text)

    def finish(self) -> Self:
        """Put the seconds since the trajectory was made into `metrics["duration"]`."""
        self.metrics["duration"] = time.monotonic() - self._began
        return self


Trajectory = ArtTrajectory
"""ART's name for it. Inside this package a trajectory is `types.Trajectory`."""


class TrajectoryGroup(BaseModel):
    """Several rollouts of one task, and the exceptions of others. Iterates over the trajectories.

    A group of coroutines that return trajectories must be awaited:
    `await TrajectoryGroup(model.rollout(...) for _ in range(8))`.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    trajectories: list[ArtTrajectory] = []
    exceptions: list[BaseException] = Field(default=[], repr=False)
    _pending: list[Awaitable[ArtTrajectory]] = PrivateAttr(default=[])

    def __init__(
        self, trajectories: Iterable[ArtTrajectory | BaseException | Awaitable[ArtTrajectory]] = (), **more: Any
    ) -> None:
        items = list(trajectories)
        ready = [item for item in items if not isinstance(item, Awaitable)]
        broken = [item for item in ready if isinstance(item, BaseException)] + list(more.pop("exceptions", ()))
        finished = [item for item in ready if not isinstance(item, BaseException)]
        super().__init__(trajectories=finished, exceptions=broken, **more)
        self._pending = [item for item in items if isinstance(item, Awaitable)]

    def __await__(self) -> Generator[Any, None, Self]:
        """Run the coroutines at the same time. Their exceptions go to `exceptions`."""
        return self._gathered().__await__()

    @property
    def pending(self) -> Sequence[Awaitable[ArtTrajectory]]:
        """The coroutines that were not awaited yet."""
        return self._pending

    async def _gathered(self) -> Self:
        pending, self._pending = self._pending, []
        outcomes = await asyncio.gather(*pending, return_exceptions=True)
        self.trajectories += [outcome for outcome in outcomes if isinstance(outcome, ArtTrajectory)]
        self.exceptions += [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        return self

    def __iter__(self) -> Iterator[ArtTrajectory]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return iter(self.trajectories)

    def __len__(self) -> int:
        return len(self.trajectories)


class TrajectoryScore(BaseModel):
    """RULER's score of one trajectory. `trajectory_id` is its place in the judged list, from 1 on, as in ART."""

    trajectory_id: str
    explanation: str
    score: float


async def ruler(
    message_lists: Sequence[Sequence[Message]],
    judge_model: str | LanguageModel = DEFAULT_JUDGE,
    extra_litellm_params: dict[str, Any] | None = None,
    rubric: str = "default",
    tools: Sequence[dict[str, Any]] | None = None,
    *,
    debug: bool = False,
) -> list[TrajectoryScore]:
    """Score rollouts against each other, 0 to 1, in the order given.

    `judge_model` is litellm's name of a model, or a `LanguageModel` (`TrainableModel.judge()`). `rubric` is the name
    of one in `judges/`, a TOML file, or the rubric's text. `tools` are in OpenAI's format. `debug` prints each score
    with its explanation. Raises `JudgeError` if the judge gives no usable scores.
    """
    model = _judge(judge_model, dict(extra_litellm_params or {}))
    judge = Ruler(model, _rubric(rubric), [as_tool(tool) for tool in tools or ()])
    verdicts = await judge.judge(message_lists)
    scores = [
        TrajectoryScore(trajectory_id=str(place), explanation=verdict.explanation, score=verdict.score)
        for place, verdict in enumerate(verdicts, 1)
    ]
    if debug:
        for score in scores:
            print(f"[RULER] {score.trajectory_id}: {score.score:.2f} {score.explanation}")  # noqa: T201 - `debug` is for printing
    return scores


async def ruler_score_group(
    group: TrajectoryGroup,
    judge_model: str | LanguageModel = DEFAULT_JUDGE,
    extra_litellm_params: dict[str, Any] | None = None,
    rubric: str = "default",
    *,
    swallow_exceptions: bool = False,
    debug: bool = False,
) -> TrajectoryGroup | None:
    """A new group whose rewards are RULER's scores; `group` itself is not changed.

    `metrics["independent_reward"]` keeps the old reward, `metrics["ruler_score"]` the score, and `logs` the
    explanation. With `swallow_exceptions` the result is `None` if the judge fails.
    """
    copies = [trajectory.model_copy(deep=True) for trajectory in group.trajectories]
    tools = copies[0].tools if copies else None
    if any(trajectory.tools != tools for trajectory in copies):
        raise ConfigError("the trajectories of a group must have the same tools; RULER shows them once")
    try:
        messages = [trajectory.messages() for trajectory in copies]
        scores = await ruler(messages, judge_model, extra_litellm_params, rubric, tools, debug=debug)
    except McprlError:
        if swallow_exceptions:
            return None
        raise
    for trajectory, score in zip(copies, scores, strict=True):
        trajectory.metrics |= {"independent_reward": trajectory.reward, "ruler_score": score.score}
        trajectory.reward = score.score
        trajectory.log(f"RULER explanation: {score.explanation}")
    return TrajectoryGroup(copies, exceptions=group.exceptions)


def as_message(item: Any) -> Message:
    """The message itself, or the message of a `Choice`. Raises `ConfigError` for anything else."""
    if isinstance(item, dict):
        return item  # pyright: ignore[reportUnknownVariableType]
    message = getattr(item, "message", item)
    if not hasattr(message, "model_dump"):
        raise ConfigError(f"messages_and_choices holds a {type(item).__name__}; expected a message or a Choice")
    return {name: value for name, value in message.model_dump(exclude_none=True).items() if name != _LITELLMS}


def as_tool(tool: dict[str, Any]) -> Tool:
    """A tool in OpenAI's function format as a `types.Tool`."""
    function = tool.get("function", tool)
    return Tool(function["name"], function.get("description", ""), function.get("parameters", {"type": "object"}))


def _judge(model: str | LanguageModel, params: dict[str, Any]) -> LanguageModel:
    if not isinstance(model, str):
        return model
    instead = "give the judge() of a TrainableModel"
    return open_llm(model, "judge_model", instead=instead, base_url=params.pop("api_base", ""), extra=params)


def _rubric(rubric: str) -> Rubric:
    words = " " in rubric.strip() and not Path(rubric).suffix
    return Rubric(name="own", text=rubric) if words else load_rubric(rubric)
