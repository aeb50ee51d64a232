"""Groups of trajectories to train on, checked before anything is trained.

A trajectory's turns are given as token ids, or by the id of a rollout that was recorded here, or as ART has them: a
list of messages with OpenAI's `Choice` objects for the model's own, whose ids are in them or were recorded here.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, ValidationError, model_validator

from mcprl.config import TrainingConfig
from mcprl.serving.bodies import Body, ChatMessage, ToolOffered
from mcprl.serving.lessons import Rewarded
from mcprl.serving.model import ServedModel
from mcprl.serving.refusals import Refusal, invalid, place
from mcprl.serving.rollouts import SampledTurn
from mcprl.training.step import RewardedGroup
from mcprl.types import Completion, Message, Tool, Trajectory

UPDATE_SETTINGS = frozenset(
    """
    learning_rate loss clip_low clip_high normalization minibatches epochs entropy_coef kl_coef advantage_scale
    signal_tolerance share_prefixes bin_tokens gradient_checkpointing autocast max_grad_norm
    """.split()
)
"""The settings of `TrainingConfig` that an update has; the others are of `mcprl train`."""
_LOGPROB = 1e-3
"""How far above 0 rounding may bring a log-probability."""
Where = tuple[str | int, ...]
B = TypeVar("B", bound=Body)
Token = Annotated[int, Field(ge=0)]


class TurnBody(Body):
    """A sampled turn as token ids. `logprobs` are in nats, of each id of `token_ids`."""

    prompt_token_ids: Annotated[list[Token], Field(min_length=1)]
    token_ids: Annotated[list[Token], Field(min_length=1)]
    logprobs: list[Annotated[float, Field(le=_LOGPROB)]]
    temperature: Annotated[float, Field(gt=0, le=2)] = 1.0
    top_p: Annotated[float, Field(ge=1, le=1)] = 1.0
    """A nucleus's log-probabilities are not those that the update computes."""
    held_to_schema: Literal[False] = False
    """Nor are those of the tokens that a schema leaves."""

    @model_validator(mode="after")
    def _parallel(self) -> "TurnBody":
        if len(self.logprobs) != len(self.token_ids):
            raise ValueError(f"{len(self.logprobs)} logprobs for {len(self.token_ids)} token_ids; expected one of each")
        return self


class HistoryBody(Body):
    """What the policy sampled in one conversation, said in one of three ways."""

    turns: list[TurnBody] = Field(default=[])
    rollout: str = ""
    messages_and_choices: list[dict[str, Any]] = Field(default=[])
    tools: list[ToolOffered] = Field(default=[])
    """Those of `messages_and_choices`."""

    @model_validator(mode="after")
    def _one_way(self) -> "HistoryBody":
        if sum(map(bool, (self.turns, self.rollout, self.messages_and_choices))) != 1:
            raise ValueError("give one of turns, rollout and messages_and_choices, and not an empty one")
        return self


class TrajectoryBody(HistoryBody):
    """One rollout with its reward; `additional_histories` are further conversations of it, which share the reward."""

    reward: float
    additional_histories: list[HistoryBody] = Field(default=[])


class GroupBody(Body):
    """Rollouts of one task."""

    trajectories: Annotated[list[TrajectoryBody], Field(min_length=1)]


JobName = Annotated[str, Field(pattern=r"^[\w-]{1,64}$")]
"""What a client calls its update, to begin it once and to follow it."""


class TrainBody(Body):
    """The body of `/_train_model`. `config` has settings of the section `training` that an update has, for this one;
    the others are those of what is served. A `job` that is known is followed instead of trained again."""

    groups: Annotated[list[GroupBody], Field(min_length=1)]
    config: dict[str, Any] = Field(default={})
    job: JobName | None = None


def as_rewarded(model: ServedModel, body: TrainBody, config: TrainingConfig, limit: int) -> Rewarded:
    """A body as what is trained on. `limit`: tokens that the model reads. Raises `Refusal` with the place of what is
    wrong."""
    temperatures: dict[float, Where] = {}
    groups: list[RewardedGroup] = []
    for p, group in enumerate(body.groups):
        members: list[Trajectory] = []
        for g, each in enumerate(group.trajectories):
            where: Where = ("groups", p, "trajectories", g)
            turns: list[TurnBody] = turns_of(model, each, where)
            for number, more in enumerate(each.additional_histories):
                turns += turns_of(model, more, (*where, "additional_histories", number))
            completions = tuple(map(completion_of, turns))
            check_turns(model, completions, where, limit)
            for turn in turns:
                temperatures.setdefault(turn.temperature, where)
            name = f"{p}/{g}"
            members.append(Trajectory(name, name, (), completions))
        groups.append(RewardedGroup(members, [each.reward for each in group.trajectories]))
    if len(temperatures) > 1:
        where = list(temperatures.values())[1]
        found = ", ".join(map(str, sorted(temperatures)))
        raise refusal(where, f"turns were sampled at the temperatures {found}; expected one for all groups")
    return Rewarded(groups, next(iter(temperatures)), _settings(body, config))


