"""Trajectories, groups and RULER from Python, as users of OpenPipe's ART know them.

    judged = await ruler_score_group(TrajectoryGroup(trajectories), "openai/o4-mini")

Needs litellm (`pip install 'mcprl[llm]'`), no torch.
"""

import asyncio
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from mcprl.errors import ConfigError, McprlError
from mcprl.judges.ruler import Rubric, Ruler, load_rubric
from mcprl.llm import ChatModel
from mcprl.types import Message, Tool

DEFAULT_JUDGE = "openai/o4-mini"


class Trajectory(BaseModel):
    """One try: OpenAI messages, and the `Choice` objects of OpenAI's client where the model spoke."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    messages_and_choices: list[Any] = []
    tools: list[dict[str, Any]] | None = None
    reward: float = 0.0
    metrics: dict[str, float | int | bool] = {}
    metadata: dict[str, float | int | str | bool | None] = {}
    logs: list[str] = []

    def messages(self) -> list[Message]:
        """All of it as messages: a `Choice` as the assistant's."""
        return [_message(item) for item in self.messages_and_choices]

    def log(self, text: str) -> None:
        self.logs.append(text)


class TrajectoryGroup(BaseModel):
    """Several tries of one task, and what went wrong with others. Iterates over the tries."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    trajectories: list[Trajectory] = []
    exceptions: list[BaseException] = Field(default=[], repr=False)

    def __init__(self, trajectories: Iterable[Trajectory | BaseException] = (), **more: Any) -> None:
        given = list(trajectories)
        broken = [item for item in given if isinstance(item, BaseException)] + list(more.pop("exceptions", ()))
        tried = [item for item in given if not isinstance(item, BaseException)]
        super().__init__(trajectories=tried, exceptions=broken, **more)

    def __iter__(self) -> Iterator[Trajectory]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return iter(self.trajectories)

    def __len__(self) -> int:
        return len(self.trajectories)


class TrajectoryScore(BaseModel):
    """What RULER says of one try. `trajectory_id` is its place in the list that was judged, from 1 on, as in ART."""

    trajectory_id: str
    explanation: str
    score: float


async def ruler(
    message_lists: Sequence[Sequence[Message]],
    judge_model: str = DEFAULT_JUDGE,
    extra_litellm_params: dict[str, Any] | None = None,
    rubric: str = "default",
    tools: Sequence[dict[str, Any]] | None = None,
    *,
    debug: bool = False,
) -> list[TrajectoryScore]:
    """Rank tries against each other, 0 to 1, in the order given.

    `rubric` is the name of one in `judges/`, a TOML file, or the words themselves. `tools` are OpenAI's. `debug` prints
    each score and why. Raises `JudgeError` where the judge gave no usable scores.
    """
    params = dict(extra_litellm_params or {})
    model = ChatModel(judge_model, params.pop("api_base", ""), extra=params)
    judge = Ruler(model, _rubric(rubric), [_tool(tool) for tool in tools or ()])
    verdicts = await judge.judge(message_lists)
    scores = [
        TrajectoryScore(trajectory_id=str(place), explanation=verdict.explanation, score=verdict.score)
        for place, verdict in enumerate(verdicts, 1)
    ]
    if debug:
        for score in scores:
            print(f"[RULER] {score.trajectory_id}: {score.score:.2f} {score.explanation}")  # noqa: T201 - asked for
    return scores


async def ruler_score_group(
    group: TrajectoryGroup,
    judge_model: str = DEFAULT_JUDGE,
    extra_litellm_params: dict[str, Any] | None = None,
    rubric: str = "default",
    *,
    swallow_exceptions: bool = False,
    debug: bool = False,
) -> TrajectoryGroup | None:
    """A new group whose rewards are RULER's scores; the one given stays as it is.

    What was the reward is kept in `metrics["independent_reward"]`, the score in `metrics["ruler_score"]`, the
    explanation in `logs`. With `swallow_exceptions` the result is `None` where the judge failed.
    """
    copies = [tried.model_copy(deep=True) for tried in group.trajectories]
    tools = copies[0].tools if copies else None
    if any(tried.tools != tools for tried in copies):
        raise ConfigError("the trajectories of a group must have the same tools; RULER shows them once")
    try:
        messages = [tried.messages() for tried in copies]
        scores = await ruler(messages, judge_model, extra_litellm_params, rubric, tools, debug=debug)
    except McprlError:
        if swallow_exceptions:
            return None
        raise
    for tried, score in zip(copies, scores, strict=True):
        tried.metrics |= {"independent_reward": tried.reward, "ruler_score": score.score}
        tried.reward = score.score
        tried.log(f"RULER explanation: {score.explanation}")
    return TrajectoryGroup(copies, exceptions=group.exceptions)


async def gather_trajectory_groups(
    groups: Iterable[Awaitable[TrajectoryGroup]], *, max_exceptions: int = 0
) -> list[TrajectoryGroup]:
    """All groups, made at the same time. Up to `max_exceptions` of them may fail and are left out; one more is raised
    and ends the others."""
    tasks = [asyncio.ensure_future(group) for group in groups]
    failed: list[BaseException] = []
    try:
        for done in asyncio.as_completed(tasks):
            try:
                await done
            except Exception as error:
                failed.append(error)
                if len(failed) > max_exceptions:
                    raise
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return [task.result() for task in tasks if not task.exception()]


def _message(item: Any) -> Message:
    if isinstance(item, dict):
        return item  # pyright: ignore[reportUnknownVariableType]
    message = getattr(item, "message", item)
    if not hasattr(message, "model_dump"):
        raise ConfigError(f"messages_and_choices holds a {type(item).__name__}; expected a message or a Choice")
    return message.model_dump(exclude_none=True)


def _tool(tool: dict[str, Any]) -> Tool:
    function = tool.get("function", tool)
    return Tool(function["name"], function.get("description", ""), function.get("parameters", {"type": "object"}))


def _rubric(rubric: str) -> Rubric:
    words = " " in rubric.strip() and not Path(rubric).suffix
    return Rubric(name="own", text=rubric) if words else load_rubric(rubric)
