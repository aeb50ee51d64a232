"""Demonstrations to train on with supervised steps, checked before anything is trained.

A demonstration's turns are given as token ids or by the id of a recorded rollout, as in `groups`, or as messages, whose
assistant turns are written in the model's chat template.
"""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from mcprl.chat.prompts import render
from mcprl.config import TrainingConfig
from mcprl.serving.bodies import Body, ChatMessage
from mcprl.serving.groups import HistoryBody, JobName, Where, check_turns, completion_of, parsed, refusal, turns_of
from mcprl.serving.lessons import Demonstrated
from mcprl.serving.model import ServedModel
from mcprl.text import first_line
from mcprl.training.demonstrations import demonstration
from mcprl.training.rows import training_rows
from mcprl.types import Completion, Message, Row, Tool, Trajectory


class TrainSFTConfig(Body):
    """The settings of supervised steps. What is left out is as the model's own settings have it."""

    learning_rate: Annotated[float, Field(ge=0)] | None = None
    """After ten steps of warm-up. By default `training.warm_start_learning_rate`."""
    batch_size: Annotated[int, Field(ge=1)] | None = None
    """Trajectories of one optimizer step. By default `training.warm_start_plans`."""


class DemonstrationBody(HistoryBody):
    """A demonstration, and further conversations that belong to it. A reward is not looked at."""

    reward: float = 0.0
    additional_histories: list[HistoryBody] = Field(default=[])


class SupervisedBody(Body):
    """The body of `/_train_sft`. A `job` that is known is followed instead of trained again."""

    trajectories: Annotated[list[DemonstrationBody], Field(min_length=1)]
    config: TrainSFTConfig = TrainSFTConfig()
    job: JobName | None = None


def as_demonstrations(model: ServedModel, body: SupervisedBody, config: TrainingConfig, limit: int) -> Demonstrated:
    """A body as what is trained on. `limit`: tokens that the model reads. Raises `Refusal` with the place of what is
    wrong."""
    rows: list[list[Row]] = []
    for number, each in enumerate(body.trajectories):
        where: Where = ("trajectories", number)
        made = _rows(model, each, where, limit)
        for place, more in enumerate(each.additional_histories):
            made += _rows(model, more, (*where, "additional_histories", place), limit)
        rows.append(made)
    rate, size = body.config.learning_rate, body.config.batch_size
    return Demonstrated(
        rows, config.warm_start_learning_rate if rate is None else rate, size or config.warm_start_plans, config
    )


def _rows(model: ServedModel, history: HistoryBody, where: Where, limit: int) -> list[Row]:
    if history.messages_and_choices:
        turns = _written(model, history, (*where, "messages_and_choices"))
    else:
        turns = [completion_of(turn) for turn in turns_of(model, history, where)]
    check_turns(model, turns, where, limit)
    return training_rows(Trajectory("demonstration", "demonstration", (), tuple(turns)))


def _written(model: ServedModel, history: HistoryBody, where: Where) -> Sequence[Completion]:
    """The assistant's turns of messages, and of choices as their messages, whatever model they are of."""
    tools = [each.tool() for each in history.tools]
    messages = [
        parsed(ChatMessage, item.get("message", item), (*where, number)).message()
        for number, item in enumerate(history.messages_and_choices)
    ]
    if all(message["role"] != "assistant" for message in messages):
        raise refusal(where, "there is no message of the assistant in it, so nothing to learn")
    try:
        _check_template(model.tokenizer, messages, tools, where)
        return demonstration(model.tokenizer, messages, tools).turns
    except ValueError as error:  # the template ends no turn
        raise refusal(where, f"the model's chat template cannot write these turns: {first_line(error)}") from None


def _check_template(tokenizer: Any, messages: Sequence[Message], tools: Sequence[Tool], where: Where) -> None:
    """Raise `Refusal` for messages that the chat template does not take, or turns that it writes in another place than
    where they would be sampled (it leaves their reasoning out, say)."""
    for at, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        try:
            before, after = render(tokenizer, messages[:at], tools), render(tokenizer, messages[: at + 1], tools, False)
        except Exception as error:  # a template raises whatever it likes
            problem = f"the model's chat template does not take these messages: {first_line(error)}"
            raise refusal((*where, at), problem) from None
        if not after.startswith(before):
            raise refusal((*where, at), "the model's chat template writes this turn otherwise than it is sampled")