def _settings(body: TrainBody, config: TrainingConfig) -> TrainingConfig:
    if unknown := sorted({*body.config} - UPDATE_SETTINGS):
        known = ", ".join(sorted(UPDATE_SETTINGS))
        raise refusal(("config", unknown[0]), f"is no setting of an update; there are {known}")
    try:
        return TrainingConfig.model_validate(config.model_dump() | body.config)
    except ValidationError as error:
        raise invalid([dict(each) for each in error.errors()], "config") from None


def turns_of(model: ServedModel, history: HistoryBody, where: Where) -> list[TurnBody]:
    """The sampled turns of a history, however they are given."""
    if history.turns:
        return list(history.turns)
    if not history.rollout:
        return _of_choices(model, history, (*where, "messages_and_choices"))
    turns = model.rollouts.turns(history.rollout)
    if not turns:
        raise refusal((*where, "rollout"), f"no turn of a rollout {history.rollout[:80]!r} is recorded here")
    return [_recorded(turn, (*where, "rollout")) for turn in turns]


def _of_choices(model: ServedModel, history: HistoryBody, where: Where) -> list[TurnBody]:
    """The turns of ART's list of messages and choices."""
    tools = [each.tool() for each in history.tools]
    said: list[Message] = []
    turns: list[TurnBody] = []
    for number, item in enumerate(history.messages_and_choices):
        at = (*where, number)
        is_choice = "message" in item
        said.append(parsed(ChatMessage, item["message"] if is_choice else item, at).message())
        if is_choice:
            turns.append(_of_choice(model, item, said, tools, at))
    if not turns:
        raise refusal(where, "there is no Choice in it, so no turn that was sampled; keep the Choice objects")
    return turns


def _of_choice(
    model: ServedModel, choice: Mapping[str, Any], said: Sequence[Message], tools: Sequence[Tool], where: Where
) -> TurnBody:
    """A choice's turn by the ids that it carries, else by the turn that is recorded with the same conversation."""
    content: list[Any] = (choice.get("logprobs") or {}).get("content") or []
    if choice.get("token_ids") and content:
        carried = ("prompt_token_ids", "token_ids", "temperature", "top_p", "held_to_schema")
        ids = {name: choice[name] for name in carried if name in choice}
        return parsed(TurnBody, ids | {"logprobs": [entry.get("logprob") for entry in content]}, where)
    if turn := model.rollouts.find(said, tools):
        return _recorded(turn, where)
    unknown = "this Choice carries no token ids with their logprobs, and no turn recorded here has its conversation"
    raise refusal(where, f"{unknown}; sample it here, and keep messages and tools as they were")


def _recorded(turn: SampledTurn, where: Where) -> TurnBody:
    completion = turn.completion
    ids = {"prompt_token_ids": [*completion.prompt_ids], "token_ids": [*completion.completion_ids]}
    how = {"temperature": turn.temperature, "top_p": turn.top_p, "held_to_schema": turn.held_to_schema}
    return parsed(TurnBody, ids | how | {"logprobs": [*completion.logprobs]}, where)


def parsed(kind: type[B], value: Any, where: Where) -> B:
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise invalid([dict(each) for each in error.errors()], *where) from None


def check_turns(model: ServedModel, turns: Sequence[Completion], where: Where, limit: int) -> None:
    """Raise `Refusal` for tokens that the model does not have, and for contexts that it does not read."""
    known = len(model.tokenizer)
    for turn in turns:
        if (largest := max(*turn.prompt_ids, *turn.completion_ids)) >= known:
            raise refusal(where, f"holds the token {largest}; the model has the tokens 0 to {known - 1}")
        if (length := len(turn.prompt_ids) + len(turn.completion_ids)) > limit:
            raise refusal(where, f"has a turn of {length} tokens with its prompt; the model reads {limit}")


def completion_of(turn: TurnBody) -> Completion:
    ids = tuple(turn.prompt_token_ids), tuple(turn.token_ids), tuple(turn.logprobs)
    return Completion({"role": "assistant", "content": ""}, *ids, "stop")


def refusal(where: Where, problem: str) -> Refusal:
    param = place(where)
    return Refusal(400, f"{param}: {problem}", param, "invalid_value")
